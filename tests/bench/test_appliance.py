"""Benchmarks of a small computer: bounds that hold, parts that go on, figures that are told."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.appliance import device, soak, writes
from bench.appliance.confined import confined
from bench.appliance.proc import family, file_system_bytes, of_status, open_files, written_bytes
from bench.report import Experiment

MIB = 2**20


def test_a_process_has_one_core_and_no_more_memory_than_it_is_given() -> None:
    program = "import os; print(len(os.sched_getaffinity(0)), flush=True); bytearray(200 * 2**20)"
    with confined(128 * MIB) as bounds:
        done = subprocess.run(
            [*bounds.within, sys.executable, "-c", program],
            check=False,
            capture_output=True,
            text=True,
        )
    assert done.stdout == "1\n"
    assert done.returncode != 0, bounds.how


def test_what_linux_counts_of_a_process(tmp_path: Path) -> None:
    pid = os.getpid()
    before, files = written_bytes(pid), open_files(pid)
    with (tmp_path / "f").open("wb") as file:
        file.write(b"x" * MIB)
        file.flush()
        os.fsync(file.fileno())
        assert open_files(pid) == files + 1
        assert family(pid)[0] == pid
    resident = of_status(pid, "VmRSS")  # first: a thread may be growing meanwhile
    assert of_status(pid, "VmHWM") >= resident > MIB
    assert written_bytes(pid) >= before
    assert file_system_bytes(tmp_path) is None or (file_system_bytes(tmp_path) or 0) > 0


def test_a_soak_goes_on_behind_its_last_part_and_reports_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "_PROBE_S", 0.01)
    (first,) = soak.measure(tmp_path, 2_500, 0.001)
    assert isinstance(first, Experiment)
    assert first.matches
    kept = tmp_path / "parts.jsonl"
    kept.write_text(kept.read_text(encoding="utf-8") + '{"first": 1000, "torn', encoding="utf-8")
    (second,) = soak.measure(tmp_path, 2_500, 60.0)
    assert isinstance(second, Experiment)
    assert second.matches
    told = {figure.name: figure.value for figure in second.figures}
    assert (told["readings"], told["parts"]) == (2_500, 2)
    assert told["memory"] > 10
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| 1 | 0 to 1,000 |" in report
    assert "| 2 | 1,000 to 2,500 |" in report
    (again,) = soak.measure(tmp_path, 2_500, 60.0)  # nothing is left to do
    assert isinstance(again, Experiment)
    assert again.figures == second.figures


def test_a_year_of_writes_is_told_against_the_rating() -> None:
    counted = {
        "observations": 600.0,
        "observations_failed": 0.0,
        "journal_written_bytes": 180_000.0,
        "journal_syncs": 600.0,
    }
    written = writes.Written(600.0, counted, 600 * 8_192, 600 * 20_480)
    told = {figure.name: figure.value for figure in writes._figures(written, 29.0)}
    assert told["the process writes"] == 8_192
    assert told["the file system writes"] == 20_480
    assert told["the file system in a year"] == pytest.approx(646.3, rel=1e-3)
    assert told["the file system: years until the rating"] == pytest.approx(44.87, rel=1e-3)


@pytest.mark.slow
def test_the_demo_writes_and_says_how_much(tmp_path: Path) -> None:
    (told,) = writes.measure(0.05, 60.0, 29.0, tmp_path)
    assert isinstance(told, Experiment)
    assert told.matches
    assert {figure.name: figure.value for figure in told.figures}["fsyncs of the journal"] > 0


@pytest.mark.slow
def test_a_device_at_rest_and_under_load_answers_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_SETTLE_S", 0.1)
    rest, load = device.measure(2)
    for each in (rest, load):
        assert isinstance(each, Experiment)
        assert each.matches
        assert "emulated" in json.dumps(each.notes)
