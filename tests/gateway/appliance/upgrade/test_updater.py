"""Releases that are good, broken, forged, older, or cut off before any change of a file."""

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deploy.raspberrypi.builder.archive import complete
from deploy.raspberrypi.builder.signing import public_pem
from gateway.admin.keeping.replacement import finish
from gateway.appliance.upgrade import payload
from gateway.appliance.upgrade import updater as updater_module
from gateway.appliance.upgrade.slots import Slots, Trial
from gateway.appliance.upgrade.source import Source, System
from gateway.appliance.upgrade.updater import Updater
from gateway.errors import ConflictError, UpgradeError
from tests.kit.kills import is_killed

PYTHON = """\
#!/bin/sh
# Stands for the interpreter of a release: it compiles, and says whether `check` finds a fault.
[ "$4" != check ] || { cat "$(dirname "$0")/../check"; test ! -s "$(dirname "$0")/../check"; }
"""
OURS = {"journal": {"writes": "1", "reads": ["1"]}, "store": {"writes": "1", "reads": ["1"]}}
FIRST, SECOND, THIRD = "1.0-1~deb13", "2.0-1~deb13", "3.0-1~deb13"


def forms(journal: str = "1", store: str = "1", *also: str) -> dict[str, object]:
    """A release that writes these, and reads them and `also`."""
    return {
        "journal": {"writes": journal, "reads": [journal, *also]},
        "store": {"writes": store, "reads": [store]},
    }


def lay_out(home: Path, version: str, told: dict[str, object], *, check: str, starts: bool) -> None:
    packages = home / "venv/lib/python3.13/site-packages/gateway"
    packages.mkdir(parents=True)
    (packages / "forms.json").write_text(json.dumps(told))
    (home / "version").write_text(f"{version}\n")
    (home / "venv/check").write_text(check)
    (home / "venv/starts").write_text("yes" if starts else "")
    (home / "venv/bin").mkdir()


class FakeGateway:
    """The gateway as the updater meets it: it brings its store to its form, reads its journal.

    The store also has a mapping, which no journal brings back. A broken release spoils all of it.
    Once it lets people in, it acknowledges a reading: a line of the journal and of the store.
    """

    def __init__(self, slots: Slots, data: Path) -> None:
        self.slots, self.data = slots, data
        self.serves_ = True
        self.runs = False

    def stop(self) -> None:
        self.runs = False

    def start(self) -> None:
        finish(self.data)
        home = self.slots.home(self.slots.in_use)
        store = self.data / "store" / "content"
        version = (home / "version").read_text().strip()
        if not (home / "venv/starts").read_text():
            store.write_text(f"spoilt by {version}\n")
            raise UpgradeError(f"{version} ends at once")
        lines = [line for line in store.read_text().splitlines() if line[:4] in {"mapp", "read"}]
        missing = [each for each in self.journal() if each not in lines]
        store.write_text("\n".join([f"form of {version}", *lines, *missing, ""]))
        self.runs = True

    def serves(self) -> bool:
        return self.serves_

    def acknowledge(self, reading: str) -> None:
        assert self.runs
        assert self.slots.trial is None
        for file in (self.data / "journal.txt", self.data / "store" / "content"):
            with file.open("a") as lines:
                lines.write(f"reading {reading}\n")

    def journal(self) -> list[str]:
        return (self.data / "journal.txt").read_text().splitlines()

    def state(self) -> tuple[str, list[str]]:
        """The version in use and what its store has."""
        content = (self.data / "store" / "content").read_text().splitlines()
        return self.slots.version(self.slots.in_use), content


