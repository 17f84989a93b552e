"""A disk that is full, and has room again: nothing is lost or half, and all goes on by itself."""

import logging
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import pytest

from gateway.engine import Engine
from gateway.engine.spu import Subject
from gateway.errors import StorageError
from tests.gateway.engine.engine_session import Subscriber, answer

ALL = "SELECT ?s ?o { ?s <urn:p> ?o }"
COUNT = "SELECT (COUNT(?s) AS ?n) { ?s <urn:p> ?o }"
SIZE_MIB = 24


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk; only root may make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip(f"no disk can be mounted: {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


class Filler:
    """What takes all room of a disk."""

    def __init__(self, disk: Path) -> None:
        self._file = disk / "fill"

    def fill(self) -> None:
        with suppress(OSError), self._file.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def empty(self) -> None:
        self._file.unlink()


def cycles(disk: Path, number: int) -> None:
    filler = Filler(disk)
    engine = Engine.open(disk / "store")
    texts = (ALL, COUNT)
    subscribers = {}
    for text in texts:
        first = engine.subscribe(text)
        subscribers[first.spuid] = Subscriber(Subject(text), first)
    expected: set[str] = set()

    def update(name: str) -> bool:
        outcome = engine.update(f"INSERT DATA {{ <urn:{name}> <urn:p> '{'x' * 500}' }}")
        expected.add(f"urn:{name}")
        for each in outcome.notifications:
            subscribers[each.spuid].tell(each)
        return True

    for cycle in range(number):
        update(f"before-{cycle}")
        filler.fill()
        with pytest.raises(StorageError, match="cannot be written"):
            all(update(f"full-{cycle}-{place}") for place in range(2000))
        for _ in range(3):
            with pytest.raises(StorageError):
                update(f"refused-{cycle}")
        assert len(list(engine.query(ALL))) == len(expected)  # type: ignore[arg-type]  # is read
        filler.empty()
        deadline = monotonic() + 20
        while True:
            try:
                update(f"again-{cycle}")
                break
            except StorageError:
                assert monotonic() < deadline
                sleep(0.1)
        for subscriber in subscribers.values():
            assert subscriber.rows == answer(engine, subscriber.subject)
        engine.update("DELETE { ?s <urn:p> ?o } WHERE { ?s <urn:p> ?o FILTER(STRLEN(?o) < 5) }")
    engine.close()
    with_all = Engine.open(disk / "store")
    found = {row["s"].value for row in with_all.query(ALL)}  # type: ignore[union-attr]
    assert found == expected
    with_all.close()


def test_it_goes_on_when_there_is_room(disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    cycles(disk, 3)


@pytest.mark.slow
def test_it_goes_on_twenty_times(disk: Path) -> None:
    cycles(disk, 20)


def test_closing_a_full_disk_raises_a_storage_error_at_most(disk: Path) -> None:
    engine = Engine.open(disk / "store")
    engine.update("INSERT DATA { <urn:a> <urn:p> 1 }")
    filler = Filler(disk)
    filler.fill()
    texts = (f"INSERT DATA {{ <urn:{n}> <urn:p> '{'x' * 500}' }}" for n in range(2000))
    with pytest.raises(StorageError):
        all(map(engine.update, texts))
    with suppress(StorageError):
        engine.close()
    filler.empty()
    deadline = monotonic() + 10
    while True:
        try:
            engine.close()
            break
        except StorageError:
            assert monotonic() < deadline
            sleep(0.1)
