"""`bench history`: walks over an archive have what plain SQL counts, and a wrong one is seen."""

import json
from pathlib import Path

import pytest

from bench.command import run
from bench.history import history
from bench.history.archived import Archived, Window
from spark_batch.bench.segments import Load
from tests.kit.archives import roll_up, take

_MEMBERS = {"observations", "walks", "pages", "buckets", "first", "p50", "p95", "CPU"}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fifty days of one gateway; segments that overlap others are left out."""
    folder = tmp_path_factory.mktemp("history")
    Load(2_000, gateways=1, interval_s=43_200).write(folder / "landing")
    whole = [path for path in folder.rglob("*.gz") if path.name.split("-")[-2] == "100"]
    take(folder / "archive", sorted(whole))
    roll_up(folder / "archive")
    return folder / "archive"


def test_each_case_is_right_and_timed(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["history", "--archive", str(archive), "--walks", "2", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["experiment"] for each in found] == [
        "history: a year by day",
        "history: a month by hour",
        "history: a month by minute",
    ]
    for each in found:
        assert each["matches"]
        assert set(each["figures"]) == _MEMBERS
        assert each["figures"]["observations"] == 2_000
        assert 0 < each["figures"]["p50"] <= each["figures"]["p95"]
    assert found[0]["figures"]["buckets"] == 50


def test_a_bucket_that_is_wrong_is_no_figure(
    archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = Archived.buckets

    def without_one(
        self: Archived, stream: tuple[str, str, str], window: Window, every_ms: int
    ) -> list[str]:
        return right(self, stream, window, every_ms)[1:]

    monkeypatch.setattr(Archived, "buckets", without_one)
    monkeypatch.setattr(history, "CASES", history.CASES[:1])
    assert run(["history", "--archive", str(archive), "--walks", "1", "--json"]) == 1
    assert not json.loads(capsys.readouterr().out)["matches"]


def test_what_is_no_archive_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["history", "--archive", str(tmp_path)]) == 1
    assert "is no table" in capsys.readouterr().err
