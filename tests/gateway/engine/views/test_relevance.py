"""What is relevant to those who listen is derived from at once, the rest of readings waits."""

from collections import Counter
from random import Random
from unittest.mock import patch

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad, Store

from gateway.engine import Engine, Notification, UpdateRequest
from gateway.engine.lutt import LuttEntry
from gateway.engine.spu import evaluate
from gateway.engine.views.audience import _MOST_ALIKE, Audience
from gateway.errors import StorageError
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, RDF
from gateway.rdf.solutions import SolutionBag
from gateway.reasoning.axioms import read_axioms
from gateway.reasoning.domains import Domains
from gateway.reasoning.relevance import Premises, Relevance, Topic
from gateway.store.pending import Pending
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.views.reasoned import axioms, opened, subscribed, told
from tests.kit.reasoning.naive import NaiveReasoner

TYPE = NamedNode(RDF + "type")


def named(*names: str) -> frozenset[NamedNode]:
    return frozenset(NamedNode(f"urn:{name}") for name in names)


def relevance(text: str, *topics: Topic) -> Relevance:
    """What is relevant to topics under axioms."""
    engine = opened()
    engine.update(axioms(text))
    assert engine.reasoner is not None
    return Premises(engine.reasoner.axioms).relevance(topics)


def of_class(name: str) -> Topic:
    return Topic(TYPE, NamedNode(f"urn:{name}"))


def of_property(name: str) -> Topic:
    return Topic(NamedNode(f"urn:{name}"))


SOME = "a owl:Restriction ; owl:onProperty <urn:p> ; owl:someValuesFrom <urn:A>"
CASES = [
    ("<urn:A> rdfs:subClassOf <urn:B>", of_class("B"), "", "A B"),
    ("<urn:A> rdfs:subClassOf <urn:B>", of_class("A"), "", "A"),
    ("<urn:p> rdfs:subPropertyOf <urn:q>", of_property("q"), "p q", ""),
    ("<urn:p> owl:inverseOf <urn:q>", of_property("q"), "p q", ""),
    ("<urn:p> rdfs:domain <urn:A> . <urn:r> rdfs:range <urn:A>", of_class("A"), "p r", "A"),
    ("<urn:q> owl:propertyChainAxiom ( <urn:p> <urn:r> )", of_property("q"), "p q r", ""),
    (f"[ {SOME} ] rdfs:subClassOf <urn:B>", of_class("B"), "p", "A B"),
    (f"<urn:B> owl:equivalentClass [ {SOME} ]", of_class("B"), "p", "A B"),
    (
        "<urn:A> rdfs:subClassOf [ a owl:Restriction ; owl:onProperty <urn:p> ;"
        " owl:allValuesFrom <urn:B> ]",
        of_class("B"),
        "p",
        "A B",
    ),
    (
        "<urn:A> rdfs:subClassOf [ a owl:Restriction ; owl:onProperty <urn:p> ;"
        " owl:hasValue <urn:v> ]",
        of_property("p"),
        "p",
        "A",
    ),
    (
        "[ a owl:Restriction ; owl:onProperty <urn:p> ; owl:hasValue <urn:v> ]"
        " rdfs:subClassOf <urn:B>",
        of_class("B"),
        "p",
        "B",
    ),
    (
        "<urn:B> owl:intersectionOf ( <urn:A> [ owl:unionOf ( <urn:C> <urn:D> ) ] )",
        of_class("B"),
        "",
        "A B C D",
    ),
    ("<urn:A> owl:disjointWith <urn:B>", of_property("A"), "A", "A B"),
    ("<urn:p> a owl:TransitiveProperty", of_property("p"), "p", ""),
]
A, B = NamedNode("urn:a"), NamedNode("urn:b")
BOUNDED = [
    ("<urn:p> rdfs:subPropertyOf <urn:q>", (A, None), "p q", (A, None)),
    ("<urn:p> owl:inverseOf <urn:q>", (A, None), "p", (None, A)),
    ("<urn:q> owl:inverseOf <urn:p>", (A, B), "p", (B, A)),
    ("<urn:q> a owl:SymmetricProperty", (None, B), "q", (B, None)),
    ("<urn:q> a owl:SymmetricProperty", (A, B), "q", (B, A)),
]
"""What is wanted of q, and with which ends what of other properties is relevant."""


