"""Conclusions: who sees them, what takes them away, and a disk that is full before they are told.

Each of these is a sentence of docs/reasoning.md ("Two views", "Graphs and rights", "Bounds and
faults").
"""

from pathlib import Path

import pytest
from pyoxigraph import NamedNode, Quad

from gateway.engine import Engine, Rights, UpdateRequest
from gateway.errors import OntologyError, StorageError
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, RDF
from gateway.reasoning.why import Proof
from gateway.store.disk import outage
from tests.gateway.engine.views.reasoned import (
    ABOVE,
    MEMBERS,
    PREFIXES,
    G,
    H,
    answered,
    axioms,
    opened,
    subscribed,
    told,
)
from tests.kit.small_disk import SmallDisk, small_disk

IN_G = "INSERT DATA { GRAPH <urn:g> { <urn:x> a <urn:A> } }"
EVERYWHERE = "SELECT DISTINCT ?s { { ?s a <urn:B> } UNION { GRAPH ?g { ?s a <urn:B> } } }"
GO_UP = f"{PREFIXES}SELECT ?c {{ GRAPH {ONTOLOGY_GRAPH} {{ <urn:A> rdfs:subClassOf ?c }} }}"


@pytest.fixture
def engine() -> Engine:
    engine = opened()
    engine.update(axioms(ABOVE))
    return engine


# who sees them ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?s { GRAPH ?g { ?s a <urn:B> } }",
        "SELECT ?s { GRAPH <urn:g> { ?s a <urn:B> } }",
        "SELECT ?s FROM <urn:g> { ?s a <urn:B> }",
        "SELECT ?s FROM <urn:h> FROM <urn:g> { ?s a <urn:B> }",
        "SELECT ?s FROM NAMED <urn:g> { GRAPH ?g { ?s a <urn:B> } }",
        "SELECT ?s { GRAPH ?g { ?s a/<urn:none>? <urn:B> } }",
        "SELECT ?s { GRAPH ?g { ?s a ?c } FILTER(?c = <urn:B> && STRLEN(STR(?s)) > 1) }",
        "SELECT (SAMPLE(?m) AS ?s) { GRAPH ?g { ?m a <urn:B> } } GROUP BY ?g",
        "SELECT ?s { VALUES ?s { <urn:x> } FILTER EXISTS { GRAPH ?g { ?s a <urn:B> } } }",
        "SELECT ?s { VALUES ?s { <urn:x> } MINUS { ?s a ?o } GRAPH ?g { ?s a <urn:B> } } LIMIT 9",
    ],
)
def test_who_may_not_read_a_graph_sees_nothing_of_what_follows_from_it(
    engine: Engine, text: str
) -> None:
    hidden, shown = Rights(read=frozenset({H})), Rights(read=frozenset({G}))
    first, second = subscribed(engine, text, rights=hidden), subscribed(engine, text, rights=shown)
    outcome = engine.update(IN_G)
    assert told(outcome, second) == ({"x"}, set())
    assert {each.spuid for each in outcome.notifications} == {second.spuid}
    assert (answered(engine, text, read=[H]), answered(engine, text, read=[G])) == (set(), {"x"})
    outcome = engine.update("DROP GRAPH <urn:g>")
    assert told(outcome, second) == (set(), {"x"})
    assert {each.spuid for each in outcome.notifications} == {second.spuid}
    assert not first.added


def test_conclusions_tell_of_axioms_to_those_who_may_not_read_them(engine: Engine) -> None:
    engine.update(IN_G)
    assert answered(engine, EVERYWHERE, read=[G]) == {"x"}
    assert answered(engine, GO_UP, read=[G]) == set()
    assert answered(engine, GO_UP, read=[G, ONTOLOGY_GRAPH]) == {"B"}


# what takes them away -----------------------------------------------------------------------


def test_why_says_what_to_delete(engine: Engine) -> None:
    first = subscribed(engine)
    type_, above = NamedNode(RDF + "type"), NamedNode("urn:B")
    engine.update("INSERT DATA { <urn:x> a <urn:A> , <urn:Other> }")
    assert engine.update("DELETE DATA { <urn:x> a <urn:B> }").delta.is_empty
    data = _leaves(engine.why(Quad(NamedNode("urn:x"), type_, above)))
    assert [quad.object for quad in data] == [NamedNode("urn:A")]
    text = " ".join(f"{quad.subject} {quad.predicate} {quad.object} ." for quad in data)
    assert told(engine.update(f"DELETE DATA {{ {text} }}"), first) == (set(), {"x"})


