"""`python -m bench.readings.serve CONFIG`: a gateway as a process; CONFIG is a `Config` as JSON.

Place on the way of the data: the gateway of a benchmark, run as `sosa-gateway run` does. It ends by
SIGTERM, and when its standard input ends: then the benchmark is gone, however that happened.
"""

import os
import signal
import sys
import threading

from gateway.cli.run import run_gateway
from gateway.config.settings import Config


def _end_with_input() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_input, name="standard input", daemon=True).start()
    run_gateway(Config.model_validate_json(sys.argv[1]))
