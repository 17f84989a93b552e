"""The incremental reasoner: each kind by itself, steps there and back, bounds, changed axioms."""

from dataclasses import dataclass

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad

from gateway.errors import ConfigurationError, DerivedLimitError, ForbiddenError, OntologyError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH, OWL
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.axioms import SubClass, Transitive
from gateway.reasoning.domains import SCHEMA, Domain, Domains
from gateway.reasoning.incremental.bits import Bits
from gateway.reasoning.incremental.closure import Closure
from gateway.reasoning.incremental.program import TYPE, Program
from gateway.reasoning.reasoner import Reasoner
from gateway.store.quad_store import QuadStore
from tests.kit.reasoning.cases import CASES, Case, quads

G, J, K, INTO = (NamedNode("urn:g:" + name) for name in ("g", "j", "k", "into"))
DOMAINS = Domains(frozenset({G}), joint=(Domain(frozenset({J, K}), INTO),))
TRANSITIVE = quads(":p a owl:TransitiveProperty .", ONTOLOGY_GRAPH)
CHAIN = quads(":a :p :b . :b :p :c . :c :p :d .", G)


class Stepped:
    """A reasoner beside its store, which gets what is stepped."""

    def __init__(self, *asserted: Quad, bound: int = 1000, domains: Domains = DOMAINS) -> None:
        self.store = QuadStore.open(None)
        self.store.apply(Delta(added=asserted))
        self.reasoner = Reasoner(self.store, domains, bound=bound)
        self.reasoner.start()

    def step(self, delta: Delta, *, is_reading: bool = False) -> Delta:
        entailed = self.reasoner.step(delta, is_reading=is_reading)
        self.store.apply(delta)
        return entailed

    def add(self, *added: Quad) -> Delta:
        return self.step(Delta(added=added))

    def remove(self, *removed: Quad) -> Delta:
        return self.step(Delta(removed=removed))

    def derived(self) -> set[Quad]:
        found = set(self.reasoner.derived)
        assert len(self.reasoner.derived) == len(found)
        return found


@dataclass(frozen=True, slots=True)
class Pattern:
    subject: Term | None = None
    predicate: Term | None = None
    object: Term | None = None
    graph: GraphName | None = None


def of_axioms(case: Case) -> tuple[Quad, ...]:
    return quads(case.axioms, ONTOLOGY_GRAPH)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_written_out_is_derived_at_the_start(case: Case) -> None:
    tested = Stepped(*of_axioms(case), *quads(case.data, G))
    found = {quad for quad in tested.derived() if quad.graph_name == G}
    assert found == set(quads(case.follows, G))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_written_out_comes_and_goes_with_each_quad(case: Case) -> None:
    tested = Stepped(*of_axioms(case))
    data, follows = quads(case.data, G), set(quads(case.follows, G))
    entailed: set[Quad] = set()
    for quad in data:
        entailed |= set(tested.add(quad).added)
    assert entailed == {*data, *follows}
    for quad in data:
        entailed -= set(tested.remove(quad).removed)
    assert not entailed
    assert {quad.graph_name for quad in tested.derived()} <= {ONTOLOGY_GRAPH}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_written_out_comes_and_goes_with_the_axioms(case: Case) -> None:
    data, follows = quads(case.data, G), set(quads(case.follows, G))
    tested = Stepped(*data)
    axioms = of_axioms(case)
    assert {q for q in tested.add(*axioms).added if q.graph_name == G} == follows
    assert {q for q in tested.remove(*axioms).removed if q.graph_name == G} == follows
    assert not tested.derived()


def test_the_default_graph_is_a_domain_like_others() -> None:
    domains = Domains(frozenset({DefaultGraph()}))
    axioms = quads(":A rdfs:subClassOf :B . :p rdfs:subPropertyOf :q .", ONTOLOGY_GRAPH)
    tested = Stepped(*axioms, domains=domains)
    change = tested.add(*quads(":x a :A ; :p :y ."))
    assert set(quads(":x a :B ; :q :y .")) < set(change.added)
    assert set(tested.reasoner.derived.match(None, None, None, DefaultGraph())) == set(
        quads(":x a :B ; :q :y .")
    )


def test_a_circle_of_places_ends_with_its_last_link() -> None:
    tested = Stepped(*TRANSITIVE, *quads(":a :p :b . :b :p :c . :c :p :a .", G))
    assert len(tested.derived()) == 6
    tested.remove(*quads(":c :p :a .", G))
    assert tested.derived() == set(quads(":a :p :c .", G))


