"""deploy/raspberrypi/README.md as it is typed: packages built and installed, an image built."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from deploy.raspberrypi.builder.image.__main__ import TOOLS
from deploy.raspberrypi.builder.image.commands import missing
from deploy.raspberrypi.builder.targets import RELEASES
from tests.deploy.debian_root import debian_root
from tests.deploy.release.test_made_of_a_tag import checkout
from tests.kit.blocks import Ports, Terminal, blocks
from tests.paths import ROOT

pytestmark = [pytest.mark.end_to_end, pytest.mark.timeout(7200)]

PACKAGES, INSTALLED, IMAGE = blocks("deploy/raspberrypi/README.md")
KEPT = ("build/wheels", "build/image")
"""Of builds before, below the tests' own checkout."""


def typing(folder: Path) -> Terminal:
    """In a checkout of its own, which is set up."""
    checkout(folder)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "build").mkdir(exist_ok=True)
    for name in KEPT:
        (ROOT / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(ROOT / name)
    terminal = Terminal(folder, Ports(0, 0, 0))
    terminal.environment.pop("PYTHONPATH")
    terminal.patience_s = 7200.0
    return terminal


@pytest.mark.slow
def test_the_packages_of_the_page_are_built_and_installed(tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    typing(folder).run(PACKAGES)
    assert len([*(folder / "dist").glob("*.deb")]) == 2 * len(RELEASES)
    with debian_root("trixie", tmp_path) as root:
        shutil.copytree(folder / "dist", root.path / "root" / "dist")
        told = root.follow(INSTALLED, "/root")
        assert "the browser will ask" in told
        assert root.run("systemctl", "is-enabled", "sosa-gateway").strip() == "enabled"


@pytest.mark.appliance
def test_the_image_of_the_page_is_built(tmp_path: Path) -> None:
    lacking = missing(*TOOLS)
    if os.geteuid() != 0 or lacking:
        pytest.skip(f"an image needs root and make emulators, here without: {lacking}")
    folder = tmp_path / "checkout"
    typing(folder).run(IMAGE)
    (image,) = (folder / "dist" / "image").glob("*.img.zst")
    assert "debian_arm64" in image.name
