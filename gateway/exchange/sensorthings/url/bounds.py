"""What a SensorThings URL may ask for at most; docs/sensorthings.md has the table.

Place: between the parsers of this room and who writes to them. What passes a bound is refused with
413 before anything is evaluated.
"""

from dataclasses import dataclass

from gateway.errors import BadRequestError, TooComplexError


@dataclass(frozen=True, slots=True)
class UrlBounds:
    """The most of each: characters of an option, operators and their depth in an expression,
    expansions in all and one in another, segments of a path, entities of a page and of an answer.
    """

    characters: int = 16_384
    operators: int = 400
    depth: int = 40
    expansions: int = 32
    expansion_depth: int = 6
    segments: int = 8
    page: int = 1_000
    entities: int = 50_000


BOUNDS = UrlBounds()
"""Those of the service."""

PAGE = 100
"""Entities of a page where nobody says how many."""


def too_much(what: str, most: int) -> TooComplexError:
    """The error for what passes a bound."""
    return TooComplexError(f"{what}: at most {most}", "ask for less at once")


def wrong(
    place: str, what: str, hint: str = "docs/sensorthings.md has the options"
) -> BadRequestError:
    """The error for a URL that cannot be read."""
    return BadRequestError(f"{place}: {what}", hint)
