"""`Slots`: releases beside each other, of which one is in use.

    releases/1.4.0-1~deb13/{version,venv}   what a package has in /usr/lib/sosa-gateway
    current -> releases/1.4.0-1~deb13       the one in use; absent: the package's own
    previous                                the version before it, "" for the package's own
    trial                                   is there while a release has not passed yet
    failed                                  what was given up last, and why
    lock                                    held by the updater while it works

Place: root's alone, in a folder that the gateway may read. Each step is one operation on one name,
so a power cut leaves the state before it or behind it.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from gateway.errors import ConflictError
from gateway.runtime.durable_files import (
    link_durably,
    remove_durably,
    remove_tree,
    write_durably,
)
from gateway.runtime.forms import Forms

SLOTS = Path("/var/lib/sosa-gateway-slots")
PACKAGE = Path("/usr/lib/sosa-gateway")
_PUBLIC = 0o644
_OF_GROUP = 0o640


@dataclass(frozen=True, slots=True)
class Trial:
    """A release that is tried: `to` in the place of `of`, "" for the package's own.

    `kept` is the copy of the data from before, `previous` what was to go back to then.
    """

    of: str
    to: str
    kept: str
    previous: str | None


@dataclass(frozen=True, slots=True)
class Slots:
    """The folder of slots, and the package's own release. Methods raise OSError."""

    folder: Path = SLOTS
    package: Path = PACKAGE

    @property
    def in_use(self) -> str:
        """The version of the slot in use; "" where the package's own release is."""
        link = self.folder / "current"
        return link.readlink().name if link.is_symlink() and self.runs(link) else ""

    @property
    def previous(self) -> str | None:
        """The version that was in use before; None where there is none."""
        try:
            return (self.folder / "previous").read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None

    @property
    def trial(self) -> Trial | None:
        """What is tried; None where nothing is. Raises ValueError where it cannot be read."""
        try:
            return Trial(**json.loads((self.folder / "trial").read_bytes()))
        except FileNotFoundError:
            return None
        except TypeError as error:
            raise ValueError(f"{self.folder / 'trial'} is none of ours: {error}") from error

    def home(self, version: str) -> Path:
        """Where a release lies; `version` "" is the package's own."""
        return self.folder / "releases" / version if version else self.package

    def runs(self, home: Path) -> bool:
        """Whether its interpreter is there, which goes with a release of Debian."""
        return os.access(python_of(home), os.X_OK)

    def version(self, version: str) -> str:
        """The version by its number, that of the package too."""
        return version or (self.package / "version").read_text(encoding="utf-8").strip()

    def forms(self, version: str) -> Forms:
        """What a release reads and writes. Raises ValueError too."""
        (file,) = sorted(site_packages(self.home(version)).glob("gateway/forms.json"))[-1:] or (
            Path(),
        )
        return Forms.read(file)

    def use(self, version: str) -> None:
        """Have this release be the one that starts."""
        link = self.folder / "current"
        if version:
            link_durably(link, f"releases/{version}")
        else:
            remove_durably(link)

    def begin(self, trial: Trial) -> None:
        """From now on the gateway acknowledges nothing, and a start without us goes back."""
        write_durably(self.folder / "trial", json.dumps(asdict(trial)).encode(), _PUBLIC)

    def passed(self, trial: Trial) -> None:
        """The release stays; what is tried may be told from now on."""
        self.remember(trial.of)
        remove_durably(self.folder / "trial")

    def given_up(self, trial: Trial, reason: str) -> None:
        """The trial is over, and all is as before it."""
        self.remember(trial.previous)
        told = {"version": self.version(trial.to), "reason": reason}
        write_durably(self.folder / "failed", json.dumps(told).encode(), _PUBLIC)
        remove_durably(self.folder / "trial")

    def remember(self, previous: str | None) -> None:
        """What to go back to."""
        if previous is None:
            remove_durably(self.folder / "previous")
        else:
            write_durably(self.folder / "previous", previous.encode(), _PUBLIC)

    def tidy(self) -> None:
        """Remove releases that are neither in use nor the one before, and what is half there."""
        wanted = {self.in_use, self.previous}
        releases = self.folder / "releases"
        for path in releases.iterdir() if releases.is_dir() else ():
            if path.name not in wanted:
                remove_tree(path)
        remove_tree(self.folder / "incoming")

    @contextmanager
    def locked(self, readers: int) -> Iterator[None]:
        """Only one works on them at a time. Raises ConflictError at once.

        Who may read the lock could hold it, and with it every upgrade off: that is the group
        `readers`, the gateway's, which has to see that we are at work.
        """
        make_folder(self.folder)
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, _OF_GROUP)
        try:
            os.fchown(descriptor, -1, readers)
            os.fchmod(descriptor, _OF_GROUP)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise ConflictError("an upgrade is under way", "wait until it is done") from error
        finally:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """A folder that everybody may read, whatever is kept from others by default."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir()
        folder.chmod(0o755)


def python_of(home: Path) -> Path:
    """The interpreter of a release."""
    return home / "venv" / "bin" / "python3"


def site_packages(home: Path) -> Path:
    """The packages of a release; a folder that is not there where it has none."""
    found = sorted((home / "venv" / "lib").glob("python3*/site-packages"))
    return found[-1] if found else home / "venv" / "lib" / "site-packages"


def is_locked(folder: Path) -> bool:
    """Whether an updater is at work on the slots there; for who may only read."""
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
