"""`Rehearsal`: the last messages through the mappings of now and through others, side by side.

A copy of the way of the data, from the adapters to the answers of standing queries, in a process of
its own (process.py): nothing of the running gateway is touched, and it waits for nothing. Each side
has its own memory, and its own store in memory, filled with a copy of what the gateway's has
without the observations that these messages gave. Observations of one message that are about the
same have one identity on both sides, so what differs is the mappings' doing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import monotonic

from pyoxigraph import DefaultGraph, Quad, RdfFormat, parse

from adapters.registry import Registry
from adapters.values.fault import Fault
from adapters.values.mapping import Mapping as Decoding
from adapters.values.memory import Memory
from adapters.values.message import Message
from adapters.values.observation import Observation
from adapters.values.repetition import LastResults
from gateway.actuation.rules import Rule
from gateway.admin.onboarding.trial import EPOCH, Writing, written
from gateway.admin.rehearsal.commands import Commands
from gateway.admin.rehearsal.pairs import pairs_of
from gateway.admin.rehearsal.report import AnswerHistory, Differences, Members, answers_differ
from gateway.engine import (
    Dataset,
    Engine,
    Limits,
    Reasoning,
    SubscribeRequest,
    UpdateRequest,
)
from gateway.engine.limits import UNLIMITED
from gateway.errors import GatewayError
from gateway.ingest.current_state import CurrentState
from gateway.ingest.duplicates import Duplicates, Novelty
from gateway.ingest.plausibility import Plausibility
from gateway.ingest.recovery import Recovery
from gateway.ingest.silence import Absences, AbsenceTemplates
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Position, Record
from gateway.profiles import Profiles
from gateway.rdf.delta import Delta


@dataclass(frozen=True, slots=True)
class Asked:
    """A standing query, its dataset, and whether it is about what follows too."""

    text: str
    dataset: Dataset | None = None
    infer: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """All that a rehearsal needs; it can be pickled.

    `quads` are those of the store as N-Quads, None where there are too many; `gave` are the IRIs of
    the observations that the messages gave; `limits` those of a first answer. `reasoning` is the
    gateway's, `axioms` the quads that it reasons by, as N-Quads.
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
    limits: Limits = UNLIMITED
    rules: tuple[Rule, ...] = ()
    reasoning: Reasoning | None = None
    axioms: bytes = b""


