"""How many files and sockets the process may have open.

Each WebSocket, event stream and MQTT client is one, and Debian starts programs with a soft limit of
1,024, far below `[limits] connections`. The hard limit is the administrator's.
"""

import sys

if sys.platform != "win32":
    import resource


def raise_limit() -> int:
    """Raise the soft limit to the hard one; how many descriptors that allows, 0 for unknown."""
    if sys.platform == "win32":
        return 0
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