def test_classes_that_neighbours_give_each_other_do_not_keep_themselves() -> None:
    axioms = quads(
        "[ owl:onProperty :p ; owl:someValuesFrom :C ] rdfs:subClassOf :C .", ONTOLOGY_GRAPH
    )
    tested = Stepped(*axioms, *quads(":x :p :y . :y :p :x . :x :p :x . :x a :C .", G))
    assert tested.derived() == set(quads(":y a :C .", G))
    tested.remove(*quads(":x a :C .", G))
    assert not tested.derived()


def test_inverse_properties_do_not_keep_each_other() -> None:
    axioms = quads(":p owl:inverseOf :q . :q rdfs:subPropertyOf :r .", ONTOLOGY_GRAPH)
    tested = Stepped(*axioms)
    tested.add(*quads(":x :p :y . :y :q :x .", G))
    tested.remove(*quads(":x :p :y .", G))
    assert set(quads(":x :p :y .", G)) < tested.derived()
    tested.remove(*quads(":y :q :x .", G))
    assert {quad.graph_name for quad in tested.derived()} <= {ONTOLOGY_GRAPH}


def test_too_much_is_refused_whole_and_names_the_axiom() -> None:
    tested = Stepped(*TRANSITIVE, *CHAIN[:2], bound=2)
    before = tested.derived()
    with pytest.raises(DerivedLimitError, match="most of them by: <urn:x:p> is transitive"):
        tested.reasoner.step(Delta(added=CHAIN[2:]))
    assert tested.derived() == before
    change = tested.step(Delta(added=quads(":c :r :d .", G), removed=CHAIN[:1]))
    assert set(change.removed) == {CHAIN[0], *quads(":a :p :c .", G)}


def test_a_long_chain_of_places_is_refused_before_it_is_derived() -> None:
    tested = Stepped(*TRANSITIVE, bound=5000)
    long = quads(" ".join(f":n{i} :p :n{i + 1} ." for i in range(5000)), G)
    with pytest.raises(DerivedLimitError):
        tested.reasoner.step(Delta(added=long))
    assert not tested.derived()
    assert len(tested.add(*long[:50]).added) == 50 * 51 // 2


def test_an_axiom_that_derives_too_much_is_refused_whole() -> None:
    tested = Stepped(*CHAIN, bound=2)
    with pytest.raises(DerivedLimitError):
        tested.reasoner.step(Delta(added=(*TRANSITIVE, *quads(":x :p :y .", G))))
    assert not tested.reasoner.axioms.all
    assert tested.add(*quads(":c :r :d .", G)).removed == ()
    assert len(tested.step(Delta(added=TRANSITIVE, removed=CHAIN[2:])).added) == 2


def test_a_reading_beyond_the_bound_suspends_until_axioms_change() -> None:
    tested = Stepped(*TRANSITIVE, *CHAIN[:2], bound=2)
    domain = Domain.of_one(G)
    entailed = tested.step(Delta(added=CHAIN[2:]), is_reading=True)
    assert (set(entailed.added), set(entailed.removed)) == (
        set(CHAIN[2:]),
        set(quads(":a :p :c .", G)),
    )
    assert "2 quads" in tested.reasoner.suspended[domain]
    tested.step(Delta(removed=CHAIN[:1]))
    assert domain in tested.reasoner.suspended
    assert tested.reasoner.resume().added == quads(":b :p :d .", G)
    assert not tested.reasoner.suspended


def test_a_suspended_domain_is_tried_again_when_axioms_change() -> None:
    tested = Stepped(*TRANSITIVE, *CHAIN, bound=2)
    assert list(tested.reasoner.suspended) == [Domain.of_one(G)]
    tested.add(*quads(":A rdfs:subClassOf :B .", ONTOLOGY_GRAPH))
    assert list(tested.reasoner.suspended) == [Domain.of_one(G)]
    change = tested.step(
        Delta(
            added=quads(":p owl:inverseOf :q . :x a :A .", ONTOLOGY_GRAPH)[:1],
            removed=(*TRANSITIVE, *CHAIN[1:]),
        )
    )
    assert not tested.reasoner.suspended
    assert set(quads(":b :q :a .", G)) < set(change.added)


def test_a_schema_closure_beyond_the_bound_is_suspended_at_the_start() -> None:
    axioms = quads(":A rdfs:subClassOf :B . :B rdfs:subClassOf :C .", ONTOLOGY_GRAPH)
    tested = Stepped(*axioms, bound=0)
    assert list(tested.reasoner.suspended) == [SCHEMA]
    tested.remove(*axioms[:1])
    assert not tested.reasoner.suspended


