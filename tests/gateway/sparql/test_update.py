"""Update texts become operations with templates as values and a WHERE that can be run as text."""

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolutions, Store, Variable

from gateway.errors import SparqlSyntaxError
from gateway.rdf.dataset import Dataset
from gateway.rdf.namespaces import XSD
from gateway.sparql import algebra
from gateway.sparql.algebra import (
    BasicPattern,
    Graph,
    GraphSet,
    Group,
    Modify,
    QuadPattern,
    TriplePattern,
    UpdateOperation,
    prologue_text,
    where_text,
)
from gateway.sparql.parser import parse_update

S, P, OBJ, G = (Variable(name) for name in "spog")
A, B, C, D = (NamedNode(f"urn:{name}") for name in "abcd")
ONE = Literal("1", datatype=NamedNode(XSD + "integer"))
SPO = QuadPattern(S, P, OBJ)
WHERE = Group((BasicPattern((TriplePattern(S, P, OBJ),)),))


def only(text: str) -> UpdateOperation:
    (operation,) = parse_update(text).operations
    return operation


def modify(text: str) -> Modify:
    operation = only(text)
    assert isinstance(operation, Modify)
    return operation


def test_empty_request_has_no_operation() -> None:
    assert parse_update("").operations == ()
    assert parse_update("PREFIX p: <urn:>").operations == ()


def test_insert_data_with_graphs_and_blank_nodes() -> None:
    node = BlankNode("b0")
    assert only(
        "INSERT DATA { <urn:a> <urn:b> _:x . GRAPH <urn:d> { _:x <urn:b> 1 } . <urn:a> <urn:c> 1 }"
    ) == algebra.InsertData(
        (
            QuadPattern(A, B, node),
            QuadPattern(node, B, ONE, D),
            QuadPattern(A, C, ONE),
        )
    )


def test_delete_data() -> None:
    assert only("DELETE DATA { GRAPH <urn:d> { <urn:a> <urn:b> 1 } }") == algebra.DeleteData(
        (QuadPattern(A, B, ONE, D),)
    )


def test_modify_with_every_clause() -> None:
    assert only(
        "WITH <urn:a> DELETE { ?s ?p ?o } INSERT { GRAPH ?g { ?s ?p [] } } "
        "USING <urn:b> USING NAMED <urn:c> WHERE { ?s ?p ?o }"
    ) == Modify(
        delete=(SPO,),
        insert=(QuadPattern(S, P, BlankNode("b0"), G),),
        where=WHERE,
        with_graph=A,
        using=Dataset((B,), (C,)),
    )


def test_one_label_is_one_node_throughout_an_insert_template() -> None:
    insert = modify("INSERT { _:x ?p [] GRAPH ?g { _:x ?p _:y } } WHERE { _:x ?p ?g }").insert
    assert [quad.subject for quad in insert] == [BlankNode("b0"), BlankNode("b0")]
    assert len({quad.object for quad in insert} | {BlankNode("b0")}) == 3


def test_delete_where_is_a_modify_of_its_patterns() -> None:
    text = "DELETE WHERE { ?s ?p ?o . GRAPH ?g { ?s ?p ?o } GRAPH <urn:d> { } }"
    operation = modify(text)
    assert operation.delete == (SPO, QuadPattern(S, P, OBJ, G))
    assert operation.insert == ()
    assert operation.where == Group((*WHERE.elements, Graph(G, WHERE), Graph(D, Group(()))))
    graph = operation.where.elements[1]
    assert isinstance(graph, Graph)
    assert text[graph.group.start : graph.group.end] == "{ ?s ?p ?o }"


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("LOAD <urn:a>", algebra.Load(A)),
        ("LOAD SILENT <urn:a> INTO GRAPH <urn:b>", algebra.Load(A, B, silent=True)),
        ("CLEAR GRAPH <urn:a>", algebra.Clear(A)),
        ("CLEAR SILENT DEFAULT", algebra.Clear(GraphSet.DEFAULT, silent=True)),
        ("DROP NAMED", algebra.Drop(GraphSet.NAMED)),
        ("drop all", algebra.Drop(GraphSet.ALL)),
        ("CREATE GRAPH <urn:a>", algebra.Create(A)),
        ("CREATE SILENT GRAPH <urn:a>", algebra.Create(A, silent=True)),
        ("COPY DEFAULT TO <urn:a>", algebra.Copy(None, A)),
        ("MOVE SILENT <urn:a> TO GRAPH <urn:b>", algebra.Move(A, B, silent=True)),
        ("ADD GRAPH <urn:a> TO DEFAULT", algebra.Add(A, None)),
    ],
)
def test_graph_management(text: str, operation: UpdateOperation) -> None:
    assert only(text) == operation


