"""Where a test lets a job die, as a power cut would: SIGKILL to itself at a named point.

The points of a batch, in order, are `planned`, `written` and `committed`; the environment variable
`SOSA_ARCHIVE_KILL_AT` names one. Without it this costs one look at the environment.
"""

import os
import signal

VARIABLE = "SOSA_ARCHIVE_KILL_AT"
POINTS = ("planned", "written", "committed")


def reach(point: str) -> None:
    """Die here if the environment says so."""
    if os.environ.get(VARIABLE) == point:
        os.kill(os.getpid(), signal.SIGKILL)
