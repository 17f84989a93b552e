"""A small graph for each kind of axiom, with what follows: written out, not computed.

`follows` says what is derived beside the data, over named terms; `schema` what is derived about the
axioms' own terms. LUBM hides a missing rule behind others; here each stands alone.
"""

from dataclasses import dataclass

from pyoxigraph import Quad, RdfFormat, parse

from gateway.rdf.terms import DEFAULT_GRAPH, GraphName

PREFIXES = """
@prefix : <urn:x:> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def quads(text: str, graph: GraphName = DEFAULT_GRAPH) -> tuple[Quad, ...]:
    """The triples of a Turtle text with these prefixes, in the graph; blank nodes are fresh."""
    found = parse(PREFIXES + text, RdfFormat.TURTLE, rename_blank_nodes=True)
    return tuple(Quad(quad.subject, quad.predicate, quad.object, graph) for quad in found)


@dataclass(frozen=True, slots=True)
class Case:
    """Axioms, data and conclusions, in Turtle."""

    id: str
    axioms: str
    data: str
    follows: str = ""
    schema: str = ""
    has_chain: bool = False
    is_ours_alone: bool = False


CASES = (
    Case("subClassOf", ":A rdfs:subClassOf :B .", ":x a :A .", ":x a :B ."),
    Case(
        "subClassOf of subClassOf",
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C .",
        ":x a :A .",
        ":x a :B , :C .",
        ":A rdfs:subClassOf :C .",
    ),
    Case(
        "subClassOf in a circle",
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :C rdfs:subClassOf :A .",
        ":x a :A . :y a :C .",
        ":x a :B , :C . :y a :A , :B .",
        ":A rdfs:subClassOf :C . :B rdfs:subClassOf :A . :C rdfs:subClassOf :B .",
    ),
    Case(
        "equivalentClass",
        ":A owl:equivalentClass :B .",
        ":x a :A . :y a :B .",
        ":x a :B . :y a :A .",
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A .",
    ),
    Case("subPropertyOf", ":p rdfs:subPropertyOf :q .", ':x :p :y , "1" .', ':x :q :y , "1" .'),
    Case(
        "subPropertyOf of subPropertyOf, with ends",
        ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r . :r rdfs:domain :A ; rdfs:range :B .",
        ":x :p :y .",
        ":x :q :y ; :r :y ; a :A . :y a :B .",
        """:p rdfs:subPropertyOf :r . :p rdfs:domain :A ; rdfs:range :B .
           :q rdfs:domain :A ; rdfs:range :B .""",
    ),
    Case(
        "equivalentProperty",
        ":p owl:equivalentProperty :q .",
        ":x :p :y . :z :q :x .",
        ":x :q :y . :z :p :x .",
        ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p .",
    ),
    Case("inverseOf", ":p owl:inverseOf :q .", ":x :p :y . :z :q :x .", ":y :q :x . :x :p :z ."),
    Case("inverseOf a literal", ":p owl:inverseOf :q .", ':x :p "1" , :y .', ":y :q :x ."),
    Case(
        "inverseOf itself",
        ":p owl:inverseOf :p .",
        ":x :p :y , :x .",
        ":y :p :x .",
    ),
    Case("SymmetricProperty", ":p a owl:SymmetricProperty .", ":x :p :y , :x .", ":y :p :x ."),
    Case("domain", ":p rdfs:domain :A .", ':x :p "1" .', ":x a :A ."),
    Case("range", ":p rdfs:range :A .", ":x :p :y , :x .", ":y a :A . :x a :A ."),
    Case(
        "domain of a superclass",
        ":p rdfs:domain :A . :A rdfs:subClassOf :B .",
        ":x :p :y .",
        ":x a :A , :B .",
        ":p rdfs:domain :B .",
    ),
    Case(
        "TransitiveProperty",
        ":p a owl:TransitiveProperty .",
        ":a :p :b . :b :p :c . :c :p :d .",
        ":a :p :c , :d . :b :p :d .",
    ),
    Case(
        "TransitiveProperty in a circle",
        ":p a owl:TransitiveProperty .",
        ":a :p :b . :b :p :a . :c :p :c .",
        ":a :p :a . :b :p :b .",
    ),
    Case(
        "TransitiveProperty, symmetric, below another",
        ":p a owl:TransitiveProperty , owl:SymmetricProperty ; rdfs:subPropertyOf :q .",
        ":a :p :b . :b :p :c .",
        """:a :p :a , :c ; :q :a , :b , :c . :b :p :a , :b ; :q :a , :b , :c .
           :c :p :a , :b , :c ; :q :a , :b , :c .""",
    ),
    Case(
        "propertyChainAxiom of two",
        ":r owl:propertyChainAxiom ( :p :q ) .",
        ':a :p :b . :b :q :c , "1" .',
        ':a :r :c , "1" .',
        has_chain=True,
    ),
    Case(
        "propertyChainAxiom of three, through itself",
        ":r owl:propertyChainAxiom ( :p :r :p ) .",
        ":a :p :b . :b :r :c . :c :p :d . :d :p :e . :z :p :a .",
        ":a :r :d . :z :r :e .",
        has_chain=True,
    ),
    Case(
        "someValuesFrom",
        """:A owl:equivalentClass
             [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B ] .""",
        ":x :p :y . :y a :B . :z :p :x . :w a :A .",
        ":x a :A .",
    ),
    Case(
        "someValuesFrom along a path",
        """[ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :A ]
             rdfs:subClassOf :A .""",
        ":a :p :b . :b :p :c . :c a :A . :d :p :d .",
        ":a a :A . :b a :A .",
    ),
    Case(
        "someValuesFrom owl:Thing",
        """:A owl:equivalentClass
             [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom owl:Thing ] .""",
        ":x :p :y .",
        ":x a :A .",
    ),
    Case(
        "hasValue",
        ":A owl:equivalentClass [ a owl:Restriction ; owl:onProperty :p ; owl:hasValue :v ] .",
        ":x :p :v . :y a :A .",
        ":x a :A . :y :p :v .",
    ),
    Case(
        "hasValue of a literal",
        ':A owl:equivalentClass [ a owl:Restriction ; owl:onProperty :p ; owl:hasValue "v" ] .',
        ':x :p "v" . :y a :A . :z :p "w" .',
        ':x a :A . :y :p "v" .',
    ),
    Case(
        "intersectionOf",
        ":A owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :B :C ) ] .",
        ":x a :B , :C . :y a :B . :z a :A .",
        ":x a :A . :z a :B , :C .",
        ":A rdfs:subClassOf :B , :C .",
    ),
    Case(
        "intersectionOf, said of the class itself",
        ":A owl:intersectionOf ( :B :C ) .",
        ":x a :B , :C . :z a :A .",
        ":x a :A . :z a :B , :C .",
        ":A rdfs:subClassOf :B , :C .",
    ),
    Case(
        "intersectionOf with someValuesFrom",
        """:A owl:intersectionOf (
             :B [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :C ] ) .""",
        ":x a :B ; :p :y . :y a :C . :z a :A . :w :p :y .",
        ":x a :A . :z a :B .",
        ":A rdfs:subClassOf :B .",
    ),
    Case(
        "intersectionOf that supports itself",
        """:A owl:intersectionOf (
             :B [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :A ] ) .""",
        ":x a :B ; :p :y . :y a :B ; :p :x . :z a :A .",
        ":z a :B .",
        ":A rdfs:subClassOf :B .",
    ),
    Case(
        "unionOf",
        ":A owl:equivalentClass [ a owl:Class ; owl:unionOf ( :B :C ) ] .",
        ":x a :B . :y a :C . :z a :A .",
        ":x a :A . :y a :A .",
        ":B rdfs:subClassOf :A . :C rdfs:subClassOf :A .",
    ),
    Case(
        "intersectionOf and unionOf of one",
        ":A owl:intersectionOf ( :B [ a owl:Class ; owl:unionOf ( :B ) ] ) .",
        ":x a :A . :y a :B .",
        ":x a :B . :y a :A .",
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A .",
        is_ours_alone=True,
    ),
    Case(
        "unionOf within someValuesFrom",
        """:A owl:equivalentClass [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom
             [ a owl:Class ; owl:unionOf ( :B :C ) ] ] .""",
        ":x :p :y . :y a :B . :z :p :w . :w a :C .",
        ":x a :A . :z a :A .",
    ),
    Case(
        "allValuesFrom",
        """:A rdfs:subClassOf
             [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom :B ] .""",
        ':x a :A ; :p :y , "1" . :z :p :w .',
        ":y a :B .",
    ),
    Case(
        "allValuesFrom along a path",
        """:A rdfs:subClassOf
             [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom :A ] .""",
        ":x a :A ; :p :y . :y :p :z . :z :p :y .",
        ":y a :A . :z a :A .",
    ),
    Case(
        "all kinds through each other",
        """:in a owl:TransitiveProperty ; owl:inverseOf :holds . :sits rdfs:subPropertyOf :in .
           :Floor owl:equivalentClass
             [ a owl:Restriction ; owl:onProperty :holds ; owl:someValuesFrom :Room ] .
           :sits rdfs:domain :Device . :Hot owl:intersectionOf ( :Device :Warm ) .""",
        ":d :sits :r ; a :Warm . :r a :Room ; :in :f . :f :in :b .",
        """:d :in :r , :f , :b ; a :Device , :Hot . :r :in :b ; :holds :d .
           :f :holds :r , :d ; a :Floor . :b :holds :f , :r , :d ; a :Floor .""",
        ":Hot rdfs:subClassOf :Device , :Warm .",
    ),
)