@pytest.mark.parametrize(("text", "topic", "properties", "classes"), CASES)
def test_premises_of_what_is_looked_at_are_relevant(
    text: str, topic: Topic, properties: str, classes: str
) -> None:
    found = relevance(f"{text} . <urn:x> rdfs:subPropertyOf <urn:y>", topic)
    assert found == Relevance(named(*properties.split()), named(*classes.split()))
    assert found.covers(None, topic.predicate, topic.cls)
    assert not found.covers(None, NamedNode("urn:x"), None)


@pytest.mark.parametrize(("text", "ends", "properties", "others"), BOUNDED)
def test_ends_go_back_along_properties_that_hold_together(
    text: str,
    ends: tuple[NamedNode | None, NamedNode | None],
    properties: str,
    others: tuple[NamedNode | None, NamedNode | None],
) -> None:
    found = relevance(text, Topic(NamedNode("urn:q"), None, *ends))
    assert found == Relevance(bounded=found.bounded)
    for name in properties.split():
        assert found.covers(others[0], NamedNode(f"urn:{name}"), others[1])
        assert not found.covers(None, NamedNode(f"urn:{name}"), None)
        other = NamedNode("urn:other")
        assert not found.covers(other, NamedNode(f"urn:{name}"), other)


@pytest.mark.parametrize(
    "text",
    [
        "<urn:q> a owl:TransitiveProperty",
        "<urn:q> owl:propertyChainAxiom ( <urn:p> <urn:q> )",
        "<urn:q> rdfs:domain <urn:A> . <urn:A> rdfs:subClassOf [ a owl:Restriction ;"
        " owl:onProperty <urn:q> ; owl:hasValue <urn:b> ]",
    ],
)
def test_no_end_goes_back_along_what_joins_facts(text: str) -> None:
    found = relevance(text, Topic(NamedNode("urn:q"), None, A))
    assert found.covers(None, NamedNode("urn:q"), None)


def test_what_is_wanted_as_a_whole_has_no_bounds() -> None:
    name = NamedNode("urn:q")
    for topics in ((Topic(name, None, A), Topic(name)), (Topic(name), Topic(name, None, A))):
        assert relevance("", *topics) == Relevance(frozenset({name}))


def test_of_very_many_ends_any_is_relevant() -> None:
    audience, name = Audience(), NamedNode("urn:q")
    entries = [LuttEntry(NamedNode(f"urn:{n}"), name, None) for n in range(_MOST_ALIKE + 1)]
    for entry in entries:
        audience.join([entry])
    assert audience.relevance.covers(None, name, None)
    audience.leave([entries.pop()])
    assert audience.relevance.covers(entries[-1].subject, name, None)
    assert not audience.relevance.covers(None, name, None)
    audience.join([entries[0]])
    audience.leave([entries[0]])
    assert len(audience.relevance.bounded[name].subjects) == _MOST_ALIKE


@pytest.mark.parametrize("topic", [Topic(None), Topic(TYPE)])
def test_everything_is_relevant_to_who_looks_at_any_of_it(topic: Topic) -> None:
    found = Premises(read_axioms(())).relevance([of_property("p"), topic])
    assert found.is_all
    assert found.covers(None, None, None)


def reading(text: str, verb: str = "INSERT DATA") -> UpdateRequest:
    return UpdateRequest(f"{verb} {{ {text} }}", is_deferred=True)


