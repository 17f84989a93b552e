"""Where a file of the checkout stands on the site, and what its links become there.

One rule: a page below docs stands there without `docs/`, every other file where it stands in the
checkout. So a page is written once, for who reads the checkout, and its links are rewritten.
"""

import re
from collections.abc import Callable
from posixpath import dirname, normpath, relpath
from typing import NamedTuple

_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*([^()\s]+)\s*\)")
"""A link of Markdown, its text with brackets in it at most once."""

_CODE = re.compile(
    r"^( *)(`{3,})[^\n]*\n.*?^\1\2`*\s*$|(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\3(?!`)", re.M | re.S
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#")


class Target(NamedTuple):
    """What a link leads to: a path from the top of the checkout, and `#chapter` or nothing."""

    path: str
    chapter: str


def address(path: str) -> str:
    """Where a file of the checkout stands among the sources of the site.

    >>> address("docs/families/modbus.md"), address("THREATS.md")
    ('families/modbus.md', 'THREATS.md')
    """
    return path.removeprefix("docs/")


def target(page: str, link: str) -> Target | None:
    """What a relative link of a page leads to; None for one that leaves the checkout or the page.

    >>> target("docs/families/modbus.md", "../alarms.md#kinds")
    Target(path='docs/alarms.md', chapter='#kinds')
    """
    if _ELSEWHERE.match(link):
        return None
    name, sign, chapter = link.partition("#")
    return Target(normpath(f"{dirname(page) or '.'}/{name}"), sign + chapter)


def targets(page: str, text: str) -> set[str]:
    """Paths of the checkout that a page leads to; links in code are none."""
    links = (target(page, each[2]) for each in _LINK.finditer(_CODE.sub("", text)))
    return {each.path for each in links if each is not None}


def readdressed(
    page: str, text: str, is_folder: Callable[[str], bool], title: Callable[[str], str]
) -> str:
    """The same text with the links that the site has, `page` being its path in the checkout.

    A link whose text is the path of a page shows the page's title.

    >>> one = lambda path: "Threats"
    >>> readdressed("docs/time.md", "see [x](../THREATS.md#who)", lambda path: False, one)
    'see [x](THREATS.md#who)'
    >>> readdressed("docs/time.md", "[THREATS.md](../THREATS.md)", lambda path: False, one)
    '[Threats](THREATS.md)'
    """
    here = dirname(address(page)) or "."

    def moved(match: re.Match[str]) -> str:
        found = target(page, match[2])
        if found is None:
            return match[0]
        if is_folder(found.path):
            return match[1]
        shown = title(found.path) if _is_path(match[1], found.path) else match[1]
        return f"[{shown}]({relpath(address(found.path), here)}{found.chapter})"

    kept: list[str] = []

    def aside(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    moved_text = _LINK.sub(moved, _CODE.sub(aside, text))
    return re.sub(r"\0(\d+)\0", lambda match: kept[int(match[1])], moved_text)


def _is_path(shown: str, path: str) -> bool:
    """Whether the text of a link is but where its page stands, or the folder of a README."""
    return path.endswith(".md") and path in {shown, f"docs/{shown}", f"{shown}/README.md"}
