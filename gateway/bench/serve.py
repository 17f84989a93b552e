"""`python -m gateway.bench.serve CONFIG`: a gateway as a process; CONFIG is a `Config` as JSON.

Place on the way of the data: the gateway of a benchmark, run as `sosa-gateway run` does.
"""

import sys

from gateway.cli_run import run_gateway
from gateway.config import Config

if __name__ == "__main__":
    run_gateway(Config.model_validate_json(sys.argv[1]))
