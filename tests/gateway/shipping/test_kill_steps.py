"""kill -9 at every touch of the disk while segments are written, sealed, shipped and removed."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.journal import Journal, JournalLimits, Position, read_journal
from gateway.shipping import Shipper
from gateway.shipping.folder import Folder
from tests.gateway.shipping.journals import ORIGIN, landed
from tests.paths import ROOT

pytestmark = pytest.mark.alone


def test_nothing_acknowledged_is_lost_or_doubled_by_a_kill_at_any_step(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error::ResourceWarning",
            "-m",
            "tests.gateway.shipping.lives",
            str(tmp_path),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=150,
        check=True,
    )
    assert int(done.stdout) > 50
    acknowledged: dict[Position, str] = {}
    for line in (tmp_path / "acknowledged").read_text().splitlines():
        position, value = line.split()
        assert Position.parse(position) not in acknowledged
        acknowledged[Position.parse(position)] = value
    assert len(acknowledged) > 100
    here = list(read_journal(tmp_path / "journal"))
    kept = {record.position: record.observation.lexical for record in here}
    assert len(kept) == len(here)
    arrived = values(tmp_path / "zone")
    both = kept | arrived
    assert all(both[position] == value for position, value in kept.items())
    assert acknowledged.items() <= both.items()

    with Journal(tmp_path / "journal", ORIGIN, JournalLimits(keep_s=0)) as journal:
        journal.seal()
        Shipper(journal.folder, journal.manifest, Folder(tmp_path / "zone"), "zone").ship()
        assert journal.manifest.waiting == 0
    assert acknowledged.items() <= values(tmp_path / "zone").items()
    assert not list(tmp_path.rglob("*.gap.json"))
    assert not list(tmp_path.rglob("*.damaged"))


def values(zone: Path) -> dict[Position, str]:
    return {Position(*at): str(fields["v"]) for at, fields in landed(zone).items()}
