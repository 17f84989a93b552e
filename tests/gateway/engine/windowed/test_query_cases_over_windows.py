"""The W3C evaluation cases of SPARQL Query, each as a subscription whose data is in windows.

Each graph of a case, the default graph too, is a window over a stream of its own: its triples come
in pieces, leave when their time is over, and come again. After each step what was told is what the
query says over a store that has the window graphs; at the end it is what the suite expects.
"""

from random import Random

import pytest
from pyoxigraph import NamedNode, Quad, Triple

from gateway.engine import Engine
from gateway.rdf.dataset import Dataset
from gateway.rdf.terms import Term
from gateway.sparql.parser import parse_query
from gateway.windows.window import Window
from tests.gateway.engine.query_cases import CASES, SUITES, Case, as_dataset, expected
from tests.gateway.engine.test_query_cases_as_subscriptions import _REFUSED, _STORE_DEVIATES
from tests.gateway.engine.windowed.windowed_session import (
    Hand,
    Pass,
    Push,
    Session,
    Step,
    Subscribe,
)

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not CASES, reason=f"no W3C test suites in {SUITES}"),
]

_DEFAULT = NamedNode("urn:window:default")
_RANGE_US = 10_000_000
_PIECES = 3


def _graphs(case: Case) -> dict[NamedNode, list[Quad]]:
    """The quads of each graph; every named graph that there is, and the default graph."""
    dataset = parse_query(case.text).dataset
    named = [] if dataset is None else [graph for part in dataset.parts for graph in part]
    nodes = [NamedNode(path.as_uri()) for path in case.named]
    nodes += [graph for graph in named if isinstance(graph, NamedNode)]
    found: dict[NamedNode, list[Quad]] = {node: [] for node in (_DEFAULT, *nodes)}
    for quad in case.quads():
        graph = quad.graph_name
        found[graph if isinstance(graph, NamedNode) else _DEFAULT].append(quad)
    return found


def _dataset(case: Case, graphs: dict[NamedNode, list[Quad]]) -> Dataset | None:
    """That of the request, where the text has none of its own."""
    if parse_query(case.text).dataset is not None:
        return None
    return Dataset((_DEFAULT,), tuple(node for node in graphs if node != _DEFAULT))


def _steps(case: Case, graphs: dict[NamedNode, list[Quad]]) -> list[Step]:
    """Half of the data comes, in pieces, and leaves; then all of it comes."""
    random = Random(case.name)
    elements: list[Push] = []
    for node, quads in graphs.items():
        triples = [Triple(q.subject, q.predicate, q.object) for q in quads]
        random.shuffle(triples)
        elements += [Push(node.value, tuple(triples[at::_PIECES])) for at in range(_PIECES)]
    random.shuffle(elements)
    return [*elements[::2], Pass(_RANGE_US + 1), *elements]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name not in _REFUSED],
    ids=lambda case: case.name,
)
def test_rows_told_over_windows_are_the_answer_and_what_the_suite_expects(case: Case) -> None:
    graphs = _graphs(case)
    windows = {node.value: Window(node.value, range=_RANGE_US) for node in graphs}
    clock = Hand()
    engine = Engine.open(clock=clock)
    try:
        session = Session(engine, clock, [case.text], [windows])
        for step in (Subscribe(0, 0, dataset=_dataset(case, graphs)), *_steps(case, graphs)):
            session.take(step)
        (subscriber,) = session.subscribers.values()
        variables = parse_query(case.text).variables
        rows: list[dict[str, Term]] = [
            {name: term for name, term in zip(variables, row, strict=True) if term is not None}
            for row in subscriber.answer.elements()
        ]
    finally:
        engine.close()
    agrees = as_dataset(rows) == as_dataset(expected(case.result))
    assert agrees == (case.name not in _STORE_DEVIATES)
