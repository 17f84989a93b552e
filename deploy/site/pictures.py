"""Pictures of what is documented: made by the tests that look at it, never by hand, put in here.

A page says where one goes by `<!-- picture NAME: what is seen -->`, which is nothing in a checkout;
a block of text behind it, of no language, is for readers of the checkout and gives it its place.
The tests leave pictures in build/screenshots; `make pictures` runs those that the site needs. One
whose name ends in `-light` has another beside it that ends in `-dark`, for readers in the dark.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from posixpath import relpath

FOLDER = "pictures"
"""Where they lie on the site."""

SCREENSHOTS = Path("build", "screenshots")
"""Where the tests leave them, below a checkout."""

_MARK = re.compile(
    r"(?<!`)<!-- picture (?P<name>[\w.-]+): (?P<seen>.+?) -->(?:\n\n```\n(?:(?!```).*\n)*```)?"
)


def named(texts: Iterable[str]) -> set[str]:
    """The names of all pictures that pages ask for, both looks of each.

    >>> sorted(named(["<!-- picture now-light.png: Now -->"]))
    ['now-dark.png', 'now-light.png']
    >>> named(["as `<!-- picture NAME: what is seen -->` says it"])
    set()
    """
    names = {match["name"] for text in texts for match in _MARK.finditer(text)}
    return {look for name in names for look in (name, name.replace("-light.", "-dark."))}


def missing(names: Iterable[str], made: Path) -> list[str]:
    """The names that no test has made a picture of yet, in the folder of pictures."""
    return sorted(name for name in names if not (made / name).is_file())


def placed(text: str, here: str, is_there: Callable[[str], bool]) -> str:
    """A page with the pictures that are there; `here` is its folder on the site.

    >>> placed("a <!-- picture demo.svg: a house -->", "guide", lambda name: True)
    'a ![a house](../pictures/demo.svg)'
    >>> placed("<!-- picture a.svg: a -->\\n\\n```\\nits text\\n```\\n\\nb", ".", lambda name: True)
    '![a](pictures/a.svg)\\n\\nb'
    """

    def shown(match: re.Match[str]) -> str:
        light, seen = match["name"], match["seen"]
        dark = light.replace("-light.", "-dark.")
        if not (is_there(light) and is_there(dark)):
            return match[0]
        place = relpath(FOLDER, here)
        if dark == light:
            return f"![{seen}]({place}/{light})"
        return f"![{seen}]({place}/{light}#only-light)![{seen}]({place}/{dark}#only-dark)"

    return _MARK.sub(shown, text)
