"""`EventKeeping`: the events of requests go to a log before the store has them, with their place.

    events of a request -> log -> the store's transaction, which records their position

Place: beside `EventView`, where events are kept. What the log has behind the position that the
store knows at a start was never answered (gateway/journal/event_log.py).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from pyoxigraph import Literal, NamedNode, Quad, Triple

from gateway.engine.compound.event import CompoundEvent
from gateway.journal.event_log import EventLog, LoggedEvent
from gateway.journal.event_position import EventPosition
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import GW, STATE_GRAPH
from gateway.store.readable import Source

_PLACE = NamedNode(f"{GW}eventPosition")


class EventKeeping:
    """Keeps them, in the scheduler's thread; `node` is the gateway."""

    def __init__(self, event_log: EventLog, node: NamedNode, store: Source) -> None:
        self.log = event_log
        self._node = node
        self._store = store

    @contextmanager
    def kept(self, events: Sequence[CompoundEvent], delta: Delta) -> Iterator[Delta]:
        """Log what a request states; its change, by which the store says too that it has it.

        What the block raises is as if it had not been logged. Raises StorageError.
        """
        self.log.append(
            LoggedEvent(e.position, e.time, e.graph, cast(Sequence[Triple], e.triples))
            for e in events
        )
        try:
            yield self._noting(events[0].position, delta)
        except BaseException:
            self.log.take_back()
            raise

    def _noting(self, position: EventPosition, delta: Delta) -> Delta:
        """The change with the note of its place in the room of the one before."""
        after = Quad(self._node, _PLACE, Literal(str(position)), STATE_GRAPH)
        before = self._store.match(self._node, _PLACE, None, STATE_GRAPH)
        created: tuple[NamedNode, ...] = ()
        dropped = tuple(graph for graph in delta.graphs_dropped if graph != STATE_GRAPH)
        if not self._store.contains_graph(STATE_GRAPH):
            created = (STATE_GRAPH,)
        return Delta(
            (*delta.added, after),
            tuple(dict.fromkeys((*delta.removed, *before))),
            tuple(dict.fromkeys((*delta.graphs_created, *created))),
            dropped,
        )


def recorded_place(store: Source, node: NamedNode) -> EventPosition | None:
    """The position of the last request whose events the store has; None for none."""
    for quad in store.match(node, _PLACE, None, STATE_GRAPH):
        if isinstance(quad.object, Literal):
            return EventPosition.parse(quad.object.value)
    return None
