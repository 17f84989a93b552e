"""`Rehearsal`: the last messages through the mappings of now and through others, side by side.

Place on the way of the data: a copy of it, from the adapters to the answers of standing queries, in
a process of its own (`rehearsal_process`): nothing of the running gateway is touched, and it waits
for nothing. Each side has its own memory, and its own store in memory, filled with a copy of what
the gateway's has without the observations that these messages gave. Observations of one message
that are about the same have one identity on both sides, so what differs is the mappings' doing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import product, zip_longest
from time import monotonic
from typing import Any

from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from adapters.fault import Fault
from adapters.mapping import Mapping as Decoding
from adapters.memory import Memory
from adapters.message import Message
from adapters.observation import Observation
from adapters.registry import Registry
from adapters.repetition import LastResults
from gateway.absence import Absences, AbsenceTemplates
from gateway.duplicates import Duplicates
from gateway.engine import Engine, Notification
from gateway.errors import GatewayError
from gateway.journal import Position, Record
from gateway.onboarding.trial import EPOCH, Writing, written
from gateway.plausibility import Plausibility
from gateway.present import Present
from gateway.profiles import Profiles
from gateway.rdf.delta import quads_delta
from gateway.rdf.solutions import Row
from gateway.recollection import Recollection
from gateway.sosa import Identity, ObservationTemplates

MOST = 200
"""Differences of each kind that are told one by one; all are counted."""

_MOST_COMPARED = 10_000

Members = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A standing query and its dataset, graphs as IRIs."""

    text: str
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """All that a rehearsal needs; it can be pickled.

    `quads` are those of the store as N-Quads, None where there are too many; `gave` are the IRIs of
    the observations that the messages gave.
    """

    messages: tuple[Message, ...]
    old: tuple[Decoding, ...]
    new: tuple[Decoding, ...]
    profiles: Profiles
    identity: Identity
    future: timedelta
    latest: int
    queries: tuple[Asked, ...] = ()
    quads: bytes | None = None
    gave: tuple[str, ...] = ()
    time_s: float = 20.0


class _Answer:
    """The answer to a query on one side, and every row that it was told of."""

    def __init__(self) -> None:
        self.variables: tuple[str, ...] = ()
        self.rows: Counter[Row] = Counter()
        self.told: Counter[Row] = Counter()

    def take(self, notification: Notification) -> None:
        """In order of its notifications."""
        results = notification.results
        self.variables = results.variables
        self.rows.update(results.added)
        self.rows.subtract(results.removed)
        if notification.sequence:
            self.told.update(results.added)


class _Side:
    """The way of the data with one set of mappings."""

    def __init__(self, script: Script, mappings: Sequence[Decoding]) -> None:
        memory = Memory()
        self.registry, _ = Registry.compile(mappings, memory)
        self.templates = ObservationTemplates(script.profiles, script.identity)
        self.writing = Writing(self.templates, script.future)
        self.answers: dict[int, _Answer] = {}
        self.refused: dict[int, str] = {}
        self._repeated = memory.of(LastResults)
        self._plausibility = Plausibility()
        self._duplicates = Duplicates()
        self._present = Present(self.templates, script.identity, script.latest)
        self._engine = Engine.open()
        self._spuids: dict[str, int] = {}
        self._fill(script, memory)

    def hear(self, message: Message) -> tuple[list[Observation], tuple[Fault, ...]]:
        """The observations that ingest would take, and the faults."""
        decoded = self.registry.decode(message)
        new, faults = [], list(decoded.faults)
        for seen in decoded.observations:
            if seen.circumstances.seed and self._present.knows(seen.stream):
                continue
            fault = self._plausibility.fault(seen, seen.phenomenon_time or message.received_at)
            if fault is not None:
                faults.append(fault)
                self._repeated.refuse(seen)
            elif not self._duplicates.is_known(seen, message):
                new.append(seen)
        return new, tuple(faults)

    def write(self, records: Sequence[Record]) -> None:
        """As the gateway would, retention included."""
        if not records:
            return
        outcome = self._engine.update(self._present.request(records).updates)
        for notification in outcome.notifications:
            self.answers[self._spuids[notification.spuid]].take(notification)

    def ask(self, number: int, query: Asked) -> None:
        """Subscribe; what the engine refuses is told."""
        try:
            first = self._engine.subscribe(
                query.text,
                default_graphs=tuple(map(NamedNode, query.default_graphs)),
                named_graphs=tuple(map(NamedNode, query.named_graphs)),
            )
        except GatewayError as error:
            self.refused[number] = str(error)
            return
        self._spuids[first.spuid] = number
        self.answers[number] = _Answer()
        self.answers[number].take(first)

    def _fill(self, script: Script, memory: Memory) -> None:
        engine, profiles = self._engine, script.profiles
        if script.quads is not None:
            engine.store.apply(quads_delta(parse(script.quads, format=RdfFormat.N_QUADS)))
            engine.update([self.templates.forget(iri) for iri in script.gave])
        absences = Absences(AbsenceTemplates(profiles, script.identity))
        recollection = Recollection(self._present, absences, self._plausibility, memory)
        recollection.of_store(engine, profiles.query_text, datetime.now(UTC))
        self._plausibility.learn(engine.subscribe(profiles.query_text("CAPABILITIES")))


