"""More follows than may be derived: refused where that can be, else the domain is suspended."""

import gc
from pathlib import Path

import pytest
from pyoxigraph import Store

from gateway.engine import Engine, QueryRequest, SubscribeRequest, UpdateRequest
from gateway.errors import DerivedLimitError, GatewayError, OntologyError, SuspendedError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.views.reasoned import (
    ABOVE,
    MEMBERS,
    PREFIXES,
    answered,
    axioms,
    opened,
    subscribed,
    told,
)

IN_G = "SELECT ?s { GRAPH <urn:g> { ?s a <urn:B> } }"


def members(*names: str, graph: str = "") -> str:
    """The UPDATE that makes them members of A."""
    triples = " ".join(f"<urn:{name}> a <urn:A> ." for name in names)
    return f"INSERT DATA {{ {f'GRAPH <{graph}> {{ {triples} }}' if graph else triples} }}"


@pytest.fixture
def engine() -> Engine:
    """Three quads may be derived, two are."""
    engine = opened(derived=3)
    engine.update(axioms(ABOVE))
    engine.update(members("x"))
    engine.update(members("y", graph="urn:g"))
    return engine


def ended(engine: Engine) -> dict[str, GatewayError]:
    """Filled with those that end, as the scheduler is told of them."""
    found: dict[str, GatewayError] = {}
    engine.delivery.on_end = found.__setitem__
    return found


def test_an_update_is_refused_whole(engine: Engine) -> None:
    first = subscribed(engine)
    for text in (members("a", "b"), axioms("<urn:A> rdfs:subClassOf <urn:C>")):
        before = len(engine.store)
        with pytest.raises(DerivedLimitError):
            engine.update(text)
        assert len(engine.store) == before
    assert told(engine.update(members("a")), first) == ({"a"}, set())
    assert answered(engine) == {"x", "a"}


def test_a_reading_is_stored_and_suspends_its_domain_alone(engine: Engine) -> None:
    inferring = subscribed(engine)
    unreached = subscribed(engine, "SELECT ?s { ?s <urn:p> 1 }")
    plain = subscribed(engine, "SELECT ?s { ?s a <urn:A> }", infer=False)
    other = subscribed(engine, IN_G)
    everywhere = subscribed(engine, "SELECT ?g { GRAPH ?g { ?s a <urn:B> } }")
    told_of_end = ended(engine)
    outcome = engine.update(UpdateRequest(members("a", "b"), is_deferred=True))
    assert told(outcome, plain) == ({"a", "b"}, set())
    assert len(outcome.notifications) == 1
    assert set(told_of_end) == {inferring.spuid, unreached.spuid, everywhere.spuid}
    assert all(isinstance(each, SuspendedError) for each in told_of_end.values())
    for text in (
        MEMBERS,
        "SELECT ?s { GRAPH ?g { ?s ?p ?o } }",
        f"SELECT ?s {{ GRAPH {CONTRADICTIONS_GRAPH} {{ ?s ?p ?o }} }}",
    ):
        with pytest.raises(SuspendedError):
            answered(engine, text)
        with pytest.raises(SuspendedError):
            engine.subscribe(SubscribeRequest(text, infer=True))
    with pytest.raises(SuspendedError):
        engine.update(UpdateRequest("DELETE WHERE { ?s a <urn:B> }", infer=True))
    assert answered(engine, "SELECT ?s { ?s a <urn:A> }", infer=False) == {"x", "a", "b"}
    assert answered(engine, IN_G) == {"y"}
    assert told(engine.update(members("z", graph="urn:g")), other) == ({"z"}, set())
    for spuid in told_of_end:
        engine.unsubscribe(spuid)
    assert engine.statistics.subscriptions == len(engine.standing) == 2


def test_who_embeds_the_engine_need_not_unsubscribe_what_has_ended(engine: Engine) -> None:
    subscribed(engine)
    engine.update(UpdateRequest(members("a", "b"), is_deferred=True))
    assert (engine.statistics.subscriptions, engine.standing) == (0, ())
    assert [each.text for each in engine.delivery.failed] == [MEMBERS]


def test_a_suspended_domain_is_tried_again_by_axioms_and_by_resume(engine: Engine) -> None:
    engine.update(UpdateRequest(members("a", "b"), is_deferred=True))
    engine.resume_reasoning()
    with pytest.raises(SuspendedError):
        answered(engine)
    engine.update("DELETE DATA { <urn:a> a <urn:A> . <urn:b> a <urn:A> }")
    everything = subscribed(engine, IN_G)
    engine.resume_reasoning()
    assert answered(engine) == {"x"}
    engine.update(UpdateRequest(members("a", "b"), is_deferred=True))
    with pytest.raises(SuspendedError):
        answered(engine)
    outcome = engine.update(f"{PREFIXES} {axioms(ABOVE, 'DELETE DATA').removeprefix(PREFIXES)}")
    assert told(outcome, everything) == (set(), {"y"})
    assert answered(engine) == set()


def test_who_has_waited_is_told_by_resume() -> None:
    engine = opened(derived=2)
    engine.update(axioms(ABOVE))
    engine.update(members("x", graph="urn:g"))
    first = subscribed(engine, IN_G)
    engine.update(UpdateRequest(members("a", "b"), is_deferred=True))
    assert answered(engine, IN_G) == {"x"}
    assert not engine.resume_reasoning().notifications
    outcome = engine.update(members("y", graph="urn:g"))
    assert told(outcome, first) == ({"y"}, set())


