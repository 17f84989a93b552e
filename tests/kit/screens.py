"""A terminal's screen as a picture (SVG), for the documentation: build/screenshots."""

from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path

import pyte
from pyte.screens import Char

from tests.paths import ROOT

PICTURES = ROOT / "build" / "screenshots"
"""Where tests leave pictures; the site takes some of them (deploy/site/pictures.py)."""

_WIDTH, _HEIGHT, _EDGE = 8.4, 18, 12
_COLOURS = {"default": "#d8dee9", "red": "#e0707a", "green": "#8fc97b"}
"""Pixels of a character of 14 px, of a line, around all; what a dark terminal shows."""


def draw(screen: pyte.Screen) -> str:
    """The screen as it is now; styles other than bold, red and green look plain."""
    width = screen.columns * _WIDTH + 2 * _EDGE
    height = screen.lines * _HEIGHT + 2 * _EDGE
    style = f'font-family="monospace" font-size="14" fill="{_COLOURS["default"]}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}">',
            '<rect width="100%" height="100%" rx="6" fill="#1f2430"/>',
            f"<g {style}>",
            *(text for number in range(screen.lines) for text in _line(screen, number)),
            "</g>",
            "</svg>",
            "",
        ]
    )


def keep(name: str, picture: str | bytes) -> Path:
    """Leave a picture for the documentation."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    file = PICTURES / name
    file.write_bytes(picture.encode() if isinstance(picture, str) else picture)
    return file


def _line(screen: pyte.Screen, number: int) -> Iterator[str]:
    cells = screen.buffer[number]
    columns = range(screen.columns)
    for (colour, bold), run in groupby(columns, lambda column: _look(cells[column])):
        where = [*run]
        # Spaces that may not be broken at are those that SVG does not make one of.
        text = "".join(cells[column].data for column in where).replace(" ", "\N{NO-BREAK SPACE}")
        if text.strip():
            x, y = _EDGE + where[0] * _WIDTH, _EDGE + (number + 0.75) * _HEIGHT
            # Told how long it is, so that a reader's font of another width changes nothing.
            size = f'textLength="{len(where) * _WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"'
            weight = ' font-weight="bold"' if bold else ""
            at = f'x="{x:.1f}" y="{y:.1f}" fill="{colour}"{weight}'
            yield f"<text {at} {size}>{escape(text)}</text>"


def _look(cell: Char) -> tuple[str, bool]:
    return _COLOURS.get(cell.fg, _COLOURS["default"]), cell.bold
