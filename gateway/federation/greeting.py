"""A hello as it travels: in parts, as long as it is, and what is the same as bits.

    all that a member needs -> parts of so much at once -> the other end -> all of it

Place: between `Replica`, which says hello, and `Outgoing`, which begins a stream by it. A message
has a bound, and there is none on what a gateway's clients ask for but the number of entries. A part
that is lost makes the hello none: it is said again.
"""

from collections.abc import Iterator, Mapping, Sequence

from gateway.federation.wire import Part, WireError
from gateway.journal.event_position import EventPosition

_MOST = 1_000_000
_NAMES = ("entries", "digests", "events")


def in_parts(
    ask: int,
    version: int,
    told: Mapping[str, Sequence[object]],
    at_once: int,
    seen: EventPosition | None = None,
) -> Iterator[Part]:
    """The parts; all but the last have `more`. `seen` is where the other end stood at last."""
    known = {} if seen is None else {"seen": str(seen)}
    longest = max(len(each) for each in told.values())
    for first in range(0, max(longest, 1), at_once):
        some = {name: list(each[first : first + at_once]) for name, each in told.items()}
        members = {"ask": ask, "version": version, "at": first, **known, **some}
        is_last = first + at_once >= longest
        yield Part("hello", members if is_last else {**members, "more": True})


class Greeting:
    """Puts parts of a hello together again; for one member."""

    def __init__(self) -> None:
        self._ask = -1
        self._told: dict[str, list[object]] = {}

    def take(self, part: Part) -> Part | None:
        """The whole once its last part is there. Raises WireError."""
        ask, at = part.number("ask"), part.members.get("at", 0)
        if at == 0:
            self._ask, self._told = ask, {name: [] for name in _NAMES}
        known = self._told
        if ask != self._ask or at != max(map(len, known.values()), default=-1):
            self._ask, self._told = -1, {}  # one of it was lost
            return None
        for name in _NAMES:
            value = part.members.get(name, [])
            if not isinstance(value, list) or len(known[name]) + len(value) > _MOST:
                raise WireError(f"hello: {name} is no list, or too long")
            known[name] += value
        if part.members.get("more"):
            return None
        self._ask, self._told = -1, {}
        return Part("hello", {**part.members, **known})


def bits_of(numbers: Sequence[int]) -> bytes:
    """Numbers from 0 on as bits.

    >>> numbers_of(bits_of([0, 3, 11]))
    [0, 3, 11]
    """
    found = bytearray((max(numbers, default=-1) + 8) // 8)
    for each in numbers:
        found[each // 8] |= 1 << each % 8
    return bytes(found)


def numbers_of(bits: bytes) -> Sequence[int]:
    """The reverse of `bits_of`, in order."""
    return [
        8 * place + bit
        for place, byte in enumerate(bits)
        if byte
        for bit in range(8)
        if byte >> bit & 1
    ]
