"""`CurrentState`: what the observations of a message do to the store, which holds the present only.

One message is one request: the journal position is recorded, observations that are no longer among
the latest of their stream leave, new ones enter; a series in another unit is said to be over.
Nothing is looked up in the store for that; what it holds of each stream is known here, and told at
start by the queries STREAMS and SERIES.
"""

import logging
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from pyoxigraph import Literal, NamedNode, Quad

from gateway.ingest.sosa import Identity, ObservationTemplates, result_time, unit_in_graph
from gateway.journal import Position, Record
from gateway.rdf.namespaces import GW, STATE_GRAPH
from gateway.rdf.terms import Term
from gateway.store.bundles.steps import Replacement
from gateway.store.retention import Kept, Retention, SeriesEnd, Stream
from gateway.store.templates import Kinds
from gateway.store.update import BoundUpdate, UpdatePlan

log = logging.getLogger(__name__)

_APPLIED = NamedNode(f"{GW}appliedJournal")
_CHANGED = Kinds(
    frozenset({_APPLIED}), frozenset(), frozenset({STATE_GRAPH}), frozenset({_APPLIED})
)
_STATE = f"GRAPH {STATE_GRAPH} {{ ?gateway {_APPLIED}"
ADVANCE = f"DELETE {{ {_STATE} ?before }} }} INSERT {{ {_STATE} ?position }} }} WHERE {{}}"
"""Puts the journal position `?position` in the place of `?before`."""


@dataclass(frozen=True, slots=True)
class Request:
    """The one UPDATE of a message, or of several that are replayed.

    In the order of `updates` each operation has the fewest changes of its request to look through.
    """

    position: BoundUpdate
    leaving: tuple[BoundUpdate, ...]
    entering: tuple[BoundUpdate, ...]
    series: tuple[BoundUpdate, ...] = ()

    @property
    def updates(self) -> Sequence[BoundUpdate]:
        """All of it."""
        return (self.position, *self.leaving, *self.series, *self.entering)

    @property
    def remainders(self) -> Iterator[Sequence[BoundUpdate]]:
        """What is tried instead when it fails for good, so that the journal is not stuck at it."""
        yield (self.position, *self.leaving, *self.series)
        yield (self.position,)


class CurrentState:
    """Makes the requests, from the journal position `applied` on.

    `late` counts observations that never entered the store, since newer ones were there;
    `unit_changes` the series that ended. `templates` may be replaced between two requests.
    """

    def __init__(self, templates: ObservationTemplates, identity: Identity, latest: int) -> None:
        self.late = 0
        self.unit_changes = 0
        self.templates = templates
        self.identity = identity
        self._retention = Retention(latest)
        self._node = identity.node
        self._applied: Quad | None = None

    @property
    def applied(self) -> Position | None:
        """The journal position that the store has, None for none."""
        applied = self._applied
        return None if applied is None else Position.parse(cast(Literal, applied.object).value)

    @applied.setter
    def applied(self, position: Position | None) -> None:
        self._applied = None if position is None else self._state(position)

    def recall(
        self,
        stream: Stream,
        observation: str,
        stamp: str,
        unit: str | None = None,
        *,
        is_ours: bool = False,
    ) -> bool:
        """Take up an observation (its IRI) that the store already has, and a number's unit.

        `is_ours`: the stamp is by the gateway's clock. One that others wrote, or whose time they
        made unreadable, is theirs and is left alone: false.
        """
        try:
            position = self.identity.position(observation)
            time = datetime.fromisoformat(stamp).astimezone(UTC)
        except (ValueError, OverflowError):
            return False
        order = (position.epoch, position.sequence)
        self._retention.recall(stream, Kept(time, order, observation, unit, is_ours))
        return True

    def recall_series(self, stream: Stream, unit: str) -> None:
        """Take up that the stream's numbers were last told in `unit`."""
        self._retention.recall_unit(stream, unit)

    def knows(self, stream: Stream) -> bool:
        """Whether something is known of a stream now."""
        return self._retention.knows(stream)

    def streams(self) -> list[Stream]:
        """Every stream that the store has or had something of, in no order; in any thread."""
        return self._retention.streams()

    def applied_query(self) -> str:
        """SELECT of the journal position in the store as `?position`."""
        state = _STATE.replace("?gateway", str(self.identity.node))
        return f"SELECT ?position {{ {state} ?position }} }}"

    def request(self, records: Sequence[Record]) -> Request:
        """What these records, in journal order, do to the store."""
        arriving = [(record.observation.stream, self._kept(record)) for record in records]
        entering, leaving, ended = self._retention.admit(arriving)
        self.late += len(records) - len(entering)
        return Request(
            self._advance(records[-1].position),
            tuple([self.templates.forget(iri) for iri in leaving]),
            tuple([each for record in records for each in self._entering(record, entering)]),
            tuple([self._ended(each) for each in ended]),
        )

    def _ended(self, ended: SeriesEnd) -> BoundUpdate:
        self.unit_changes += 1
        extra = {"sensor": ended.stream[0], "before": ended.before, "after": ended.after}
        log.warning("unit_changed", extra=extra)
        return self.templates.end_series(ended)

    def _entering(self, record: Record, entering: Container[str]) -> Iterator[BoundUpdate]:
        if self._iri(record) in entering:
            yield from self.templates.entering(record)

    def _advance(self, position: Position) -> BoundUpdate:
        """ADVANCE with its terms."""
        before, after = self._applied, self._state(position)
        self._applied = after
        bound: dict[str, Term] = {"gateway": self._node, "position": after.object}
        if before is not None:
            bound["before"] = before.object
        return UpdatePlan(ADVANCE, (Replacement(before, after),), kinds=_CHANGED), bound

    def _state(self, position: Position) -> Quad:
        return Quad(self._node, _APPLIED, Literal(str(position)), STATE_GRAPH)

    def _iri(self, record: Record) -> str:
        return self.identity.observation(record.position)

    def _kept(self, record: Record) -> Kept:
        time, position = result_time(record), record.position
        order, is_ours = (position.epoch, position.sequence), time is record.ingested_at
        unit = unit_in_graph(record.observation)
        return Kept(time, order, self._iri(record), unit, is_ours)
