"""`Recovery`: what an earlier life of the gateway knew, told by its store at start.

Retention, series and absences, the last result of each stream (a cached value sent again after the
restart is no observation, an impossible jump is still one) and its unit are read from the store;
there is no second file that could say otherwise.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import inf

from pyoxigraph import Literal, NamedNode, QuerySolutions

from adapters.values.earlier_streams import EarlierStreams
from adapters.values.memory import Memory
from adapters.values.observation import Observation, StreamKey, TimeSource
from adapters.values.repetition import LastResults
from adapters.values.series import SeriesUnits
from gateway.engine import Engine
from gateway.errors import ConfigurationError
from gateway.ingest.current_state import CurrentState
from gateway.ingest.plausibility import Plausibility
from gateway.ingest.silence import Absences
from gateway.ingest.sosa import result_time, told_unit
from gateway.journal import Position, Record
from gateway.rdf.namespaces import GW

_OUR_CLOCK = NamedNode(f"{GW}{TimeSource.GATEWAY.value}")

Row = Mapping[str, Literal | NamedNode]


class Recovery:
    """Fills the parts of ingest that know of earlier messages."""

    def __init__(
        self,
        current_state: CurrentState,
        absences: Absences,
        plausibility: Plausibility,
        memory: Memory,
    ) -> None:
        self._current_state = current_state
        self._absences = absences
        self._plausibility = plausibility
        self._repeated = memory.of(LastResults)
        self._units = memory.of(SeriesUnits)
        self._earlier = memory.of(EarlierStreams)

    def of_store(self, engine: Engine, query_text: Callable[[str], str], now: datetime) -> None:
        """What the store has; `query_text` gives the profiles' STREAMS, SERIES and WATCHED."""
        self._observations(select(engine, query_text("STREAMS")))
        for row in select(engine, query_text("SERIES")):
            if row.get("endedAt") is None:
                self._current_state.recall_series(_stream(row), row["unit"].value)
        for row in select(engine, query_text("WATCHED")):
            promise = row.get("expiresAfter")
            expires_after_s = None if promise is None else _seconds(promise.value)
            is_absent = row.get("absentSince") is not None
            self._absences.recall(_stream(row), expires_after_s, is_absent, now)
        applied = (
            Position.parse(row["position"].value)
            for row in select(engine, self._current_state.applied_query())
        )
        self._current_state.applied = max(applied, default=None)

    def of_record(self, record: Record) -> None:
        """What the journal had and the store had not; retention knows of it already."""
        self._earlier.recall(record.observation.stream)
        self._result(record.observation, result_time(record))

    def _observations(self, rows: Iterable[Row]) -> None:
        """All to retention, the last of each stream to who compares the next one with it."""
        last: dict[StreamKey, tuple[tuple[datetime, Position], Observation]] = {}
        for row in rows:
            stream, unit = _stream(row), row.get("unit")
            told = None if unit is None else unit.value
            stamp, result = row["phenomenonStamp"].value, row.get("result")
            is_ours = row.get("timeSource") == _OUR_CLOCK
            iri = row["observation"].value
            if not self._current_state.recall(stream, iri, stamp, told, is_ours=is_ours):
                continue
            self._earlier.recall(stream)
            position = self._current_state.identity.position(iri)
            place = datetime.fromisoformat(stamp).astimezone(UTC), position
            is_last = stream not in last or last[stream][0] < place
            if is_last and isinstance(result, Literal):
                seen = Observation(*stream, result.value, result.datatype.value, told_unit(told))
                last[stream] = place, seen
        for (time, _), seen in last.values():
            self._result(seen, time)

    def _result(self, seen: Observation, time: datetime) -> None:
        self._plausibility.recall(seen, time)
        self._repeated.remember(seen)
        if seen.unit is not None:
            self._units.recall(seen.stream, seen.unit)


def select(engine: Engine, text: str) -> Iterator[Row]:
    """The rows of a SELECT whose columns are IRIs and literals, or unbound and left out."""
    rows = engine.query(text)
    if not isinstance(rows, QuerySolutions):
        raise ConfigurationError(f"this must be a SELECT: {text}", "correct the JSAP profile")
    names = [variable.value for variable in rows.variables]
    for row in rows:
        yield {name: term for name, term in zip(names, row, strict=True) if term is not None}


def _stream(row: Row) -> StreamKey:
    return (row["sensor"].value, row["property"].value, row["feature"].value)


def _seconds(lexical: str) -> float | None:
    """Somebody may have written into the store what is no promise."""
    try:
        seconds = float(lexical)
    except ValueError:
        return None
    return seconds if 0 < seconds < inf else None
