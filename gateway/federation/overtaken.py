"""`Overtaken`: members have seen positions of this gateway that it did not reach in this life.

    hello of a member, what it has seen -> behind where this gateway is? -> a later epoch, soon

Place: before a stream begins. Whose disk was lost, while its clock is behind, begins in an epoch
that it had before, and what it tells would stand behind what others know. So it goes on in a later
one, and only then answers. A member may lie: it is believed once in a life of this gateway, and an
epoch is a number that names a life, so nothing but numbers is lost by that.
"""

from collections.abc import Callable

from gateway.federation.wire import Part, WireError
from gateway.journal.event_position import EventPosition

_LAST_EPOCH = 99_999_999_999
"""One that is greater was never one of ours: seconds since 1970, until the year 5138."""


class Overtaken:
    """`go_on_behind` has this gateway give positions behind one; None where that cannot be."""

    def __init__(self, go_on_behind: Callable[[EventPosition], None] | None) -> None:
        self._go_on_behind = go_on_behind
        self._believed: dict[str, EventPosition] = {}

    def is_by(self, member: str, hello: Part, here: EventPosition) -> bool:
        """Whether a member has seen more than there is, and is to ask again. Raises WireError."""
        if self._go_on_behind is None or "seen" not in hello.members:
            return False
        try:
            seen = EventPosition.parse(hello.text("seen"))
        except ValueError as error:
            raise WireError(f"hello: {error}") from error
        if seen <= here:
            return False
        if seen.epoch > _LAST_EPOCH or seen > self._believed.setdefault(member, seen):
            raise WireError(f"it says that it has seen {seen} of this gateway, which is at {here}")
        self._go_on_behind(seen)
        return True
