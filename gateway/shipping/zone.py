"""`LandingZone`: where sealed segments are brought, whatever carries them.

Place on the way of the data: what a shipper asks for. A zone has `<gateway>/<day>/<name>` for each
segment (docs/segments.md); delivering is idempotent, since a name stands for its bytes.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from gateway.errors import ShippingError
from gateway.journal.sealing import Sealed

BLOCK = 262_144
"""Files are read and compared in pieces of so many bytes."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file to deliver: its bytes have this SHA-256, and `place` is where they go in the zone."""

    path: Path
    place: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """The segment's name."""
        return self.path.name

    @classmethod
    def of(cls, folder: Path, item: Sealed) -> "Parcel":
        """A sealed segment or gap in the journal's folder."""
        return cls(folder / str(item.name), place_of(item), item.sha256, item.size)


class LandingZone(Protocol):
    """Takes parcels; used by one thread."""

    def deliver(self, parcel: Parcel) -> None:
        """Return when the zone has the file, durably and with its SHA-256.

        Raises ShippingError: it is not reached, it refuses, or it gave back other bytes. Safe to
        repeat after any end.
        """

    def close(self) -> None:
        """Give up connections."""


def shown(url: str) -> str:
    """The address of a zone without the password that it may have, for logs and errors.

    >>> shown("sftp://edge:secret@archive/in")
    'sftp://edge@archive/in'
    """
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}"))


def place_of(item: Sealed) -> str:
    """`<gateway>/<UTC day of the first line>/<name>`; gaps have no lines and their own folder."""
    folder = (
        "gaps" if item.name.is_gap else f"{datetime.fromtimestamp(item.first_time / 1e6, UTC):%F}"
    )
    return f"{item.name.gateway}/{folder}/{item.name}"


def require_same(found: str, parcel: Parcel, zone: str) -> None:
    """Raise ShippingError unless the zone gave back the bytes that it was given."""
    if found != parcel.sha256:
        raise ShippingError(
            f"{zone} has other bytes under {parcel.place}: their SHA-256 is {found}",
            "look after the disk or the service there; the segment is kept and sent again",
        )
