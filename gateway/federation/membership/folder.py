"""`MembershipFolder`: what a gateway keeps of its federation, in files of its own user.

    federation.crt  the CA's certificate        member.crt, member.key  this gateway's
    members.json    the newest roster           authority.pem           key and certificate of the
    invitations.json  codes that are good                               CA, at one member

Place: below `data_dir/federation`; commands write it, a gateway that runs looks at it each second.
Each file is written whole or not at all. What changes the roster holds the lock meanwhile.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from gateway.errors import ConfigurationError, NotFoundError
from gateway.federation.membership.certificates import fault
from gateway.federation.membership.invitations import Invitation, decoded, encoded
from gateway.federation.membership.roster import Signed, read_roster
from gateway.runtime.folders import disk_error
from gateway.security.certificates import Issued
from gateway.security.tls import read_pem, write_whole

_NOT_IN = "`sosa-gateway federation create NAME`, or `federation join CODE HOST`"


@dataclass(frozen=True, slots=True)
class Membership:
    """What a member needs to be one: PEM of the CA and its own, and the newest roster."""

    authority: bytes
    certificate: bytes
    key: bytes
    signed: Signed


class MembershipFolder:
    """The files in a folder, which need not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def authority(self) -> Path:
        """The CA's certificate, which every member has."""
        return self.path / "federation.crt"

    @property
    def certificate(self) -> Path:
        """This member's; the last file that is written, so all is there where it is."""
        return self.path / "member.crt"

    @property
    def key(self) -> Path:
        """This member's."""
        return self.path / "member.key"

    @property
    def saved_authority(self) -> Path:
        """Key and certificate of the CA, at the member that has them: what one saves."""
        return self.path / "authority.pem"

    @property
    def stamp(self) -> tuple[int, ...]:
        """Another one after each change; for looking now and then."""
        return tuple(map(_stamp, (self._roster, self.certificate, self.saved_authority)))

    @property
    def is_member(self) -> bool:
        """Whether there is a membership."""
        return self.certificate.exists()

    def read(self, member: str) -> Membership:
        """The membership of a gateway with this id.

        Raises NotFoundError where there is none, ConfigurationError for one that is another's or
        damaged.
        """
        if not self.is_member:
            raise NotFoundError("this gateway is in no federation yet", _NOT_IN)
        authority, certificate = read_pem(self.authority), read_pem(self.certificate)
        key = read_pem(self.key)
        wrong = fault(certificate, key, authority, member)
        if wrong:
            raise ConfigurationError(
                f"the certificate {self.certificate} cannot be used: {wrong}",
                f"put back a copy of {self.path}, or remove the folder and join again",
            )
        return Membership(authority, certificate, key, self.roster(authority))

    def roster(self, authority: bytes) -> Signed:
        """The newest one that was kept. Raises ConfigurationError."""
        return read_roster(read_pem(self._roster), authority)

    def read_authority(self) -> Issued:
        """The CA, which one member has. Raises NotFoundError, ConfigurationError."""
        if not self.saved_authority.exists():
            raise NotFoundError(
                "the CA of the federation is at another gateway",
                "`sosa-gateway federation members` says which; `adopt FILE` moves it here",
            )
        return read_authority(self.saved_authority)

    def write(self, membership: Membership) -> None:
        """Be a member. Raises StorageError."""
        self.make()
        self.certificate.unlink(missing_ok=True)
        write_whole(self.key, membership.key)
        write_whole(self.authority, membership.authority)
        write_whole(self._roster, membership.signed.text)
        write_whole(self.certificate, membership.certificate)

    def write_roster(self, signed: Signed) -> None:
        """Have a newer one. Raises StorageError."""
        write_whole(self._roster, signed.text)

    def write_certificate(self, certificate: bytes) -> None:
        """Have a renewed one, of the same key. Raises StorageError."""
        write_whole(self.certificate, certificate)

    def write_authority(self, authority: Issued) -> None:
        """Have the CA. Raises StorageError."""
        self.make()
        write_whole(self.saved_authority, authority.key + authority.certificate)

    def invitations(self) -> list[Invitation]:
        """The codes that were made, and perhaps are good. Raises StorageError."""
        path = self._invitations
        return decoded(read_pem(path)) if path.exists() else []

    def write_invitations(self, invitations: list[Invitation]) -> None:
        """Have these in place of others. Raises StorageError."""
        write_whole(self._invitations, encoded(invitations))

    def make(self) -> None:
        """Make the folder. Raises StorageError."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(
                f"cannot make {self.path}", self.path, error, "give the gateway its folder"
            ) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other process change what is here meanwhile; waits for one that does."""
        self.make()
        lock = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    @property
    def _roster(self) -> Path:
        return self.path / "members.json"

    @property
    def _invitations(self) -> Path:
        return self.path / "invitations.json"


def read_authority(path: Path) -> Issued:
    """A CA that was saved. Raises ConfigurationError."""
    content = read_pem(path)
    begin = content.find(b"-----BEGIN CERTIFICATE-----")
    try:
        if begin < 0:
            raise ValueError("it has no certificate")
        serialization.load_pem_private_key(content[:begin], None)
    except (ValueError, TypeError) as error:
        raise ConfigurationError(
            f"{path} is no CA of a federation: {error}",
            "give a copy of data_dir/federation/authority.pem of the gateway that had it",
        ) from error
    return Issued(content[begin:], content[:begin])


def _stamp(path: Path) -> int:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0
    return hash((found.st_mtime_ns, found.st_ino, found.st_size))
