"""Rights: a graph that may not be read is as if empty, one that may not be written stays as it is.

tests/gateway/engine/test_rights_oracle.py compares with the dataset without the forbidden graphs;
here are the cases by name.
"""

import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode, QueryBoolean, QuerySolutions

from gateway.engine import Engine, Rights
from gateway.errors import ForbiddenError, UpdateFailedError
from gateway.rdf.terms import GraphName

OPEN, SECRET, NOWHERE = (NamedNode(f"urn:{name}") for name in ("open", "secret", "nowhere"))
DEFAULT = DefaultGraph()


def graphs(*names: GraphName) -> frozenset[GraphName]:
    return frozenset(names)


OPEN_ONLY = Rights(read=graphs(OPEN), write=graphs(OPEN))
WRITE_ONLY = Rights(read=graphs(OPEN), write=graphs(OPEN, SECRET))


@pytest.fixture
def engine() -> Engine:
    engine = Engine.open()
    engine.update(
        "INSERT DATA { <urn:s> <urn:p> 1 . GRAPH <urn:open> { <urn:s> <urn:p> 2 } "
        "GRAPH <urn:secret> { <urn:s> <urn:p> 3 } }"
    )
    return engine


def values(engine: Engine, where: str, rights: Rights) -> list[str]:
    results = engine.query(f"SELECT ?x {{ {where} }}", rights=rights)
    assert isinstance(results, QuerySolutions)
    return sorted(_text(row["x"]) for row in results)


def _text(term: object) -> str:
    assert isinstance(term, NamedNode | Literal)
    return term.value


def count(engine: Engine, graph: str) -> int:
    results = engine.query(f"SELECT * {{ {graph} {{ ?s ?p ?o }} }}")
    assert isinstance(results, QuerySolutions)
    return len(list(results))


@pytest.mark.parametrize(
    ("where", "seen"),
    [
        ("?s ?p ?x", []),
        ("GRAPH ?g { ?s ?p ?x }", ["2"]),
        ("GRAPH <urn:secret> { ?s ?p ?x }", []),
        ("GRAPH ?x { }", ["urn:open"]),
        ("VALUES ?x { <urn:secret> <urn:open> } GRAPH ?x { }", ["urn:open"]),
        ("VALUES ?x { 1 } FILTER NOT EXISTS { GRAPH ?g { ?s ?p 3 } }", ["1"]),
        ("VALUES ?x { 1 } MINUS { GRAPH <urn:secret> { ?s ?p 3 } BIND(1 AS ?x) }", ["1"]),
        ("{ SELECT (COUNT(*) AS ?x) { GRAPH ?g { ?s ?p ?o } } }", ["1"]),
        ("GRAPH ?g { <urn:s> <urn:p>* ?x FILTER isLiteral(?x) }", ["2"]),
    ],
)
def test_query_sees_readable_graphs_only(engine: Engine, where: str, seen: list[str]) -> None:
    assert values(engine, where, OPEN_ONLY) == seen
    first = engine.subscribe(f"SELECT ?x {{ {where} }}", rights=OPEN_ONLY)
    assert sorted(_text(row["x"]) for row in first.added) == seen


def test_protocol_dataset_and_from_clauses_are_restricted(engine: Engine) -> None:
    text = "SELECT ?x FROM <urn:open> FROM <urn:secret> { ?s ?p ?x }"
    for results in (
        engine.query(text, rights=OPEN_ONLY),
        engine.query("SELECT ?x { ?s ?p ?x }", default_graphs=[OPEN, SECRET], rights=OPEN_ONLY),
    ):
        assert isinstance(results, QuerySolutions)
        assert [_text(row["x"]) for row in results] == ["2"]


def test_subscriber_is_told_nothing_of_hidden_graphs(engine: Engine) -> None:
    texts = ["SELECT * { GRAPH ?g { ?s ?p ?o } }", "SELECT * { GRAPH <urn:secret> { ?s ?p ?o } }"]
    texts += ["SELECT ?g { GRAPH ?g {} }", "ASK { GRAPH ?g { ?s ?p 9 } }"]
    mine = {engine.subscribe(text, rights=OPEN_ONLY).spuid for text in texts}
    theirs = {engine.subscribe(text).spuid for text in texts}
    told = engine.update("INSERT DATA { GRAPH <urn:secret> { <urn:t> <urn:p> 9 } }").notifications
    assert {each.spuid for each in told} <= theirs
    told = engine.update("CREATE GRAPH <urn:hidden> ; DROP GRAPH <urn:secret>").notifications
    assert {each.spuid for each in told} <= theirs
    told = engine.update("INSERT DATA { GRAPH <urn:open> { <urn:t> <urn:p> 9 } }").notifications
    assert len({each.spuid for each in told} & mine) == 2


def test_rights_that_hide_nothing_of_a_query_share_its_spu_and_its_tier(engine: Engine) -> None:
    text = "SELECT ?o { GRAPH <urn:open> { ?s <urn:p> ?o } }"
    for rights in (Rights(), OPEN_ONLY, Rights(read=graphs(OPEN, DEFAULT))):
        engine.subscribe(text, rights=rights)
    engine.subscribe(text, rights=Rights(read=graphs(SECRET)))
    assert sum(engine.statistics.spus.values()) == 2
    assert engine.statistics.spus["requery"] == 1


