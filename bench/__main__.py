"""`python -m bench BENCHMARK …`, which is what `sosa-gateway bench` starts."""

import sys

from bench.command import run

sys.exit(run(sys.argv[1:]))
