"""Axioms read from the quads of an ontology: each kind, what is not used, what is refused."""

from collections.abc import Iterable

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse

from gateway.errors import OntologyError
from gateway.rdf.namespaces import ONTOLOGY_GRAPH
from gateway.reasoning.axioms import (
    And,
    Axiom,
    Chain,
    Disjoint,
    DomainOf,
    HasValue,
    Inverse,
    Only,
    Ontology,
    Or,
    RangeOf,
    Some,
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
    read_axioms,
)
from gateway.reasoning.kinds import THING

PREFIXES = """
@prefix : <urn:x:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def turtle(text: str) -> list[Quad]:
    found = parse((PREFIXES + text).encode(), RdfFormat.TURTLE)
    return [Quad(each.subject, each.predicate, each.object, ONTOLOGY_GRAPH) for each in found]


def n(name: str) -> NamedNode:
    return NamedNode("urn:x:" + name)


A, B, C, D, P, Q, R, V = map(n, "ABCDpqrv")

CASES: dict[str, tuple[str, set[Axiom]]] = {
    "subClassOf": (":A rdfs:subClassOf :B .", {SubClass(A, B)}),
    "equivalentClass": (":A owl:equivalentClass :B .", {SubClass(A, B), SubClass(B, A)}),
    "subPropertyOf": (":p rdfs:subPropertyOf :q .", {SubProperty(P, Q)}),
    "equivalentProperty": (
        ":p owl:equivalentProperty :q .",
        {SubProperty(P, Q), SubProperty(Q, P)},
    ),
    "inverseOf": (":q owl:inverseOf :p .", {Inverse(P, Q)}),
    "symmetric": (":p a owl:SymmetricProperty .", {Symmetric(P)}),
    "transitive": (":p a owl:TransitiveProperty .", {Transitive(P)}),
    "domain": (":p rdfs:domain :A .", {DomainOf(P, A)}),
    "range": (":p rdfs:range :A .", {RangeOf(P, A)}),
    "chain": (":r owl:propertyChainAxiom (:p :q :p) .", {Chain((P, Q, P), R)}),
    "disjoint": (":B owl:disjointWith :A .", {Disjoint(A, B)}),
    "some as condition": (
        "[ owl:onProperty :p ; owl:someValuesFrom :A ] rdfs:subClassOf :B .",
        {SubClass(Some(P, A), B)},
    ),
    "some of anything": (
        "[ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] rdfs:subClassOf :B .",
        {SubClass(Some(P, THING), B)},
    ),
    "hasValue both ways": (
        ":A owl:equivalentClass [ owl:onProperty :p ; owl:hasValue 01 ] .",
        {SubClass(A, HasValue(P, Literal(1))), SubClass(HasValue(P, Literal(1)), A)},
    ),
    "only as conclusion": (
        ":A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :B ] .",
        {SubClass(A, Only(P, B))},
    ),
    "intersection of a named class": (
        ":A owl:intersectionOf (:B [ owl:onProperty :p ; owl:someValuesFrom :C ]) .",
        {SubClass(A, B), SubClass(And((B, Some(P, C))), A)},
    ),
    "intersection of one": (":A owl:intersectionOf (:B) .", {SubClass(A, B), SubClass(B, A)}),
    "thing in an intersection": (
        "[ owl:intersectionOf (owl:Thing :A) ] rdfs:subClassOf :B .",
        {SubClass(A, B)},
    ),
    "union": (
        ":A owl:equivalentClass [ owl:unionOf (:B :C) ] .",
        {SubClass(Or((B, C)), A)},
    ),
    "nested": (
        "[ owl:onProperty :p ; owl:someValuesFrom [ owl:unionOf (:A :B) ] ] rdfs:subClassOf :C .",
        {SubClass(Some(P, Or((A, B))), C)},
    ),
    "named restriction": (
        ":D a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :A .",
        {SubClass(Some(P, A), D)},
    ),
    "union with a part that is not reasoned on": (
        "[ owl:unionOf (:A [ owl:oneOf (:v) ]) ] rdfs:subClassOf :B .",
        {SubClass(A, B)},
    ),
    "intersection with a part that is not reasoned on": (
        ":A owl:equivalentClass [ owl:intersectionOf (:B [ owl:oneOf (:v) ]) ] .",
        {SubClass(A, B)},
    ),
    "range of expressions": (
        ":p rdfs:range [ owl:intersectionOf (:A [ owl:onProperty :q ; owl:allValuesFrom :B ]) ] .",
        {RangeOf(P, A), RangeOf(P, Only(Q, B))},
    ),
    "an annotation as superproperty": (
        ":p rdfs:subPropertyOf rdfs:label .",
        {SubProperty(P, NamedNode("http://www.w3.org/2000/01/rdf-schema#label"))},
    ),
    "a class below itself": (":A rdfs:subClassOf :A .", set()),
    "anything below Thing": (":A rdfs:subClassOf owl:Thing .", set()),
    "Nothing below anything": ("owl:Nothing rdfs:subClassOf :A .", set()),
}


@pytest.mark.parametrize("name", CASES)
def test_an_axiom_is_read(name: str) -> None:
    text, expected = CASES[name]
    quads = turtle(text)
    found = read_axioms(quads)
    assert set(found) == expected
    assert all(axiom.quads[0] in quads for axiom in found)


BROKEN = {
    "no rest": (":A owl:intersectionOf _:l . _:l rdf:first :B .", "has 0 rest"),
    "two firsts": (
        ":A owl:unionOf _:l . _:l rdf:first :B, :C ; rdf:rest () .",
        "has 2 first",
    ),
    "a list that goes round": (
        ":p owl:propertyChainAxiom _:l . _:l rdf:first :q ; rdf:rest _:l .",
        "broken",
    ),
    "a list that ends in a literal": (
        ":p owl:propertyChainAxiom _:l . _:l rdf:first :q ; rdf:rest 1 .",
        "broken",
    ),
    "an empty list": (":A owl:unionOf () .", "empty list"),
    "a chain of nothing": (":p owl:propertyChainAxiom () .", "empty list"),
    "a restriction without property": (
        ":A rdfs:subClassOf [ owl:someValuesFrom :B ] .",
        "no owl:onProperty",
    ),
    "a restriction that nobody uses": ("[ a owl:Restriction ] rdfs:label 'r' .", "onProperty"),
    "two properties": (
        "[ owl:onProperty :p, :q ; owl:hasValue :v ] rdfs:subClassOf :A .",
        "has 2 onProperty",
    ),
    "two descriptions": (
        "[ owl:onProperty :p ; owl:hasValue :v ; owl:someValuesFrom :B ] rdfs:subClassOf :A .",
        "two ways",
    ),
    "a literal as class": (":p rdfs:range 'x' .", "class is wanted"),
    "a literal as property": (":p rdfs:subPropertyOf 'x' .", "property is wanted"),
    "a class that contains itself": (
        "_:a owl:unionOf (:A _:a) ; rdfs:subClassOf :B .",
        "contains itself",
    ),
    "an inverse of rdf:type": (":p owl:inverseOf rdf:type .", "of RDF, RDFS or OWL"),
    "a property above rdf:type": ("rdf:type rdfs:subPropertyOf :p .", "of RDF, RDFS or OWL"),
    "a property below rdf:type": (":p rdfs:subPropertyOf rdf:type .", "of RDF, RDFS or OWL"),
    "a transitive subClassOf": ("rdfs:subClassOf a owl:TransitiveProperty .", "of RDF, RDFS"),
    "what everything is": ("owl:Thing rdfs:subClassOf :A .", "of RDF, RDFS or OWL"),
    "what everything is, by an equivalence": (
        ":A owl:equivalentClass owl:Thing .",
        "of RDF, RDFS or OWL",
    ),
    "what is disjoint with everything": (
        ":A owl:disjointWith owl:Thing .",
        "of RDF, RDFS or OWL",
    ),
    "what classes are": ("rdfs:Class rdfs:subClassOf :A .", "of RDF, RDFS or OWL"),
    "a chain through rdf:type": (
        ":p owl:propertyChainAxiom (rdf:type :q) .",
        "of RDF, RDFS or OWL",
    ),
    "a domain of rdf:type": ("rdf:type rdfs:domain :A .", "of RDF, RDFS or OWL"),
    "a triple term as class": (
        ":A rdfs:subClassOf <<( :a :p :b )>> .",
        "class is wanted",
    ),
    "no first": (":A owl:unionOf _:l . _:l rdf:rest () .", "has 0 first"),
    "two rests": (
        ":A owl:unionOf _:l . _:l rdf:first :B ; rdf:rest (:C), (:D) .",
        "has 2 rest",
    ),
    "a list that goes round at its second": (
        ":A owl:unionOf _:l . _:l rdf:first :B ; rdf:rest _:m . _:m rdf:first :C ; rdf:rest _:l .",
        "broken",
    ),
    "hasValue of rdf:type": (
        "[ owl:onProperty rdf:type ; owl:hasValue :A ] rdfs:subClassOf :B .",
        "of RDF, RDFS or OWL",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_refused_whole(name: str) -> None:
    text, reason = BROKEN[name]
    ontology = Ontology()
    ontology.change(turtle(":A rdfs:subClassOf :B ."), ())
    before = set(ontology.axioms)
    with pytest.raises(OntologyError, match=reason):
        ontology.change(turtle(text), ())
    assert set(ontology.axioms) == before
    assert ontology.change(turtle(":p rdfs:domain :A ."), ()) == ([DomainOf(P, A)], [])


def test_an_iri_without_scheme_is_refused() -> None:
    quads = parse(b"<Brick> <urn:x:p> <urn:x:o> .", RdfFormat.N_TRIPLES, lenient=True)
    with pytest.raises(OntologyError, match="<Brick>"):
        read_axioms(quads)


def test_what_is_not_used_is_counted_by_kind() -> None:
    found = read_axioms(
        turtle("""
        :A a owl:Class ; rdfs:label 'a', 'b' ; rdfs:subClassOf owl:Thing ;
          rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] ;
          rdfs:subClassOf [ owl:onProperty :p ; owl:cardinality 1 ] .
        :p a owl:FunctionalProperty ; :note 'n' . :v owl:sameAs :w .
        :q rdfs:subPropertyOf owl:topObjectProperty .
        :A owl:disjointWith [ owl:unionOf (:B :C) ] .
        """)
    )
    assert not found.all
    assert found.unused == {
        "rdfs:label": 2,
        "owl:Thing as superclass": 1,
        "owl:someValuesFrom as superclass": 1,
        "owl:cardinality": 1,
        "anonymous class": 1,
        "owl:FunctionalProperty": 1,
        "other statement": 1,
        "owl:sameAs": 1,
        "owl:topObjectProperty as superproperty": 1,
        "owl:disjointWith of an anonymous class": 1,
    }


def test_an_axiom_that_is_said_twice_goes_when_nobody_says_it() -> None:
    first, second = turtle(":A rdfs:subClassOf :B ."), turtle(":A owl:intersectionOf (:B) .")
    ontology = Ontology()
    assert ontology.change(first, ())[0] == [SubClass(A, B)]
    assert ontology.change(second, ()) == ([SubClass(B, A)], [])
    (stated,) = (axiom for axiom in ontology.axioms if axiom == SubClass(A, B))
    assert len(stated.quads) > 1
    assert ontology.change((), first) == ([], [])
    came, went = ontology.change((), second)
    assert (came, set(went)) == ([], {SubClass(A, B), SubClass(B, A)})
    assert not ontology.axioms.unused


def test_a_change_inside_an_expression_makes_another_axiom() -> None:
    ontology = Ontology()
    quads = turtle("[ owl:onProperty :p ; owl:someValuesFrom :A ] rdfs:subClassOf :B .")
    ontology.change(quads, ())
    (filler,) = (quad for quad in quads if quad.object == A)
    other = Quad(filler.subject, filler.predicate, C, ONTOLOGY_GRAPH)
    assert ontology.change([other], [filler]) == (
        [SubClass(Some(P, C), B)],
        [SubClass(Some(P, A), B)],
    )


def _alone(quads: Iterable[Quad]) -> set[Axiom]:
    return set(read_axioms(quads))


def test_reading_step_by_step_is_reading_at_once() -> None:
    text = "\n".join(text for text, _ in CASES.values())
    quads = turtle(text.replace("\n", " "))
    ontology = Ontology()
    standing: set[Quad] = set()
    lists = [quad for quad in quads if isinstance(quad.subject, BlankNode) or quad.subject == D]
    ontology.change(lists, ())
    standing |= set(lists)
    for quad in quads:
        if quad not in standing:
            ontology.change([quad], ())
            standing.add(quad)
            assert set(ontology.axioms) == _alone(standing)
    for quad in sorted(standing - set(lists), key=str):
        ontology.change((), [quad])
        standing.remove(quad)
        assert set(ontology.axioms) == _alone(standing)
