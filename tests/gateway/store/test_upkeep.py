"""A store that changes for years: its content stays, its past goes."""

import shutil
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store

from gateway.errors import StorageError
from gateway.rdf.delta import Delta
from gateway.store.disk import upkeep
from gateway.store.quad_store import QuadStore

P = NamedNode("urn:p")
GRAPH = NamedNode("urn:g")
EMPTY = NamedNode("urn:empty")


@pytest.fixture(params=["memory", "disk"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both homes, with limits that a test reaches."""
    monkeypatch.setattr(upkeep, "FLUSH_REMOVALS", 5)
    monkeypatch.setattr(upkeep, "REWRITE_REMOVALS", {"memory": 20, "disk": 20})
    name: str = request.param
    return name


def open_store(kind: str, folder: Path) -> QuadStore:
    return QuadStore.open(folder / "store" if kind == "disk" else None)


def content(store: QuadStore) -> set[Quad]:
    return set(store.match(None, None, None, None))


def churn(store: QuadStore, times: int) -> Quad:
    old = Quad(P, P, Literal(-1))
    store.apply(Delta(added=(old,)))
    for number in range(times):
        new = Quad(P, P, Literal(number))
        store.apply(Delta((new,), (old,)))
        store.flush()
        old = new
    return old


def test_store_that_is_written_anew_keeps_content_empty_graphs_and_blank_nodes(
    kind: str, tmp_path: Path
) -> None:
    store = open_store(kind, tmp_path)
    blank = BlankNode("b")
    kept = {Quad(blank, P, Literal(1)), Quad(P, P, blank, GRAPH)}
    store.apply(Delta(added=tuple(kept), graphs_created=(GRAPH, EMPTY)))
    before = store._store
    last = churn(store, 200)
    assert store._store is not before
    assert content(store) == {*kept, last}
    assert set(store.named_graphs()) == {GRAPH, EMPTY}
    store.close()


def test_folder_written_anew_opens_again_and_has_one_generation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(upkeep, "REWRITE_REMOVALS", {"memory": 20, "disk": 20})
    store = open_store("disk", tmp_path)
    last = churn(store, 100)
    store.close()
    del store
    folders = [path for path in (tmp_path / "store").iterdir() if path.is_dir()]
    assert len(folders) == 1
    assert folders[0].name != "1"
    assert content(open_store("disk", tmp_path)) == {last}


def test_generation_that_was_not_finished_is_removed_at_the_next_start(tmp_path: Path) -> None:
    store = open_store("disk", tmp_path)
    last = churn(store, 3)
    store.close()
    del store
    shutil.copytree(tmp_path / "store" / "1", tmp_path / "store" / "2")
    (tmp_path / "store" / "current.new").write_text("2")
    assert content(open_store("disk", tmp_path)) == {last}
    assert not (tmp_path / "store" / "2").exists()


def test_rewrite_that_fails_leaves_the_store_as_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_source: Store, _target: Store) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(upkeep, "REWRITE_REMOVALS", {"memory": 20, "disk": 20})
    monkeypatch.setattr(upkeep, "copy", full)
    store = open_store("disk", tmp_path)
    last = churn(store, 100)
    assert content(store) == {last}
    assert "store_not_rewritten" in caplog.text
    assert not (tmp_path / "store" / "2").exists()
    store.close()


@pytest.mark.parametrize("quads", [upkeep.REST_CHANGES - 2, upkeep.REST_CHANGES])
def test_store_at_rest_is_flushed_once_where_that_is_worth_it(quads: int, tmp_path: Path) -> None:
    store = open_store("disk", tmp_path)

    def flushed() -> int:
        store.rest()
        store._home._thread.submit(lambda: None).result()  # type: ignore[attr-defined]
        return sum(file.stat().st_size for file in tmp_path.rglob("*.sst"))

    empty = flushed()
    store.apply(Delta(tuple(Quad(P, P, Literal(number)) for number in range(quads))))
    assert flushed() == empty, "it was changed just now"
    assert (flushed() > empty) == (quads == upkeep.REST_CHANGES)
    before = flushed()
    store.apply(Delta((Quad(P, P, P),)))
    assert [flushed(), flushed()] == [before, before], "a single quad waits for more"
    store.close()


def test_flush_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def flush(self) -> None:
            raise OSError("no space left on device")

    upkeep._flush(Broken())  # type: ignore[arg-type]
    assert "store_not_flushed" in caplog.text


def test_current_that_names_nothing_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "current").write_text("what?")
    with pytest.raises(StorageError, match="does not open"):
        open_store("disk", tmp_path)
