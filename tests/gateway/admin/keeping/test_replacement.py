"""Other data in the place of the old: all of it or nothing, wherever it is killed."""

import itertools
import os
from pathlib import Path

import pytest

from gateway.admin.keeping.replacement import (
    REPLACED,
    REPLACEMENT,
    NewSettings,
    Plan,
    commit,
    finish,
    is_waiting,
    prepare,
)
from gateway.errors import StorageError
from gateway.journal import Journal
from gateway.journal.spool import claim
from gateway.runtime.durable_files import write_durably
from tests.kit.kills import is_killed

PLAN = Plan("a test", ("store", "saved.jsap"), ("security", "events"), epoch=7_000_000_000)
OLD = {"store/a": "old", "saved.jsap": "old", "security/keys": "old", "events/e": "old"}
NEW = {"store/b": "new", "saved.jsap": "new"}
SETTINGS = b"new = true\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def read(data: Path) -> dict[str, str]:
    apart = {REPLACEMENT, REPLACED, "journal"}
    files = (path for path in data.rglob("*") if path.is_file())
    found = {str(path.relative_to(data)): path.read_text() for path in files}
    return {name: text for name, text in found.items() if name.split("/")[0] not in apart}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    write(folder, OLD)
    Journal(folder / "journal").close()
    return folder


def test_at_the_next_start_the_new_is_there_and_the_old_aside(data: Path) -> None:
    write(prepare(data), NEW)
    commit(data, PLAN)
    assert is_waiting(data)
    assert read(data) == OLD
    plan = finish(data)
    assert plan is not None
    assert plan.why == "a test"
    assert read(data) == NEW
    old = data / REPLACED / "old"
    assert (old / "store" / "a").read_text() == (old / "security" / "keys").read_text() == "old"
    with Journal(data / "journal") as journal:
        assert journal.epoch == PLAN.epoch + 1
    assert finish(data) is None


def test_what_is_not_decided_is_forgotten(data: Path) -> None:
    write(prepare(data), NEW)
    assert finish(data) is None
    assert read(data) == OLD
    assert not (data / REPLACEMENT).exists()


def test_while_somebody_uses_the_data_nothing_is_replaced(data: Path) -> None:
    write(prepare(data), NEW)
    commit(data, PLAN)
    held = claim(data / "journal")
    with pytest.raises(StorageError, match="in use"):
        finish(data)
    assert read(data) == OLD
    os.close(held)
    assert finish(data) is not None


def test_a_plan_that_cannot_be_read_is_told(data: Path) -> None:
    write(prepare(data), NEW)
    commit(data, PLAN)
    (data / REPLACEMENT / "plan.json").write_text("{")
    with pytest.raises(StorageError, match="cannot be replaced"):
        finish(data)
    assert read(data) == OLD


def test_killed_before_any_change_it_is_the_old_or_the_new(tmp_path: Path) -> None:
    states = []
    for number in itertools.count():
        folder = tmp_path / str(number)
        write(folder, OLD)
        (folder / "journal").mkdir()

        def work(folder: Path = folder) -> None:
            write(prepare(folder), NEW)
            commit(folder, PLAN)
            finish(folder)

        was_killed = is_killed(number, work)
        finish(folder)
        found = read(folder)
        assert found in (OLD, NEW)
        states.append(found == NEW)
        if not was_killed:
            break
    assert states == sorted(states), "once it was decided it is not taken back"
    assert states[0] is False
    assert states[-1] is True
    assert len(states) > 15


def test_killed_between_settings_and_data_both_are_of_one_side(tmp_path: Path) -> None:
    """The gateway that finishes it need not be able to write its settings."""
    for number in itertools.count():
        folder, file = tmp_path / str(number), tmp_path / f"{number}.toml"
        write(folder, OLD)
        file.write_bytes(b"old = true\n")

        def work(folder: Path = folder, file: Path = file) -> None:
            write(prepare(folder), NEW)
            commit(folder, PLAN.awaiting(NewSettings(file, SETTINGS)))
            write_durably(file, SETTINGS)
            commit(folder, PLAN)
            finish(folder)

        was_killed = is_killed(number, work)
        finish(folder)
        is_new = file.read_bytes() == SETTINGS
        assert read(folder) == (NEW if is_new else OLD)
        if not was_killed:
            break
    assert is_new
