"""An engine with its subscribers, checked after every step: what they were told is the answer.

Place: under the oracle tests. The rows told so far, as a bag, are compared with evaluating the
query again, also for those that were told nothing; what no subscriber may be told is refused.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from pyoxigraph import Literal, NamedNode, QueryBoolean, QuerySolutions, Store

from gateway.engine import Engine, Notification, Outcome, Rights
from gateway.engine.request import QueryRequest, SubscribeRequest, UpdateRequest
from gateway.engine.spu import Subject
from gateway.errors import GatewayError
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import XSD
from gateway.rdf.solutions import Row, SolutionBag
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.reasoning import MOST_DERIVED
from gateway.sparql.order.tie_break import with_tie_break
from gateway.store.quad_store import QuadStore, QueryResults
from tests.gateway.engine.engine_strategies import State
from tests.kit.reasoning.naive import NaiveReasoner

_FLOATS = (NamedNode(XSD + "double"), NamedNode(XSD + "float"))


MOST_QUADS = 300
"""An UPDATE that makes blank nodes for each of its solutions soon makes too many of them."""


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Subscribe to the query with this number, with these graphs of the protocol.

    With `infer` on what follows too; `readable` are the graphs that may be read, None is all.
    """

    query: int
    default_graphs: tuple[NamedNode, ...] = ()
    named_graphs: tuple[NamedNode, ...] = ()
    infer: bool = False
    readable: frozenset[GraphName] | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Give up the subscription in this place, counted around."""

    place: int


@dataclass(frozen=True, slots=True)
class Update:
    """An UPDATE; after one that is deferred no answers are compared, since that would write it."""

    text: str
    deferred: bool = False
    infer: bool = False


Step = Subscribe | Unsubscribe | Update


def bag(subject: Subject, rows: Iterable[Row]) -> SolutionBag:
    """The rows; sums of floats, whose order is free, to nine digits (docs/engine.md).

    What SAMPLE takes, and the order of GROUP_CONCAT, the store says otherwise each time it is
    asked: of these answers only the number of rows is known.
    """
    if "SAMPLE(" in subject.text or "GROUP_CONCAT(" in subject.text:
        return Counter([()] * len(list(rows)))
    if "SUM(" in subject.text or "AVG(" in subject.text:
        return Counter(tuple(map(_rounded, row)) for row in rows)
    return Counter(rows)


def _rounded(term: Term | None) -> Term | None:
    if isinstance(term, Literal) and term.datatype in _FLOATS:
        with suppress(ValueError):  # an ill-typed one, which is nobody's sum
            return Literal(f"{float(term.value):.9g}", datatype=term.datatype)
    return term


def answer(engine: Engine, subject: Subject) -> SolutionBag:
    """The oracle: the query evaluated by the store, ASK and CONSTRUCT as in docs/engine.md."""
    rights = Rights(read=subject.readable)
    request = QueryRequest(with_tie_break(subject.text), subject.dataset, rights)
    if not subject.infer:
        return _answered(subject, engine.query(request))
    expected = _answered(subject, request.answer(entailed_now(engine)))
    with_mirror = engine.query(replace(request, infer=True))
    assert _answered(subject, with_mirror) == expected, subject
    return expected


def entailed_now(engine: Engine) -> QuadStore:
    """What is asserted and what follows, from nothing, in a store of its own."""
    assert engine.view is not None
    store, reasoner = engine.store, engine.view.reasoner
    changes, known = _known.get(engine, (-1, store))
    if changes == store.changes:
        return known
    naive = NaiveReasoner(store, engine.view.domains, bound=MOST_DERIVED)
    naive.start()
    derived = naive.derived.match(None, None, None, None)
    assert set(derived) == set(reasoner.derived.match(None, None, None, None))
    quads = store.match(None, None, None, None)
    assert not {*quads} & {*derived}
    both = QuadStore(Store())
    both.load([*quads, *derived], store.named_graphs())
    both.clock = store.clock
    _known[engine] = store.changes, both
    return both


_known: WeakKeyDictionary[Engine, tuple[int, QuadStore]] = WeakKeyDictionary()
"""What is entailed, and at how many changes of the store."""


def _answered(subject: Subject, results: QueryResults) -> SolutionBag:
    if isinstance(results, QuerySolutions):
        return bag(subject, (tuple(row) for row in results))
    if isinstance(results, QueryBoolean):
        return Counter([()] if results else [])
    return bag(subject, {(t.subject, t.predicate, t.object) for t in results})


class Subscriber:
    """Adds up what it is told, and refuses what no subscriber may be told."""

    def __init__(self, subject: Subject, first: Notification) -> None:
        assert first.sequence == 0
        assert not first.results.removed
        self.subject = subject
        self.spuid = first.spuid
        self.rows = bag(subject, first.results.added)
        self._sequence = 0

    def tell(self, notification: Notification) -> None:
        results = notification.results
        added, removed = (bag(self.subject, rows) for rows in (results.added, results.removed))
        self._sequence += 1
        assert notification.sequence == self._sequence
        assert added or removed, "a notification of nothing"
        assert not Counter(results.added) & Counter(results.removed), "a row added and removed"
        assert removed - added <= self.rows, "a row removed that was not there"
        self.rows = self.rows + added - removed


class Session:
    """An engine with its subscribers, checked after every step."""

    def __init__(self, engine: Engine, texts: Sequence[str], *, may_fail: bool = False) -> None:
        self.engine = engine
        self._may_fail = may_fail
        self._texts = texts
        self._subscribers: dict[str, Subscriber] = {}

    def take(self, step: Step) -> None:
        match step:
            case Subscribe():
                text = self._texts[step.query % len(self._texts)]
                dataset = Dataset.chosen(step.default_graphs, step.named_graphs)
                self._subscribe(Subject(text, dataset, readable=step.readable, infer=step.infer))
            case Unsubscribe():
                self._unsubscribe(step.place)
            case Update():
                self._update(step)

    def compare(self) -> None:
        """Every subscriber knows the answer of now."""
        for subscriber in self._subscribers.values():
            assert subscriber.rows == answer(self.engine, subscriber.subject), subscriber.subject

    def _subscribe(self, subject: Subject) -> None:
        rights = Rights(read=subject.readable)
        request = SubscribeRequest(subject.text, subject.dataset, rights, infer=subject.infer)
        first = self.engine.subscribe(request)
        subscriber = Subscriber(subject, first)
        assert subscriber.rows == answer(self.engine, subject)
        self._subscribers[first.spuid] = subscriber

    def _unsubscribe(self, place: int) -> None:
        if self._subscribers:
            spuids = list(self._subscribers)
            spuid = spuids[place % len(spuids)]
            del self._subscribers[spuid]
            self.engine.unsubscribe(spuid)

    def _update(self, update: Update) -> None:
        try:
            request = UpdateRequest(update.text, is_deferred=update.deferred, infer=update.infer)
            outcome = self.engine.update(request)
        except GatewayError:
            outcome = Outcome(Delta(), (), 0)
        self._tell(outcome)
        assert self._may_fail or self.engine.statistics.failures == 0
        if not update.deferred:
            self.compare()

    def _tell(self, outcome: Outcome) -> None:
        told = [notification.spuid for notification in outcome.notifications]
        assert len(told) == len(set(told)), "two notifications of one update"
        for notification in outcome.notifications:
            self._subscribers[notification.spuid].tell(notification)


def check(
    engine: Engine,
    state: State,
    texts: Sequence[str],
    taken: Sequence[Step],
    *,
    may_fail: bool = False,
    before: Callable[[], None] | None = None,
) -> None:
    """Play the steps on an engine that begins with the state; no unit may fail, or some may.

    `before` is called once the state is there.
    """
    quads = tuple(dict.fromkeys(map(canonical_quad, state.quads)))
    engine.store.apply(Delta(added=quads, graphs_created=state.graphs))
    if before is not None:
        before()
    session = Session(engine, texts, may_fail=may_fail)
    for step in taken:
        if len(engine.store) <= MOST_QUADS:
            session.take(step)
    session.compare()
    engine.close()
    assert engine.statistics.subscriptions == 0
