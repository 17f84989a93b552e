"""The web page: its sources in `web` (TypeScript), what is built of them in `static`.

Beside the way of the data: an ordinary client of the public HTTP and WebSocket interface, which
the gateway merely hands out. `make dashboard` builds it; docs/dashboard.md.
"""

from pathlib import Path

STATIC = Path(__file__).parent / "static"
"""Files of the built page; missing or empty where it was not built."""