class _Side:
    """The way of the data with one set of mappings."""

    def __init__(self, script: Script, mappings: Sequence[Decoding]) -> None:
        memory = Memory()
        self.registry, _ = Registry.compile(mappings, memory)
        self.templates = ObservationTemplates(script.profiles, script.identity)
        self.writing = Writing(self.templates, script.future)
        self.answers: dict[int, AnswerHistory] = {}
        self.refused: dict[int, str] = {}
        self._repeated = memory.of(LastResults)
        self._plausibility = Plausibility()
        self._duplicates = Duplicates()
        self._current_state = CurrentState(self.templates, script.identity, script.latest)
        reasoning = script.reasoning and replace(script.reasoning, at_once=False)
        self._engine = Engine.open(limits=script.limits, reasoning=reasoning)
        self.commands = Commands()
        self._spuids: dict[str, int] = {}
        self._rules: dict[str, Rule] = {}
        self._fill(script, memory)

    def hear(self, message: Message) -> tuple[list[Observation], tuple[Fault, ...]]:
        """The observations that ingest would take, and the faults."""
        decoded = self.registry.decode(message)
        new, faults = [], list(decoded.faults)
        for seen in decoded.observations:
            if seen.circumstances.seed and self._current_state.knows(seen.stream):
                continue
            heard = message.received_at
            fault = self._plausibility.fault(seen, seen.phenomenon_time or heard, heard)
            if fault is not None:
                faults.append(fault)
                self._repeated.refuse(seen)
            elif self._duplicates.judge(seen, message) is Novelty.KNOWN:
                self._repeated.refuse(seen)
            else:
                new.append(seen)
        return new, tuple(faults)

    def write(self, records: Sequence[Record], message: Message) -> None:
        """As the gateway would, retention included."""
        if not records:
            return
        updates = self._current_state.request(records).updates
        outcome = self._engine.update(UpdateRequest(updates, is_deferred=True))
        for notification in outcome.notifications:
            rule = self._rules.get(notification.spuid)
            if rule is not None:
                self.commands.take(rule, notification, message)
            else:
                self.answers[self._spuids[notification.spuid]].take(notification)

    def follow(self, rule: Rule) -> None:
        """Have a rule say what it would send; what the engine refuses is told."""
        if rule.over.windows or rule.over.gateways is not None:
            beside = "windows" if rule.over.windows else "several gateways"
            self.commands.errors[rule.iri] = f"a rule over {beside} is not rehearsed"
            return
        try:
            first = self._engine.subscribe(rule.request())
        except GatewayError as error:
            self.commands.errors[rule.iri] = str(error)
            return
        self._rules[first.spuid] = rule
        self.commands.take(rule, first, None)

    def ask(self, number: int, query: Asked) -> None:
        """Subscribe; what the engine refuses is told."""
        try:
            first = self._engine.subscribe(
                SubscribeRequest(query.text, query.dataset, infer=query.infer)
            )
        except GatewayError as error:
            self.refused[number] = str(error)
            return
        self._spuids[first.spuid] = number
        self.answers[number] = AnswerHistory()
        self.answers[number].take(first)

    def _fill(self, script: Script, memory: Memory) -> None:
        engine, profiles = self._engine, script.profiles
        if script.quads is not None:
            copied = tuple(dict.fromkeys((*_parsed(script.quads), *_parsed(script.axioms))))
            names = dict.fromkeys(quad.graph_name for quad in copied)
            named = tuple(name for name in names if not isinstance(name, DefaultGraph))
            engine.store.apply(Delta(copied, graphs_created=named))
            engine.update([self.templates.forget(iri) for iri in script.gave])
        if engine.view is not None:
            engine.start_reasoning()
        absences = Absences(AbsenceTemplates(profiles, script.identity))
        recovery = Recovery(self._current_state, absences, self._plausibility, memory)
        recovery.of_store(engine, profiles.query_text, datetime.now(UTC))
        self._plausibility.learn(engine.subscribe(profiles.query_text("CAPABILITIES")))


def _parsed(quads: bytes) -> Iterable[Quad]:
    return parse(quads, format=RdfFormat.N_QUADS)


def rehearse(script: Script) -> Members:
    """What would differ, as JSON has it; as many messages as `time_s` is long enough for."""
    end = monotonic() + script.time_s
    old, new = _Side(script, script.old), _Side(script, script.new)
    for number, query in enumerate(script.queries if script.quads is not None else ()):
        old.ask(number, query)
        new.ask(number, query)
    for rule in script.rules if script.quads is not None else ():
        new.follow(rule)
    seen, sequence, rehearsed = Differences(), 1, 0
    for message in script.messages:
        if monotonic() > end:
            break
        sequence = _play(message, old, new, seen, sequence)
        rehearsed += 1
    return {
        "messages": rehearsed,
        "kept": len(script.messages),
        **seen.members(),
        **new.commands.members(script.rules),
        "subscriptions": [
            _query_differences(query, old, new, number)
            for number, query in enumerate(script.queries)
            if script.quads is not None
        ],
    }


def _play(message: Message, old: _Side, new: _Side, seen: Differences, sequence: int) -> int:
    """One message through both; the next free sequence."""
    before, faults_before = old.hear(message)
    after, faults_after = new.hear(message)
    seen.compare_faults(message, faults_before, faults_after)
    pairs = list(pairs_of(before, after))
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
            seen.compare(message, pair, triples)
    old.write(sides[0], message)
    new.write(sides[1], message)
    return sequence + len(pairs)


def _record(
    seen: Observation | None, message: Message, base: int, place: int, writing: Writing
) -> Record | None:
    if seen is None:
        return None
    (record,) = writing.records([seen], message, base)
    return replace(record, position=Position(EPOCH, base + place))


def _triples(record: Record | None, writing: Writing) -> set[Quad]:
    return set() if record is None else set(written(writing.updates([record])))


def _query_differences(query: Asked, old: _Side, new: _Side, number: int) -> Members:
    refused = old.refused.get(number) or new.refused.get(number)
    if refused:
        return {"query": query.text, "error": refused}
    return answers_differ(query.text, old.answers[number], new.answers[number])
