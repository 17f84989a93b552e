"""Readings of which nothing follows are told from others without a look at their quads."""

from collections.abc import Iterator, Mapping
from random import Random
from unittest.mock import patch

import pytest
from pyoxigraph import DefaultGraph, NamedNode

from gateway.engine import Engine, UpdateRequest
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import Term
from gateway.reasoning.domains import Domains
from gateway.reasoning.reasoner import Reasoner
from gateway.store.update import BoundUpdate, compile_update, evaluate
from tests.gateway.engine.views.reasoned import ABOVE, JOINT, answered, axioms, opened
from tests.kit.reasoning.naive import NaiveReasoner

WHOLE = "DELETE WHERE { ?s ?p ?o }"
SEEN = "SELECT ?s { ?s <urn:seen> ?o }"


def reading(text: str, **bindings: str) -> UpdateRequest:
    known = {name: NamedNode(f"urn:{value}") for name, value in bindings.items()}
    return UpdateRequest(text, known, is_deferred=True)


def reasoner(engine: Engine) -> Reasoner:
    assert engine.reasoner is not None
    found = engine.reasoner.lately
    assert isinstance(found, Reasoner)
    return found


def is_silent(engine: Engine, text: str, **bindings: str) -> bool:
    """Whether the reasoner knows that a prepared update means nothing."""
    return reasoner(engine).is_silent([(compile_update(text), reading("", **bindings).bindings)])


@pytest.fixture
def engine() -> Engine:
    """One class above another, and of each axiom about properties one; x is known."""
    engine = opened()
    engine.update(
        axioms(f"{ABOVE} . <urn:p> rdfs:subPropertyOf <urn:q> . <urn:r> rdfs:range <urn:A>")
    )
    engine.update("INSERT DATA { <urn:x> a <urn:A> . <urn:y> <urn:r> <urn:x> }")
    return engine


@pytest.mark.parametrize(
    ("text", "bindings", "expected"),
    [
        ("INSERT DATA { <urn:s> <urn:seen> 1 ; a <urn:Other> }", {}, True),
        ("INSERT DATA { <urn:s> <urn:p> 1 }", {}, False),
        ("INSERT DATA { <urn:s> a <urn:B> }", {}, False),
        ("INSERT DATA { <urn:s> a <urn:Other> }", {}, True),
        ("INSERT { <urn:s> a ?c } WHERE {}", {"c": "Other"}, False),
        ("INSERT { <urn:s> ?p 1 } WHERE {}", {"p": "seen"}, False),
        ("DELETE DATA { <urn:s> <urn:seen> 1 }", {}, True),
        ("DELETE DATA { <urn:x> a <urn:A> }", {}, False),
        (WHOLE, {"s": "new"}, True),
        (WHOLE, {"s": "x"}, False),
        (WHOLE, {"s": "y"}, False),
        (WHOLE, {}, False),
        ("DELETE WHERE { GRAPH <urn:unlisted> { ?s ?p ?o } }", {"s": "x"}, True),
        ("DELETE WHERE { GRAPH ?g { ?s ?p ?o } }", {"s": "new"}, False),
        ("DELETE WHERE { <urn:x> ?p ?o }", {}, False),
        (f"INSERT DATA {{ GRAPH {ONTOLOGY_GRAPH} {{ <urn:s> <urn:seen> 1 }} }}", {}, False),
        (f"DELETE DATA {{ GRAPH {CONTRADICTIONS_GRAPH} {{ <urn:s> <urn:seen> 1 }} }}", {}, False),
        ("CLEAR DEFAULT", {}, False),
        (f"INSERT DATA {{ <urn:s> <urn:seen> 1 }} ; {WHOLE}", {"s": "x"}, False),
    ],
)
def test_what_updates_say_tells_whether_anything_is_read(
    engine: Engine, text: str, bindings: Mapping[str, str], *, expected: bool
) -> None:
    assert is_silent(engine, text, **bindings) is expected


def test_a_joint_domain_is_asked_of_everything() -> None:
    engine = opened(JOINT)
    assert not is_silent(engine, "INSERT DATA { <urn:s> <urn:seen> 1 }")


