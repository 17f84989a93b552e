"""`python -m gateway`, the same as `sosa-gateway`."""

import sys

from gateway.cli.command import main

sys.exit(main())
