"""`remembered`: what was made of a text, kept by the length of texts and not by their number.

Place: around functions whose argument a peer has sent. A plan takes some 25 times its text, so a
thousand texts may be anything; so many characters are what they are. What is long by itself is not
kept: it is a bulk load that does not come again.
"""

from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
V = TypeVar("V")

CHARACTERS = 1 << 18
"""Of all texts that one function remembers, where it says nothing else."""

_LONGEST = 16
"""A text is at most so small a part of all."""


def remembered(
    characters: int = CHARACTERS, length: Callable[[Any], int] = len
) -> Callable[[Callable[P, V]], Callable[P, V]]:
    """Remember what a function makes of its arguments, by position; the first one is weighed.

    The oldest go when there is no room. For any thread: two may make the same at once.

    >>> made = []
    >>> @remembered(characters=64)
    ... def upper(text: str) -> str:
    ...     made.append(text)
    ...     return text.upper()
    >>> [len(upper(text)) for text in ("a", "a", "b" * 40, "b" * 40)], len(made)
    ([1, 1, 40, 40], 3)
    """

    return lambda make: _remembering(make, characters, length)


def _remembering(
    make: Callable[P, V], characters: int, length: Callable[[Any], int]
) -> Callable[P, V]:
    values: dict[Hashable, tuple[V, int]] = {}
    lock = Lock()
    left = characters

    @wraps(make)
    def found(*key: P.args, **named: P.kwargs) -> V:
        nonlocal left
        if named:
            raise TypeError("what is remembered is called by position")
        known = values.get(key)
        if known is not None:
            return known[0]
        value = make(*key)  # type: ignore[call-arg]
        weight = length(key[0]) + 1
        if weight * _LONGEST <= characters:
            with lock:
                if key not in values:
                    values[key] = value, weight
                    left -= weight
                while left < 0:
                    left += values.pop(next(iter(values)))[1]
        return value

    return found
