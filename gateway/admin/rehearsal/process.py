"""The process of a rehearsal: a `Script` comes by standard input, the report goes out as JSON.

`gateway.admin.rehearsal.runner` starts it and ends it in time. What is unpickled is what the
gateway itself has written to its own child.
"""

import json
import os
import pickle
import resource
import sys

from gateway.admin.rehearsal.rehearsal import rehearse

_MEMORY_BYTES = 1 << 30
"""Address space: a query that wants more ends the rehearsal and not the device."""


def main() -> None:
    """Rehearse, with what the gateway leaves over of the processor."""
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    script = pickle.load(sys.stdin.buffer)  # noqa: S301  # our own parent wrote it
    sys.stdout.write(json.dumps(rehearse(script)))
    sys.stdout.flush()
