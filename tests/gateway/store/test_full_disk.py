"""A disk that is full and then has room: the store goes on by itself, with what was committed."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import cast

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolutions, Store

from gateway.engine import Engine, Notification
from gateway.errors import StorageError
from gateway.gates.sparql.snapshots import Snapshots
from gateway.rdf.delta import Delta
from gateway.store.disk import outage, upkeep
from gateway.store.disk.commit import commit
from gateway.store.quad_store import QuadStore
from tests.kit.small_disk import SmallDisk, small_disk

P = NamedNode("urn:p")
GRAPH = NamedNode("urn:g")
ALL = "SELECT ?s ?o { ?s <urn:p> ?o }"


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    monkeypatch.setattr(outage, "RETRY_S", 0.0)
    with small_disk(tmp_path / "disk") as made:
        yield made


def content(store: QuadStore) -> set[Quad]:
    return set(store.match(None, None, None, None))


def quad(number: int, graph: NamedNode = GRAPH) -> Quad:
    return Quad(NamedNode(f"urn:{number}"), P, Literal(f"{number}" + "x" * 500), graph)


def rows(engine: Engine) -> set[str]:
    return {row["o"].value for row in cast(QuerySolutions, engine.query(ALL))}


def fill_until_refused(engine: Engine, disk: SmallDisk, first: int) -> int:
    """The number of the first UPDATE that was refused, of those from `first` on."""
    disk.fill()
    number = first
    while True:
        try:
            engine.update(f'INSERT DATA {{ <urn:s> <urn:p> "{number}" }}')
        except StorageError:
            return number
        number += 1


@pytest.mark.parametrize("cycles", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_engine_goes_on_after_the_disk_was_full(disk: SmallDisk, cycles: int) -> None:
    answer: set[str] = set()

    def take_up(notification: Notification) -> None:
        for row in notification.added:
            answer.add(cast(Literal, row["o"]).value)

    engine = Engine.open(disk.path / "store", on_notification=take_up)
    engine.subscribe(ALL)
    stored: set[str] = set()
    number = 0
    for _ in range(cycles):
        refused = fill_until_refused(engine, disk, number)
        stored |= {str(each) for each in range(number, refused)}
        for more in range(refused + 1, refused + 10):
            with pytest.raises(StorageError, match=r"cannot be written.*free space"):
                engine.update(f'INSERT DATA {{ <urn:s> <urn:p> "{more}" }}')
        assert engine.store.alarm
        assert rows(engine) == stored
        disk.make_room()
        number = refused + 10
        engine.update(f'INSERT DATA {{ <urn:s> <urn:p> "{number}" }}')
        stored.add(str(number))
        number += 1
        assert not engine.store.alarm
        assert rows(engine) == answer == stored
    engine.close()
    reopened = Engine.open(disk.path / "store")
    assert rows(reopened) == stored
    reopened.close()
    assert len([each for each in (disk.path / "store").iterdir() if each.is_dir()]) == 1


def test_readers_keep_their_results_while_the_store_is_opened_again(disk: SmallDisk) -> None:
    engine = Engine.open(disk.path / "store")
    for number in range(50):
        engine.update(f'INSERT DATA {{ <urn:s> <urn:p> "{number}" }}')
    refused = fill_until_refused(engine, disk, 50)
    reading = cast(QuerySolutions, engine.query(ALL))
    next(reading)
    disk.make_room()
    engine.update('INSERT DATA { <urn:s> <urn:p> "more" }')
    assert len(list(reading)) == refused - 1
    assert rows(engine) == {*map(str, range(refused)), "more"}
    del reading
    engine.close()


def test_deferred_changes_wait_and_are_written_when_there_is_room(disk: SmallDisk) -> None:
    store = QuadStore.open(disk.path / "store")
    store.apply(Delta((quad(0),)))
    disk.fill()
    waiting = {quad(number) for number in range(1, 100)}
    store.defer(Delta(tuple(waiting)))
    with pytest.raises(StorageError, match="cannot be written"):
        store.flush()
    assert store.is_pending
    assert content(store) == {quad(0), *waiting}
    disk.make_room()
    store.flush()
    assert not store.is_pending
    assert content(store) == {quad(0), *waiting}
    store.close()
    del store
    assert content(QuadStore.open(disk.path / "store")) == {quad(0), *waiting}


def test_outage_ends_without_another_update(disk: SmallDisk) -> None:
    engine = Engine.open(disk.path / "store")
    fill_until_refused(engine, disk, 0)
    assert engine.store.is_pending
    with pytest.raises(StorageError):
        engine.flush()
    disk.make_room()
    engine.flush()
    assert not engine.store.is_pending
    assert not engine.store.alarm
    engine.close()


def test_closing_on_a_full_disk_raises_a_storage_error_and_can_be_repeated(disk: SmallDisk) -> None:
    engine = Engine.open(disk.path / "store")
    refused = fill_until_refused(engine, disk, 0)
    for _ in range(2):
        with pytest.raises(StorageError):
            engine.close()
    assert rows(engine) == set(map(str, range(refused)))
    disk.make_room()
    engine.close()
    engine.close()


def test_closing_where_only_the_flush_finds_the_disk_full(disk: SmallDisk) -> None:
    store = QuadStore.open(disk.path / "store")
    store.apply(Delta((quad(1),)))
    disk.fill()
    with pytest.raises(StorageError):
        store.close()
    disk.make_room()
    store.apply(Delta((quad(2),)))
    store.close()
    del store
    assert content(QuadStore.open(disk.path / "store")) == {quad(1), quad(2)}


def flush_at_last(store: QuadStore) -> None:
    """As the scheduler, which tries again: RocksDB may compact while its files are linked."""
    for _ in range(4):
        with suppress(StorageError):
            store.flush()
            return
    store.flush()


def test_update_that_was_written_and_refused_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RocksDB may have a transaction in its log and fail afterwards."""
    blank = BlankNode("b")
    kept = Quad(NamedNode("urn:kept"), P, blank)
    dropped = NamedNode("urn:dropped")
    store = QuadStore.open(tmp_path / "store")
    store.apply(Delta((kept, quad(0)), graphs_created=(GRAPH, dropped)))
    before, graphs = content(store), set(store.named_graphs())

    def broken(target: Store, delta: Delta, *, is_alone: bool) -> None:
        commit(target, delta, is_alone=is_alone)
        raise OSError("No space left on device")

    monkeypatch.setattr(outage, "RETRY_S", 0.0)
    monkeypatch.setattr("gateway.store.quad_store.commit", broken)
    monkeypatch.setattr(upkeep, "link", no_room)
    new = NamedNode("urn:new")
    change = Delta(
        (quad(1), quad(2, new)), (kept,), graphs_created=(new,), graphs_dropped=(dropped,)
    )
    with pytest.raises(StorageError):
        store.apply(change)
    monkeypatch.undo()
    assert content(store) != before
    monkeypatch.setattr(outage, "RETRY_S", 0.0)
    flush_at_last(store)
    assert content(store) == before
    assert set(store.named_graphs()) == graphs
    store.close()


