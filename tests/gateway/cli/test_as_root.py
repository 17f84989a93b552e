"""Commands that root gives, in a folder that belongs to the gateway's user."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gateway.cli.command import main

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")

USER = 4711


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that others may go through, with settings and data."""
    before = os.umask(0o022)
    with TemporaryDirectory(prefix="sosa-gateway-test-") as name:
        Path(name).chmod(0o755)
        (Path(name) / "gateway.toml").write_text("[security]\nenabled = true\n")
        (Path(name) / "data/security").mkdir(parents=True)
        for each in ("data", "data/security"):
            os.chown(Path(name) / each, USER, USER)
        yield Path(name)
    os.umask(before)


def claimed(folder: Path) -> int:
    return main(["claim", "--config", str(folder / "gateway.toml")])


def test_the_gateway_can_read_what_root_has_made(folder: Path) -> None:
    assert claimed(folder) == 0
    for path in (folder / "data").rglob("*"):
        assert path.stat().st_uid == USER, path


def test_a_link_leads_root_nowhere(folder: Path) -> None:
    (folder / "roots").mkdir(mode=0o700)
    (folder / "data/security/identities.sqlite").symlink_to("../../roots/file")
    assert claimed(folder) == 1
    assert list((folder / "roots").iterdir()) == []
