"""A release unpacked from its package into a slot: what lies below /usr/lib/sosa-gateway in it.

Place: behind `source`, which has verified the file. Files and folders alone are taken, and one
link, the interpreter, by its name: nothing of an archive leads outside its slot.
"""

import re
import subprocess
import tarfile
from pathlib import Path, PurePosixPath

from gateway.appliance.upgrade.slots import make_folder, python_of, site_packages
from gateway.errors import UpgradeError
from gateway.runtime.durable_files import remove_tree, rename_durably, sync_tree

INTERPRETERS = Path("/usr/bin")
_BELOW = PurePosixPath("usr/lib/sosa-gateway")
_PYTHON = re.compile(r"python3\.\d{1,3}")
_MOST_BYTES = 1_073_741_824
_AGAIN = "have it built again (deploy/raspberrypi/build-deb)"


def unpack(package: Path, incoming: Path, home: Path) -> None:
    """Have the release in `package` at `home`, whole or not at all, on the disk.

    Raises UpgradeError, OSError.
    """
    remove_tree(incoming)
    make_folder(incoming)
    with subprocess.Popen(
        ("dpkg-deb", "--fsys-tarfile", str(package)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
                _extract(tar, incoming)
            process.communicate()  # what fills the last record; it is done only then
        except tarfile.TarError as error:
            raise UpgradeError(f"{package.name} is no package: {error}", _AGAIN) from error
        finally:
            process.kill()
    if process.returncode:
        raise UpgradeError(f"{package.name} is no package, or its disk cannot be read", _AGAIN)
    if not (incoming / "version").is_file() or not site_packages(incoming).is_dir():
        raise UpgradeError(f"{package.name} has no release in it", _AGAIN)
    _compile(incoming)
    sync_tree(incoming)
    make_folder(home.parent)
    remove_tree(home)
    rename_durably(incoming, home)


def _extract(tar: tarfile.TarFile, incoming: Path) -> None:
    left = _MOST_BYTES
    for each in tar:
        path = PurePosixPath(each.name.removeprefix("./"))
        if _BELOW not in path.parents or ".." in path.parts:
            continue
        place = incoming / path.relative_to(_BELOW)
        left -= each.size
        if left < 0:
            raise UpgradeError(f"the release has more than {_MOST_BYTES} bytes", _AGAIN)
        if each.isdir():
            make_folder(place)
        elif each.isreg() and (content := tar.extractfile(each)) is not None:
            make_folder(place.parent)
            with place.open("xb") as file:
                while chunk := content.read(65_536):
                    file.write(chunk)
            place.chmod(0o644)
        elif each.issym() and place == python_of(incoming):
            _link_interpreter(place, PurePosixPath(each.linkname).name)


def _link_interpreter(place: Path, name: str) -> None:
    if not _PYTHON.fullmatch(name):
        raise UpgradeError(f"the release is run by {name!r:.40}, which is no Python", _AGAIN)
    make_folder(place.parent)
    place.symlink_to(INTERPRETERS / name)


def _compile(home: Path) -> None:
    """As the package does it: nothing can be written there later. What does not compile is found
    when it is tried.
    """
    options = ("-q", "-f", "--invalidation-mode", "unchecked-hash")
    command = (str(python_of(home)), "-I", "-m", "compileall", *options, str(home / "venv/lib"))
    try:
        subprocess.run(command, check=False, capture_output=True, umask=0o022)
    except OSError as error:
        raise UpgradeError(
            f"the interpreter of the release cannot be run: {error}",
            "take a release for this version of Debian",
        ) from error
