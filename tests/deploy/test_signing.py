"""The sums of a folder of packages: what a run made, and never what only lay there."""

import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deploy.raspberrypi.builder.signing import SIGNATURE, SUMS, seal

KEY = Ed25519PrivateKey.generate()


def made(folder: Path, name: str) -> Path:
    (folder / name).write_text(name)
    return folder / name


def listed(folder: Path) -> list[str]:
    return [line.split()[1] for line in (folder / SUMS).read_text().splitlines()]


def verify(folder: Path) -> None:
    check = ("sha256sum", "--check", "--quiet", "--strict", SUMS)
    subprocess.run(check, cwd=folder, check=True)
    KEY.public_key().verify((folder / SIGNATURE).read_bytes(), (folder / SUMS).read_bytes())


def test_a_package_that_only_lay_there_is_not_signed(tmp_path: Path) -> None:
    made(tmp_path, "of-another.deb")
    seal(tmp_path, [made(tmp_path, "ours.deb")], KEY)
    assert listed(tmp_path) == ["ours.deb"]
    verify(tmp_path)


@pytest.mark.parametrize("before", [None, Ed25519PrivateKey.generate()])
def test_sums_that_the_key_had_not_signed_are_left(
    tmp_path: Path, before: Ed25519PrivateKey | None
) -> None:
    seal(tmp_path, [made(tmp_path, "theirs.deb")], before)
    seal(tmp_path, [made(tmp_path, "ours.deb")], KEY)
    assert listed(tmp_path) == ["ours.deb"]


def test_what_the_key_had_signed_stays_while_it_is_there(tmp_path: Path) -> None:
    old, gone = made(tmp_path, "old.deb"), made(tmp_path, "gone.deb")
    seal(tmp_path, [old, gone], KEY)
    gone.unlink()
    seal(tmp_path, [made(tmp_path, "new.deb")], KEY)
    assert listed(tmp_path) == ["new.deb", "old.deb"]
    verify(tmp_path)


def test_what_was_changed_since_keeps_the_sum_that_was_signed(tmp_path: Path) -> None:
    old = made(tmp_path, "old.deb")
    seal(tmp_path, [old], KEY)
    old.write_text("changed")
    seal(tmp_path, [made(tmp_path, "new.deb")], KEY)
    with pytest.raises(subprocess.CalledProcessError):
        verify(tmp_path)


def test_sums_without_a_key_have_no_signature_of_before(tmp_path: Path) -> None:
    seal(tmp_path, [made(tmp_path, "old.deb")], KEY)
    seal(tmp_path, [made(tmp_path, "new.deb")], None)
    assert listed(tmp_path) == ["new.deb", "old.deb"]
    assert not (tmp_path / SIGNATURE).exists()


def test_a_signature_beside_other_sums_counts_for_nothing(tmp_path: Path) -> None:
    seal(tmp_path, [made(tmp_path, "old.deb")], KEY)
    (tmp_path / SUMS).write_text(f"{'0' * 64}  old.deb\n")
    seal(tmp_path, [made(tmp_path, "new.deb")], KEY)
    assert listed(tmp_path) == ["new.deb"]
