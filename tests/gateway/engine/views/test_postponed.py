"""Readings that nobody who infers hears of wait to be derived from; whoever looks sees no delay."""

from collections.abc import Sequence
from random import Random
from threading import RLock, Thread
from unittest.mock import patch

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad

from gateway.engine import Engine, QueryRequest, UpdateRequest
from gateway.errors import ForbiddenError, StorageError, SuspendedError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.reasoning.domains import Domains
from gateway.reasoning.incremental.parting import Bundles
from gateway.reasoning.incremental.program import TYPE
from gateway.reasoning.postponed import _MOST_WAITING, Postponed
from gateway.reasoning.reasoner import Reasoner
from gateway.store.bundles.bundle import Bundle, Known
from gateway.store.bundles.shape import shape_of
from gateway.store.pending import Pending
from tests.gateway.engine.views.reasoned import (
    ABOVE,
    JOINT,
    MEMBERS,
    answered,
    axioms,
    opened,
    subscribed,
    told,
)
from tests.kit.reasoning.naive import NaiveReasoner


def reading(text: str) -> UpdateRequest:
    """An UPDATE as ingest makes one."""
    return UpdateRequest(text, is_deferred=True)


def member(name: str, verb: str = "INSERT DATA", graph: str = "") -> UpdateRequest:
    triple = f"<urn:{name}> a <urn:A>"
    return reading(f"{verb} {{ {f'GRAPH <{graph}> {{ {triple} }}' if graph else triple} }}")


def waiting(engine: Engine) -> int:
    assert engine.reasoner is not None
    return len(engine.reasoner)


def derived_late(engine: Engine) -> int:
    """How much followed when somebody looked last."""
    assert engine.reasoner is not None
    return len(engine.reasoner.lately.derived)


@pytest.fixture
def engine() -> Engine:
    """Two axioms; nobody has subscribed."""
    engine = opened()
    engine.update(axioms(f"{ABOVE} . <urn:p> rdfs:subPropertyOf <urn:q>"))
    assert answered(engine, "SELECT ?o { <urn:s> <urn:unread> ?o }", infer=False) == set()
    return engine


def test_what_comes_and_goes_is_never_derived(engine: Engine) -> None:
    before = derived_late(engine)
    assert engine.reasoner is not None
    reasoner = engine.reasoner.lately
    with patch.object(reasoner, "step", wraps=reasoner.step) as step:
        engine.update(member("x"))
        engine.update(member("y"))
        assert waiting(engine) == 2
        engine.update(member("x", "DELETE DATA"))
        assert (waiting(engine), derived_late(engine)) == (1, before)
        assert not step.called
        assert answered(engine) == {"y"}
        assert [len(call.args[0]) for call in step.call_args_list] == [1]
    assert (waiting(engine), derived_late(engine)) == (0, before + 1)


def test_what_no_axiom_reads_does_not_wait(engine: Engine) -> None:
    engine.update(reading("INSERT DATA { <urn:s> <urn:unread> 1 ; <urn:p> 1 }"))
    assert waiting(engine) == 1
    engine.flush()
    assert (waiting(engine), engine.is_pending) == (0, False)


def test_who_listens_is_told_at_once(engine: Engine) -> None:
    engine.update(member("before"))
    first = subscribed(engine)
    assert (waiting(engine), len(first.results.added)) == (0, 1)
    assert told(engine.update(member("x")), first) == ({"x"}, set())
    assert waiting(engine) == 0
    engine.unsubscribe(first.spuid)
    forget_mirror(engine)
    engine.update(member("y"))
    assert waiting(engine) == 1


def forget_mirror(engine: Engine) -> None:
    """Let more change than the mirror of texts holds, so that it is given up."""
    assert engine.view is not None
    for verb in ("INSERT DATA", "DELETE DATA"):
        many = " ".join(f"<urn:s> <urn:unread> {n} ." for n in range(600))
        engine.update(f"{verb} {{ {many} }}")
    assert not engine.view.entailed.mirror.is_filled


def test_what_texts_are_asked_of_is_kept_up_to_date_for_a_while(engine: Engine) -> None:
    assert answered(engine) == set()
    engine.update(member("x"))
    assert waiting(engine) == 0
    assert answered(engine) == {"x"}
    forget_mirror(engine)
    engine.update(member("y"))
    assert waiting(engine) == 1
    assert answered(engine) == {"x", "y"}


