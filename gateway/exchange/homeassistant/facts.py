"""`Facts`: what the graph says of streams, sensors and devices, read with the publisher's rights.

Place: between the store and `description`. Read as a whole, in some queries whose answers are
bounded by what is announced; who reads again follows the graph.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode

from adapters.values.observation import StreamKey
from gateway.engine.request import QueryRequest
from gateway.ingest.labels import Query, Row, labels_of, rows_of, said_of
from gateway.ingest.sosa import told_unit
from gateway.rdf.namespaces import GW, RDFS, SOSA
from gateway.rdf.rights import Rights
from gateway.rdf.terms import Term

_ABSENT = (
    f"SELECT ?sensor ?property ?feature {{ ?stream <{GW}absentSince> ?since ; "
    f"<{GW}ofSensor> ?sensor ; <{GW}ofProperty> ?property ; <{GW}ofFeature> ?feature }}"
)

FOLLOWED = tuple(
    f"SELECT ?s ?o {{ ?s <{predicate}> ?o }}"
    for predicate in (
        RDFS + "label",
        SOSA + "observes",
        SOSA + "isHostedBy",
        GW + "sensorClass",
        GW + "absentSince",
    )
)
"""When an answer changes, facts may have: what no reading changes, so that none pays for it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest value of a stream in the graph, with its unit (QUDT IRI)."""

    value: Literal
    unit: str | None
    time: datetime


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels, the platforms that host sensors and the classes of sensors, by IRI."""

    streams: Mapping[StreamKey, Seen] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    platforms: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[StreamKey] = frozenset()


@dataclass(frozen=True, slots=True)
class Asked:
    """What is read: by which `query`, with which rights, of which streams and things.

    `streams` is the text of the profiles' query STREAMS; of what is not `wanted` nothing is told.
    Labels are read of the things `also` too.
    """

    query: Query
    streams: str
    rights: Rights
    wanted: Callable[[StreamKey], bool] = lambda _: True
    also: frozenset[str] = frozenset()

    def rows(self, text: str) -> Iterator[Row]:
        """The answer to a SELECT. Raises a GatewayError."""
        return rows_of(self.query(QueryRequest(text, rights=self.rights)))


def facts_of(asked: Asked) -> Facts:
    """What the graph says; linear in the streams. Raises a GatewayError."""
    rows, also = asked.rows, asked.also

    seen = _streams(rows(asked.streams), asked.wanted)
    sensors = sorted({stream[0] for stream in seen} | set(also))
    platforms = dict(_pairs(rows, sensors, SOSA + "isHostedBy"))
    classes = dict(_pairs(rows, sensors, GW + "sensorClass"))
    named = {iri for stream in seen for iri in stream}
    named |= {*platforms.values(), *classes.values(), *also}
    absent = frozenset(filter(None, (_stream(row) for row in rows(_ABSENT))))
    return Facts(seen, labels_of(rows, sorted(named)), platforms, classes, absent)


def _streams(rows: Iterable[Row], wanted: Callable[[StreamKey], bool]) -> Mapping[StreamKey, Seen]:
    """The newest observation of each; without a time that can be read there is none."""
    found: dict[StreamKey, Seen] = {}
    for row in rows:
        stream, value, unit = _stream(row), row.get("result"), row.get("unit")
        time = _time(row.get("phenomenonStamp"))
        if stream is None or time is None or not isinstance(value, Literal) or not wanted(stream):
            continue
        known = found.get(stream)
        if known is None or known.time < time:
            told = unit.value if isinstance(unit, NamedNode) else None
            found[stream] = Seen(value, told_unit(told), time)
    return found


def _stream(row: Row) -> StreamKey | None:
    parts = [row.get(name) for name in ("sensor", "property", "feature")]
    iris = [part.value for part in parts if isinstance(part, NamedNode)]
    return (iris[0], iris[1], iris[2]) if len(iris) == 3 else None


def _time(stamp: Term | None) -> datetime | None:
    try:
        told = datetime.fromisoformat(stamp.value) if isinstance(stamp, Literal) else None
        return None if told is None else told.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _pairs(
    rows: Callable[[str], Iterator[Row]], subjects: Sequence[str], predicate: str
) -> Iterator[tuple[str, str]]:
    """What subjects have by a predicate; of several IRIs the first by order."""
    for subject, term in sorted(said_of(rows, subjects, predicate), key=_reverse, reverse=True):
        if isinstance(term, NamedNode):
            yield subject, term.value


def _reverse(said: tuple[str, NamedNode | Literal]) -> tuple[str, str]:
    return said[0], said[1].value
