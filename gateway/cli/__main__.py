"""`python -m gateway.cli`, the same as `sosa-gateway`."""

import sys

from gateway.cli.command import main

sys.exit(main())