class Device:
    """A device with a package of its first version, and a stick with releases."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.dist = folder, folder / "dist"
        self.slots = Slots(folder / "slots", folder / "package")
        self.data = folder / "data"
        self.key = folder / "key.pem"
        self.dist.mkdir(parents=True)
        (folder / "bin").mkdir()
        (folder / "bin/python3.13").write_text(PYTHON)
        (folder / "bin/python3.13").chmod(0o755)
        lay_out(self.slots.package, FIRST, forms(), check="", starts=True)
        (self.slots.package / "venv/bin/python3").symlink_to(folder / "bin/python3.13")
        (self.data / "store").mkdir(parents=True)
        (self.data / "store/content").write_text(f"form of {FIRST}\nmapping m\n")
        (self.data / "journal.txt").write_text("")
        self._signer = Ed25519PrivateKey.generate()
        self.key.write_bytes(public_pem(self._signer))
        self.gateway = FakeGateway(self.slots, self.data)
        self.gateway.start()
        self.gateway.acknowledge("a")

    def release(
        self,
        version: str,
        told: dict[str, object] | None = None,
        *,
        check: str = "",
        starts: bool = True,
        links: dict[str, str] | None = None,
    ) -> None:
        """Put a signed release on the stick."""
        root = self.folder / f"root-{version}"
        home = root / "usr/lib/sosa-gateway"
        lay_out(home, version, told or forms(), check=check, starts=starts)
        (home / "venv/bin/python3").symlink_to("../../../../bin/python3.13")
        for name, target in (links or {}).items():
            (home / name).symlink_to(target)
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN").chmod(0o755)
        (root / "DEBIAN/control").write_text(
            f"Package: sosa-gateway\nVersion: {version}\nArchitecture: arm64\n"
            "Maintainer: nobody <nobody@sosa-gateway.example>\nDescription: a test\n"
        )
        package = self.dist / f"sosa-gateway_{version}_arm64.deb"
        command = ("dpkg-deb", "--root-owner-group", "-Znone", "--build", str(root), str(package))
        subprocess.run(command, check=True, capture_output=True)
        self.sign(self._signer)

    def sign(self, key: Ed25519PrivateKey) -> None:
        complete(self.dist, self.dist.glob("*.deb"), key)

    @property
    def source(self) -> Source:
        return Source(str(self.dist), self.key)

    def updater(self) -> Updater:
        settings = self.folder / "gateway.toml"
        return Updater(self.slots, self.gateway, self.data, settings, lambda: System("13", "arm64"))

    def refused(self, work: Callable[[], object]) -> str:
        """What it says; the gateway runs, and has what it had."""
        before = self.gateway.state()
        with pytest.raises(UpgradeError) as told:
            work()
        assert self.gateway.state() == before
        assert self.gateway.runs
        assert self.slots.trial is None
        return str(told.value)


@pytest.fixture(autouse=True)
def interpreters(tmp_path: Path) -> object:
    with patch.object(payload, "INTERPRETERS", tmp_path / "device/bin"):
        yield


@pytest.fixture(params=[0o022, 0o077], ids=["open", "private"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """As of a shell of root, whatever it is."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device(tmp_path / "device")


@pytest.mark.usefixtures("umask")
def test_a_good_release_is_taken_and_keeps_what_was_there(device: Device) -> None:
    device.release(SECOND)
    found = device.updater().check(device.source)
    assert found is not None
    assert found.version == SECOND
    assert device.updater().apply(device.source) == SECOND
    assert device.gateway.state() == (SECOND, [f"form of {SECOND}", "mapping m", "reading a"])
    assert (device.slots.folder / "current").readlink() == Path(f"releases/{SECOND}")
    device.gateway.acknowledge("b")
    assert device.updater().check(device.source) is None
    assert device.updater().apply(device.source) == SECOND
    home = device.slots.home(SECOND)
    assert (home / "venv/bin/python3").readlink() == device.folder / "bin/python3.13"
    paths = (*home.rglob("*"), home, home.parent, device.slots.folder)
    files = {each.stat().st_mode & 0o777 for each in paths if each.is_file()}
    folders = {each.stat().st_mode & 0o777 for each in paths if each.is_dir()}
    assert (files, folders) == ({0o644, 0o755}, {0o755})


def test_of_several_the_newest_for_this_system_is_taken(device: Device) -> None:
    for version in ("1.9-1~deb13", "1.10-1~deb13", "1.11-1~deb12"):
        device.release(version)
    assert device.updater().apply(device.source) == "1.10-1~deb13"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [({"check": "error: no such profile"}, "no such profile"), ({"starts": False}, "ends at once")],
)
def test_a_broken_release_is_gone_back_from(
    device: Device, broken: dict[str, object], reason: str
) -> None:
    device.release(SECOND, **broken)  # type: ignore[arg-type]
    told = device.refused(lambda: device.updater().apply(device.source))
    assert reason in told
    assert f"{SECOND} did not pass, {FIRST} is in use" in told
    assert device.slots.in_use == ""
    failed = json.loads((device.slots.folder / "failed").read_text())
    assert failed["version"] == SECOND
    assert reason in failed["reason"]
    device.gateway.acknowledge("b")
    device.release(THIRD)
    assert device.updater().apply(device.source) == THIRD
    assert device.gateway.state()[1][1:] == ["mapping m", "reading a", "reading b"]


def test_what_the_release_of_now_finds_as_well_keeps_none_away(device: Device) -> None:
    (device.slots.package / "venv/check").write_text("error: the broker is away")
    device.release(SECOND, check="error: the broker is away")
    assert device.updater().apply(device.source) == SECOND


