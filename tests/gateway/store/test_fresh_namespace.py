"""What is known of subjects that only one part should make: never wrong, whoever makes them."""

from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from gateway.engine import Engine
from gateway.rdf.delta import Delta
from gateway.store.quad_store import QuadStore

_P = NamedNode("urn:p")
_PREFIX = NamedNode("urn:seen/7-")


def _quad(number: int, value: int = 1, graph: NamedNode | None = None) -> Quad:
    subject = NamedNode(f"urn:seen/7-{number}")
    return Quad(subject, _P, Literal(value)) if graph is None else Quad(subject, _P, subject, graph)


@pytest.fixture
def store(tmp_path: Path) -> QuadStore:
    """On disk, with two subjects that somebody else made in the namespace."""
    store = QuadStore.open(tmp_path)
    store.apply(Delta(added=(_quad(1), _quad(2, graph=NamedNode("urn:g")))))
    store.expect_new(_PREFIX)
    return store


def test_subjects_made_before_are_known(store: QuadStore) -> None:
    assert _quad(1) in store
    assert _quad(2, graph=NamedNode("urn:g")) in store
    assert store.missing([_quad(1), _quad(3), _quad(1, 2)]) == [_quad(3), _quad(1, 2)]


def test_subjects_are_known_from_their_first_quad_to_their_last(store: QuadStore) -> None:
    first, second = _quad(3), _quad(3, 2)
    assert store.missing([first, second]) == [first, second]
    store.defer(Delta(added=(first, second)))
    store.flush()
    store.apply(Delta(removed=(first,)))
    assert store.missing([first, second]) == [first]
    store.apply(Delta(removed=(second,)))
    assert store.missing([first, second]) == [first, second]


def test_update_that_says_again_what_is_there_changes_nothing(tmp_path: Path) -> None:
    engine = Engine.open(tmp_path)
    engine.store.expect_new(_PREFIX)
    text = "INSERT DATA { <urn:seen/7-1> <urn:p> 1 , 2 . <urn:seen/7-2> <urn:p> _:b }"
    assert len(engine.update(text).delta) == 3
    again = engine.update("INSERT DATA { <urn:seen/7-1> <urn:p> 1 , 3 }")
    assert again.delta.added == (_quad(1, 3),)
    assert engine.update("DELETE WHERE { <urn:seen/7-1> ?p ?o }").delta.added == ()
    assert len(engine.update(text).delta) == 3  # the blank node is another one
    engine.close()
