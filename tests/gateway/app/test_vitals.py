"""Stalled flows, threads that are gone, folders that cannot be written."""

from pathlib import Path
from time import monotonic

from gateway.app.vitals import Flow, Vitals


class Stage:
    def __init__(self) -> None:
        self.passed = 0
        self.waiting = 0

    def flow(self) -> Flow:
        return Flow("stage", lambda: self.passed, lambda: self.waiting)


def _vitals(stage: Stage, folder: Path, *threads: str) -> Vitals:
    return Vitals((stage.flow(),), folder, frozenset(threads), stall_s=30.0)


async def test_all_is_well_while_nothing_waits_or_something_moves(tmp_path: Path) -> None:
    stage = Stage()
    vitals = _vitals(stage, tmp_path, "MainThread")
    now = monotonic()
    vitals.sample(now - 1000)
    assert await vitals.alarms() == []
    stage.waiting = 5
    for second in range(100, 0, -1):
        stage.passed += 1
        vitals.sample(now - second)
    assert await vitals.alarms() == []
    assert vitals.flow()["stage"]["passed"] == 100


async def test_stage_where_something_waits_and_nothing_passes_is_stalled(tmp_path: Path) -> None:
    stage = Stage()
    vitals = _vitals(stage, tmp_path)
    now = monotonic()
    stage.waiting = 2
    stage.passed = 7
    vitals.sample(now - 40)
    vitals.sample(now - 1)
    (alarm,) = await vitals.alarms()
    assert alarm.startswith("stage: 2 wait, and none has passed for 40 s")
    stage.passed = 8
    vitals.sample(now)
    assert await vitals.alarms() == []


async def test_thread_that_has_ended_is_an_alarm(tmp_path: Path) -> None:
    assert await _vitals(Stage(), tmp_path, "no such thread").alarms() == [
        "the thread no such thread has ended"
    ]


async def test_folder_that_cannot_be_written_is_an_alarm(tmp_path: Path) -> None:
    missing = tmp_path / "gone"
    (alarm,) = await _vitals(Stage(), missing).alarms()
    assert alarm == f"{missing} cannot be written: No such file or directory"
    assert list(tmp_path.iterdir()) == []
