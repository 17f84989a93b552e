"""Which journal a folder has: a number that is made with it, and no other journal has.

Epochs are seconds of a clock, so two gateways that were switched on together have the same ones.
"""

from pathlib import Path
from secrets import token_hex

from gateway.runtime.durable_files import write_durably

_NAME = "lineage"


def lineage(folder: Path) -> str:
    """The number of the journal in a folder, "" where there is none. Raises OSError."""
    try:
        return (folder / _NAME).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""


def begin_lineage(folder: Path) -> None:
    """Give a journal that has no number its own. Raises OSError."""
    if not lineage(folder):
        write_durably(folder / _NAME, f"{token_hex(16)}\n".encode())
