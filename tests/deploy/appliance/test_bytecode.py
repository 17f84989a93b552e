"""Bytecode of an image for another processor: made here, by the Python of the image's Debian."""

import os
import shutil
from pathlib import Path

import pytest

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image.bytecode import compile_package, is_emulated
from deploy.raspberrypi.builder.image.flavours import FLAVOURS
from deploy.raspberrypi.builder.tree import LIB
from tests.paths import ROOT

MODULE = LIB / "venv/lib/python3.13/site-packages/some.py"


def test_one_of_two_images_is_for_this_machine() -> None:
    architectures = {is_emulated(FLAVOURS["debian", name]): name for name in ("amd64", "arm64")}
    if os.uname().machine in {"x86_64", "aarch64"}:
        assert set(architectures) == {True, False}


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("mmdebstrap") is None,
    reason="a root is made by root, with mmdebstrap (make emulators)",
)
def test_modules_of_a_package_get_bytecode_where_they_lie(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / MODULE).parent.mkdir(parents=True)
    (root / MODULE).write_text("VALUE = 1\n")
    try:
        compile_package(root, ROOT / "build" / "image")
    except BuildError as error:
        pytest.skip(f"no mirror of Debian: {error}")
    (compiled,) = root.rglob("*.pyc")
    assert compiled.name == "some.cpython-313.pyc"
    assert f"/{MODULE}".encode() in compiled.read_bytes()
    assert not (tmp_path / "tools").exists()