def _leaves(proof: Proof) -> list[Quad]:
    if proof.axiom is None:
        return [] if proof.conclusion is None else [proof.conclusion]
    return [leaf for premise in proof.premises for leaf in _leaves(premise)]


@pytest.mark.parametrize(
    ("text", "in_g", "in_h"),
    [
        ("CLEAR GRAPH <urn:g>", set(), {"y"}),
        ("CLEAR NAMED", set(), set()),
        ("DROP GRAPH <urn:g>", set(), {"y"}),
        ("COPY <urn:g> TO <urn:h>", {"x"}, {"x"}),
        ("MOVE <urn:g> TO <urn:h>", set(), {"x"}),
        ("ADD <urn:g> TO <urn:h>", {"x"}, {"x", "y"}),
    ],
)
def test_conclusions_follow_graphs_or_go_with_them(
    engine: Engine, text: str, in_g: set[str], in_h: set[str]
) -> None:
    engine.update(f"{IN_G} ; INSERT DATA {{ GRAPH <urn:h> {{ <urn:y> a <urn:A> }} }}")
    queries = [f"SELECT ?s {{ GRAPH <urn:{name}> {{ ?s a <urn:B> }} }}" for name in "gh"]
    firsts = [subscribed(engine, query) for query in queries]
    outcome = engine.update(text)
    asserted = [quad for name in (G, H) for quad in engine.store.match(None, None, None, name)]
    assert {quad.object for quad in asserted} <= {NamedNode("urn:A")}, "no conclusion is copied"
    for first, before, after in zip(firsts, ({"x"}, {"y"}), (in_g, in_h), strict=True):
        change = (after - before, before - after)
        if any(change):
            assert told(outcome, first) == change
    assert [answered(engine, query) for query in queries] == [in_g, in_h]


# what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("<urn:C> owl:unionOf _:l . _:l rdf:first <urn:A>", "rest"),
        ("<urn:C> rdfs:subClassOf _:r . _:r owl:someValuesFrom <urn:B>", "onProperty"),
        ("<urn:p> owl:inverseOf rdf:type", "of RDF, RDFS or OWL"),
    ],
    ids=["list", "restriction", "vocabulary"],
)
def test_axioms_that_are_broken_are_refused_with_all_that_came_along(
    engine: Engine, broken: str, reason: str
) -> None:
    first, before = subscribed(engine), len(engine.store)
    text = axioms(f"<urn:D> rdfs:subClassOf <urn:B> . {broken}")
    request = f"PREFIX rdf: <{RDF}> {text} ; INSERT DATA {{ <urn:x> a <urn:A> }}"
    with pytest.raises(OntologyError, match=reason):
        engine.update(request)
    assert (len(engine.store), answered(engine)) == (before, set())
    outcome = engine.update("INSERT DATA { <urn:x> a <urn:A> . <urn:y> a <urn:D> }")
    assert told(outcome, first) == ({"x"}, set())


# a full disk --------------------------------------------------------------------------------


def test_a_disk_that_is_full_before_the_commit_leaves_no_conclusion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outage, "RETRY_S", 0.0)
    with small_disk(tmp_path / "disk") as disk:
        engine = opened(path=disk.path / "store")
        engine.update(axioms(ABOVE))
        first = subscribed(engine)
        stored = _until_refused(engine, disk)
        for text in (
            _members(10_000),
            axioms("<urn:B> rdfs:subClassOf <urn:C>"),
            axioms(ABOVE, "DELETE DATA"),
            "DROP ALL",
        ):
            with pytest.raises(StorageError):
                engine.update(text)
            assert answered(engine) == stored
            assert answered(engine, MEMBERS.replace("urn:B", "urn:C")) == set()
        reading = UpdateRequest("INSERT DATA { <urn:r> a <urn:A> }", is_deferred=True)
        assert told(engine.update(reading), first) == ({"r"}, set())
        disk.make_room()
        outcome = engine.update("INSERT DATA { <urn:z> a <urn:A> }")
        assert told(outcome, first) == ({"z"}, set())
        assert answered(engine) == stored | {"r", "z"}
        engine.close()
        engine = opened(path=disk.path / "store")
        assert answered(engine) == stored | {"r", "z"}
        assert answered(engine, infer=False) == set()
        engine.close()


def _members(number: int) -> str:
    return f'INSERT DATA {{ <urn:{number}> a <urn:A> ; <urn:p> "{"x" * 500}" }}'


def _until_refused(engine: Engine, disk: SmallDisk) -> set[str]:
    """The members that were stored while there was room in the last page of a file."""
    disk.fill()
    stored: set[str] = set()
    while True:
        try:
            engine.update(_members(len(stored)))
        except StorageError:
            return stored
        stored.add(str(len(stored)))
