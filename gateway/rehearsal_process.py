"""The process of a rehearsal: a `Script` comes by standard input, the report goes out as JSON.

Place on the way of the data: beside it; `gateway.rehearsing` starts it and ends it in time. What is
unpickled is what the gateway itself has written to its own child.
"""

import json
import os
import pickle
import sys

from gateway.rehearsal import rehearse


def main() -> None:
    """Rehearse, with what the gateway leaves over of the processor."""
    os.nice(10)
    script = pickle.load(sys.stdin.buffer)  # noqa: S301  # our own parent wrote it
    sys.stdout.write(json.dumps(rehearse(script)))
    sys.stdout.flush()
