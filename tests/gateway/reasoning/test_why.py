"""Why a quad follows: each step is one, the shallowest is found, hidden premises are named."""

import pytest
from pyoxigraph import NamedNode, Quad

from gateway.errors import NotFoundError, TooComplexError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import GraphName
from gateway.reasoning.domains import Domain, Domains
from gateway.reasoning.kinds import Disjoint, SubClass, Transitive
from gateway.reasoning.proofs.proof import MOST_STEPS
from gateway.reasoning.why import Proof, proof
from gateway.store.quad_store import QuadStore
from tests.gateway.reasoning.proof_rules import check
from tests.kit.reasoning.cases import CASES, Case, quads
from tests.kit.reasoning.naive import NaiveReasoner

G, H, INTO = (NamedNode("urn:g:" + name) for name in ("g", "h", "into"))
PLAIN = Domains(frozenset({G}))
JOINT = Domains(joint=(Domain(frozenset({G, H}), INTO),))


def one(text: str, graph: GraphName) -> Quad:
    """The only quad of a text."""
    (quad,) = quads(text, graph)
    return quad


class World:
    """Asserted quads, and what follows by the naive reasoner."""

    def __init__(self, *asserted: Quad, domains: Domains = PLAIN) -> None:
        self.domains = domains
        self.asserted, self.entailed = QuadStore.open(None), QuadStore.open(None)
        self.asserted.apply(Delta(added=asserted))
        self.reasoner = NaiveReasoner(self.asserted, domains, bound=100_000)
        self.reasoner.start()
        self.entailed.apply(Delta(added=(*asserted, *self.reasoner.derived)))

    def why(self, quad: Quad, *hidden: GraphName, most: int = MOST_STEPS) -> Proof:
        return proof(
            quad,
            self.reasoner.axioms,
            self.domains,
            self.asserted,
            self.entailed,
            sees=lambda graph: graph not in hidden,
            most=most,
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_conclusion_of_a_kind_has_a_proof(case: Case) -> None:
    world = World(*quads(case.axioms, ONTOLOGY_GRAPH), *quads(case.data, G))
    assert len(world.reasoner.derived) >= 1
    for quad in world.reasoner.derived:
        assert check(world.why(quad), world.asserted) >= 1


def test_what_is_asserted_needs_no_axiom() -> None:
    world = World(*quads(":A rdfs:subClassOf :B .", ONTOLOGY_GRAPH), *quads(":x a :A , :B .", G))
    (quad,) = quads(":x a :B .", G)
    assert world.why(quad) == Proof(quad)


def test_what_does_not_follow_has_no_proof() -> None:
    world = World(*quads(":A rdfs:subClassOf :B .", ONTOLOGY_GRAPH), *quads(":x a :A .", G))
    for text, graph in ((":y a :B .", G), (":x a :B .", H)):
        with pytest.raises(NotFoundError):
            world.why(one(text, graph))


def test_the_shallowest_proof_is_found() -> None:
    world = World(
        *quads(
            """:A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :C rdfs:subClassOf :D .
               :p rdfs:domain :C .""",
            ONTOLOGY_GRAPH,
        ),
        *quads(":x a :A ; :p :y .", G),
    )
    found = world.why(one(":x a :D .", G))
    assert check(found, world.asserted) == 2
    assert [each.conclusion for each in found.premises] == list(quads(":x a :C .", G))
    assert isinstance(found.axiom, SubClass)


def test_a_path_is_halved() -> None:
    steps = "".join(f":n{at} :p :n{at + 1} . " for at in range(16))
    world = World(*quads(":p a owl:TransitiveProperty .", ONTOLOGY_GRAPH), *quads(steps, G))
    assert check(world.why(one(":n0 :p :n16 .", G)), world.asserted) == 4


def test_a_long_path_is_halved_without_looking_at_all_of_it() -> None:
    steps = "".join(f":n{at} :in :n{at + 1} . " for at in range(60))
    world = World(
        *quads(
            ":p a owl:TransitiveProperty . :in rdfs:subPropertyOf :p .",
            ONTOLOGY_GRAPH,
        ),
        *quads(steps, G),
    )
    found = world.why(one(":n0 :p :n60 .", G), most=2_000)
    assert check(found, world.asserted) == 7
    assert isinstance(found.axiom, Transitive)


def test_a_long_way_round_is_no_circle() -> None:
    """Symmetric and transitive: each place reaches each, itself too, by the same quads."""
    steps = "".join(f":n{at} :has :n{at + 1} . " for at in range(30))
    world = World(
        *quads(
            """:p a owl:TransitiveProperty , owl:SymmetricProperty ; owl:inverseOf :of .
               :has rdfs:subPropertyOf :of .""",
            ONTOLOGY_GRAPH,
        ),
        *quads(steps, G),
    )
    for text in (":n0 :p :n30 .", ":n30 :p :n0 .", ":n9 :p :n9 .", ":n30 :of :n3 ."):
        assert check(world.why(one(text, G), most=MOST_STEPS), world.asserted) <= 9


def test_too_much_is_refused() -> None:
    steps = "".join(f":n{at} :p :n{at + 1} . " for at in range(60))
    world = World(*quads(":p a owl:TransitiveProperty .", ONTOLOGY_GRAPH), *quads(steps, G))
    with pytest.raises(TooComplexError):
        world.why(one(":n0 :p :n60 .", G), most=20)


def test_a_property_that_supports_itself_rests_on_what_is_asserted() -> None:
    world = World(
        *quads(":p owl:inverseOf :q . :p a owl:SymmetricProperty .", ONTOLOGY_GRAPH),
        *quads(":x :q :y .", G),
    )
    assert check(world.why(one(":x :p :y .", G)), world.asserted) == 2


def test_a_hidden_premise_is_named_as_hidden_and_not_told() -> None:
    world = World(
        *quads(":p a owl:TransitiveProperty .", ONTOLOGY_GRAPH),
        *quads(":a :p :b .", G),
        *quads(":b :p :c .", H),
        domains=JOINT,
    )
    (quad,) = quads(":a :p :c .", INTO)
    assert check(world.why(quad), world.asserted) == 1
    found = world.why(quad, H)
    assert [each.is_hidden for each in found.premises] == [False, True]
    assert found.premises[1] == Proof(None)
    with pytest.raises(NotFoundError):
        world.why(quad, INTO)


def test_a_premise_in_two_graphs_is_shown_from_the_one_that_may_be_read() -> None:
    world = World(
        *quads(":A rdfs:subClassOf :B .", ONTOLOGY_GRAPH),
        *quads(":x a :A .", G),
        *quads(":x a :A .", H),
        domains=JOINT,
    )
    for hidden, shown in ((G, H), (H, G)):
        (premise,) = world.why(one(":x a :B .", INTO), hidden).premises
        assert premise == Proof(one(":x a :A .", shown))


def test_a_contradiction_has_both_classes_for_premises() -> None:
    world = World(
        *quads(":A rdfs:subClassOf :B . :B owl:disjointWith :C .", ONTOLOGY_GRAPH),
        *quads(":x a :A , :C .", G),
    )
    (quad,) = world.entailed.match(None, None, None, CONTRADICTIONS_GRAPH)
    found = world.why(quad)
    assert check(found, world.asserted) == 2
    assert isinstance(found.axiom, Disjoint)
    assert all(each.is_hidden for each in world.why(quad, G).premises)


def test_membership_of_nothing_is_a_contradiction_with_a_proof() -> None:
    world = World(
        *quads(":A rdfs:subClassOf owl:Nothing .", ONTOLOGY_GRAPH),
        *quads(":x a :A . :y a owl:Nothing .", G),
    )
    found = {
        quad.subject.value: world.why(quad)
        for quad in world.entailed.match(None, None, None, CONTRADICTIONS_GRAPH)
        if isinstance(quad.subject, NamedNode)
    }
    assert isinstance(found["urn:x:x"].axiom, SubClass)
    assert found["urn:x:y"].axiom is None
    assert [check(each, world.asserted) for each in found.values()] == [1, 1]
