"""`sosa-gateway archive JOB …`: the jobs of `spark_batch`, in a process of their own.

Nothing of Spark is ever imported here: its session costs a JVM, and the extra that brings it is
not on every device.
"""

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from gateway.errors import ConfigurationError

_NEEDED = ("pyspark", "deltalake", "pyarrow")


def run_archive(arguments: Sequence[str]) -> int:
    """Run a job with these arguments; its exit code. Raises ConfigurationError without Spark."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            f"the archive needs {', '.join(missing)}",
            "pip install 'sosa-gateway[spark,java]' on the machine that has the archive",
        )
    command = [sys.executable, "-m", "spark_batch", *arguments]
    with subprocess.Popen(command) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            # Ctrl-C reached the job as well: it ends by itself and says so.
            return child.wait()
