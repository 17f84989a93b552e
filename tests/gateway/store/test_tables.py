"""The WHERE of an UPDATE looks up in the tables of live joins, never in ones that are behind."""

from pyoxigraph import Literal, NamedNode, Quad

from gateway.engine import Engine
from gateway.rdf.delta import Delta
from gateway.store.quad_store import QuadStore

JOIN = "SELECT * { ?road <urn:connects> ?post . ?post <urn:value> ?v }"
SET = (
    "DELETE { ?post <urn:value> ?v } INSERT { ?post <urn:value> 'new' } "
    "WHERE { <urn:road> <urn:connects> ?post . ?post <urn:value> ?v }"
)
CONNECTS, VALUE = NamedNode("urn:connects"), NamedNode("urn:value")


def connected(post: str) -> Quad:
    return Quad(NamedNode("urn:road"), CONNECTS, NamedNode(post))


def value(post: str, text: str) -> Quad:
    return Quad(NamedNode(post), VALUE, Literal(text))


def subscribed() -> tuple[QuadStore, Engine]:
    store = QuadStore.open(None)
    store.apply(Delta(added=(connected("urn:a"), value("urn:a", "old"))))
    store.flush()
    engine = Engine(store)
    engine.subscribe(JOIN)
    return store, engine


def test_look_up_hands_out_the_quads_of_the_join() -> None:
    store, _engine = subscribed()
    road = NamedNode("urn:road")
    (first,) = store.look_up(road, CONNECTS, None, connected("urn:a").graph_name)
    (again,) = store.look_up(road, CONNECTS, None, connected("urn:a").graph_name)
    assert first is again


def test_look_up_follows_updates() -> None:
    store, engine = subscribed()
    assert engine.update(SET).delta.removed == (value("urn:a", "old"),)
    assert engine.update(SET).delta.is_empty
    engine.update("INSERT DATA { <urn:road> <urn:connects> <urn:b> . <urn:b> <urn:value> 'old' }")
    assert engine.update(SET).delta.removed == (value("urn:b", "old"),)
    assert value("urn:b", "new") in store


def test_change_beside_the_engine_is_seen() -> None:
    store, engine = subscribed()
    engine.update(SET)
    store.apply(
        Delta(
            added=(connected("urn:b"), value("urn:b", "old"), value("urn:a", "old")),
            removed=(value("urn:a", "new"),),
        )
    )
    for _ in range(2):
        engine.update("INSERT DATA { <urn:x> <urn:y> <urn:z> }")
    delta = engine.update(SET).delta
    assert set(delta.removed) == {value("urn:a", "old"), value("urn:b", "old")}


def test_other_engine_on_the_store_is_seen() -> None:
    store, engine = subscribed()
    newer = Engine(store)
    newer.subscribe(JOIN)
    engine.update("INSERT DATA { <urn:road> <urn:connects> <urn:b> . <urn:b> <urn:value> 'old' }")
    assert set(newer.update(SET).delta.removed) == {value("urn:a", "old"), value("urn:b", "old")}