@dataclass(slots=True)
class _Differences:
    """Counts, and the first of each kind."""

    same: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    observations: list[Members] = field(default_factory=list)
    faults: list[Members] = field(default_factory=list)
    triples: dict[str, list[str]] = field(default_factory=lambda: {"added": [], "removed": []})


def rehearse(script: Script) -> Members:
    """What would differ, as JSON has it; as many messages as `time_s` is long enough for."""
    end = monotonic() + script.time_s
    old, new = _Side(script, script.old), _Side(script, script.new)
    for number, query in enumerate(script.queries if script.quads is not None else ()):
        old.ask(number, query)
        new.ask(number, query)
    seen, sequence, rehearsed = _Differences(), 1, 0
    for message in script.messages:
        if monotonic() > end:
            break
        sequence = _play(message, old, new, seen, sequence)
        rehearsed += 1
    return {
        "messages": rehearsed,
        "kept": len(script.messages),
        "same": seen.same,
        "counts": dict(seen.counts),
        "observations": seen.observations,
        "faults": seen.faults,
        "triples": seen.triples,
        "subscriptions": [
            _query_differences(query, old, new, number)
            for number, query in enumerate(script.queries)
            if script.quads is not None
        ],
    }


def _play(message: Message, old: _Side, new: _Side, seen: _Differences, sequence: int) -> int:
    """One message through both; the next free sequence."""
    before, faults_before = old.hear(message)
    after, faults_after = new.hear(message)
    _compare_faults(message, faults_before, faults_after, seen)
    pairs = list(_pairs(before, after))
    sides: tuple[list[Record], list[Record]] = ([], [])
    for place, pair in enumerate(pairs):
        records = [_record(each, message, sequence, place, old.writing) for each in pair]
        for records_of_side, record in zip(sides, records, strict=True):
            if record is not None:
                records_of_side.append(record)
        if pair[0] == pair[1]:
            seen.same += 1
        else:
            triples = [_triples(record, old.writing) for record in records]
            _compare(message, pair, triples, seen)
    old.write(sides[0])
    new.write(sides[1])
    return sequence + len(pairs)


def _record(
    seen: Observation | None, message: Message, base: int, place: int, writing: Writing
) -> Record | None:
    if seen is None:
        return None
    (record,) = writing.records([seen], message, base)
    return replace(record, position=Position(EPOCH, base + place))


_Pair = tuple[Observation | None, Observation | None]


def _pairs(old: Sequence[Observation], new: Sequence[Observation]) -> Iterator[_Pair]:
    """What is about the same on both sides: stream and time, else what is alike, in order."""
    same: dict[object, list[Observation]] = {}
    for seen in reversed(new):
        same.setdefault(_about(seen), []).append(seen)
    alone: list[Observation] = []
    for seen in old:
        matches = same.get(_about(seen))
        if matches:
            yield seen, matches.pop()
        else:
            alone.append(seen)
    yield from _alike(alone, [seen for matches in same.values() for seen in matches])


