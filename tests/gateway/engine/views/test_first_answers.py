"""First answers of joins on the entailed view are looked up, within the limits of all others."""

from collections import Counter
from unittest.mock import patch

import pytest

from gateway.engine import Engine, Limits, SubscribeRequest
from gateway.engine.limits import in_time, limited
from gateway.errors import QueryTimeoutError, TooManySolutionsError
from gateway.reasoning.entailed import Entailed
from gateway.reasoning.reasoning import Reasoning
from tests.gateway.engine.views.reasoned import PLAIN, axioms, subscribed, value

NODES = 30


def engine_with(limits: Limits) -> Engine:
    """Every node leads to every node by p, and so by q; three are members of A, and so of B."""
    engine = Engine.open(reasoning=Reasoning(PLAIN), limits=limits)
    engine.update(axioms("<urn:p> rdfs:subPropertyOf <urn:q> . <urn:A> rdfs:subClassOf <urn:B>"))
    nodes = range(NODES)
    edges = " ".join(f"<urn:{one}> <urn:p> <urn:{other}> ." for one in nodes for other in nodes)
    members = " ".join(f"<urn:{one}> a <urn:A> ." for one in range(3))
    engine.update(f"INSERT DATA {{ {edges} {members} <urn:0> <urn:name> 'x', 'y' }}")
    return engine


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT ?s { ?s a <urn:B> }", {("0",): 1, ("1",): 1, ("2",): 1}),
        ("SELECT ?n { ?s a <urn:B> ; <urn:name> ?n }", {("x",): 1, ("y",): 1}),
        ("SELECT ?s { ?s a <urn:B> . ?s <urn:q> ?o }", {(f"{n}",): NODES for n in range(3)}),
        ("SELECT DISTINCT ?s { ?s a <urn:B> . ?s <urn:q> ?o }", {(f"{n}",): 1 for n in range(3)}),
        ("SELECT ?s { ?s a <urn:B> . ?s <urn:q> ?s }", {(f"{n}",): 1 for n in range(3)}),
        ("SELECT ?s { GRAPH ?g { ?s a <urn:B> } }", {}),
    ],
)
def test_a_join_is_answered_without_a_text(text: str, rows: dict[tuple[str, ...], int]) -> None:
    engine = engine_with(Limits())
    with patch.object(Entailed, "query", side_effect=AssertionError):
        first = subscribed(engine, text)
    assert Counter(tuple(map(value, row)) for row in first.results.added) == rows
    assert engine.view is not None
    assert not engine.view.entailed.mirror.is_filled


def test_too_many_rows_are_refused() -> None:
    engine = engine_with(Limits(solutions=50))
    with pytest.raises(TooManySolutionsError):
        subscribed(engine, "SELECT ?s { ?s a <urn:B> . ?s <urn:q> ?o }")
    assert engine.standing == ()


def test_a_join_that_finds_nothing_for_long_is_refused() -> None:
    engine = engine_with(Limits(seconds=0.05))
    steps = " ".join(f"?s{n} <urn:q> ?s{n + 1} ." for n in range(7))
    for form in ("SELECT ?s0", "SELECT DISTINCT ?s0"):
        with pytest.raises(QueryTimeoutError):
            engine.subscribe(SubscribeRequest(f"{form} {{ {steps} ?s7 <urn:no> ?x }}", infer=True))
    assert engine.standing == ()
    assert not engine.update("INSERT DATA { <urn:n> <urn:p> <urn:m> }").notifications


def test_without_limits_nothing_is_timed() -> None:
    things = [1, 2, 3]
    assert in_time(things) is things
    with limited(Limits(seconds=60.0)):
        assert list(in_time(things)) == things
