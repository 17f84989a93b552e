"""Tables of Markdown; what stands in a cell is text, whatever it has in it."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The lines of a table; its cells are Markdown (`code`, `words`).

    >>> print(table(["a", "b"], [["1", "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\\|y |
    """
    lines = [head, *rows]
    told = ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]
    return "\n".join([told[0], "|" + "---|" * len(head), *told[1:]])


def words(text: str) -> str:
    """Words of a docstring or comment: on one line, what looks like HTML or emphasis escaped.

    What stands between backticks is code, as it is.
    """
    parts = " ".join(text.split()).split("`")
    return "`".join(part if place % 2 else _escaped(part) for place, part in enumerate(parts))


def code(text: str) -> str:
    """Text as code; nothing for no text."""
    return f"`{text}`" if text else ""


def _escaped(text: str) -> str:
    for sign in "\\*_[]":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
