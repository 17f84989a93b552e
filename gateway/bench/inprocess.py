"""The yardsticks of ingest: the same work in one thread without MQTT, and the bare store.

Place on the way of the data: adapter, journal, templates, engine and wire are called one after
another and timed apart, so that it is seen where the time goes. The bare store gets the same
UPDATE requests as text by `Store.update`, as somebody without a gateway would do it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import cast

from pyoxigraph import BlankNode, Literal, NamedNode, QuerySolutions, Store, Triple

from adapters.message import Message
from adapters.observation import Observation
from adapters.registry import Registry
from gateway.bench.service import service_config
from gateway.bench.workload import LATEST_QUERY, Workload, subscriptions
from gateway.engine.engine import Engine
from gateway.gates.wire import NotificationEncoder
from gateway.journal import Journal, Position, Record
from gateway.mappings import MappingTable
from gateway.profiles import Profiles
from gateway.sosa import (
    Identity,
    ObservationTemplates,
    applied_bindings,
    applied_plan,
    result_time,
)
from gateway.store.quad_store import QueryResults
from gateway.store.retention import Kept, Retention
from gateway.store.templates import Bindings
from gateway.store.update import BoundUpdate
from jsap.template import Template

GROUP = 256
"""Readings that share an fsync, as many as ingest takes at once."""

Request = Sequence[BoundUpdate]
Bound = NamedNode | BlankNode | Literal


@dataclass(slots=True)
class Timing:
    """Wall and CPU time in s, the wall time also by stage."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    stages_s: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what is done in the context for a stage."""
        started, cpu_s = perf_counter(), process_time()
        yield
        wall_s = perf_counter() - started
        self.wall_s += wall_s
        self.cpu_s += process_time() - cpu_s
        self.stages_s[name] = self.stages_s.get(name, 0.0) + wall_s


class Loop:
    """The parts of a gateway without its gates and threads; `requests` are those it has run."""

    def __init__(self, folder: Path, engine: Engine, journal: Journal) -> None:
        config = service_config(folder, None)
        self.profiles = Profiles.load(config.jsap.profiles)
        self.requests: list[Request] = []
        self.timing = Timing()
        self._identity = Identity(config.gateway.base_iri, config.gateway.id)
        self._templates = ObservationTemplates(self.profiles, self._identity)
        self._applied = applied_plan()
        self._retention = Retention(config.store.latest)
        self._engine = engine
        self._journal = journal
        self._encoder = NotificationEncoder()
        engine.store.apply(self.profiles.mappings_delta(engine.store, self._identity.node))
        self._registry = self._learn_mappings()
        for alias, text in subscriptions().items():
            engine.subscribe(text, alias=alias)

    def run(self, workload: Workload) -> None:
        """Take in every reading, in groups as ingest does."""
        messages = (workload.publication(index) for index in range(workload.readings))
        while group := list(islice(messages, GROUP)):
            with self.timing.stage("adapter"):
                decoded = [self._decode(each.topic, each.payload) for each in group]
            with self.timing.stage("journal"):
                records = [self._record(*each) for each in decoded]
                self._journal.append(records)
                self._journal.sync()
            with self.timing.stage("templates"):
                requests = [self._request(record) for record in records]
            with self.timing.stage("engine"):
                outcomes = [self._engine.update(request) for request in requests]
            with self.timing.stage("wire"):
                for outcome in outcomes:
                    for notification in outcome.notifications:
                        self._encoder.encode(notification)
            self.requests += requests

    def texts(self, count: int) -> list[str]:
        """The first requests as SPARQL text, terms in place of forced bindings."""
        templates = {each.text: each for each in self.profiles.updates.values()}
        templates[self._applied.text] = Template("APPLIED", self._applied.text)
        return [
            one_text(templates[plan.text].render(_plain(terms)) for plan, terms in request)
            for request in self.requests[:count]
        ]

    def rows(self) -> Iterator[str]:
        """What the store holds in the end."""
        return result_rows(self._engine.query(LATEST_QUERY))

    def _learn_mappings(self) -> Registry:
        mappings = MappingTable()
        mappings.learn(self._engine.subscribe(self.profiles.query_text("MAPPINGS")))
        return mappings.registry

    def _decode(self, topic: str, payload: bytes) -> tuple[Message, Observation]:
        message = Message(topic, payload, datetime.now(UTC), qos=1)
        (observation,) = self._registry.decode(message).observations
        return message, observation

    def _record(self, message: Message, observation: Observation) -> Record:
        position = self._journal.next_position()
        return Record(position, position.sequence, observation, message.received_at)

    def _request(self, record: Record) -> Request:
        arriving = (record.observation.stream, self._kept(record))
        _, leaving = self._retention.admit([arriving])
        return [
            *(self._templates.forget(iri) for iri in leaving),
            self._templates.observe(record),
            (self._applied, applied_bindings(self._identity, record.position)),
        ]

    def _kept(self, record: Record) -> Kept:
        position: Position = record.position
        order = (position.epoch, position.sequence)
        return Kept(result_time(record), order, self._identity.observation(position))


@contextmanager
def open_loop(folder: Path) -> Iterator[Loop]:
    """A loop with its store on disk and its journal fsynced."""
    engine = Engine.open(folder / "store")
    with Journal(folder / "journal", fsync=True) as journal:
        yield Loop(folder, engine, journal)
    engine.close()


def _plain(terms: Bindings) -> dict[str, Bound]:
    """No template binds a triple term."""
    return {name: term for name, term in terms.items() if not isinstance(term, Triple)}


def one_text(texts: Iterable[str]) -> str:
    """Several requests as one, prefixes first: pyoxigraph refuses a PREFIX after a `;`."""
    lines = [line for text in texts for line in [*text.splitlines(), ";"]]
    prefixes = dict.fromkeys(line for line in lines if line.startswith("PREFIX "))
    return "\n".join([*prefixes, *(line for line in lines if line not in prefixes)])


def run_bare(store: Store, texts: Sequence[str], warm: int) -> Timing:
    """The requests by `Store.update`; the first `warm` of them are not timed."""
    timing = Timing()
    for text in texts[:warm]:
        store.update(text)
    with timing.stage("Store.update"):
        for text in texts[warm:]:
            store.update(text)
    return timing


def result_rows(answer: QueryResults) -> Iterator[str]:
    """`sensor result` of an answer to LATEST_QUERY."""
    for row in cast(QuerySolutions, answer):
        yield f"{row['sensor'].value} {row['result'].value}"
