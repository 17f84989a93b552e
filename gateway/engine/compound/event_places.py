"""`EventPlaces`: the position of each request that makes an event, and the name of that event.

Place: beside `EventView`, in the scheduler's thread. A message has the position of its last
observation in the journal; another request stands behind the last message that was applied.
"""

from collections.abc import Callable

from pyoxigraph import NamedNode

from gateway.journal.event_position import EventPosition
from gateway.journal.record import Origin, Position
from gateway.store.clock import microseconds

_SECOND = 1_000_000


class EventPlaces:
    """Gives positions, each greater than those before; `last` is the one given last.

    `origin` says whose they are. `applied` tells the last observation that the store has, of this
    epoch or an earlier one; where there is no journal an epoch is one life of this object.
    """

    def __init__(self) -> None:
        self.origin = Origin()
        self.last = EventPosition(microseconds() // _SECOND, 0)
        self._applied: Callable[[], Position | None] = lambda: None

    def follow(self, origin: Origin, epoch: int, applied: Callable[[], Position | None]) -> None:
        """Give positions of this journal's epoch from now on."""
        self.origin = origin
        self.last = EventPosition(epoch, 0)
        self._applied = applied

    @property
    def gateway(self) -> str:
        """The id of the gateway."""
        return self.origin.gateway

    def now(self) -> EventPosition:
        """The position of all that was done so far."""
        applied = self._applied()
        if applied is not None:
            self.last = max(self.last, EventPosition.of(applied))
        return self.last

    def take(self, position: EventPosition) -> None:
        """Note the position of a message that the store has just taken."""
        self.last = max(self.last, position)

    def next(self) -> EventPosition:
        """The position of a request that is no message."""
        epoch, sequence, request = self.now()
        self.last = EventPosition(epoch, sequence, request + 1)
        return self.last

    def term(self, position: EventPosition) -> NamedNode:
        """The name of the event that a request makes in the default graph."""
        return NamedNode(f"{self.origin.base_iri}{self.origin.gateway}/event/{position}")