@pytest.fixture
def engine() -> Engine:
    """Members of A are of B; where p is, q is; nobody has subscribed."""
    engine = opened()
    engine.update(axioms("<urn:A> rdfs:subClassOf <urn:B> . <urn:p> rdfs:subPropertyOf <urn:q>"))
    return engine


def waiting(engine: Engine) -> int:
    assert engine.reasoner is not None
    return len(engine.reasoner)


def test_who_listens_is_told_at_once_and_the_rest_waits(engine: Engine) -> None:
    first = subscribed(engine)
    outcome = engine.update(reading("<urn:x> a <urn:A> ; <urn:p> 1"))
    assert told(outcome, first) == ({"x"}, set())
    assert waiting(engine) == 1
    outcome = engine.update(reading("<urn:x> a <urn:A> ; <urn:p> 1", "DELETE DATA"))
    assert told(outcome, first) == (set(), {"x"})
    assert waiting(engine) == 0


def test_who_comes_later_sees_what_waited(engine: Engine) -> None:
    subscribed(engine)
    engine.update(reading("<urn:x> <urn:p> 1"))
    assert waiting(engine) == 1
    first = subscribed(engine, "SELECT ?s { ?s <urn:q> ?o }")
    assert (waiting(engine), len(first.results.added)) == (0, 1)
    outcome = engine.update(reading("<urn:y> <urn:p> 1"))
    assert (told(outcome, first), waiting(engine)) == (({"y"}, set()), 0)


def test_who_listens_to_one_is_not_told_of_others_at_once(engine: Engine) -> None:
    first = subscribed(engine, "SELECT ?o { <urn:x> <urn:q> ?o }")
    assert told(engine.update(reading("<urn:x> <urn:p> <urn:1>")), first) == ({"1"}, set())
    assert waiting(engine) == 0
    assert not engine.update(reading("<urn:y> <urn:p> <urn:2>")).notifications
    assert waiting(engine) == 1
    second = subscribed(engine, "SELECT ?o { <urn:y> <urn:q> ?o }")
    assert (len(second.results.added), waiting(engine)) == (1, 0)
    assert told(engine.update(reading("<urn:y> <urn:p> <urn:3>")), second) == ({"3"}, set())


def test_tables_know_what_was_derived_late(engine: Engine) -> None:
    """The join keeps a table of types; of B nobody is told until the second comes."""
    subscribed(engine, "SELECT ?s { ?s a <urn:C> ; <urn:r> ?o }")
    engine.update(reading("<urn:x> a <urn:A>"))
    engine.flush()
    first = subscribed(engine, "SELECT ?s { ?s a <urn:B> ; <urn:r> ?o }")
    assert told(engine.update(reading("<urn:x> <urn:r> 1")), first) == ({"x"}, set())


def test_what_was_asserted_and_is_derived_late_stays_in_tables(engine: Engine) -> None:
    subscribed(engine, "SELECT ?s { ?s a <urn:C> ; <urn:r> ?o }")
    engine.update("INSERT DATA { <urn:x> a <urn:A> , <urn:B> }")
    engine.update(reading("<urn:x> a <urn:B>", "DELETE DATA"))
    engine.flush()
    first = subscribed(engine, "SELECT ?s { ?s a <urn:B> ; <urn:r> ?o }")
    assert told(engine.update(reading("<urn:x> <urn:r> 1")), first) == ({"x"}, set())


def test_a_domain_that_is_suspended_late_ends_who_listens() -> None:
    engine = opened(derived=1)
    engine.update(axioms("<urn:A> rdfs:subClassOf <urn:B> . <urn:p> rdfs:subPropertyOf <urn:q>"))
    first = subscribed(engine)
    for name in "xy":
        engine.update(reading(f"<urn:{name}> <urn:p> 1"))
    assert engine.statistics.subscriptions == 1
    engine.flush()
    engine.update("INSERT DATA { <urn:unread> <urn:unread> 1 }")
    assert engine.statistics.subscriptions == 0
    assert first.spuid not in {each.spuid for each in engine.standing_by(10)}


