"""`sosa-gateway bench …`: the benchmarks of a checkout, in a process of their own.

They are no part of an installed gateway: they need its sources, its tests and the extra `dev`.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gateway.errors import ConfigurationError

_CHECKOUT = Path(__file__).resolve().parents[3]


def run_bench(arguments: Sequence[str]) -> int:
    """Run benchmarks with these arguments; the exit code. ConfigurationError outside a checkout."""
    if not (_CHECKOUT / "bench" / "__main__.py").is_file():
        raise ConfigurationError(
            "the benchmarks are not part of an installed gateway",
            "clone the project's repository, and there: make bench",
        )
    paths = [str(_CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen([sys.executable, "-m", "bench", *arguments], env=environment) as child:
        before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        try:
            return child.wait()
        except KeyboardInterrupt:
            return child.wait()  # Ctrl-C reached it as well: it ends by itself
        finally:
            signal.signal(signal.SIGTERM, before)