def test_each_way_of_looking_sees_all_that_was_read(engine: Engine) -> None:
    in_b = Quad(NamedNode("urn:x"), TYPE, NamedNode("urn:B"))
    assert engine.reasoner is not None
    assert engine.view is not None
    reasoner, view = engine.reasoner, engine.view
    looks = (
        lambda: engine.why(in_b),
        reasoner.derived_by_axiom,
        lambda: reasoner.suspended,
        engine.flush,
        lambda: engine.explain(QueryRequest(MEMBERS, infer=True)),
        lambda: engine.update(UpdateRequest("DELETE { ?s ?p 1 } WHERE { ?s ?p 1 }", infer=True)),
        lambda: engine.update("INSERT DATA { <urn:y> <urn:p> 2 }"),
        lambda: view.entailed.match(in_b.subject, None, None, DefaultGraph()),
    )
    for look in looks:
        engine.update(member("x"))
        assert waiting(engine) == 1
        look()
        assert waiting(engine) == 0
        engine.update(member("x", "DELETE DATA"))
        engine.flush()


def test_a_query_in_another_thread_catches_up(engine: Engine) -> None:
    engine.update(member("x"))
    found: list[set[str]] = []
    thread = Thread(target=lambda: found.append(answered(engine)))
    thread.start()
    thread.join(30)
    assert found == [{"x"}]


def test_axioms_and_readings_keep_their_order(engine: Engine) -> None:
    engine.update(member("x"))
    outcome = engine.update(axioms(ABOVE, "DELETE DATA"))
    assert (waiting(engine), len(outcome.delta.removed)) == (0, 1)
    engine.update(member("y"))
    assert answered(engine) == set()
    engine.update(axioms(ABOVE))
    assert answered(engine) == {"x", "y"}


def test_a_reading_of_axioms_does_not_wait(engine: Engine) -> None:
    more = "<urn:C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:B>"
    engine.update(reading(f"INSERT DATA {{ GRAPH {ONTOLOGY_GRAPH} {{ {more} }} }}"))
    assert waiting(engine) == 0
    engine.update(reading("INSERT DATA { <urn:x> a <urn:C> }"))
    assert answered(engine) == {"x"}


def test_what_is_no_axiom_in_a_reading_can_be_taken_back(engine: Engine) -> None:
    said = f"GRAPH {ONTOLOGY_GRAPH} {{ <urn:C> <urn:unread> 1 }}"
    engine.update(reading(f"INSERT DATA {{ {said} }}"))
    assert len(engine.update(f"DELETE DATA {{ {said} }}").delta.removed) == 1


def test_a_reading_into_a_graph_of_conclusions_is_refused(engine: Engine) -> None:
    engine.update("INSERT DATA { <urn:where> <urn:is> <urn:it> }")
    into = CONTRADICTIONS_GRAPH.value
    bound = f"BIND(IRI(CONCAT('{into[:5]}', '{into[5:]}')) AS ?g)"
    with pytest.raises(ForbiddenError):
        engine.update(reading(f"INSERT {{ GRAPH ?g {{ <urn:s> a <urn:A> }} }} WHERE {{ {bound} }}"))
    assert waiting(engine) == 0
    assert len(engine.store) == 3


def test_a_joint_domain_does_not_wait() -> None:
    engine = opened(JOINT)
    engine.update(axioms(ABOVE))
    engine.update(member("x", graph="urn:g"))
    assert (waiting(engine), derived_late(engine)) == (0, 1)


def test_what_the_store_refuses_does_not_wait(engine: Engine) -> None:
    with (
        patch.object(Pending, "apply", side_effect=StorageError("full")),
        pytest.raises(StorageError),
    ):
        engine.update(member("x"))
    assert waiting(engine) == 0
    assert answered(engine) == set()


def test_too_much_suspends_when_somebody_looks() -> None:
    engine = opened(derived=1)
    engine.update(axioms(ABOVE))
    engine.update(member("x"))
    engine.update(member("y"))
    with pytest.raises(SuspendedError):
        answered(engine)
    engine.update(member("y", "DELETE DATA"))
    engine.resume_reasoning()
    assert answered(engine) == {"x"}


def test_no_more_waits_than_may() -> None:
    engine = opened()
    engine.update(axioms(ABOVE))
    names = [f"m{n}" for n in range(_MOST_WAITING)]
    engine.update(reading(f"INSERT DATA {{ {' '.join(f'<urn:{n}> a <urn:A> .' for n in names)} }}"))
    assert waiting(engine) == _MOST_WAITING
    engine.update(member("one-more"))
    assert (waiting(engine), derived_late(engine)) == (0, _MOST_WAITING + 1)


