"""The landing zone: where gateways leave their segments; a folder, or anything fsspec reaches.

Place on the way of the data: before the plan. A folder is read where it is. From an object store
the segments of a batch are fetched below the archive first, so that Spark needs no jar for it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import unquote, urlsplit

from spark_batch.errors import ArchiveError


@dataclass(frozen=True, slots=True)
class Found:
    """A file in the landing zone: its place there, its name, its size in bytes."""

    place: str
    name: str
    size: int


class Landing(Protocol):
    """What a plan needs of a landing zone."""

    def files(self) -> Iterator[Found]:
        """Every file, in no order; begun uploads (`.part`) and hidden files are left out."""

    def open(self, place: str) -> IO[bytes]:
        """Read one file; raises OSError."""

    def fetch(self, place: str, folder: Path) -> Path:
        """A local file with these bytes; copied into `folder` unless it lies here already."""


def landing_zone(location: str) -> Landing:
    """A path, a file: URI, or a URI of fsspec; raises ArchiveError where there is none."""
    scheme = urlsplit(location).scheme
    if len(scheme) > 1 and scheme != "file":
        return RemoteLanding(location)
    path = Path(unquote(urlsplit(location).path) if scheme == "file" else location)
    if not path.is_dir():
        raise ArchiveError(f"the landing zone {path} is not a folder", "name an existing folder")
    return LocalLanding(path)


class LocalLanding:
    """A folder of this machine, or one that all machines of the cluster see."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    def files(self) -> Iterator[Found]:
        """Depth first; a folder that vanishes meanwhile is passed over."""
        for folder, folders, names in os.walk(self._folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in filter(_is_whole, names):
                path = Path(folder, name)
                try:
                    yield Found(str(path), name, path.stat().st_size)
                except FileNotFoundError:
                    continue

    def open(self, place: str) -> IO[bytes]:
        """Read one file."""
        return Path(place).open("rb")

    def fetch(self, place: str, folder: Path) -> Path:  # noqa: ARG002 - it lies here already
        """The file itself."""
        return Path(place)


class RemoteLanding:
    """A bucket or another file system of fsspec."""

    def __init__(self, uri: str) -> None:
        try:
            import fsspec  # noqa: PLC0415 - only for remote landing zones
        except ImportError:
            raise ArchiveError(f"{uri} needs fsspec", "pip install fsspec and its driver") from None
        try:
            self._system: Any
            self._system, self._folder = fsspec.core.url_to_fs(uri)
        except (ImportError, ValueError, OSError) as error:
            raise ArchiveError(f"{uri} cannot be opened: {error}", "install its driver") from error

    def files(self) -> Iterator[Found]:
        """The files of one listing of the store."""
        try:
            found = self._system.find(self._folder, detail=True)
        except OSError as error:
            raise ArchiveError(f"{self._folder} cannot be listed: {error}", "try again") from error
        for place, details in found.items():
            name = place.rsplit("/", 1)[-1]
            if _is_whole(name):
                yield Found(place, name, int(details["size"]))

    def open(self, place: str) -> IO[bytes]:
        """Read one file."""
        file: IO[bytes] = self._system.open(place, "rb")
        return file

    def fetch(self, place: str, folder: Path) -> Path:
        """A copy in `folder`."""
        target = folder / place.rsplit("/", 1)[-1]
        folder.mkdir(parents=True, exist_ok=True)
        self._system.get_file(place, str(target))
        return target


def _is_whole(name: str) -> bool:
    return not name.startswith(".") and not name.endswith(".part")
