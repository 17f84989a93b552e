"""Whether a clock has been set, as systemd and the hardware tell it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.runtime.clocks import Timesync

NOW = datetime(2026, 6, 1, tzinfo=UTC)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A systemd-timesyncd that runs and has heard nothing yet."""
    folder = tmp_path / "timesync"
    folder.mkdir()
    return folder


def battery(folder: Path, seconds: str) -> Path:
    (folder / "rtc" / "rtc0").mkdir(parents=True)
    (folder / "rtc" / "rtc0" / "since_epoch").write_text(seconds)
    return folder / "rtc"


def test_a_saved_time_is_not_believed_until_the_network_tells_it(run: Path, tmp_path: Path) -> None:
    clock = Timesync(run, tmp_path / "none")
    assert not clock.is_set(NOW)
    (run / "synchronized").touch()
    assert clock.is_set(NOW)
    assert not clock.is_set(LONG_AGO)
    (run / "synchronized").unlink()
    assert clock.is_set(NOW)


@pytest.mark.parametrize(
    ("seconds", "is_believed"), [("1780272000\n", True), ("17\n", False), ("", False)]
)
def test_a_clock_of_the_hardware_that_ran_on_is_believed(
    run: Path, tmp_path: Path, seconds: str, is_believed: bool
) -> None:
    assert Timesync(run, battery(tmp_path, seconds)).is_set(NOW) is is_believed


def test_where_something_else_sets_the_clock_its_time_is_believed(tmp_path: Path) -> None:
    assert Timesync(tmp_path / "none", tmp_path / "none").is_set(NOW)
