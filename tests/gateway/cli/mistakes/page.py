"""docs/mistakes.md, made of the table: `python -m tests.gateway.cli.mistakes.page` writes it."""

import re
from collections.abc import Iterator

from tests.gateway.cli.mistakes.row import Row
from tests.gateway.cli.mistakes.table import CHAPTERS
from tests.paths import ROOT

PAGE = ROOT / "docs" / "mistakes.md"

_HEAD = """# Mistakes of a first day

What people type, what they read then, and what they do. Each row is tried, as a person would, by
[tests/gateway/cli/mistakes](../tests/gateway/cli/mistakes/table.py); `…` stands for what differs.
Before all else: `sosa-gateway check` tells all that is wrong with a folder, `sosa-gateway alarms`
what is wrong with a gateway that runs, `sosa-gateway quarantine list` which messages are.

The exit code is 0 for what was done, even if it lists something wrong, 1 for what was refused or
has failed, 2 for a command that is not understood, 130 after Ctrl-C.
"""


def page() -> str:
    """The whole text."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _HEAD
    for chapter, rows in CHAPTERS.items():
        yield f"## {chapter}\n"
        yield "| mistake | typed | exit | what is wrong | what to do |"
        yield "|---|---|---|---|---|"
        yield from map(_line, rows)
        yield ""


def _line(row: Row) -> str:
    wrong, to_do = (text.removeprefix("what to do: ") for text in (row.wrong, row.to_do))
    cells = (row.mistake, _code(row.typed), str(row.code), _code(wrong), _code(to_do))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _code(text: str) -> str:
    if not text:
        return "nothing"
    text = re.sub(r" {2,}", " ", text.strip())
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    return f"`` {text} ``" if "`" in text else f"`{text}`"


_LONGEST = 140

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
