"""`OutgoingEvents`: what one member wants of this gateway's events, and what it missed of them.

    hello, needs -> event queries in force -> events since a position, from journal and log

Place: beside `Outgoing`, which sends what is found; for one thread. Who knows up to where it has
everything is told all that came since, as long as it is known; where it is not, it is told so.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import thread_time
from typing import NamedTuple, Protocol

from gateway.engine.compound.event import CompoundEvent
from gateway.federation.events.event_parts import event_part
from gateway.federation.events.event_source import EventSource
from gateway.federation.wire import Part, WireError
from gateway.journal.event_position import EventPosition
from gateway.rdf.rights import Graphs

Missed = Mapping[EventPosition, Sequence[int]]
"""Numbers of queries by the position up to which their member has everything."""


_MOST_S = 2.0


class History(Protocol):
    """What is known of earlier events; gateway/ingest/compound/event_history.py has one."""

    def between(self, after: EventPosition, until: EventPosition) -> Iterable[CompoundEvent]:
        """The events behind a position up to another, in order."""

    def first_missing(self, after: EventPosition) -> EventPosition | None:
        """Where what is known behind a position begins, where that is not at once; else None."""


class Lost(NamedTuple):
    """Events behind a position up to another that are not told."""

    after: EventPosition
    until: EventPosition


def told_again(
    history: Callable[[], History] | None, after: EventPosition, until: EventPosition
) -> Iterator[CompoundEvent | Lost]:
    """The events behind a position up to another, in order, and what of them is lost.

    What would take the one writer longer than two seconds of CPU is lost too. Raises StorageError.
    """
    if history is None:
        yield Lost(after, until)
        return
    known = history()
    missing = known.first_missing(after)
    if missing is not None:
        yield Lost(after, missing)
        after = max(after, missing)
    begun, last = thread_time(), after
    for event in known.between(after, until):
        if event.position > last and thread_time() - begun > _MOST_S:
            yield Lost(last, until)
            return
        last = event.position
        yield event


class OutgoingEvents:
    """The events of one member, who may read `graphs`; `history` is None where none is kept."""

    def __init__(
        self,
        source: EventSource,
        member: str,
        graphs: Graphs,
        history: Callable[[], History] | None = None,
    ) -> None:
        self._source = source
        self._member = member
        self._graphs = graphs
        self._history = history

    @property
    def count(self) -> int:
        """How many queries are in force."""
        return self._source.count(self._member)

    def clear(self) -> None:
        """Have no queries."""
        self._source.clear(self._member)

    def change(self, part: Part) -> Missed:
        """Have the queries that a part names; what was missed of them. Raises WireError."""
        for id_ in _numbers(part.members.get("forget", [])):
            self._source.remove(self._member, id_)
        missed: dict[EventPosition, list[int]] = {}
        for id_, text, after in _wanted(part.members.get("events", [])):
            self._source.add(self._member, id_, text, self._graphs)
            if after is not None:
                missed.setdefault(after, []).append(id_)
        return missed

    def replayed(self, missed: Missed, until: EventPosition) -> Iterator[Part]:
        """What was missed up to a position, in order, for each position that was given.

        Raises StorageError.
        """
        for after, ids in sorted(missed.items()):
            if after >= until:
                continue
            for each in told_again(self._history, after, until):
                if isinstance(each, Lost):
                    yield Part(
                        "gap", {"ids": list(ids), "from": str(each.after), "to": str(each.until)}
                    )
                    continue
                answered = self._source.answered(self._member, ids, each)
                if answered:
                    yield event_part(each, answered)

    def refused(self) -> Iterator[Part]:
        """What cannot be served to the member, and why."""
        for refusal in [each for each in self._source.refused if each[0] == self._member]:
            self._source.refused.remove(refusal)
            _, id_, error = refusal
            yield Part("refused", {"id": id_, "code": error.code, "text": str(error)})


def _numbers(value: object) -> Sequence[int]:
    if not isinstance(value, list) or not all(isinstance(each, int) for each in value):
        raise WireError("numbers of queries that are none")
    return value


def _wanted(value: object) -> Iterator[tuple[int, str, EventPosition | None]]:
    for each in value if isinstance(value, list) else [value]:
        match each:
            case [int() as id_, str() as text, None]:
                yield id_, text, None
            case [int() as id_, str() as text, str() as after]:
                try:
                    yield id_, text, EventPosition.parse(after)
                except ValueError as error:
                    raise WireError(f"an event query: {error}") from error
            case _:
                raise WireError(f"no event query: {each!r:.80}")