def no_room(_source: Path, _target: Path) -> None:
    raise OSError("No space left on device")


def test_store_is_not_opened_again_with_every_update(
    disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def counted(source: Path, target: Path) -> None:
        tried.append(target)
        no_room(source, target)

    monkeypatch.setattr(outage, "RETRY_S", 60.0)
    monkeypatch.setattr(upkeep, "link", counted)
    engine = Engine.open(disk.path / "store")
    refused = fill_until_refused(engine, disk, 0)
    for number in range(refused + 1, refused + 50):
        with pytest.raises(StorageError):
            engine.update(f'INSERT DATA {{ <urn:s> <urn:p> "{number}" }}')
    assert len(tried) == 1


def test_a_generation_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    QuadStore.open(tmp_path / "store").close()
    (tmp_path / "store" / "current").write_text("7")
    with pytest.raises(StorageError, match="does not open"):
        QuadStore.open(tmp_path / "store")


def test_current_that_was_replaced_stays_though_the_folder_is_not_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "REWRITE_REMOVALS", {"memory": 5, "disk": 5})
    store = QuadStore.open(tmp_path / "store")

    def broken(_path: Path) -> None:
        raise OSError("Input/output error")

    monkeypatch.setattr(upkeep, "sync_folder", broken)
    for number in range(100):
        store.apply(Delta((quad(number + 1),), (quad(number),) if number else ()))
    store.close()
    del store
    assert (tmp_path / "store" / "current").exists()
    assert content(QuadStore.open(tmp_path / "store")) == {quad(100)}


def test_copy_that_found_the_disk_full_can_be_made_when_there_is_room(disk: SmallDisk) -> None:
    store = QuadStore.open(disk.path / "store")
    store.apply(Delta((quad(1),)))
    disk.fill()
    for number in range(3):
        with pytest.raises(StorageError):
            store.copy_to(disk.path / f"copy-{number}")
    disk.make_room()
    store.copy_to(disk.path / "copy")
    assert set(Store.read_only(str(disk.path / "copy"))) == {quad(1)}
    store.apply(Delta((quad(2),)))
    store.close()


def test_snapshots_on_a_full_disk_are_a_storage_error(disk: SmallDisk) -> None:
    with closing(QuadStore.open(disk.path / "store")) as store:
        store.apply(Delta((quad(1),)))
        snapshots = Snapshots(store, disk.path / "snapshots")
        disk.fill()
        with pytest.raises(StorageError), snapshots.reading():
            pytest.fail("there was no room for it")
        disk.make_room()
        with snapshots.reading() as folder:
            assert set(Store.read_only(str(folder))) == {quad(1)}
        snapshots.close()
