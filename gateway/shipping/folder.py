"""A landing zone that is a folder of this machine: a disk, a stick, a mount."""

import os
import secrets
from pathlib import Path

from gateway.errors import ShippingError
from gateway.journal.sealing import sha256_of
from gateway.journal.segment import sync_folder
from gateway.shipping.zone import BLOCK, Parcel, require_same


class Folder:
    """A folder as a landing zone; `root` must exist, since a mount that is gone is no folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def deliver(self, parcel: Parcel) -> None:
        """Copy, fsync and rename, unless the same bytes are there; then read them back."""
        try:
            if not self._root.is_dir():
                raise FileNotFoundError(f"there is no folder {self._root}")
            target = self._root / parcel.place
            if not (target.is_file() and sha256_of(target) == parcel.sha256):
                self._copy(parcel, target)
            require_same(sha256_of(target), parcel, str(self._root))
        except OSError as error:
            raise ShippingError(
                f"{self._root}: {error.strerror or error}",
                "make the folder of [shipping] to, mount its disk, free space on it",
            ) from error

    def close(self) -> None:
        """Nothing is held open."""

    def _copy(self, parcel: Parcel, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            with parcel.path.open("rb") as source, part.open("wb") as copy:
                while block := source.read(BLOCK):
                    copy.write(block)
                copy.flush()
                os.fsync(copy.fileno())
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
        for folder in (target.parent, target.parent.parent, self._root):
            sync_folder(folder)