def test_operations_keep_their_order_and_prologue() -> None:
    first, clear, second = parse_update(
        "PREFIX p: <urn:1:> DELETE WHERE { p:a ?p ?o } ; CLEAR ALL ; "
        "BASE <http://base/> PREFIX p: <urn:2:> PREFIX q: <q#> "
        "INSERT { p:a q:b <c> } WHERE { p:a ?p ?o } ;"
    ).operations
    assert clear == algebra.Clear(GraphSet.ALL)
    assert isinstance(first, Modify)
    assert isinstance(second, Modify)
    assert prologue_text(first) == "PREFIX p: <urn:1:>\n"
    assert prologue_text(second) == (
        "BASE <http://base/>\nPREFIX p: <urn:2:>\nPREFIX q: <http://base/q#>\n"
    )
    (quad,) = second.insert
    assert quad == QuadPattern(
        NamedNode("urn:2:a"), NamedNode("http://base/q#b"), NamedNode("http://base/c")
    )


def test_where_text_runs_with_the_prologue_of_its_operation() -> None:
    text = (
        "PREFIX p: <urn:other:> CLEAR ALL ; BASE <urn:base> PREFIX p: <urn:> "
        "DELETE { ?s p:b ?o } WHERE { ?s p:b ?o FILTER(?o = 1) } ; CREATE GRAPH <urn:g>"
    )
    operation = parse_update(text).operations[1]
    assert isinstance(operation, Modify)
    store = Store()
    store.extend([Quad(A, B, ONE), Quad(C, B, Literal("2")), Quad(A, C, ONE)])
    answer = store.query(where_text(text, operation, "?s"))
    assert isinstance(answer, QuerySolutions)
    assert [row["s"] for row in answer] == [A]


def test_where_text_of_delete_where() -> None:
    text = "DELETE WHERE { GRAPH ?g { ?s ?p ?o } }"
    assert where_text(text, modify(text)) == "SELECT * WHERE { GRAPH ?g { ?s ?p ?o } }"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("INSERT DATA { ?s <urn:a> 1 }", "\\?s is a variable"),
        ("INSERT DATA { GRAPH ?g { <urn:a> <urn:b> 1 } }", "\\?g is a variable"),
        ("DELETE DATA { <urn:a> ?p 1 }", "\\?p is a variable"),
        ("INSERT DATA { 'a' <urn:a> 1 }", "cannot be a subject"),
        ("DELETE DATA { _:a <urn:a> 1 }", "blank node is not allowed"),
        ("DELETE { ?s ?p [] } WHERE { ?s ?p ?o }", "blank node is not allowed"),
        ("DELETE { ?s ?p (1) } WHERE { ?s ?p ?o }", "blank node is not allowed"),
        ("DELETE WHERE { _:a ?p ?o }", "blank node is not allowed"),
        ("INSERT DATA { _:a <urn:a> 1 } ; INSERT DATA { _:a <urn:a> 1 }", "used in another"),
        (
            "INSERT { ?s ?p 1 } WHERE { ?s ?p _:a } ; INSERT { ?s ?p 1 } WHERE { ?s ?p _:a }",
            "used in another",
        ),
    ],
)
def test_rule_of_the_specification_is_kept(text: str, reason: str) -> None:
    with pytest.raises(SparqlSyntaxError, match=reason):
        parse_update(text)


def test_label_may_be_used_again_in_the_template_of_another_operation() -> None:
    first = "INSERT { _:a ?p ?o } WHERE { ?s ?p ?o }"
    assert len(parse_update(f"{first} ; {first}").operations) == 2


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { }",
        "INSERT DATA { } INSERT DATA { }",
        "; INSERT DATA { }",
        "INSERT DATA { } ; ;",
        "INSERT DATA { <urn:a> <urn:b>/<urn:c> 1 }",
        "INSERT DATA { GRAPH <urn:a> { GRAPH <urn:b> { } } }",
        "INSERT DATA { <urn:a> <urn:b> 1 FILTER(1) }",
        "INSERT { ?s ?p ?o }",
        "INSERT { ?s ?p ?o } { ?s ?p ?o }",
        "INSERT { } DELETE { } WHERE { }",
        "WITH <urn:a> DELETE WHERE { ?s ?p ?o }",
        "WITH <urn:a> INSERT DATA { }",
        "DELETE WHERE { ?s <urn:a>* ?o }",
        "DELETE { ?s ?p ?o } USING NAMED WHERE { }",
        "CREATE GRAPH DEFAULT",
        "CREATE <urn:a>",
        "CLEAR <urn:a>",
        "COPY <urn:a> <urn:b>",
        "LOAD <urn:a> INTO <urn:b>",
        "MODIFY <urn:a>",
    ],
)
def test_text_that_is_no_update_is_refused(text: str) -> None:
    with pytest.raises(SparqlSyntaxError):
        parse_update(text)


def test_where_text_is_cut_at_the_right_place_after_a_codepoint_escape() -> None:
    text = r"DELETE { ?s ?p '\u00e9\u00e9' } WHERE { ?s ?p '\u00e9' }"
    answer = Store().query(where_text(text, modify(text)))
    assert isinstance(answer, QuerySolutions)
    assert list(answer) == []
