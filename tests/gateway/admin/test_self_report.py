"""How the gateway was, over restarts: in a file that is small, whatever happens to it."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from gateway.admin import self_report
from gateway.admin.alarm_watch import AlarmWatch
from gateway.admin.self_report import SelfReport, What
from gateway.cli.command import main
from gateway.runtime.alarms import AlarmKind, Condition
from tests.kit.gateways import LOOPBACK, running, settings, write_profile

LIFE: Mapping[str, str | float | bool] = {"version": "1", "epoch": 7}
FULL = Condition(AlarmKind.DISK, "/data", "it is full", "make room", is_fault=True)


def report(folder: Path, year: int = 2026) -> SelfReport:
    now = datetime(year, 3, 2, tzinfo=UTC)
    return SelfReport(folder / "health.jsonl", lambda: now, lambda: {"observations": 5})


async def life(folder: Path, *conditions: Condition, year: int = 2026) -> SelfReport:
    """A start, alarms that come and go, a stop."""
    told = report(folder, year)
    wrong = list(conditions)
    watch = AlarmWatch([lambda: wrong])
    async with told.kept(LIFE):
        told.follow(watch)
        watch.look()
        wrong.clear()
        watch.look()
    return told


async def test_starts_stops_and_alarms_outlive_restarts_in_their_order(tmp_path: Path) -> None:
    await life(tmp_path, FULL)
    told = await life(tmp_path, year=1970)
    assert [(each.number, each.what.value) for each in told.entries] == [
        (1, "started"),
        (2, "alarm"),
        (3, "cleared"),
        (4, "stopped"),
        (5, "started"),
        (6, "stopped"),
    ]
    alarm, start = told.entries[1], told.entries[4]
    assert alarm.said["text"] == "it is full"
    assert alarm.said["fault"] is True
    assert start.said == {**LIFE, "after_stop": True}
    assert start.at.startswith("1970")
    assert told.entries[5].said == {"observations": 5}


async def test_a_life_that_was_killed_is_told_at_the_next_start(tmp_path: Path) -> None:
    told = report(tmp_path)
    async with told.kept(LIFE):
        writing = asyncio.create_task(told.run())
        async with asyncio.timeout(60):
            while not (tmp_path / "health.jsonl").exists():
                await asyncio.sleep(0.01)
        killed = (tmp_path / "health.jsonl").read_bytes()
        writing.cancel()
        await asyncio.wait({writing})
    (tmp_path / "health.jsonl").write_bytes(killed + b'{"n": 2, "torn')
    told = await life(tmp_path)
    assert told.entries[1].said["after_stop"] is False
    lines = (tmp_path / "health.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["n"] for line in lines] == [1, 2, 3]


async def test_alarms_that_come_and_go_for_ever_are_counted(tmp_path: Path) -> None:
    told, wrong = report(tmp_path), list[Condition]()
    watch = AlarmWatch([lambda: wrong])
    async with told.kept(LIFE):
        told.follow(watch)
        for _ in range(80):
            wrong[:] = [FULL]
            watch.look()
            wrong.clear()
            watch.look()
        told.count()
        assert told.entries[-1].said == {"observations": 5, "alarms_passed_over": 60}
        assert len(told.entries) == 102
        told.count()
        assert told.entries[-1].said == {"observations": 5}


async def test_the_file_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_report, "_MOST_BYTES", 2_000)
    monkeypatch.setattr(self_report, "MOST_ENTRIES", 20)
    for _ in range(60):
        await life(tmp_path)
    assert (tmp_path / "health.jsonl").stat().st_size < 4_000
    told = report(tmp_path)
    async with told.kept(LIFE):
        assert told.entries[-1].number == 121
        assert told.entries[-1].said["after_stop"] is True


async def test_long_names_make_no_long_file(tmp_path: Path) -> None:
    """Who sends may be called what it likes, and a card is not rewritten at every alarm."""
    long = Condition(AlarmKind.DISK, "x" * 20_000, "y" * 20_000, "make room")
    told, wrong = report(tmp_path), list[Condition]()
    watch, file = AlarmWatch([lambda: wrong]), tmp_path / "health.jsonl"
    async with told.kept(LIFE):
        told.follow(watch)
        for _ in range(20):
            for _ in range(50):
                wrong.append(long)
                watch.look()
                wrong.clear()
                watch.look()
            told.count()
            told._write()
        told._write()
        size = file.stat().st_size
        told.count()
        told._write()
        assert file.stat().st_size - size in range(1, 1000)  # appended
    assert file.stat().st_size < 600_000
    assert max(len(str(each.said)) for each in told.entries) < 1_200


async def test_a_disk_that_takes_nothing_costs_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "health.jsonl").mkdir()
    told = await life(tmp_path, FULL)
    assert [each.what for each in told.entries] == [
        What.STARTED,
        What.ALARM,
        What.CLEARED,
        What.STOPPED,
    ]


async def test_it_is_told_by_http_and_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    async with running(config):
        pass
    async with running(config) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient() as client:
            answer = await client.get(f"{url}/health/history", params={"limit": 2})
            wrong = await client.get(f"{url}/health/history", params={"limit": 0})
        entries = answer.json()["entries"]
        assert [each["what"] for each in entries] == ["stopped", "started"]
        assert entries[0]["said"]["observations"] == 0
        assert entries[1]["said"]["after_stop"] is True
        assert wrong.status_code == 400
        code = await asyncio.to_thread(main, ["alarms", "--history", "--url", url])
        assert code == 0
        assert "started  version=" in capsys.readouterr().out