@pytest.mark.parametrize("is_reading", [False, True])
def test_an_undone_step_leaves_what_was(is_reading: bool) -> None:
    tested = Stepped(*TRANSITIVE, *CHAIN[:2], bound=4)
    before = tested.derived()
    change = Delta(
        added=(*quads(":p rdfs:domain :A .", ONTOLOGY_GRAPH), *CHAIN[2:]), removed=TRANSITIVE
    )
    first = tested.reasoner.step(change, is_reading=is_reading)
    tested.reasoner.undo(change)
    assert tested.derived() == before
    assert tested.reasoner.step(change, is_reading=is_reading) == first


def test_what_comes_and_is_suspended_for_its_contradictions_neither_came_nor_went() -> None:
    text = ":A rdfs:subClassOf :B . :B owl:disjointWith :C . :D owl:disjointWith :A ."
    tested = Stepped(*quads(text, ONTOLOGY_GRAPH), bound=2)
    tested.add(*quads(":x a :A .", G))
    data = quads(":y a :A , :C , :D .", G)
    change = tested.step(Delta(added=data), is_reading=True)
    assert tested.reasoner.suspended
    assert set(change.added) == set(data)
    assert set(change.removed) == set(quads(":x a :B .", G))


def test_an_undone_step_leaves_suspended_a_schema_that_was() -> None:
    schema = quads(":A rdfs:subClassOf :B . :B rdfs:subClassOf :C .", ONTOLOGY_GRAPH)
    tested = Stepped(*TRANSITIVE, *schema, bound=0)
    assert list(tested.reasoner.suspended) == [SCHEMA]
    change = Delta(added=CHAIN)
    tested.reasoner.step(change, is_reading=True)
    tested.reasoner.undo(change)
    assert (tested.derived(), list(tested.reasoner.suspended)) == (set(), [SCHEMA])


def test_what_is_suspended_for_new_axioms_leaves_no_contradiction() -> None:
    tested = Stepped(
        *quads(":A rdfs:subClassOf :B . :C rdfs:subClassOf :D .", ONTOLOGY_GRAPH),
        *quads(":x a :A , :C .", G),
        bound=3,
    )
    assert len(tested.derived()) == 2
    more = ":A owl:disjointWith :C ; rdfs:subClassOf :E , :F ."
    tested.step(Delta(added=quads(more, ONTOLOGY_GRAPH)), is_reading=True)
    assert tested.reasoner.suspended
    assert not tested.derived()


def test_an_undone_step_resumes_what_it_suspended() -> None:
    tested = Stepped(*TRANSITIVE, *CHAIN[:2], bound=2)
    before = tested.derived()
    change = Delta(added=CHAIN[2:])
    tested.reasoner.step(change, is_reading=True)
    tested.reasoner.undo(change)
    assert (tested.derived(), tested.reasoner.suspended) == (before, {})


def test_a_joint_domain_reads_its_graphs_as_one() -> None:
    tested = Stepped(*TRANSITIVE)
    added = (*quads(":a :p :b .", J), *quads(":a :p :b . :b :p :c .", K))
    change = tested.step(Delta(added=added, graphs_created=(J, K)))
    assert change.graphs_created == (J, K, INTO)
    assert tested.derived() == set(quads(":a :p :c .", INTO))
    assert tested.reasoner.derived.graphs() == [INTO]
    assert not tested.remove(*quads(":a :p :b .", J)).graphs_dropped
    change = tested.add(*quads(":a :p :c .", J))
    assert (change.graphs_dropped, set(change.removed)) == ((INTO,), set(quads(":a :p :c .", INTO)))


@pytest.mark.parametrize("graph", [INTO, CONTRADICTIONS_GRAPH], ids=["into", "contradictions"])
def test_graphs_of_conclusions_are_not_written(graph: NamedNode) -> None:
    tested = Stepped()
    for delta in (
        Delta(added=quads(":a :p :b .", graph)),
        Delta(graphs_created=(graph,)),
        Delta(graphs_dropped=(graph,)),
    ):
        with pytest.raises(ForbiddenError):
            tested.reasoner.step(delta)
        with pytest.raises(ForbiddenError):
            tested.reasoner.step(delta, is_reading=True)


