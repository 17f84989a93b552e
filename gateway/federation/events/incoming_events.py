"""`IncomingEvents`: what this gateway has of one member's events: each once, in order.

    event parts of a stream -> for each query the events that it has not had

Place: beside `Replica`, for one thread. Invariant: a query that is in force was given every event
up to the position at which it is complete, and those that are noted beyond it; a new stream begins
behind that position, so nothing is lost and nothing is given twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gateway.federation.events.event_parts import Happened
from gateway.federation.needs import EventNeeds
from gateway.federation.wire import Part, WireError
from gateway.journal.event_position import EventPosition


class Gap(NamedTuple):
    """Events of queries, behind a position up to another, that nobody knows any more."""

    ids: Sequence[int]
    after: EventPosition
    until: EventPosition


@dataclass(slots=True)
class _Query:
    """Complete up to `since`, and at `latest` as far as the graphs' names are noted."""

    since: EventPosition
    latest: EventPosition | None = None
    graphs: set[str] = field(default_factory=set)

    def takes(self, position: EventPosition, graph: str) -> bool:
        """Note an event, unless it was had."""
        if position <= self.since or (self.latest is not None and position < self.latest):
            return False
        if position == self.latest:
            is_new = graph not in self.graphs
            self.graphs.add(graph)
            return is_new
        if self.latest is not None:
            self.since = self.latest
        self.latest, self.graphs = position, {graph}
        return True

    def complete(self, position: EventPosition) -> None:
        """Everything up to a position has come."""
        self.since = max(self.since, position)
        if self.latest is not None and self.latest <= self.since:
            self.latest = None


@dataclass(slots=True)
class EventCounts:
    """What came of a member: events, and of these some twice, some too late, some for nothing.

    `late` are those whose queries have ended; a `useless` one answers none of its queries. `gaps`
    were told.
    """

    received: int = 0
    duplicates: int = 0
    late: int = 0
    useless: int = 0
    gaps: int = 0


class IncomingEvents:
    """`needs` are the queries of this gateway, of which some are for this `member`."""

    def __init__(self, member: str, needs: EventNeeds) -> None:
        self.counts = EventCounts()
        self._member = member
        self._needs = needs
        self._queries: dict[int, _Query] = {}
        self._asked: dict[int, EventPosition | None] = {}

    def is_in_force(self, id_: int) -> bool:
        """Whether the member tells of events for a query."""
        return id_ in self._queries

    def position(self, id_: int) -> EventPosition | None:
        """Up to where a query was given everything; None while it is not in force."""
        query = self._queries.get(id_)
        return None if query is None else query.since

    def wanted(self) -> list[list[object]]:
        """All queries, as a hello has them: each with the position where it is complete."""
        texts = self._needs.of(self._member)
        for id_ in texts:
            query = self._queries.get(id_)
            if query is not None:
                self._asked[id_] = query.since
            else:
                self._asked.setdefault(id_, self._needs.after(id_, self._member))
        return [[id_, text, self._after(id_)] for id_, text in texts.items()]

    def told(self, ids: Sequence[int]) -> list[list[object]]:
        """These queries, which are for the member, as needs have them."""
        for id_ in ids:
            self._asked.setdefault(id_, self._needs.after(id_, self._member))
        return [[id_, self._needs.text(id_), self._after(id_)] for id_ in ids]

    def forget(self, id_: int) -> None:
        """Want one no more."""
        self._queries.pop(id_, None)
        self._asked.pop(id_, None)

    def begun(self, position: EventPosition, ids: Iterable[int]) -> None:
        """These of what was asked for are in force at a position of the member."""
        for id_ in ids:
            if id_ in self._asked:
                after = self._asked.pop(id_)
                if id_ not in self._queries:
                    self._queries[id_] = _Query(position if after is None else after)

    def complete(self, position: EventPosition) -> None:
        """All events up to a position have come, for all that is in force; linear in that."""
        for query in self._queries.values():
            query.complete(position)

    def take(self, happened: Happened) -> Happened | None:
        """An event that came, for those queries that have not had it; None for none."""
        event, queries, counts = happened.event, self._queries, self.counts
        position, graph = event.position, event.name
        is_known, found = False, []
        for id_ in happened.ids:
            query = queries.get(id_)
            if query is not None:
                is_known = True
                if query.takes(position, graph):
                    found.append(id_)
        counts.received += 1
        counts.late += not is_known
        if not found:
            counts.duplicates += is_known
            return None
        return happened if len(found) == len(happened.ids) else Happened(event, found)

    def gap(self, part: Part) -> Gap:
        """What a member does not know any more. Raises WireError."""
        ids = part.members.get("ids")
        if not isinstance(ids, list) or not all(isinstance(each, int) for each in ids):
            raise WireError("a gap's ids are none")
        try:
            first, last = (EventPosition.parse(part.text(name)) for name in ("from", "to"))
        except ValueError as error:
            raise WireError(f"a gap: {error}") from error
        self.counts.gaps += 1
        return Gap([each for each in ids if each in self._queries], first, last)

    def _after(self, id_: int) -> str | None:
        after = self._asked.get(id_)
        return None if after is None else str(after)
