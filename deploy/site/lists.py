"""What belongs to an item of a list, as far to the right as the site's Markdown wants it.

CommonMark 0.31 ("List items") takes it where the item's words begin, two or three columns in;
Python-Markdown takes four.
"""

import re

_ITEM = re.compile(r"(?:[-*]|\d+\.) +")
_FENCE = re.compile(r"`{3,}")
_WANTED = 4


def indented(text: str) -> str:
    """The same page with continuations and nested lists four columns in.

    >>> print(indented("1. a\\n\\n   more\\n\\nelse"))
    1. a
    <BLANKLINE>
        more
    <BLANKLINE>
    else
    """
    lines, width, is_code = [], 0, False
    for line in text.split("\n"):
        if width == 0 and _FENCE.match(line):
            is_code = not is_code
        item = None if is_code else _ITEM.match(line)
        if item:
            width = len(item[0])
        elif line and not line.startswith(" " * max(width, 1)):
            width = 0
        moved = width and not item and line
        lines.append(" " * (_WANTED - width) + line if moved else line)
    return "\n".join(lines)
