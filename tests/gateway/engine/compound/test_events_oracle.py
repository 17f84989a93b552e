"""Event oracle: a subscription in mode `event` is told the query on each event's quads alone.

docs/events.md says what an event is. Random queries are subscribed while random requests state and
delete quads in several graphs; the store evaluates each query on the quads of each event, as its
default graph and as its one named graph, at the event's time.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Store

from gateway.engine import Engine
from gateway.engine.notification import EventRows, Notification
from gateway.engine.spu import EVENT, Subject, evaluate
from gateway.errors import GatewayError
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.solutions import SolutionBag
from gateway.rdf.terms import GraphName
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.engine_session import bag
from tests.gateway.engine.engine_strategies import COMMON, ODD, QUADS, queries

pytestmark = pytest.mark.property

quick = settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
long = settings(quick, max_examples=10_000, derandomize=False)

_WRITABLE = tuple(
    quad
    for quad in (*COMMON, *ODD, *QUADS[::7])
    if isinstance(quad.subject, NamedNode) and not isinstance(quad.object, BlankNode)
)
_quads = st.lists(st.sampled_from(_WRITABLE), min_size=1, max_size=12, unique=True)
_requests = st.lists(
    st.lists(st.tuples(st.booleans(), _quads), min_size=1, max_size=3), min_size=2, max_size=8
)

Operations = Sequence[tuple[bool, Sequence[Quad]]]


def request(operations: Operations) -> str:
    """INSERT DATA where true, DELETE DATA where false."""
    return " ;\n".join(
        f"{'INSERT' if inserts else 'DELETE'} DATA {{ {' '.join(map(_data, quads))} }}"
        for inserts, quads in operations
    )


def _data(quad: Quad) -> str:
    triple = f"{quad.subject} {quad.predicate} {quad.object} ."
    graph = quad.graph_name
    return triple if isinstance(graph, DefaultGraph) else f"GRAPH {graph} {{ {triple} }}"


class Oracle:
    """What a store has, and what each request states that makes an event."""

    def __init__(self) -> None:
        self._store: set[Quad] = set()

    def events(self, operations: Operations) -> Mapping[GraphName, set[Quad]]:
        """The quads that a request states, by graph, where a part of them is new."""
        before, stated = set(self._store), dict[GraphName, set[Quad]]()
        for inserts, quads in operations:
            known = {canonical_quad(quad) for quad in quads}
            self._store = self._store | known if inserts else self._store - known
            for quad in known if inserts else ():
                stated.setdefault(quad.graph_name, set()).add(quad)
        new = self._store - before
        return {graph: quads for graph, quads in stated.items() if not new.isdisjoint(quads)}


def asked(text: str, quads: Iterable[Quad], term: str, time: int) -> SolutionBag:
    """The answer on these quads alone."""
    store = Store()
    for quad in quads:
        store.add(Quad(quad.subject, quad.predicate, quad.object))
        store.add(Quad(quad.subject, quad.predicate, quad.object, NamedNode(term)))
    alone = QuadStore(store)
    subject = Subject(text)
    with alone.clock.held(time):
        return bag(subject, evaluate(alone, subject).elements())


def check(texts: Sequence[str], requests: Sequence[Operations]) -> int:
    """Subscribe to all, make the requests; how many notifications were told."""
    engine, oracle, told = Engine.open(), Oracle(), 0
    subscribed = dict(_subscribed(engine, texts))
    sequences = Counter[str]()
    for operations in requests:
        expected = oracle.events(operations)
        outcome = engine.update(request(operations))
        found: dict[tuple[str, str], Notification] = {}
        for each in outcome.notifications:
            sequences[each.spuid] += 1
            assert each.sequence == sequences[each.spuid]
            (event,) = each.events or ()
            assert (each.spuid, event.graph) not in found
            found[each.spuid, event.graph] = each
        told += len(found)
        _compare(engine, subscribed, expected, outcome.time, found)
    engine.close()
    return told


def _subscribed(engine: Engine, texts: Iterable[str]) -> Iterable[tuple[str, str]]:
    for text in texts:
        try:
            first = engine.subscribe(text, mode=EVENT)
        except GatewayError:  # FROM, or what cannot be subscribed in any mode
            continue
        assert (first.sequence, first.events, first.added) == (0, (), [])
        yield first.spuid, text


def _compare(
    engine: Engine,
    subscribed: Mapping[str, str],
    expected: Mapping[GraphName, set[Quad]],
    time: int,
    found: dict[tuple[str, str], Notification],
) -> None:
    position = engine.events.places.last
    default = engine.events.places.term(position).value
    for graph, quads in expected.items():
        term = graph.value if isinstance(graph, NamedNode) else default
        for spuid, text in subscribed.items():
            answer = asked(text, quads, term, time)
            each = found.pop((spuid, term), None)
            if each is None:
                assert not answer, (text, quads)
                continue
            assert bag(Subject(text), each.results.added) == answer, (text, quads)
            assert not each.results.removed
            rows = len(each.results.added)
            assert each.events == (EventRows(term, "gateway", str(position), time, rows),)
    assert not found


@quick
@given(st.lists(queries(), min_size=2, max_size=6), _requests)
def test_events_are_answered_alone(texts: list[str], requests: list[Operations]) -> None:
    check(texts, requests)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@long
@given(st.lists(queries(), min_size=2, max_size=6), _requests)
def test_events_are_answered_alone_in_the_long_run(
    texts: list[str], requests: list[Operations]
) -> None:
    check(texts, requests)


_EDGES = tuple(dict.fromkeys(quad.predicate for quad in COMMON))
_NODES = ("?a", "?b", "?c", "<urn:a>", "<urn:b>", "_:n")
_patterns = st.lists(
    st.tuples(
        st.sampled_from(_NODES),
        st.sampled_from(("?p", *map(str, _EDGES))),
        st.sampled_from((*_NODES, "1", "'v'")),
    ),
    min_size=1,
    max_size=4,
)


@settings(quick, max_examples=300)
@given(
    st.lists(st.tuples(_patterns, st.sampled_from(("{}", "GRAPH ?g {{ {} }}"))), max_size=8),
    st.sampled_from(("", "DISTINCT ")),
    _requests,
)
def test_joins_within_an_event_are_exact(
    drawn: list[tuple[list[tuple[str, str, str]], str]],
    distinct: str,
    requests: list[Operations],
) -> None:
    texts = [
        f"SELECT {distinct}* {{ {graph.format(' . '.join(map(' '.join, patterns)))} }}"
        for patterns, graph in drawn
    ]
    check(texts, requests)


def test_the_oracle_is_told_something() -> None:
    """The properties above are about nothing where no query ever fires."""
    texts = ["SELECT * { ?s ?p ?o }", "ASK { ?s ?p ?o FILTER(isLiteral(?o)) }"]
    one, two = QUADS[0], Quad(NamedNode("urn:x"), NamedNode("urn:y"), NamedNode("urn:z"))
    assert check(texts, [[(True, [one, two])], [(True, [one])], [(False, [one])]]) >= 1