@pytest.mark.parametrize(
    "update",
    [
        "INSERT DATA { GRAPH <urn:secret> { <urn:s> <urn:p> 3 } }",
        "INSERT DATA { GRAPH <urn:open> { <urn:s> <urn:p> 9 } } ; INSERT DATA { <urn:s> <urn:p> 9}",
        "DELETE DATA { GRAPH <urn:secret> { <urn:nobody> <urn:p> 3 } }",
        "INSERT { GRAPH ?g { ?s ?p 9 } } WHERE { VALUES ?g { <urn:secret> } GRAPH <urn:open> "
        "{ ?s ?p ?o } }",
        "CREATE GRAPH <urn:secret>",
        "CREATE SILENT GRAPH <urn:nowhere>",
        "DROP GRAPH <urn:secret>",
        "DROP SILENT GRAPH <urn:nowhere>",
        "CLEAR GRAPH <urn:secret>",
        "CLEAR DEFAULT",
        "DROP ALL",
        "COPY <urn:open> TO <urn:secret>",
        "ADD <urn:open> TO DEFAULT",
        "MOVE SILENT <urn:secret> TO <urn:open>",
        "WITH <urn:secret> INSERT { <urn:s> <urn:p> 9 } WHERE {}",
    ],
)
def test_update_of_what_may_not_be_written_is_refused_whole(engine: Engine, update: str) -> None:
    before = set(engine.store.match(None, None, None, None))
    engine.subscribe("SELECT * { GRAPH ?g { ?s ?p ?o } }")
    with pytest.raises(ForbiddenError, match="may not be written"):
        engine.update(update, rights=OPEN_ONLY)
    assert set(engine.store.match(None, None, None, None)) == before
    assert not engine.store.contains_graph(NOWHERE)
    assert engine.statistics.notifications == 0


@pytest.mark.parametrize(
    ("update", "secret", "opened"),
    [
        ("INSERT { GRAPH <urn:open> { ?s ?p 9 } } WHERE { GRAPH <urn:secret> { ?s ?p ?o } }", 1, 1),
        ("INSERT { GRAPH <urn:open> { ?s ?p 9 } } WHERE { ?s ?p ?o . ?s ?q ?x }", 1, 1),
        ("DELETE WHERE { GRAPH ?g { ?s ?p ?o } }", 1, 0),
        (
            "INSERT DATA { GRAPH <urn:open> { <urn:t> <urn:p> 5 } } ; INSERT { GRAPH <urn:open> "
            "{ ?g <urn:p> ?n } } WHERE { { SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } "
            "GROUP BY ?g } }",
            1,
            3,
        ),
        (
            "INSERT DATA { GRAPH <urn:open> { <urn:t> <urn:p> 5 } } ; INSERT { GRAPH <urn:open> "
            "{ <urn:u> <urn:p> ?n } } WHERE { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } "
            "FILTER(?n > 0) }",
            1,
            2,
        ),
        ("ADD <urn:secret> TO <urn:open>", 1, 1),
        ("COPY DEFAULT TO <urn:open>", 1, 0),
        ("DROP NAMED", 1, 0),
        ("INSERT { GRAPH <urn:open> { ?s ?p 9 } } USING <urn:secret> WHERE { ?s ?p ?o }", 1, 1),
    ],
)
def test_update_reads_readable_graphs_only(
    engine: Engine, update: str, secret: int, opened: int
) -> None:
    engine.update(update, rights=OPEN_ONLY)
    assert count(engine, "GRAPH <urn:secret>") == secret
    assert count(engine, "GRAPH <urn:open>") == opened
    assert count(engine, "") == 1


def test_graph_that_may_be_written_and_not_read_takes_data_and_shows_none(engine: Engine) -> None:
    engine.update("INSERT DATA { GRAPH <urn:secret> { <urn:t> <urn:p> 4 } }", rights=WRITE_ONLY)
    assert count(engine, "GRAPH <urn:secret>") == 2
    engine.update("DELETE WHERE { GRAPH <urn:secret> { ?s ?p ?o } }", rights=WRITE_ONLY)
    engine.update("MOVE SILENT <urn:secret> TO <urn:open>", rights=WRITE_ONLY)
    assert count(engine, "GRAPH <urn:secret>") == 2
    with pytest.raises(UpdateFailedError):
        engine.update("CREATE GRAPH <urn:secret>", rights=WRITE_ONLY)
    engine.update("CLEAR GRAPH <urn:secret>", rights=WRITE_ONLY)
    assert count(engine, "GRAPH <urn:secret>") == 0


def test_ask_of_a_hidden_graph_is_the_same_whether_it_is_there(engine: Engine) -> None:
    for graph in (SECRET, NOWHERE):
        answer = engine.query(f"ASK {{ GRAPH {graph} {{}} }}", rights=OPEN_ONLY)
        assert isinstance(answer, QueryBoolean)
        assert not answer