@pytest.mark.property
@pytest.mark.parametrize("seed", range(20))
def test_random_readings_and_looks_are_as_of_a_reasoner_that_never_waits(seed: int) -> None:
    chance = Random(seed)
    engine = opened(Domains(frozenset({DefaultGraph()}), all_others=True))
    engine.update(
        axioms(f"{ABOVE} . <urn:p> a owl:TransitiveProperty . <urn:p> rdfs:range <urn:A>")
    )
    assert engine.reasoner is not None
    late = 0
    for _ in range(60):
        term = [f"<urn:{chance.choice('abcd')}>" for _ in range(2)]
        triple = chance.choice((f"{term[0]} <urn:p> {term[1]}", f"{term[0]} a <urn:A>"))
        verb = chance.choice(("INSERT DATA", "DELETE DATA"))
        graph = chance.choice(("{}", "GRAPH <urn:g> {{ {} }}")).format(triple)
        text, whole = f"{verb} {{ {graph} }}", {}
        if chance.random() < 0.1:  # as an observation goes
            text, whole = "DELETE WHERE { ?s ?p ?o }", {"s": NamedNode(term[0][1:-1])}
        engine.update(UpdateRequest(text, whole, is_deferred=chance.random() < 0.8))
        late = max(late, waiting(engine))
        if chance.random() < 0.1:
            naive = NaiveReasoner(engine.store, engine.require_view().domains, bound=10_000)
            naive.start()
            assert set(engine.reasoner.derived.match(None, None, None, None)) == set(naive.derived)
    assert late > 1


def test_waiting_readings_are_netted_whatever_the_order() -> None:
    """The same quad may turn any number of times between two looks."""
    engine = opened()
    engine.update(axioms(ABOVE))
    made = Reasoner(engine.store, Domains(frozenset({DefaultGraph()})), bound=100)
    made.start()
    tested = Postponed(made, engine.store.writing)
    quad = Quad(NamedNode("urn:x"), TYPE, NamedNode("urn:A"))
    for turn in range(5):
        is_there = turn % 2 == 0
        tested.postpone(Delta(added=(quad,)) if is_there else Delta(removed=(quad,)))
        assert len(tested) == is_there
    assert len(tested.derived) == 1
    tested.postpone(Delta(removed=(quad,)))
    tested.postpone(Delta(added=(quad,)))
    assert (len(tested), len(tested.derived)) == (0, 1)


class Seen:
    """A reasoner that has to be told the net change, and no quad twice."""

    def __init__(self) -> None:
        self.quads: set[Quad] = set()

    def step(self, delta: Delta, *, is_reading: bool) -> Delta:
        assert is_reading
        assert self.quads.isdisjoint(delta.added)
        assert self.quads.issuperset(delta.removed)
        self.quads = self.quads.union(delta.added).difference(delta.removed)
        return delta


class Whole:
    """All quads of a bundle may wait."""

    def later(self, bundle: Bundle) -> Sequence[Quad]:
        return bundle.quads()

    def most_later(self, bundle: Bundle) -> int:
        return len(bundle)


@pytest.mark.property
@pytest.mark.parametrize("seed", range(40))
def test_bundles_wait_net_whether_they_go_whole_or_quad_by_quad(seed: int) -> None:
    """Their IRIs are used again; what somebody has looked up in the store goes quad by quad."""
    chance, seen = Random(seed), Seen()
    tested = Postponed(seen, RLock())  # type: ignore[arg-type]
    shape = shape_of("INSERT { ?o a <urn:A> ; <urn:p> 1 , 2 } WHERE {}", ["o"])
    assert shape is not None
    there: set[Quad] = set()
    whole: dict[str, Bundle] = {}
    for _ in range(200):
        iri = f"urn:{chance.choice('ab')}"
        bundle = whole.pop(iri, None)
        quads = [*filter(lambda quad: quad.subject == NamedNode(iri), there)]
        if bundle is not None and chance.random() < 0.5:
            tested.postpone(Delta(), Bundles((), (bundle,), Whole()))
            there.difference_update(quads)
        elif quads:
            gone = quads if chance.random() < 0.5 else quads[:1]
            tested.postpone(Delta(removed=tuple(gone)))
            there.difference_update(gone)
        else:
            made = whole[iri] = Bundle(Known(shape, (iri,), {"o": NamedNode(iri)}))
            tested.postpone(Delta(), Bundles((made,), (), Whole()))
            there.update(made.quads())
        if chance.random() < 0.2:
            tested.catch_up()
            assert (seen.quads, len(tested)) == (there, 0)
    tested.catch_up()
    assert seen.quads == there
