"""How much memory this process has, for what must not be held."""

import os
from pathlib import Path

GROWTH_BYTES = 20_000_000


def resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
