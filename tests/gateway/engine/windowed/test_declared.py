"""Windows and streams that have names of their own, as UPDATEs declare them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine import Engine, Outcome
from gateway.engine.request import UpdateRequest
from gateway.errors import ForbiddenError, GatewayError, UnsupportedQueryError, WindowError
from gateway.rdf.namespaces import OWN_GRAPHS
from gateway.rdf.rights import Rights
from gateway.windows import Window
from tests.kit.gateways import text

MAPPINGS = "https://sosa-gateway.example/graph/mappings"
PREFIX = "PREFIX gw: <https://sosa-gateway.example/ns#>\n"
STREAM = "<urn:building> a gw:ElementStream"
WINDOW = "<urn:w> a gw:Window ; gw:windowStream <urn:building> ; gw:windowElements 2"
ASKED = "SELECT ?o { GRAPH <urn:w> { ?s <urn:p> ?o } }"


def declare(engine: Engine, *nodes: str) -> None:
    said = " . ".join(nodes)
    engine.update(f"{PREFIX}INSERT DATA {{ GRAPH <{MAPPINGS}> {{ {said} }} }}")


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine.open()
    yield made
    made.close()


def told(outcome: Outcome) -> tuple[list[str], list[str]]:
    (notification,) = outcome.notifications
    results = notification.results
    return [text(row[0]) for row in results.added], [text(row[0]) for row in results.removed]


def test_a_declared_window_is_had_by_its_name_alone(engine: Engine) -> None:
    declare(engine, STREAM, WINDOW)
    first = engine.subscribe(ASKED)
    assert first.windows is not None
    assert engine.windowed.declared.windows == {"urn:w": Window("urn:building", elements=2)}
    outcome = engine.update("INSERT DATA { GRAPH <urn:building> { <urn:s> <urn:p> 1 } }")
    assert told(outcome) == (["1"], [])
    assert outcome.delta.is_empty
    assert engine.explain(ASKED).windows.keys() == {"urn:w"}


def test_from_names_it_as_well(engine: Engine) -> None:
    declare(engine, STREAM, WINDOW)
    engine.subscribe("SELECT ?o FROM <urn:w> { ?s <urn:p> ?o }")
    engine.subscribe("SELECT ?o { ?s <urn:p> ?o }", default_graphs=[NamedNode("urn:w")])
    engine.subscribe("SELECT ?o { ?s <urn:p> ?o }")
    outcome = engine.push(
        "urn:building", [Triple(NamedNode("urn:s"), NamedNode("urn:p"), Literal(1))]
    )
    assert len(outcome.notifications) == 2


def test_an_insert_of_several_solutions_is_one_element_in_their_order(engine: Engine) -> None:
    declare(
        engine, STREAM, "<urn:w> a gw:Window ; gw:windowStream <urn:building> ; gw:windowTriples 3"
    )
    engine.subscribe("SELECT ?o { GRAPH <urn:w> { ?s ?p ?o } }")
    outcome = engine.update(
        "INSERT { GRAPH <urn:building> { ?n <urn:p> 1 . ?n <urn:q> 2 } ?n <urn:kept> 0 } "
        "WHERE { VALUES ?n { <urn:a> <urn:b> } }"
    )
    assert sorted(told(outcome)[0]) == ["1", "2", "2"]
    assert len(outcome.delta.added) == 2
    for inserts in ("INSERT DATA { GRAPH <urn:building> { <urn:c> <urn:p> 3 } } ; " * 2,):
        outcome = engine.update(
            inserts + "INSERT DATA { GRAPH <urn:building> { <urn:d> <urn:p> 4 } }"
        )
    assert sorted(told(outcome)[0]) == ["3", "4"]


@pytest.mark.parametrize(
    "written",
    [
        "DELETE DATA { GRAPH <urn:building> { <urn:s> <urn:p> 1 } }",
        "DELETE WHERE { GRAPH <urn:building> { ?s ?p ?o } }",
        "DELETE { GRAPH ?g { <urn:s> <urn:p> 1 } } WHERE { VALUES ?g { <urn:building> } }",
        "INSERT { <urn:a> <urn:p> ?o } WHERE { GRAPH <urn:building> { ?s <urn:p> ?o } }",
        "INSERT { <urn:a> <urn:p> ?o } WHERE { GRAPH <urn:w> { ?s <urn:p> ?o } }",
        "INSERT { <urn:a> <urn:p> ?o } USING <urn:w> WHERE { ?s <urn:p> ?o }",
        "INSERT DATA { GRAPH <urn:w> { <urn:s> <urn:p> 1 } }",
        "INSERT { GRAPH ?g { <urn:s> <urn:p> 1 } } WHERE { VALUES ?g { <urn:w> } }",
        "CLEAR SILENT GRAPH <urn:building>",
        "CREATE GRAPH <urn:w>",
        "COPY <urn:building> TO <urn:x>",
    ],
)
def test_what_an_update_cannot_do_with_them_is_refused(engine: Engine, written: str) -> None:
    declare(engine, STREAM, WINDOW)
    with pytest.raises(UnsupportedQueryError):
        engine.update(written)
    assert not engine.store.contains_graph(NamedNode("urn:w"))


def test_a_query_that_names_one_is_refused_and_never_answered_as_if_it_were_empty(
    engine: Engine,
) -> None:
    declare(engine, STREAM, WINDOW)
    for name in ("urn:w", "urn:building"):
        with pytest.raises(UnsupportedQueryError):
            engine.query(f"SELECT * {{ GRAPH <{name}> {{ ?s ?p ?o }} }}")
        with pytest.raises(UnsupportedQueryError):
            engine.query("SELECT * { ?s ?p ?o }", default_graphs=[NamedNode(name)])
    with pytest.raises(UnsupportedQueryError):
        engine.subscribe("SELECT * { GRAPH <urn:building> { ?s ?p ?o } }")
    opened = {"urn:mine": Window("urn:building", elements=1)}
    first = engine.subscribe("SELECT * { GRAPH <urn:mine> { ?s ?p ?o } }", windows=opened)
    with pytest.raises(UnsupportedQueryError):
        engine.query("ASK { GRAPH <urn:mine> { ?s ?p ?o } }")
    engine.unsubscribe(first.spuid)
    engine.query("ASK { GRAPH <urn:mine> { ?s ?p ?o } }")


def test_subscriptions_of_a_window_that_changes_or_goes_end(engine: Engine) -> None:
    ended: list[tuple[str, GatewayError]] = []
    engine.delivery.on_end = lambda spuid, error: ended.append((spuid, error))
    declare(engine, STREAM, WINDOW)
    first = engine.subscribe(ASKED)
    other = engine.subscribe("SELECT * { ?s ?p ?o }")
    engine.update(
        f"{PREFIX}DELETE DATA {{ GRAPH <{MAPPINGS}> {{ <urn:w> gw:windowElements 2 }} }} ; "
        f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <urn:w> gw:windowElements 3 }} }}"
    )
    assert [spuid for spuid, _ in ended] == [first.spuid]
    assert "another one now" in str(ended[0][1])
    again = engine.subscribe(ASKED)
    engine.update(f"CLEAR GRAPH <{MAPPINGS}>")
    assert [spuid for spuid, _ in ended] == [first.spuid, again.spuid]
    assert "declared no more" in str(ended[1][1])
    assert engine.windowed.is_idle
    engine.unsubscribe(other.spuid)
    engine.subscribe(ASKED)  # an empty graph as any other


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("<urn:w> a gw:Window ; gw:windowElements 2", "stream"),
        ('<urn:w> a gw:Window ; gw:windowStream <urn:b> ; gw:windowRange "10 min"', "range"),
        ("<urn:w> a gw:Window ; gw:windowStream <urn:b> ; gw:windowElements 2, 3", "elements"),
        (
            '<urn:w> a gw:Window ; gw:windowElements "two"^^<http://www.w3.org/2001/XMLSchema#integer>',
            "elements: .* no number",
        ),
        (f"<urn:w> a gw:Window ; gw:windowElements {'2' * 5000}", "elements: .* no number"),
        ("<urn:w> a gw:Window ; gw:windowStream <urn:w> ; gw:windowElements 2", "a stream"),
        ("<urn:full> a gw:ElementStream", "has quads"),
        (f"<{MAPPINGS}> a gw:ElementStream", "the gateway's own"),
        ("gw:observations a gw:ElementStream", "the gateway's own"),
        ("<urn:m> a gw:Mapping, gw:ElementStream", "is a mapping"),
        ("<urn:full> a gw:Window ; gw:windowStream <urn:b> ; gw:windowElements 2", "has quads"),
    ],
)
def test_what_cannot_be_declared_is_refused_with_member_and_reason(
    engine: Engine, said: str, reason: str
) -> None:
    engine.update("INSERT DATA { GRAPH <urn:full> { <urn:s> <urn:p> 1 } }")
    with pytest.raises(WindowError, match=reason):
        declare(engine, said)
    assert engine.windowed.declared.windows == {}
    assert list(engine.store.match(None, None, None, NamedNode(MAPPINGS))) == []


@pytest.mark.parametrize("graph", sorted(OWN_GRAPHS, key=str), ids=str)
def test_no_window_of_a_subscription_has_the_name_of_a_graph_of_the_gateways_own(
    engine: Engine, graph: NamedNode
) -> None:
    text = f"SELECT * {{ GRAPH {graph} {{ ?s ?p ?o }} }}"
    with pytest.raises(WindowError, match="the name of a graph"):
        engine.subscribe(text, windows={graph.value: Window("urn:building", elements=1)})
    assert list(engine.query(text)) == []  # type: ignore[arg-type]


def test_elements_need_the_right_to_write_the_graph_of_their_stream(engine: Engine) -> None:
    declare(engine, STREAM, WINDOW)
    written = "INSERT DATA { GRAPH <urn:building> { <urn:s> <urn:p> 1 } }"
    nothing = Rights(read=frozenset(), write=frozenset())
    with pytest.raises(ForbiddenError):
        engine.update(UpdateRequest(written, rights=nothing))


def test_what_the_store_declares_is_known_when_it_is_opened(tmp_path: Path) -> None:
    engine = Engine.open(tmp_path)
    declare(engine, STREAM, WINDOW)
    engine.close()
    vars(engine.store).clear()
    engine = Engine.open(tmp_path)
    assert engine.windowed.declared.windows == {"urn:w": Window("urn:building", elements=2)}
    engine.close()
