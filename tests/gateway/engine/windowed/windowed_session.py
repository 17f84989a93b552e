"""An engine with subscribers over windows, checked after every step.

Place: under the oracle tests of windows. What each is told is compared with evaluating its query
again, over a store in which its windows are named graphs; what the windows contain is the business
of tests/gateway/windows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Quad, QueryBoolean, QuerySolutions, Store, Triple

from gateway.engine import Engine, Notification, Outcome
from gateway.engine.request import SubscribeRequest
from gateway.engine.spu import Subject
from gateway.engine.windowed.hidden_graphs import without_graphs
from gateway.errors import GatewayError, WindowError
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import SolutionBag
from gateway.sparql.order.tie_break import with_tie_break
from gateway.sparql.parser import parse_query
from gateway.store.quad_store import QuadStore
from gateway.windows.window import Window
from tests.gateway.engine.engine_session import MOST_QUADS, bag


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Subscribe to the query with this number, over the windows with this one."""

    query: int
    windows: int
    output: str = "changes"
    dataset: Dataset | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Give up the subscription in this place, counted around."""

    place: int


@dataclass(frozen=True, slots=True)
class Update:
    """An UPDATE of the store."""

    text: str


@dataclass(frozen=True, slots=True)
class Push:
    """An element; its time is so many µs before the clock, None is the clock's."""

    stream: str
    triples: tuple[Triple, ...]
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Pass:
    """Time goes on, and is looked at."""

    by: int


Step = Subscribe | Unsubscribe | Update | Push | Pass


@dataclass(slots=True)
class Hand:
    """A clock that is moved by hand."""

    time: int = 1_000_000_000_000_000

    def __call__(self) -> int:
        return self.time


@dataclass(slots=True)
class Subscriber:
    """A subscription, and its answer at the last step."""

    subject: Subject
    answer: SolutionBag
    sequence: int = 0

    def expected(self, answer: SolutionBag) -> tuple[SolutionBag, SolutionBag]:
        """What it is to be told when this is the answer, but where that is the whole one."""
        added, removed = answer - self.answer, self.answer - answer
        match self.subject.output:
            case "added":
                return added, Counter()
            case "removed":
                return Counter(), removed
            case "whole":
                return (answer if added or removed else Counter()), Counter()
        return added, removed


@dataclass(slots=True)
class Session:
    """Plays steps on an engine whose clock is `clock`."""

    engine: Engine
    clock: Hand
    texts: Sequence[str]
    declared: Sequence[Mapping[str, Window]]
    subscribers: dict[str, Subscriber] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        """Do it, and compare what everybody was told."""
        match step:
            case Subscribe():
                self._subscribe(step)
            case Unsubscribe() if self.subscribers:
                spuid = list(self.subscribers)[step.place % len(self.subscribers)]
                del self.subscribers[spuid]
                self.engine.unsubscribe(spuid)
            case Update() if len(self.engine.store) <= MOST_QUADS:
                try:
                    self._compare(self.engine.update(step.text))
                except GatewayError:
                    return
            case Push():
                time = None if step.before is None else self.clock.time - step.before
                self._compare(self.engine.push(step.stream, step.triples, time))
            case Pass():
                self.clock.time += step.by
                self._compare(self.engine.advance())
        assert self.engine.statistics.failures == 0

    def _subscribe(self, step: Subscribe) -> None:
        windows = tuple(sorted(self.declared[step.windows % len(self.declared)].items()))
        text = self.texts[step.query % len(self.texts)]
        request = SubscribeRequest(text, step.dataset, windows=windows, output=step.output)
        self._compare(self.engine.advance())
        try:
            first = self.engine.subscribe(request)
        except WindowError:
            assert any(self.engine.store.contains_graph(NamedNode(iri)) for iri, _ in windows)
            return
        subject = Subject(text, step.dataset, windows=windows, output=step.output)
        assert first.sequence == 0
        assert first.windows is not None
        assert first.windows.keys() == {iri for iri, _ in windows}
        assert not first.results.removed
        answer = self._answer(first.spuid, subject)
        assert bag(subject, first.results.added) == answer, subject
        self.subscribers[first.spuid] = Subscriber(subject, answer)

    def _compare(self, outcome: Outcome) -> None:
        told = {each.spuid: each for each in outcome.notifications}
        assert len(told) == len(outcome.notifications), "two notifications of one step"
        for spuid, subscriber in self.subscribers.items():
            answer = self._answer(spuid, subscriber.subject)
            self._check(subscriber, told.pop(spuid, None), answer)
            subscriber.answer = answer
        assert not told

    def _check(
        self, subscriber: Subscriber, told: Notification | None, answer: SolutionBag
    ) -> None:
        subject = subscriber.subject
        if "SAMPLE(" in subject.text or "GROUP_CONCAT(" in subject.text:
            subscriber.sequence += told is not None  # what it says is the store's choice each time
            return
        added, removed = subscriber.expected(answer)
        if told is None:
            is_whole = subject.output == "whole" and answer != subscriber.answer
            is_due = added or removed or is_whole
            assert not is_due, subject
            return
        subscriber.sequence += 1
        assert told.sequence == subscriber.sequence
        if subject.output == "whole" and not added:
            added = answer
        assert bag(subject, told.results.added) == added, subject
        assert bag(subject, told.results.removed) == removed, subject
        assert added or removed or subject.output == "whole", "a notification of nothing"

    def _answer(self, spuid: str, subject: Subject) -> SolutionBag:
        """The query over a store that has the windows of now."""
        names = [NamedNode(iri) for iri, _ in subject.windows]
        store = self.engine.store
        quads = [q for q in store.match(None, None, None, None) if q.graph_name not in names]
        contents = self.engine.windowed.contents_of(spuid)
        for node, content in contents.items():
            quads += [Quad(t.subject, t.predicate, t.object, node) for t in content]
        both = QuadStore(Store())
        both.load(quads, [*store.named_graphs(), *names])
        both.clock = store.clock
        text = subject.text
        if subject.dataset is None and parse_query(text).dataset is None:
            text = without_graphs(text, names)
        results = both.query(with_tie_break(text), subject.dataset)
        if isinstance(results, QuerySolutions):
            return bag(subject, (tuple(row) for row in results))
        if isinstance(results, QueryBoolean):
            return Counter([()] if results else [])
        return bag(subject, {(t.subject, t.predicate, t.object) for t in results})


def play(
    quads: Sequence[Quad],
    texts: Sequence[str],
    declared: Sequence[Mapping[str, Window]],
    steps: Sequence[Step],
    *,
    oracle: bool = False,
    workers: int = 0,
) -> None:
    """Play the steps on an engine that begins with these quads."""
    clock = Hand()
    engine = Engine.open(clock=clock, oracle=oracle, workers=workers)
    named = dict.fromkeys(q.graph_name for q in quads if isinstance(q.graph_name, NamedNode))
    engine.store.apply(Delta(added=tuple(quads), graphs_created=tuple(named)))
    session = Session(engine, clock, texts, declared)
    for step in steps:
        session.take(step)
    for spuid in list(session.subscribers):
        engine.unsubscribe(spuid)
    assert engine.windowed.is_idle
    assert engine.windowed.streams.is_idle
    assert not any(engine.statistics.spus.values())
    engine.close()
