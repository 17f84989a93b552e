"""Why a store does not open is told by what is seen, with who is in the way and what to do."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.errors import StorageError
from gateway.journal.spool import Journal
from gateway.runtime.folders import content_trouble, folder_trouble
from gateway.runtime.holders import Holder, lock_holder, port_holder
from gateway.store.quad_store import QuadStore
from tests.kit.small_disk import small_disk

NOBODY = 65_534

HOLD = """
import sys
from pathlib import Path
from gateway.journal.spool import Journal
from gateway.store.quad_store import QuadStore
journal, store = Journal(Path(sys.argv[1], "journal")), QuadStore.open(Path(sys.argv[1], "store"))
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(folder: Path) -> Iterator[int]:
    """Another process has store and journal open; its pid."""
    command = (sys.executable, "-c", HOLD, str(folder))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process.pid
        finally:
            process.communicate()


@contextmanager
def as_somebody_else() -> Iterator[None]:
    """Root may write everywhere; whoever else runs the tests is somebody already."""
    was = os.geteuid()
    os.seteuid(NOBODY if was == 0 else was)
    try:
        yield
    finally:
        os.seteuid(was)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others may look into, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="sosa-gateway-"))
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def refusal(folder: Path) -> StorageError:
    with pytest.raises(StorageError) as caught:
        QuadStore.open(folder)
    return caught.value


def a_file(folder: Path) -> Path:
    (folder / "store").write_text("")
    return folder / "store"


def below_a_file(folder: Path) -> Path:
    return a_file(folder) / "deep" / "er"


def a_link_to_nowhere(folder: Path) -> Path:
    (folder / "store").symlink_to(folder / "usb")
    return folder / "store"


def damaged(folder: Path) -> Path:
    (folder / "store").mkdir()
    (folder / "store" / "current").write_text("no number")
    return folder / "store"


def with_a_damaged_manifest(folder: Path) -> Path:
    with held(folder):
        pass
    for path in (folder / "store").rglob("MANIFEST*"):
        path.write_bytes(b"?")
    return folder / "store"


@pytest.mark.parametrize(
    ("make", "what", "what_to_do"),
    [
        (a_file, "store is a file, no folder", "move it away"),
        (below_a_file, "store is a file, no folder", "move it away"),
        (a_link_to_nowhere, "which is not there", "make that folder, mount its disk"),
        (with_a_damaged_manifest, "Corruption: ", "its files are damaged"),
        (damaged, "current does not name a generation", "its files are damaged"),
    ],
)
def test_a_store_that_does_not_open_says_why(
    tmp_path: Path, make: Callable[[Path], Path], what: str, what_to_do: str
) -> None:
    error = refusal(make(tmp_path))
    assert what in error.description
    assert what_to_do in error.hint


def test_a_store_that_another_process_has_says_which(tmp_path: Path) -> None:
    with held(tmp_path) as pid:
        error = refusal(tmp_path / "store")
        assert f"is in use by another process (pid {pid}, " in error.description
        assert error.hint.startswith(f"stop it (kill {pid}, ")
        with pytest.raises(StorageError, match=rf"another process \(pid {pid}, "):
            Journal(tmp_path / "journal")
        assert lock_holder(tmp_path / "journal" / "lock") == lock_holder(
            next(tmp_path.glob("store/*/LOCK"))
        )
    assert lock_holder(tmp_path / "journal" / "lock") is None
    QuadStore.open(tmp_path / "store").close()


def test_a_full_disk_is_told_as_one(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        disk.fill()
        error = refusal(disk.path / "store")
        assert "is full: 0 bytes are free" in error.description
        assert error.hint.startswith("make room on it")
        disk.make_room()
        assert folder_trouble(disk.path / "store") is None


def test_a_disk_without_inodes_is_told_as_one(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "24m,nr_inodes=3") as disk:
        (disk.path / "one").touch()
        (disk.path / "two").touch()
        assert "takes no more files" in refusal(disk.path / "store").description


def test_a_read_only_disk_is_told_as_one(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk.path)], check=True)
        error = refusal(disk.path / "store")
        assert f"the file system of {disk.path} is mounted read-only" in error.description
        assert "mount it for writing" in error.hint


def test_a_folder_of_somebody_else_is_told_with_its_owner(open_folder: Path) -> None:
    with as_somebody_else():
        error = refusal(open_folder / "store")
        assert f"may not write in {open_folder}, which belongs to" in error.description
        assert "chown -R" in error.hint


def test_files_of_somebody_else_are_told_with_their_owner(open_folder: Path) -> None:
    open_folder.chmod(0o777)
    store = open_folder / "store"
    with held(open_folder):
        pass
    store.chmod(0o777)
    for file in store.rglob("*"):
        file.chmod(0o555 if file.is_dir() else 0o444)
    with as_somebody_else():
        told = content_trouble(store)
        assert told is not None
        assert "which belongs to" in told.what
        assert "chown -R" in refusal(store).hint
    for file in (store, *store.rglob("*")):
        file.chmod(0o755)


def test_who_listens_at_a_port_is_told() -> None:
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.create_server((host, 0), family=family) as listener:
            port = listener.getsockname()[1]
            found = port_holder(port)
            assert found is not None
            assert found.pid == os.getpid()
        assert port_holder(port) is None


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("sosa-gateway run", "another gateway (pid 7, sosa-gateway run)"),
        ("python3 -m gateway run", "another gateway (pid 7, python3 -m gateway run)"),
        ("mosquitto -c x", "another process (pid 7, mosquitto -c x)"),
        ("vi sosa-gateway.md", "another process (pid 7, vi sosa-gateway.md)"),
        ("", "another process (pid 7)"),
    ],
)
def test_a_gateway_is_known_by_how_it_was_started(command: str, told: str) -> None:
    assert str(Holder(7, command)) == told
