"""A store that changes for years: its content stays, its past goes."""

from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from gateway.rdf.delta import Delta
from gateway.store import upkeep
from gateway.store.quad_store import QuadStore
from gateway.store.upkeep import rewritten

P = NamedNode("urn:p")
GRAPH = NamedNode("urn:g")


def test_rewritten_store_has_the_same_content_empty_graphs_and_blank_nodes() -> None:
    store = QuadStore.open(None)
    blank = BlankNode("b")
    quads = (Quad(blank, P, Literal(1)), Quad(P, P, blank, GRAPH))
    store.apply(Delta(added=quads, graphs_created=(GRAPH, NamedNode("urn:empty"))))
    fresh = QuadStore(rewritten(store._store))
    assert set(fresh.match(None, None, None, None)) == set(quads)
    assert set(fresh.named_graphs()) == {GRAPH, NamedNode("urn:empty")}


@pytest.mark.parametrize("on_disk", [False, True])
def test_store_forgets_its_past_while_it_changes(
    on_disk: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.store.quad_store.REMOVALS", 10)
    store = QuadStore.open(tmp_path if on_disk else None)
    store._due = 10
    before = store._store
    old = Quad(P, P, Literal(0))
    store.apply(Delta(added=(old,)))
    for number in range(1, 50):
        new = Quad(P, P, Literal(number))
        store.apply(Delta((new,), (old,)))
        old = new
    assert list(store.match(None, None, None, None)) == [old]
    assert (store._store is before) is on_disk
    flusher = store._flusher
    assert (flusher is not None and flusher._flushing is not None) is on_disk
    store.close()


def test_flush_that_fails_is_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def flush(self) -> None:
            raise OSError("no space left")

    flusher = upkeep.Flusher(Broken())  # type: ignore[arg-type]
    flusher.flush_soon()
    assert flusher._flushing is not None
    flusher._flushing.result(5)
    assert "store_not_flushed" in caplog.text
