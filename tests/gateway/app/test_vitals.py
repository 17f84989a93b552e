"""Stalled flows, threads that are gone, folders that cannot be written."""

import threading
from pathlib import Path
from time import monotonic

import pytest

from gateway.app import vitals as module
from gateway.app.vitals import Flow, Vitals


class Stage:
    def __init__(self) -> None:
        self.passed = 0
        self.waiting = 0

    def flow(self) -> Flow:
        return Flow("stage", lambda: self.passed, lambda: self.waiting)


def _vitals(stage: Stage, folder: Path, *threads: str) -> Vitals:
    return Vitals((stage.flow(),), folder, frozenset(threads), stall_s=30.0)


async def _wrong(vitals: Vitals) -> list[str]:
    await vitals.probe()
    found = list(vitals.conditions())
    assert all(each.is_fault for each in found)
    return [f"{each.where}: {each.what}" for each in found]


async def test_all_is_well_while_nothing_waits_or_something_moves(tmp_path: Path) -> None:
    stage = Stage()
    vitals = _vitals(stage, tmp_path, "MainThread")
    now = monotonic()
    vitals.sample(now - 1000)
    assert await _wrong(vitals) == []
    stage.waiting = 5
    for second in range(100, 0, -1):
        stage.passed += 1
        vitals.sample(now - second)
    assert await _wrong(vitals) == []
    assert vitals.flow()["stage"]["passed"] == 100


async def test_stage_where_something_waits_and_nothing_passes_is_stalled(tmp_path: Path) -> None:
    stage = Stage()
    vitals = _vitals(stage, tmp_path)
    now = monotonic()
    stage.waiting = 2
    stage.passed = 7
    vitals.sample(now - 40)
    vitals.sample(now - 1)
    assert await _wrong(vitals) == ["stage: something waits, and nothing has passed for 30 s"]
    stage.passed = 8
    vitals.sample(now)
    assert await _wrong(vitals) == []


async def test_thread_that_has_ended_is_an_alarm(tmp_path: Path) -> None:
    assert await _wrong(_vitals(Stage(), tmp_path, "no such thread")) == [
        "no such thread: the thread no such thread has ended"
    ]


async def test_folder_that_cannot_be_written_is_an_alarm(tmp_path: Path) -> None:
    missing = tmp_path / "gone"
    (alarm,) = await _wrong(_vitals(Stage(), missing))
    assert alarm == f"{missing}: it cannot be written: No such file or directory"
    assert list(tmp_path.iterdir()) == []


async def test_a_disk_that_hangs_holds_nobody_up_and_is_a_fault_until_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(module, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(module, "_write_fault", lambda _: "" if answers.wait(20) else "late")
    vitals = _vitals(Stage(), tmp_path)
    assert await _wrong(vitals) == [f"{tmp_path}: it does not answer"]
    assert await _wrong(vitals) == [f"{tmp_path}: it does not answer"]
    answers.set()
    monkeypatch.setattr(module, "_PATIENCE_S", 20.0)
    assert await _wrong(vitals) == []
