"""The yardsticks of ingest: the same work in one thread without MQTT, and the bare store.

Place on the way of the data: inbox -> adapter -> journal -> engine -> wire, the gateway's own
ingest with a scheduler that executes at once; its parts are timed apart, so that it is seen where
the time goes. The bare store gets the same UPDATE requests as text by `Store.update`, as somebody
without a gateway would do it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time
from typing import cast

from pyoxigraph import BlankNode, Literal, NamedNode, QuerySolutions, Store, Triple

from adapters.values.message import Message
from bench.readings.service import service_config
from bench.readings.workload import LATEST_QUERY, Workload, subscriptions
from gateway.engine import Engine
from gateway.gates.protocol.wire import NotificationEncoder
from gateway.ingest.current_state import CurrentState
from gateway.ingest.inbox import Delivery, Inbox
from gateway.ingest.ingest import Ingest
from gateway.ingest.kept_messages import KeptMessages
from gateway.ingest.mappings import MappingTable
from gateway.ingest.observation_filter import ObservationFilter
from gateway.ingest.plausibility import Plausibility
from gateway.ingest.quarantine import Quarantine
from gateway.ingest.raw_messages import RawMessage, RawMessages
from gateway.ingest.silence import Absences, AbsenceTemplates
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Journal
from gateway.profiles import Profiles
from gateway.scheduler.scheduler import Scheduler, Submission
from gateway.store.quad_store import QueryResults
from gateway.store.templates import Bindings
from gateway.store.update import BoundUpdate
from jsap.template import Template

Request = Sequence[BoundUpdate]
Bound = NamedNode | BlankNode | Literal


@dataclass(slots=True)
class Timing:
    """Wall and CPU time in s of the whole; wall time also of stages within it."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    stages_s: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Count what is done in the context; what no stage takes is the stage `ingest`."""
        started, cpu_s = perf_counter(), process_time()
        yield
        self.cpu_s += process_time() - cpu_s
        self.wall_s += perf_counter() - started
        self.stages_s["ingest"] = self.wall_s - sum(self.stages_s.values())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what is done in the context for a stage."""
        started = perf_counter()
        yield
        self.stages_s[name] = self.stages_s.get(name, 0.0) + perf_counter() - started


class TimedJournal(Journal):
    """A journal that says what its fsyncs take."""

    timing: Timing

    def sync(self) -> None:
        """Make what was appended durable, and take the time of it."""
        with self.timing.stage("journal"):
            super().sync()


class InlineScheduler(Scheduler):
    """Executes what ingest submits at once, in its thread; `requests` are those of the first."""

    def __init__(self, engine: Engine, timing: Timing, keep: int) -> None:
        super().__init__(engine)
        self.requests: list[Request] = []
        self._timing = timing
        self._keep = keep
        self._encoder = NotificationEncoder()

    def submit(self, submissions: Sequence[Submission]) -> None:
        """Execute them; none of the workload is refused."""
        for submission in submissions:
            request = submission.updates
            with self._timing.stage("engine"):
                outcome = self.engine.update(request, deferred=True)
            with self._timing.stage("wire"):
                for notification in outcome.notifications:
                    self._encoder.encode(notification)
            if len(self.requests) < self._keep:
                self.requests.append(request)
            submission.done(outcome, outcome)


@dataclass(frozen=True, slots=True)
class Looped:
    """What the loop took and did: the first requests, also as text; the store's rows after all.

    What the readings make begins with `namespace`.
    """

    timing: Timing
    requests: list[Request]
    texts: list[str]
    rows: list[str]
    namespace: NamedNode


def run_loop(folder: Path, workload: Workload, keep: int) -> Looped:
    """Ingest every reading in this thread; store on disk, journal with fsync."""
    timing = Timing()
    config = service_config(folder, None)
    profiles = Profiles.load(config.jsap.profiles)
    engine = Engine.open(folder / "store")
    scheduler = InlineScheduler(engine, timing, keep)
    with TimedJournal(folder / "journal") as journal:
        journal.timing = timing
        identity = Identity(config.gateway.base_iri, config.gateway.id)
        engine.store.apply(profiles.mappings_delta(engine.store, identity.node))
        mappings = MappingTable()
        mappings.learn(engine.subscribe(profiles.query_text("MAPPINGS")))
        state = CurrentState(ObservationTemplates(profiles, identity), identity, latest=1)
        kept = KeptMessages(Quarantine(folder))
        ingest = Ingest(
            _full_inbox(workload),
            scheduler,
            journal,
            mappings=mappings,
            current_state=state,
            absences=Absences(AbsenceTemplates(profiles, identity)),
            observation_filter=ObservationFilter(
                Plausibility(), state, mappings.memory, future=timedelta(days=1)
            ),
            kept=kept,
        )
        ingest.recover(profiles.query_text)
        for text in subscriptions().values():
            engine.subscribe(text)
        with timing.whole():
            ingest.run()
        timing.stages_s["ring, CPU"] = _ring_cpu_s(kept.raw.all()) * workload.readings
        namespace = identity.fresh_namespace(journal.epoch)
    rows = list(result_rows(engine.query(LATEST_QUERY)))
    engine.close()
    texts = request_texts(profiles, scheduler.requests)
    return Looped(timing, scheduler.requests, texts, rows, namespace)


def _ring_cpu_s(kept: Sequence[RawMessage]) -> float:
    """What keeping one raw message takes, measured apart: it is less than a clock's two calls."""
    ring, started = RawMessages(), process_time()
    for raw in kept:
        ring.add(raw.message, raw.mappings, ())
    return (process_time() - started) / max(1, len(kept))


def run_bare(store: Store, texts: Sequence[str], warm: int) -> Timing:
    """The requests by `Store.update`; the first `warm` of them are not timed."""
    timing = Timing()
    for text in texts[:warm]:
        store.update(text)
    with timing.whole():
        for text in texts[warm:]:
            store.update(text)
    return timing


def result_rows(answer: QueryResults) -> Iterator[str]:
    """`sensor result` of an answer to LATEST_QUERY."""
    for row in cast(QuerySolutions, answer):
        yield f"{row['sensor'].value} {row['result'].value}"


def one_text(texts: Iterable[str]) -> str:
    """Several requests as one, prefixes first: pyoxigraph refuses a PREFIX after a `;`."""
    lines = [line for text in texts for line in [*text.splitlines(), ";"]]
    prefixes = dict.fromkeys(line for line in lines if line.startswith("PREFIX "))
    return "\n".join([*prefixes, *(line for line in lines if line not in prefixes)])


def _full_inbox(workload: Workload) -> Inbox:
    """All readings, and nothing after them."""
    inbox = Inbox(workload.readings)
    for index in range(workload.readings):
        sent = workload.publication(index)
        message = Message(sent.topic, sent.payload, datetime.now(UTC), qos=1)
        inbox.offer([Delivery(message, _settled)])
    inbox.close()
    return inbox


def _settled(error: Exception | None) -> None:
    if error is not None:
        raise error


def request_texts(profiles: Profiles, requests: Iterable[Request]) -> list[str]:
    """The request as SPARQL, terms in place of forced bindings; ours have no template."""
    templates = {each.text: each for each in profiles.updates.values()}
    return [
        one_text(
            (templates.get(plan.text) or Template("own", plan.text)).render(_plain(terms))
            for plan, terms in request
        )
        for request in requests
    ]


def _plain(terms: Bindings) -> dict[str, Bound]:
    """No template binds a triple term."""
    return {name: term for name, term in terms.items() if not isinstance(term, Triple)}
