"""UPDATEs that are easily got wrong: what they leave in the store is what pyoxigraph leaves."""

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store

from gateway.errors import (
    BadRequestError,
    GatewayError,
    SparqlSyntaxError,
    UnsupportedQueryError,
    UpdateFailedError,
)
from gateway.rdf.dataset import Dataset
from gateway.store.quad_store import QuadStore
from gateway.store.update import compile_update, evaluate

_P = NamedNode("urn:p")


def _update(store: Store, text: str) -> None:
    quad_store = QuadStore(store)
    quad_store.apply(evaluate(quad_store, [(compile_update(text), {})]))
    quad_store.flush()


def _with_blank_graph() -> Store:
    store = Store()
    store.add(Quad(BlankNode("m"), _P, Literal(1)))
    store.add(Quad(BlankNode("m"), _P, Literal(1), BlankNode("k")))
    store.add(Quad(NamedNode("urn:a"), _P, BlankNode("k"), NamedNode("urn:g")))
    return store


@pytest.mark.parametrize(
    "text",
    [
        "DROP ALL",
        "DROP NAMED ; INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:p> 1 } }",
        "DROP NAMED ; INSERT { <urn:a> ?p ?n } WHERE { ?s ?p ?o BIND(?o + 1 AS ?n) }",
        "CREATE GRAPH <urn:h> ; DROP NAMED ; CREATE GRAPH <urn:g>",
        "CLEAR NAMED",
        "COPY <urn:g> TO DEFAULT ; DROP NAMED ; INSERT { GRAPH ?g { ?s ?p 1 } } "
        "WHERE { ?s ?p ?o OPTIONAL { GRAPH ?g {} } }",
        "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }",
        "INSERT { GRAPH ?s { ?s ?p ?o } } WHERE { ?s ?p ?o }",
        "INSERT { GRAPH ?s { ?s ?p ?o } } WHERE { ?s ?p ?o } ; "
        "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }",
        "DROP NAMED ; INSERT { GRAPH ?s { ?s ?p ?o } } WHERE { ?s ?p ?o } ; CREATE GRAPH <urn:h>",
    ],
)
def test_graph_named_by_a_blank_node_lives_as_in_the_store_alone(text: str) -> None:
    ours, theirs = _with_blank_graph(), _with_blank_graph()
    _update(ours, text)
    theirs.update(text)
    assert set(ours) == set(theirs)
    assert set(ours.named_graphs()) == set(theirs.named_graphs())


def test_prefix_holds_in_a_later_operation() -> None:
    store = Store()
    _update(
        store,
        "PREFIX u: <urn:> INSERT DATA { u:a u:p 1 } ; "
        "INSERT { ?s u:q ?n } WHERE { ?s u:p ?o BIND(?o + 1 AS ?n) } ; "
        "PREFIX v: <urn:> DELETE { ?s v:p ?o } WHERE { ?s u:p ?o ; v:q ?n FILTER(?n = 2) }",
    )
    assert set(store) == {Quad(NamedNode("urn:a"), NamedNode("urn:q"), Literal(2))}


def test_unbound_graph_variable_makes_no_quad_of_the_default_graph() -> None:
    store = Store()
    store.add(Quad(NamedNode("urn:a"), _P, Literal(1)))
    _update(store, "INSERT { GRAPH ?g { ?s <urn:q> ?o } } WHERE { ?s <urn:p> ?o }")
    _update(store, "DELETE { GRAPH ?g { ?s <urn:p> ?o } } WHERE { ?s <urn:p> ?o }")
    assert list(store) == [Quad(NamedNode("urn:a"), _P, Literal(1))]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("INSERT DATA { ?s <urn:p> 1 }", SparqlSyntaxError),
        ("LOAD <urn:x>", UnsupportedQueryError),
        ("DELETE { ?s ?p ?o } WHERE { SERVICE <urn:x> { ?s ?p ?o } }", UnsupportedQueryError),
        ("CLEAR GRAPH <urn:g>", UpdateFailedError),
        ("DROP GRAPH <urn:g>", UpdateFailedError),
        ("CREATE GRAPH <urn:g> ; CREATE GRAPH <urn:g>", UpdateFailedError),
        ("INSERT DATA { <urn:s> <urn:p> 1 } ; MOVE <urn:g> TO <urn:h>", UpdateFailedError),
    ],
)
def test_update_that_fails_says_why_and_changes_nothing(
    text: str, error: type[GatewayError]
) -> None:
    store = Store()
    with pytest.raises(error):
        _update(store, text)
    assert not list(store)
    assert not list(store.named_graphs())


@pytest.mark.parametrize(
    "clause", ["WITH <urn:g> DELETE {} WHERE {}", "DELETE {} USING <urn:g> WHERE {}"]
)
def test_dataset_named_in_text_and_in_protocol_is_refused(clause: str) -> None:
    with pytest.raises(BadRequestError):
        compile_update(clause, Dataset((NamedNode("urn:h"),)))