def test_a_release_that_passes_and_does_not_serve_is_gone_back_from(device: Device) -> None:
    device.release(SECOND)
    device.gateway.serves_ = False
    told = device.refused(lambda: device.updater().apply(device.source))
    assert f"does not serve: {FIRST} is in use again" in told


def test_what_is_not_signed_by_the_packages_key_is_not_looked_at(device: Device) -> None:
    device.release(SECOND)
    device.sign(Ed25519PrivateKey.generate())
    with patch.object(payload, "unpack") as unpacked:
        assert "not signed by the key" in device.refused(
            lambda: device.updater().apply(device.source)
        )
    assert not unpacked.called
    assert not (device.slots.folder / "releases").exists()


def test_a_file_that_the_sums_do_not_list_so_is_refused(device: Device) -> None:
    device.release(SECOND)
    (package,) = device.dist.glob("*.deb")
    with package.open("ab") as file:
        file.write(b"more")
    told = device.refused(lambda: device.updater().apply(device.source))
    assert "damaged, or changed" in told


@pytest.mark.parametrize("name", ["SHA256SUMS", "SHA256SUMS.sig"])
def test_a_stick_without_sums_is_told(device: Device, name: str) -> None:
    device.release(SECOND)
    (device.dist / name).unlink()
    assert f"{name} cannot be read" in device.refused(lambda: device.updater().apply(device.source))


def test_a_package_that_was_not_signed_takes_no_releases(device: Device) -> None:
    device.release(SECOND)
    device.key.unlink()
    assert "was not signed" in device.refused(lambda: device.updater().check(device.source))


def test_an_older_release_is_taken_only_on_demand(device: Device) -> None:
    device.release(SECOND)
    device.updater().apply(device.source)
    device.gateway.acknowledge("b")
    shutil.rmtree(device.dist)
    device.dist.mkdir()
    device.release("1.5-1~deb13")
    assert "newer than 1.5" in device.refused(lambda: device.updater().apply(device.source))
    assert device.updater().check(device.source) is None
    assert device.updater().apply(device.source, allow_downgrade=True) == "1.5-1~deb13"
    assert device.gateway.state()[1][1:] == ["mapping m", "reading a", "reading b"]


def test_a_release_with_a_link_that_leads_elsewhere_leaves_it_out(device: Device) -> None:
    device.release(SECOND, links={"venv/elsewhere": "/etc"})
    device.updater().apply(device.source)
    assert not os.path.lexists(device.slots.home(SECOND) / "venv/elsewhere")


def test_going_back_keeps_what_was_acknowledged_since(device: Device) -> None:
    device.release(SECOND)
    device.updater().apply(device.source)
    device.gateway.acknowledge("b")
    assert device.updater().rollback() == FIRST
    assert device.gateway.state() == (
        FIRST,
        [f"form of {FIRST}", "mapping m", "reading a", "reading b"],
    )
    assert device.updater().rollback() == SECOND


def test_without_a_version_before_there_is_no_way_back(device: Device) -> None:
    assert "no version to go back to" in device.refused(lambda: device.updater().rollback())


def test_a_store_of_a_newer_form_is_left_for_the_one_of_before_and_the_journal(
    device: Device,
) -> None:
    device.release(SECOND, forms(store="2"))
    device.updater().apply(device.source)
    device.gateway.acknowledge("b")
    assert device.updater().rollback() == FIRST
    assert device.gateway.state() == (
        FIRST,
        [f"form of {FIRST}", "mapping m", "reading a", "reading b"],
    )


def test_a_journal_that_the_version_before_cannot_read_keeps_from_going_back(
    device: Device,
) -> None:
    device.release(SECOND, forms(journal="2"))
    device.updater().apply(device.source)
    device.gateway.acknowledge("b")
    told = device.refused(lambda: device.updater().rollback())
    assert "does not read the journal as it is written now (2)" in told


def test_a_journal_that_no_longer_reaches_back_keeps_from_going_back(device: Device) -> None:
    device.release(SECOND, forms(store="2"))
    device.updater().apply(device.source)
    (device.data / "journal").mkdir()
    name = "gateway-00000099-000000000001-5-0123456789ab.jsonl.gz"
    (device.data / "journal/manifest.jsonl").write_text(
        json.dumps({"event": "removed", "name": name}) + "\n"
    )
    told = device.refused(lambda: device.updater().rollback())
    assert "no longer has all readings" in told


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), RuntimeError("a defect")]
)
def test_where_the_data_cannot_be_kept_nothing_is_tried(device: Device, error: Exception) -> None:
    device.release(SECOND)
    with patch.object(updater_module, "keep", side_effect=error):
        told = device.refused(lambda: device.updater().apply(device.source))
    assert str(error) in told
    assert device.slots.in_use == ""