def test_what_the_store_refuses_is_taken_back(engine: Engine) -> None:
    first = subscribed(engine)
    request = reading("<urn:x> a <urn:A> ; <urn:p> 1")
    with (
        patch.object(Pending, "apply", side_effect=StorageError("full")),
        pytest.raises(StorageError),
    ):
        engine.update(request)
    assert waiting(engine) == 0
    assert told(engine.update(request), first) == ({"x"}, set())
    assert waiting(engine) == 1


QUERIES = [
    "SELECT ?s { ?s a <urn:A> }",
    "SELECT ?s { ?s a <urn:B> }",
    "SELECT ?s { ?s a <urn:C> }",
    "SELECT ?s ?o { ?s <urn:p> ?o }",
    "SELECT ?s ?o { ?s <urn:q> ?o }",
    "SELECT ?s ?o { ?s <urn:r> ?o ; a <urn:B> }",
    "SELECT ?s ?o { ?s <urn:q> ?o . ?o <urn:p> ?s }",
    "SELECT ?s ?o { ?s <urn:p> ?o . ?o a <urn:A> }",
    "SELECT ?s ?c { ?s a ?c ; <urn:q> <urn:a> }",
    f"SELECT ?s {{ GRAPH {CONTRADICTIONS_GRAPH} {{ ?s <urn:B> <urn:C> }} }}",
    "SELECT ?s ?o { ?s <urn:q> ?o OPTIONAL { ?s a ?c } }",
]
BOUNDED_QUERIES = [
    "SELECT ?o { <urn:a> <urn:q> ?o }",
    "SELECT ?o { <urn:b> <urn:q> ?o }",
    "SELECT ?s { ?s <urn:q> <urn:b> }",
    "SELECT ?s { ?s <urn:r> <urn:c> }",
    "SELECT ?o { <urn:a> <urn:r> ?o . ?o a <urn:B> }",
    "SELECT ?o { <urn:c> <urn:r> ?o . ?o <urn:p> <urn:a> }",
    "ASK { <urn:a> <urn:q> <urn:b> }",
    "SELECT DISTINCT ?o { <urn:d> <urn:p> ?o }",
    "SELECT ?o ?x { <urn:a> <urn:p> ?o OPTIONAL { ?o <urn:r> ?x } }",
]
_AXIOMS = [
    "<urn:A> rdfs:subClassOf <urn:B>",
    "<urn:p> rdfs:range <urn:A>",
    "<urn:p> rdfs:subPropertyOf <urn:q>",
    "<urn:r> owl:inverseOf <urn:p>",
    "<urn:q> a owl:TransitiveProperty",
    "<urn:B> owl:disjointWith <urn:C>",
    "<urn:q> rdfs:domain <urn:C>",
    "<urn:r> owl:propertyChainAxiom ( <urn:r> <urn:q> )",
]