def _alike(old: Sequence[Observation], new: Sequence[Observation]) -> Iterator[_Pair]:
    """Those most alike first; where there are very many, in their order."""
    if len(old) * len(new) > _MOST_COMPARED:
        yield from zip_longest(old, new)
        return
    every = product(enumerate(old), enumerate(new))
    by_likeness = sorted(
        ((_likeness(one, other), -i, -j) for (i, one), (j, other) in every), reverse=True
    )
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for likeness, i, j in by_likeness:
        if likeness and -i not in pairs and -j not in taken:
            pairs[-i] = -j
            taken.add(-j)
    for i, seen in enumerate(old):
        yield seen, new[pairs[i]] if i in pairs else None
    yield from ((None, seen) for j, seen in enumerate(new) if j not in taken)


def _likeness(one: Observation, other: Observation) -> int:
    """0 where they have nothing in common that matters."""
    return (
        2 * (one.sensor == other.sensor)
        + 2 * (one.observed_property == other.observed_property)
        + 2 * (one.lexical == other.lexical)
        + (one.unit == other.unit)
    )


def _about(seen: Observation) -> object:
    return seen.stream, seen.phenomenon_time


def _compare(
    message: Message, pair: _Pair, triples: Sequence[set[Quad]], seen: _Differences
) -> None:
    before, after = pair
    kind = "removed" if after is None else "added" if before is None else "changed"
    seen.counts[f"observations_{kind}"] += 1
    told_before, told_after = _told(before), _told(after)
    fields = [name for name in _FIELDS if told_before.get(name) != told_after.get(name)]
    _keep(
        seen.observations,
        _place(message) | {"old": told_before or None, "new": told_after or None, "fields": fields},
    )
    for name, quads in (("added", triples[1] - triples[0]), ("removed", triples[0] - triples[1])):
        seen.counts[f"triples_{name}"] += len(quads)
        seen.triples[name] += map(str, list(quads)[: max(0, MOST - len(seen.triples[name]))])


def _triples(record: Record | None, writing: Writing) -> set[Quad]:
    return set() if record is None else set(written(writing.updates([record])))


def _compare_faults(
    message: Message, before: Sequence[Fault], after: Sequence[Fault], seen: _Differences
) -> None:
    for name, faults in (
        ("added", [each for each in after if each not in before]),
        ("removed", [each for each in before if each not in after]),
    ):
        for fault in faults:
            seen.counts[f"faults_{name}"] += 1
            members = {"kind": name, "reason": fault.reason.value, "detail": fault.detail}
            _keep(seen.faults, _place(message) | members | {"mapping": fault.mapping})


_FIELDS = ("sensor", "property", "feature", "result", "datatype", "unit", "time", "sequence")


def _told(seen: Observation | None) -> Members:
    if seen is None:
        return {}
    time = seen.phenomenon_time
    return {
        "sensor": seen.sensor,
        "property": seen.observed_property,
        "feature": seen.feature_of_interest,
        "result": seen.lexical,
        "datatype": seen.datatype,
        "unit": seen.unit,
        "time": None if time is None else time.isoformat(),
        "sequence": seen.device_sequence,
    }


def _place(message: Message) -> Members:
    return {"topic": message.topic, "received_at": message.received_at.isoformat()}


def _keep(listed: list[Members], members: Members) -> None:
    if len(listed) < MOST:
        listed.append(members)


def _query_differences(query: Asked, old: _Side, new: _Side, number: int) -> Members:
    """Rows of the answer at the end, and those that came and went on one side only."""
    refused = old.refused.get(number) or new.refused.get(number)
    if refused:
        return {"query": query.text, "error": refused}
    before, after = old.answers[number], new.answers[number]
    added, removed = after.rows - before.rows, before.rows - after.rows
    told = (after.told - before.told) - added, (before.told - after.told) - removed
    return {
        "query": query.text,
        "added": _rows(after.variables, added),
        "removed": _rows(before.variables, removed),
        "passing": {
            "added": _rows(after.variables, told[0]),
            "removed": _rows(before.variables, told[1]),
        },
        "counts": {"added": added.total(), "removed": removed.total()},
    }


def _rows(variables: Sequence[str], rows: Counter[Row]) -> list[Mapping[str, str]]:
    """Terms as in N-Triples; unbound ones are left out."""
    listed: Iterable[Row] = list(rows.elements())[:MOST]
    return [
        {name: str(term) for name, term in zip(variables, row, strict=True) if term is not None}
        for row in listed
    ]