def test_who_is_interrupted_goes_back(device: Device) -> None:
    device.release(SECOND)
    before = device.gateway.state()
    with (
        patch.object(Updater, "_require_sound", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        device.updater().apply(device.source)
    assert device.gateway.state() == before
    assert device.gateway.runs
    assert device.slots.trial is None


def test_where_what_was_kept_has_gone_the_data_stay(device: Device) -> None:
    """As a file system that was mended may leave them: nothing kept is no reason to lose more."""
    device.release(SECOND)
    device.updater().apply(device.source)
    before = device.gateway.state()
    device.slots.begin(Trial(SECOND, "", SECOND, ""))
    shutil.rmtree(device.data / "kept")
    assert device.updater().recover() == FIRST
    assert device.gateway.state() == before


def test_a_package_that_is_read_in_part_is_no_release(device: Device, tmp_path: Path) -> None:
    """A disk that fails between two files, which looks like the end of the archive."""
    device.release(SECOND)
    (package,) = device.dist.glob("*.deb")
    content = package.read_bytes()
    last = content.rindex(b"./usr/lib/sosa-gateway/")
    package.write_bytes(content[:last])
    with pytest.raises(UpgradeError, match="disk cannot be read"):
        payload.unpack(package, tmp_path / "incoming", tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_without_room_nothing_is_fetched(device: Device) -> None:
    device.release(SECOND)
    with patch.object(updater_module, "_SPACE_BYTES", 1 << 60):
        told = device.refused(lambda: device.updater().apply(device.source))
    assert "have to be free" in told


def test_two_at_once_are_not_let(device: Device) -> None:
    device.release(SECOND)
    with device.slots.locked(os.getgid()), pytest.raises(ConflictError, match="under way"):
        device.updater().apply(device.source)
    assert device.updater().recover() == ""


def test_who_may_hold_an_upgrade_off_is_root_or_the_gateway(device: Device) -> None:
    with device.slots.locked(device.updater().data.stat().st_gid):
        lock = (device.slots.folder / "lock").stat()
    assert lock.st_mode & 0o777 == 0o640
    assert lock.st_gid == device.updater().data.stat().st_gid


@pytest.mark.alone
@pytest.mark.parametrize("is_broken", [False, True])
def test_killed_before_any_change_it_is_the_old_release_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_broken: bool
) -> None:
    made = Device(tmp_path / "device")
    made.release(SECOND, forms(store="2"), starts=not is_broken)
    shutil.move(made.folder, tmp_path / "made")
    old, new = (
        (FIRST, [f"form of {FIRST}", "mapping m", "reading a"]),
        (
            SECOND,
            [f"form of {SECOND}", "mapping m", "reading a"],
        ),
    )
    found = []
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a kill loses nothing that was written
    for number in itertools.count():
        shutil.copytree(tmp_path / "made", made.folder, symlinks=True)
        was_killed = is_killed(number, lambda: _try_it(made))
        # The device starts again: what the unit does before the gateway, then the gateway.
        made.updater().recover()
        made.gateway.start()
        assert made.slots.trial is None
        made.gateway.acknowledge("b")
        version, content = made.gateway.state()
        assert (version, content[:-1]) in ([old] if is_broken else [old, new])
        assert content[-1] == "reading b"
        found.append(version)
        shutil.rmtree(made.folder)
        if not was_killed:
            break
    assert len(found) > 40
    assert found == sorted(found), "what has passed stays"
    assert found[-1] == (FIRST if is_broken else SECOND)


@pytest.mark.alone
def test_a_rollback_killed_before_any_change_loses_nothing_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own data put back, and the journal applied."""
    made = Device(tmp_path / "device")
    made.release(SECOND, forms(store="2"))
    made.updater().apply(made.source)
    made.gateway.acknowledge("b")
    shutil.move(made.folder, tmp_path / "made")
    monkeypatch.setattr(os, "fsync", lambda _: None)
    found = []
    for number in itertools.count():
        shutil.copytree(tmp_path / "made", made.folder, symlinks=True)
        was_killed = is_killed(number, lambda: made.updater().rollback())
        made.updater().recover()
        made.gateway.start()
        version, content = made.gateway.state()
        assert content == [f"form of {version}", "mapping m", "reading a", "reading b"]
        found.append(version)
        shutil.rmtree(made.folder)
        if not was_killed:
            break
    assert len(found) > 30
    assert found == sorted(found, reverse=True)
    assert (found[0], found[-1]) == (SECOND, FIRST)


def _try_it(device: Device) -> None:
    try:
        device.updater().apply(device.source)
    except UpgradeError:
        assert device.slots.in_use == ""