class Listeners:
    """Subscriptions to queries, and what their notifications add up to."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.firsts: dict[str, Notification] = {}
        self.bags: dict[str, SolutionBag] = {}

    def turn(self, text: str) -> None:
        """Subscribe, or unsubscribe."""
        first = self.firsts.pop(text, None)
        if first is not None:
            self.engine.unsubscribe(first.spuid)
            del self.bags[text]
            return
        first = self.firsts[text] = subscribed(self.engine, text)
        self.bags[text] = Counter(first.results.added)

    def update(self, request: UpdateRequest | str) -> None:
        """An UPDATE, of which all are told."""
        told = {each.spuid: each for each in self.engine.update(request).notifications}
        for text, first in self.firsts.items():
            if (heard := told.get(first.spuid)) is not None:
                self.bags[text].update(heard.results.added)
                self.bags[text].subtract(heard.results.removed)

    def check(self) -> None:
        """Compare with what Oxigraph answers on the naive closure."""
        engine = self.engine
        naive = NaiveReasoner(engine.store, engine.require_view().domains, bound=10_000)
        naive.start()
        whole = QuadStore(Store())
        quads = [*engine.store.match(None, None, None, None), *naive.derived]
        whole.load(quads, list({q.graph_name for q in quads} - {DefaultGraph()}))
        for text, bag in self.bags.items():
            spu = engine._subscriptions.of(self.firsts[text].spuid).spu
            assert +bag == evaluate(whole, spu.subject), text


@pytest.mark.property
@pytest.mark.parametrize("queries", [QUERIES, BOUNDED_QUERIES, BOUNDED_QUERIES + QUERIES[:8]])
@pytest.mark.parametrize("seed", range(8))
def test_random_readings_tell_whoever_listens_what_re_querying_does(
    seed: int, queries: list[str]
) -> None:
    _listen(Random(seed), queries)


@pytest.mark.parametrize("queries", [QUERIES, BOUNDED_QUERIES])
def test_random_readings_wait_while_somebody_listens(queries: list[str]) -> None:
    """Else the test above would say nothing."""
    assert sum(_listen(Random(seed), queries) for seed in range(3)) > 3


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("queries", [QUERIES, BOUNDED_QUERIES, BOUNDED_QUERIES + QUERIES[:8]])
def test_many_random_readings_tell_whoever_listens_what_re_querying_does(
    queries: list[str],
) -> None:
    for seed in range(1000, 2000):
        _listen(Random(seed), queries)


def _listen(chance: Random, queries: list[str]) -> int:
    """How many quads waited at once, at most."""
    engine = opened(Domains(frozenset({DefaultGraph()}), all_others=True))
    for each in chance.sample(_AXIOMS, 3):
        engine.update(axioms(each))
    listeners = Listeners(engine)
    most = 0
    for _ in range(70):
        listeners.update(_step(chance))
        most = max(most, waiting(engine) if listeners.firsts else 0)
        if chance.random() < 0.15:
            listeners.turn(chance.choice(queries[:-1] if chance.random() < 0.95 else queries))
        if chance.random() < 0.1:
            engine.flush()
        if chance.random() < 0.2:
            listeners.check()
    listeners.check()
    return most


def _step(chance: Random) -> UpdateRequest | str:
    if chance.random() < 0.06:  # as an observation goes
        whole = {"s": NamedNode(f"urn:{chance.choice('abcd')}")}
        return UpdateRequest("DELETE WHERE { ?s ?p ?o }", whole, is_deferred=True)
    if chance.random() < 0.06:
        axiom = chance.choice(_AXIOMS)
        is_there = "(" in axiom or chance.random() < 0.5  # DELETE DATA has no blank nodes
        return axioms(axiom, "INSERT DATA" if is_there else "DELETE DATA")
    one, other = (f"<urn:{chance.choice('abcd')}>" for _ in range(2))
    said = f"{one} <urn:{chance.choice('pqr')}> {other}", f"{one} a <urn:{chance.choice('ABC')}>"
    graph = "GRAPH <urn:g> { %s }" if chance.random() < 0.2 else "%s"
    verb = chance.choice(("INSERT DATA", "INSERT DATA", "DELETE DATA"))
    text = f"{verb} {{ {graph % chance.choice(said)} }}"
    return UpdateRequest(text, is_deferred=chance.random() < 0.85)


def test_a_quad_that_no_axiom_reads_is_told_without_deriving(engine: Engine) -> None:
    """A reading whose templates say that nothing is read of it is not looked at."""
    first = subscribed(engine)
    quad = Quad(NamedNode("urn:s"), NamedNode("urn:unread"), NamedNode("urn:o"))
    outcome = engine.update(reading("<urn:s> <urn:unread> <urn:o>"))
    assert (outcome.delta.added, waiting(engine)) == ((quad,), 0)
    assert first.results.is_empty