def test_a_graph_of_conclusions_that_holds_something_stops_the_start() -> None:
    with pytest.raises(ConfigurationError, match="urn:g:into"):
        Stepped(*quads(":a :p :b .", INTO))


def test_axioms_that_are_broken_in_the_store_stop_the_start_and_say_how_to_go_on() -> None:
    broken = quads(":A owl:unionOf () .", ONTOLOGY_GRAPH)
    with pytest.raises(OntologyError) as told:
        Stepped(*broken)
    for part in (str(ONTOLOGY_GRAPH), "empty list", "by an UPDATE while [reasoning] lists no"):
        assert part in str(told.value)


def test_a_blank_class_serves_two_axioms() -> None:
    described = "_:r owl:onProperty :p ; owl:someValuesFrom :A ; rdfs:subClassOf :B , :C ."
    axioms = quads(described, ONTOLOGY_GRAPH)
    tested = Stepped(*axioms, *quads(":x :p :y . :y a :A .", G))
    assert tested.derived() == set(quads(":x a :B , :C .", G))
    (one,) = (quad for quad in axioms if quad.object == NamedNode("urn:x:B"))
    tested.remove(one)
    assert tested.derived() == set(quads(":x a :C .", G))
    (part,) = (quad for quad in axioms if quad.predicate.value.endswith("onProperty"))
    with pytest.raises(OntologyError, match="onProperty"):
        tested.reasoner.step(Delta(removed=(part,)))
    assert tested.derived() == set(quads(":x a :C .", G))


def test_triple_terms_are_opaque_and_no_subjects() -> None:
    text = """:p owl:inverseOf :q ; rdfs:range :A ; rdfs:subPropertyOf :r .
    :s a owl:SymmetricProperty .
    [ owl:onProperty :p ; owl:hasValue <<( :a :b :c )>> ] rdfs:subClassOf :T ."""
    tested = Stepped(*quads(text, ONTOLOGY_GRAPH))
    tested.add(
        *quads(":x :p <<( :a :b :c )>> ; :s <<( :x :p :y )>> , 1 . :y a <<( :x a :z )>> .", G)
    )
    assert tested.derived() == set(quads(":x :r <<( :a :b :c )>> ; a :T .", G))


def test_a_contradiction_is_one_quad_of_all_domains() -> None:
    axioms = quads(":A owl:disjointWith :B . :C rdfs:subClassOf owl:Nothing .", ONTOLOGY_GRAPH)
    tested = Stepped(*axioms)
    change = tested.add(*quads(":x a :A, :B .", G), *quads(":x a :A, :B .", J))
    (quad,) = tested.derived()
    assert (quad.subject, quad.predicate, quad.object) == tuple(
        NamedNode("urn:x:" + name) for name in "xAB"
    )
    assert change.graphs_created == (CONTRADICTIONS_GRAPH,)
    assert not tested.remove(*quads(":x a :A .", G)).graphs_dropped
    assert tested.remove(*quads(":x a :A .", J)).graphs_dropped == (CONTRADICTIONS_GRAPH,)
    nothing = NamedNode(OWL + "Nothing")
    (found,) = (q for q in tested.add(*quads(":x a :C .", G)).added if q.graph_name != G)
    assert (found.predicate, found.object) == (nothing, nothing)
    tested.remove(*axioms)
    assert not tested.derived()


def test_broken_axioms_change_nothing() -> None:
    tested = Stepped(*TRANSITIVE, *CHAIN)
    before, axioms = tested.derived(), tested.reasoner.axioms
    broken = quads(":A owl:unionOf () .", ONTOLOGY_GRAPH)
    with pytest.raises(OntologyError):
        tested.reasoner.step(Delta(added=broken, removed=CHAIN[:1]))
    assert tested.derived() == before
    assert tested.reasoner.axioms is axioms


def test_axioms_are_another_object_only_after_a_change() -> None:
    tested = Stepped(*TRANSITIVE)
    axioms, suspended = tested.reasoner.axioms, tested.reasoner.suspended
    tested.add(*CHAIN)
    assert tested.reasoner.axioms is axioms
    assert tested.reasoner.suspended is suspended


def test_a_change_that_nothing_reads_is_handed_on_as_it_is() -> None:
    tested = Stepped(*TRANSITIVE)
    delta = Delta(added=quads(":a :r :b . :a a :R .", G))
    assert tested.reasoner.step(delta) is delta
    assert tested.reasoner.step(delta, is_reading=True) is delta


