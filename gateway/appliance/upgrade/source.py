"""Where releases come from: a folder (a USB stick) or an https address, with signed sums.

    SHA256SUMS, SHA256SUMS.sig -> verified by the package's key -> the newest for this system

A release is the Debian package, the same file and the same signature as for `install.sh`; only what
lies below /usr/lib/sosa-gateway in it is used. Nothing of a file is looked at before the sums are
known to be signed, and the file to be what they say. Sources: RFC 8032 (Ed25519), RFC 8410.
"""

import hashlib
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cmp_to_key
from pathlib import Path
from typing import BinaryIO

import httpx
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from gateway.errors import ConfigurationError, UpgradeError

KEY = Path("/usr/share/sosa-gateway/release-key.pem")
SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
_SUMS_BYTES, _RELEASE_BYTES = 1_048_576, 268_435_456
_TIMEOUT_S = 30.0
_CHUNK = 65_536
_LINE = re.compile(
    r"([0-9a-f]{64}) [ *](sosa-gateway_([0-9][0-9A-Za-z.+~-]{0,80})_([a-z0-9]{1,16})\.deb)"
)
_OS_RELEASE = Path("/etc/os-release")


@dataclass(frozen=True, slots=True)
class System:
    """What packages are for: the number of the release of Debian, and the architecture."""

    debian: str
    architecture: str

    @classmethod
    def here(cls) -> "System":
        """Raises UpgradeError where this is no Debian."""
        try:
            text = _OS_RELEASE.read_text(encoding="utf-8")
            command = ("dpkg", "--print-architecture")
            told = subprocess.run(command, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise UpgradeError(
                f"this is no Debian: {error}", "upgrades are for the package"
            ) from error
        number = re.search(r'^VERSION_ID="?(\d+)', text, re.MULTILINE)
        return cls(number[1] if number else "", told.stdout.strip())

    def suits(self, version: str, architecture: str) -> bool:
        """Whether a package runs here."""
        return architecture == self.architecture and version.endswith(f"~deb{self.debian}")


@dataclass(frozen=True, slots=True)
class Release:
    """A file that the signed sums list for this system."""

    version: str
    name: str
    sha256: str


Read = Callable[[str, int], "Reading"]


@contextmanager
def _from_folder(folder: Path, name: str) -> Iterator[Iterator[bytes]]:
    try:
        with (folder / name).open("rb") as file:
            yield iter(lambda: file.read(_CHUNK), b"")
    except OSError as error:
        raise UpgradeError(
            f"{folder / name} cannot be read: {error.strerror}",
            "see that the stick is there, and that it has what build-deb wrote into dist",
        ) from error


@contextmanager
def _from_address(address: str, name: str) -> Iterator[Iterator[bytes]]:
    place = f"{address.rstrip('/')}/{name}"
    try:
        with httpx.stream("GET", place, timeout=_TIMEOUT_S, follow_redirects=False) as answer:
            if answer.status_code != 200:
                raise UpgradeError(f"{place} answers {answer.status_code}", "see [upgrade] from")
            yield answer.iter_bytes(_CHUNK)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UpgradeError(
            f"{place} cannot be had: {error}", "see that it can be reached from here"
        ) from error


Reading = Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Source:
    """A folder or an https address. Methods raise UpgradeError."""

    where: str
    key: Path = KEY

    def newest(self, system: System) -> Release | None:
        """The newest release for a system; None where there is none."""
        found = [each for each in self._listed() if system.suits(each[0].version, each[1])]
        releases = [release for release, _ in found]
        return max(releases, key=cmp_to_key(_by_version), default=None)

    def fetch(self, release: Release, target: BinaryIO) -> None:
        """Write a release into a file; it is what the sums say."""
        digest, left = hashlib.sha256(), _RELEASE_BYTES
        with self._open(release.name) as chunks:
            for chunk in chunks:
                left -= len(chunk)
                if left < 0:
                    raise UpgradeError(f"{release.name} is longer than any release", _AGAIN)
                digest.update(chunk)
                target.write(chunk)
        if digest.hexdigest() != release.sha256:
            raise UpgradeError(
                f"{release.name} is not what {SUMS} says: damaged, or changed", _AGAIN
            )

    def _listed(self) -> Iterator[tuple[Release, str]]:
        key, sums = self._public_key(), self._small(SUMS)
        try:
            key.verify(self._small(SIGNATURE), sums)
        except InvalidSignature as error:
            raise UpgradeError(
                f"{SUMS} of {self.where} is not signed by the key of this package ({self.key})",
                "get it from whoever made the package that is installed",
            ) from error
        for line in sums.decode("utf-8", "replace").splitlines():
            if match := _LINE.fullmatch(line):
                sha256, name, version, architecture = match.groups()
                yield Release(version, name, sha256), architecture

    def _public_key(self) -> Ed25519PublicKey:
        try:
            key = load_pem_public_key(self.key.read_bytes())
        except FileNotFoundError as error:
            raise UpgradeError(
                "the package that is installed was not signed: nothing says whose releases to take",
                "install a signed package by install.sh --key FILE, or upgrade by install.sh",
            ) from error
        except (OSError, ValueError, UnsupportedAlgorithm) as error:
            raise UpgradeError(
                f"{self.key} has no key: {error}", "install the package again"
            ) from error
        if not isinstance(key, Ed25519PublicKey):
            raise UpgradeError(f"{self.key} has no Ed25519 key", "install the package again")
        return key

    def _small(self, name: str) -> bytes:
        content = bytearray()
        with self._open(name) as chunks:
            for chunk in chunks:
                content += chunk
                if len(content) > _SUMS_BYTES:
                    raise UpgradeError(f"{name} of {self.where} is too long", _AGAIN)
        return bytes(content)

    @contextmanager
    def _open(self, name: str) -> Iterator[Iterator[bytes]]:
        if not self.where:
            raise ConfigurationError(
                "nothing says where releases come from",
                'set [upgrade] from = "/media/usb/dist" or an https address, or give --from',
            )
        is_address = self.where.startswith("https://")
        if "://" in self.where and not is_address:
            raise ConfigurationError(f"{self.where} is no https address", "begin it with https://")
        opened = (
            _from_address(self.where, name) if is_address else _from_folder(Path(self.where), name)
        )
        with opened as chunks:
            yield chunks


_AGAIN = "copy the folder again from where it was made"


def _by_version(one: Release, other: Release) -> int:
    return compare(one.version, other.version)


def compare(one: str, other: str) -> int:
    """Negative where a version is older than another one, as Debian sorts them (deb-version(7))."""
    if one == other:
        return 0
    command = ("dpkg", "--compare-versions", one, "lt", other)
    return -1 if subprocess.run(command, check=False, capture_output=True).returncode == 0 else 1
