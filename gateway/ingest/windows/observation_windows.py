"""`ObservationWindows`: what the engine's windows know of observations, put together.

Place: in `gateway.app`, between ingest, which makes elements, and the engine, whose windows see
them: who may read a stream, what the journal has of it, how long that keeps it.
"""

from collections.abc import Iterable

from pyoxigraph import NamedNode

from gateway.engine.windowed.declared import Declared
from gateway.ingest.current_state import CurrentState
from gateway.ingest.ingest import Ingest
from gateway.ingest.mappings import MappingTable
from gateway.ingest.windows.journalled import Journalled, needed_s
from gateway.ingest.windows.opening import Opening
from gateway.ingest.windows.stream_names import MappedStreams
from gateway.journal import Journal
from gateway.rdf.terms import GraphName
from gateway.runtime.measures import Measure
from gateway.scheduler.scheduler import Scheduler


class ObservationWindows:
    """Made once the journal has been replayed. `most` elements are read for one window at most."""

    def __init__(
        self,
        scheduler: Scheduler,
        journal: Journal,
        ingest: Ingest,
        *,
        state: CurrentState,
        mappings: MappingTable,
        most: int,
    ) -> None:
        self._journal = journal
        self._elements = ingest.elements
        self._state = state
        self._mappings = mappings
        journalled = Journalled(journal, self._elements, most, ingest.applied_before)
        self._opening = Opening(scheduler, journalled, self._elements, state)
        mappings.on_change(self._rename_streams)
        windowed = scheduler.engine.windowed
        windowed.written = self._written
        windowed.opened.begins_empty = lambda stream: stream not in self._elements.streams
        windowed.on_declared = self._keep_for
        self._keep_for(windowed.declared)
        scheduler.opening = self._opening.subscribe

    def close(self) -> None:
        """Read no more."""
        self._opening.close()

    def measures(self) -> tuple[Measure, ...]:
        """What filling windows took."""
        return self._opening.measures()

    def _rename_streams(self, _: frozenset[str]) -> None:
        self._elements.streams = MappedStreams(self._mappings.mappings)

    def _written(self, stream: str) -> Iterable[GraphName]:
        """The graphs of a stream's observations; a client's stream is one itself."""
        graphs = self._elements.written(stream, self._state.templates)
        return (NamedNode(stream),) if graphs is None else graphs

    def _keep_for(self, declared: Declared) -> None:
        """Have the journal keep what a declared window may begin with."""
        keep_s = self._journal.limits.keep_s
        self._journal.space.keep_s = max(keep_s, needed_s(declared.windows.values()))