def test_the_start_is_not_refused(tmp_path: Path) -> None:
    engine = opened(path=tmp_path)
    engine.update(axioms(ABOVE))
    engine.update(members("x", "y", "z"))
    engine.close()
    engine = opened(path=tmp_path, derived=2)
    assert answered(engine, infer=False, text="SELECT ?s { ?s a <urn:A> }") == {"x", "y", "z"}
    with pytest.raises(SuspendedError):
        engine.query(QueryRequest(MEMBERS, infer=True))
    engine.close()


# A chain of 5,000 places under a transitive property would be 12.5 million quads.

TRANSITIVE = axioms("<urn:within> a owl:TransitiveProperty")
CHAIN = " ".join(f"<urn:{n}> <urn:within> <urn:{n + 1}> ." for n in range(5_000))
PLACES = "SELECT ?o { <urn:a> <urn:within> ?o }"
LINK = "INSERT DATA { <urn:a> <urn:within> <urn:b> . <urn:b> <urn:within> <urn:c> }"


def test_a_chain_of_many_places_is_refused_whole() -> None:
    engine = opened(derived=20_000)
    engine.update(TRANSITIVE)
    with pytest.raises(DerivedLimitError, match="urn:within"):
        engine.update(f"INSERT DATA {{ {CHAIN} }}")
    assert len(engine.store) == 1
    engine.update(LINK)
    assert answered(engine, PLACES) == {"b", "c"}


def test_an_axiom_that_makes_too_much_of_a_chain_is_refused_whole() -> None:
    engine = opened(derived=20_000)
    engine.update(f"INSERT DATA {{ {CHAIN} }}")
    with pytest.raises(DerivedLimitError, match="urn:within"):
        engine.update(TRANSITIVE)
    assert len(engine.store) == 5_000
    engine.update(LINK)
    assert answered(engine, PLACES) == {"b"}


def test_a_chain_of_readings_is_stored_and_suspends() -> None:
    engine = opened(derived=20_000)
    engine.update(TRANSITIVE)
    engine.update(UpdateRequest(f"INSERT DATA {{ {CHAIN} }}", is_deferred=True))
    assert len(engine.store) == 5_001
    for _ in range(2):
        with pytest.raises(SuspendedError, match="urn:within"):
            answered(engine, PLACES)
        engine.resume_reasoning()
    engine.update(f"DELETE DATA {{ {CHAIN} }} ; {LINK}")
    engine.resume_reasoning()
    assert answered(engine, PLACES) == {"b", "c"}


def test_a_chain_in_the_store_suspends_at_the_start(tmp_path: Path) -> None:
    engine = opened(path=tmp_path, at_once=False)
    engine.update(TRANSITIVE)
    engine.update(f"INSERT DATA {{ {CHAIN} }}")
    engine.close()
    engine = opened(path=tmp_path, derived=20_000)
    with pytest.raises(SuspendedError, match="urn:within"):
        answered(engine, PLACES)
    assert len(engine.store) == 5_001
    engine.close()


# a restart ----------------------------------------------------------------------------------


def test_nothing_derived_is_on_the_disk(tmp_path: Path) -> None:
    engine = opened(path=tmp_path / "store")
    engine.update(axioms(ABOVE))
    engine.update(members("x"))
    engine.update(UpdateRequest(members("y"), is_deferred=True))
    assert answered(engine) == {"x", "y"}
    engine.close()
    store = QuadStore.open(tmp_path / "store")
    assert len(store) == 3
    store.apply(Delta())
    store.close()
    engine = opened(path=tmp_path / "store")
    assert answered(engine) == {"x", "y"}
    assert answered(engine, infer=False) == set()
    engine.close()


def test_broken_axioms_written_while_reasoning_is_off_are_mended_so_too(tmp_path: Path) -> None:
    engine = Engine.open(tmp_path)
    engine.update(axioms("<urn:A> owl:unionOf ()"))
    engine.close()
    with pytest.raises(OntologyError, match=r"while \[reasoning\] lists no"):
        opened(path=tmp_path)
    gc.collect()
    engine = Engine.open(tmp_path)
    engine.update(f"CLEAR GRAPH {ONTOLOGY_GRAPH} ; {axioms(ABOVE)} ; {members('x')}")
    engine.close()
    engine = opened(path=tmp_path)
    assert answered(engine) == {"x"}
    engine.close()


def test_a_copy_for_readers_has_what_follows(tmp_path: Path) -> None:
    for path in (None, tmp_path / "store"):
        engine = opened(path=path)
        engine.update(axioms(ABOVE))
        engine.update(UpdateRequest(members("x"), is_deferred=True))
        assert engine.view is not None
        folder = tmp_path / ("disk" if path else "memory")
        assert engine.view.entailed.copy_to(folder) == engine.view.entailed.changes
        copy = QuadStore(Store.read_only(str(folder)))
        assert {str(quad.object) for quad in copy.match(None, None, None, None)} == {
            "<urn:A>",
            "<urn:B>",
        }
        assert answered(engine, infer=False) == set()
        engine.close()