@pytest.mark.parametrize("graph", [G, J], ids=["by itself", "joint"])
def test_what_nothing_reads_may_stand_beside_what_is_read(graph: NamedNode) -> None:
    tested = Stepped(*TRANSITIVE)
    delta = Delta(added=quads(":a :r :b . :a :p :b . :b a :R . :b :p :c .", graph))
    for _ in range(2):
        assert tested.step(delta).added[:-1] == delta.added
        assert len(tested.derived()) == 1
        assert tested.step(delta.negate()).removed[:-1] == delta.added
        assert tested.derived() == set()


def test_of_what_a_closure_is_given_only_what_is_read_is_kept() -> None:
    closure = Closure(Program([Transitive(NamedNode("urn:t:p"))], Bits()), G)
    a, b, c = (NamedNode("urn:t:" + name) for name in "abc")
    unread = [Quad(a, NamedNode("urn:t:r"), c, G), Quad(a, TYPE, NamedNode("urn:t:R"), G)]
    closure.step((), unread, limit=9)
    assert not closure.individuals
    closure.step((), [*unread, Quad(a, NamedNode("urn:t:p"), b, G)], limit=9)
    assert closure.individuals.keys() == {a, b}


def test_readings_change_axioms_too() -> None:
    tested = Stepped(*CHAIN)
    tested.step(Delta(added=TRANSITIVE), is_reading=True)
    assert len(tested.derived()) == 3


def test_every_other_graph_is_a_domain_alone() -> None:
    tested = Stepped(*TRANSITIVE, domains=Domains(all_others=True))
    tested.add(*quads(":a :p :b .", J), *quads(":b :p :c .", K), *CHAIN[:2])
    assert tested.derived() == set(quads(":a :p :c .", G))


def test_the_members_of_a_class_are_found_while_they_change() -> None:
    tested = Stepped(*quads(":A rdfs:subClassOf :B .", ONTOLOGY_GRAPH))
    tested.add(*quads(":x a :A .", G))
    type_, cls = (NamedNode(iri) for iri in (f"{_RDF}type", "urn:x:B"))
    derived = tested.reasoner.derived
    assert set(derived.match(None, type_, cls, G)) == set(quads(":x a :B .", G))
    tested.add(*quads(":y a :A . :x a :B .", G))
    assert set(derived.match(None, type_, cls, None)) == set(quads(":y a :B .", G))
    tested.remove(*quads(":y a :A .", G))
    assert not derived.match(None, type_, cls, None)


_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def test_what_can_be_concluded_is_told_without_data() -> None:
    reasoner = Stepped(
        *quads(":A rdfs:subClassOf :B . :p owl:inverseOf :q .", ONTOLOGY_GRAPH)
    ).reasoner
    type_, a, b, p, r = (
        NamedNode(iri) for iri in (f"{_RDF}type", "urn:x:A", "urn:x:B", "urn:x:p", "urn:x:r")
    )
    assert reasoner.concludes(Pattern())
    assert reasoner.concludes(Pattern(predicate=type_, object=b, graph=G))
    assert not reasoner.concludes(Pattern(predicate=type_, object=a))
    assert reasoner.concludes(Pattern(predicate=p))
    assert not reasoner.concludes(Pattern(predicate=r))
    assert not reasoner.concludes(Pattern(predicate=p, graph=J))
    assert reasoner.concludes(Pattern(predicate=p, graph=INTO))
    assert reasoner.concludes(Pattern(graph=ONTOLOGY_GRAPH))
    assert not reasoner.concludes(Pattern(predicate=a, graph=CONTRADICTIONS_GRAPH))


def test_derived_quads_are_counted_by_axiom() -> None:
    tested = Stepped(
        *TRANSITIVE,
        *quads(":A rdfs:subClassOf :B . :p rdfs:domain :A .", ONTOLOGY_GRAPH),
        *CHAIN,
    )
    count = tested.reasoner.derived_by_axiom()
    kinds = {type(axiom): number for axiom, number in count.items()}
    assert kinds[Transitive] == 3
    assert kinds[SubClass] == 3
    assert sum(count.values()) == 9


def test_a_new_axiom_joins_facts_that_follow_already() -> None:
    tested = Stepped(
        *quads(":p owl:inverseOf :q .", ONTOLOGY_GRAPH), *quads(":x :p :x . :x a :B .", G)
    )
    change = tested.add(
        *quads("[ owl:onProperty :q ; owl:someValuesFrom :B ] rdfs:subClassOf :D .", ONTOLOGY_GRAPH)
    )
    assert set(quads(":x a :D .", G)) < set(change.added)
