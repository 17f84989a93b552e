"""Terms are as the store gives them back, whatever they stand in."""

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Store, Triple

from gateway.engine import Engine, UpdateRequest
from gateway.rdf.canonical import canonical, canonical_quad
from gateway.rdf.terms import DEFAULT_GRAPH, Term
from gateway.store.graph_store import post
from tests.gateway.engine.odd_literals import ODD_LITERALS

S, P = NamedNode("urn:s"), NamedNode("urn:p")


def stored(term: Term) -> Term:
    store = Store()
    store.add(Quad(S, P, term))
    (quad,) = store
    found: Term = quad.object
    return found


@pytest.mark.parametrize("literal", ODD_LITERALS, ids=str)
def test_literal_and_triple_terms_of_it(literal: Literal) -> None:
    nested = Triple(S, P, Triple(S, P, literal))
    for term in (literal, Triple(S, P, literal), nested):
        assert str(canonical(term)) == str(stored(term))
        assert canonical_quad(Quad(S, P, term)) == Quad(S, P, stored(term))


def test_subscriber_of_triple_terms_is_told_what_a_query_says() -> None:
    written = Triple(
        S, P, Literal("01", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer"))
    )
    engine = Engine.open()
    engine.subscribe("SELECT ?o { ?s <urn:p> ?o }")
    plan = post(DEFAULT_GRAPH, [canonical_quad(Quad(S, P, written))])
    (told,) = engine.update(UpdateRequest([(plan, {})])).notifications
    (gone,) = engine.update("DELETE WHERE { ?s <urn:p> ?o }").notifications
    assert [str(row["o"]) for row in told.added] == [str(row["o"]) for row in gone.removed]
    engine.close()
