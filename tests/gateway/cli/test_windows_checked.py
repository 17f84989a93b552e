"""`check` warns of ranges over observations that the rate of the journal would overfill."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway.cli.check import check
from gateway.cli.checking.mappings import profile_findings
from gateway.cli.checking.windows import OBSERVATIONS, window_findings
from gateway.config.file import Given
from gateway.config.settings import Config
from tests.gateway.journal.test_history import A, B, observed, write
from tests.kit.gateways import settings, write_profile

NOW = datetime(2026, 3, 2, 7, tzinfo=UTC)
TEXT = "SELECT ?o { GRAPH <urn:w> { ?o ?p ?v } }"


def house(folder: Path, **members: object) -> Config:
    """A gateway that had one reading a second of each of two streams, and a query over a window."""
    profile = write_profile(folder)
    said = json.loads(profile.read_text())
    window = {"stream": OBSERVATIONS, "range": "PT1H", **members}
    said["queries"] = {"WARM": {"sparql": TEXT, "windows": {"urn:w": window}}}
    profile.write_text(json.dumps(said))
    seen = [
        (observed(stream, "1"), NOW + timedelta(seconds=second))
        for second in range(101)
        for stream in (A, B)
    ]
    write(folder / "data" / "journal", seen, size=500)
    return settings(folder, profile)


def warnings(config: Config) -> list[str]:
    _, together = profile_findings(config)
    assert together is not None
    return list(map(str, window_findings(config, together)))


def test_range_that_would_be_overfilled_is_told_with_the_rate(tmp_path: Path) -> None:
    (told,) = warnings(house(tmp_path, limit=5000))
    assert "queries.WARM: windows: urn:w: range: at 2.02 elements a second PT1H will be" in told
    assert told.startswith("warning: ")
    assert "of 5000 that it may have" in told


def test_what_narrows_the_window_counts(tmp_path: Path) -> None:
    assert warnings(house(tmp_path, limit=5000, sensor=A[0])) == []


def test_what_all_windows_may_have_is_as_configured(tmp_path: Path) -> None:
    config = house(tmp_path)
    assert warnings(config) == []
    tight = config.windows.model_copy(update={"elements": 5000})
    (told,) = warnings(config.model_copy(update={"windows": tight}))
    assert "of 5000 that it may have" in told


def test_without_a_journal_nothing_is_known(tmp_path: Path) -> None:
    config = house(tmp_path, limit=5)
    elsewhere = config.gateway.model_copy(update={"data_dir": tmp_path / "other"})
    assert warnings(config.model_copy(update={"gateway": elsewhere})) == []


def test_command_tells_it(tmp_path: Path) -> None:
    config = house(tmp_path, limit=5000)
    path = tmp_path / "gateway.toml"
    profiles = json.dumps(list(map(str, config.jsap.profiles)))
    path.write_text(
        f'[gateway]\nid = "test"\ndata_dir = "{config.gateway.data_dir}"\n'
        f"[jsap]\nprofiles = {profiles}\n[http]\nport = 0\n[websocket]\nport = 0\n"
        "[mqtt]\nport = 0\n"
    )
    found = [str(each) for each in check(Given.read(path, {}), {})]
    assert any("urn:w: range: at 2.02 elements" in each for each in found), found