def test_axioms_that_come_are_heeded(engine: Engine) -> None:
    text = "INSERT DATA { <urn:s> <urn:seen> 1 }"
    assert is_silent(engine, text)
    engine.update(axioms("<urn:seen> rdfs:domain <urn:A>"))
    assert not is_silent(engine, text)
    assert answered(engine) == {"x"}
    engine.update(reading(text))
    assert answered(engine) == {"x", "s"}


def test_a_silent_reading_is_stored_and_told_and_not_looked_at(engine: Engine) -> None:
    first = engine.subscribe(SEEN)
    made = reasoner(engine)
    with patch.object(made, "parted", wraps=made.parted) as parted:
        outcome = engine.update(reading("INSERT { ?s <urn:seen> 1 } WHERE {}", s="o"))
        assert [each.spuid for each in outcome.notifications] == [first.spuid]
        assert len(engine.update(reading(WHOLE, s="o")).delta.removed) == 1
        assert not parted.called
        engine.update(reading(WHOLE, s="x"))
        assert parted.called
    assert answered(engine) == {"x"}  # by y, in the range


def test_texts_see_a_silent_reading(engine: Engine) -> None:
    assert answered(engine, SEEN) == set()
    engine.update(reading("INSERT DATA { <urn:o> <urn:seen> 1 }"))
    assert answered(engine, SEEN) == {"o"}
    engine.update(reading(WHOLE, s="o"))
    assert answered(engine, SEEN) == set()


_AXIOMS = (
    "<urn:A> rdfs:subClassOf <urn:B>",
    "<urn:p> rdfs:range <urn:A>",
    "<urn:p> rdfs:domain <urn:A>",
    "<urn:p> rdfs:subPropertyOf <urn:q>",
    "<urn:q> owl:inverseOf <urn:p>",
    "<urn:q> a owl:TransitiveProperty",
    "<urn:q> owl:propertyChainAxiom ( <urn:p> <urn:q> )",
    "[ a owl:Restriction ; owl:onProperty <urn:q> ; owl:hasValue <urn:b> ] rdfs:subClassOf <urn:B>",
    "[ a owl:Restriction ; owl:onProperty <urn:p> ; owl:someValuesFrom <urn:A> ]"
    " rdfs:subClassOf <urn:C>",
    "<urn:A> rdfs:subClassOf [ a owl:Restriction ; owl:onProperty <urn:q> ;"
    " owl:allValuesFrom <urn:B> ]",
    "<urn:A> owl:disjointWith <urn:C>",
)


@pytest.mark.property
@pytest.mark.parametrize("seed", range(25))
def test_nothing_follows_from_a_silent_update(seed: int) -> None:
    """Whatever the axioms: the view changes by its change alone, now and later."""
    chance = Random(seed)
    engine = opened(Domains(frozenset({DefaultGraph()}), all_others=True))
    for axiom in chance.sample(_AXIOMS, 2):
        engine.update(axioms(axiom))
    silent = 0
    for _ in range(60):
        made = reasoner(engine)
        for bound in _updates(chance):
            if made.is_silent([bound]):
                delta = evaluate(engine.store, [bound])
                assert made.step(delta) is delta
                silent += not delta.is_empty
        engine.update(_change(chance))
        if chance.random() < 0.04:
            engine.update(axioms(chance.choice(_AXIOMS)))
    assert silent
    naive = NaiveReasoner(engine.store, engine.require_view().domains, bound=10_000)
    naive.start()
    assert set(reasoner(engine).derived) == set(naive.derived)


def _change(chance: Random) -> str:
    one, other = (f"<urn:{chance.choice('abcd')}>" for _ in range(2))
    triple = chance.choice(
        (
            f"{one} <urn:{chance.choice('pq')}> {chance.choice((other, '1'))}",
            f"{one} a <urn:{chance.choice('ABC')}>",
            f"{one} <urn:unread> {other}",
        )
    )
    graph = "GRAPH <urn:g> { %s }" if chance.random() < 0.2 else "%s"
    return f"{chance.choice(('INSERT', 'INSERT', 'DELETE'))} DATA {{ {graph % triple} }}"


def _updates(chance: Random) -> Iterator[BoundUpdate]:
    named: Mapping[str, Term] = {"s": NamedNode(f"urn:{chance.choice('abcd')}")}
    for text in (WHOLE, "DELETE WHERE { GRAPH <urn:g> { ?s ?p ?o } }", _change(chance)):
        yield compile_update(text), named
