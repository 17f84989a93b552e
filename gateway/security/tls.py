"""TLS of the gateway's servers: one context for HTTPS, WSS and MQTT, with a certificate that lasts.

Place: made at the start; `renew` is asked once in a while, and new connections get the new
certificate. Two kinds: a certificate by the gateway's own CA, made at first start below
`data_dir/tls`, or one that is given as files, which somebody else renews.
"""

import asyncio
import logging
import os
import ssl
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway.errors import ConfigurationError, GatewayError
from gateway.runtime.folders import disk_error
from gateway.runtime.strangers import WatchedTls
from gateway.security.certificates import Issued, expires_at, is_fit, make_ca, make_server

log = logging.getLogger(__name__)

SOON_DAYS = 14
"""A certificate that somebody else renews is about to end."""

_LOOK_S = 3600.0
_TLS_1_2 = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Forward secret and authenticated (RFC 9325, section 4.2), so none in CBC mode."""

Clock = Callable[[], datetime]
Names = Callable[[], Sequence[str]]
"""By which the server is called now, addresses among them; there is at least one."""


def now() -> datetime:
    """The time by the machine's clock."""
    return datetime.now(UTC)


class ServerTls(ABC):
    """A server context whose certificate is looked after; `run` is a task of the event loop."""

    def __init__(self) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_ciphers(_TLS_1_2)
        self.context.sslobject_class = WatchedTls

    @abstractmethod
    def renew(self) -> None:
        """Let new connections get a valid certificate. Raises a GatewayError."""

    async def run(self) -> None:
        """Renew in time, until cancelled; what fails is logged and tried again."""
        while True:
            await asyncio.sleep(_LOOK_S)
            try:
                await asyncio.to_thread(self.renew)
            except GatewayError as error:
                log.error("certificate_not_renewed", extra={"reason": str(error)})

    def _load(self, certificate: Path, key: Path) -> None:
        try:
            self.context.load_cert_chain(certificate, key, password=_no_password)
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"cannot use the certificate {certificate} with the key {key}: {error}",
                "name PEM files that belong together, the key without a password",
            ) from error


def _no_password() -> bytes:
    """Asked for an encrypted key: refuse, instead of asking on a terminal."""
    raise ValueError("the key has a password")


class OwnCertificate(ServerTls):
    """A certificate for `names` by the gateway's own CA, both made where they are missing.

    The CA stays as it is for its ten years: clients have been told to trust it.
    """

    def __init__(self, folder: Path, names: Names, clock: Clock = now) -> None:
        super().__init__()
        self._folder = folder
        self._names = names
        self._clock = clock
        self._loaded = b""
        self.renew()

    @property
    def ca_path(self) -> Path:
        """The certificate that clients trust."""
        return self._folder / "ca.crt"

    def renew(self) -> None:
        """Make a new certificate when less than a month is left, or the names have changed."""
        names, at = self._names(), self._clock()
        authority = own_authority(self._folder, names[0], at)
        certificate, key = self._folder / "server.crt", self._folder / "server.key"
        present = read_pem(certificate) if certificate.exists() and key.exists() else b""
        if not is_fit(present, authority.certificate, names, at):
            issued = make_server(names, authority, at)
            # Either file may be the last that is written before the power goes: is_fit would then
            # be content with a key of another certificate, so the certificate goes first.
            certificate.unlink(missing_ok=True)
            write_whole(key, issued.key)
            write_whole(certificate, issued.certificate)
            present = issued.certificate
            log.info("certificate_made", extra={"names": list(names)})
        if present != self._loaded:
            self._load(certificate, key)
            self._loaded = present


def own_authority(folder: Path, name: str, at: datetime) -> Issued:
    """The CA that is kept in the folder, made at the first call. Raises StorageError."""
    certificate, key = folder / "ca.crt", folder / "ca.key"
    if certificate.exists():
        return Issued(read_pem(certificate), read_pem(key))
    made = make_ca(name, at)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(
            f"cannot make {folder}", folder, error, "give the gateway its folder"
        ) from error
    write_whole(key, made.key)
    write_whole(certificate, made.certificate)
    log.info("ca_made", extra={"path": str(certificate)})
    return made


def own_fault(folder: Path, clock: Clock = now) -> ConfigurationError | None:
    """Why the CA that is kept in the folder cannot be used; None also where there is none yet."""
    certificate, key = folder / "ca.crt", folder / "ca.key"
    if not certificate.exists():
        return None
    try:
        ends = expires_at(read_pem(certificate))
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, _no_password)
        read_pem(key)
    except ConfigurationError as error:
        return error
    except (OSError, ValueError) as error:
        return ConfigurationError(
            f"the CA in {folder} cannot be used: {error}",
            "put back a copy of ca.crt and ca.key, or remove both: clients must trust a new one",
        )
    if ends < clock():
        hint = "remove ca.crt and ca.key: a new CA is made, which clients must trust"
        return ConfigurationError(f"the CA in {folder} has ended", hint)
    return None


class GivenCertificate(ServerTls):
    """A certificate (with its chain) and a key in files; read again when they change."""

    def __init__(self, certificate: Path, key: Path, clock: Clock = now) -> None:
        super().__init__()
        self._certificate = certificate
        self._key = key
        self._clock = clock
        self._loaded = (b"", b"")
        self.renew()

    @property
    def left(self) -> timedelta:
        """How long the present one lasts, below 0 where it has ended. Raises ConfigurationError."""
        return expires_at(self._loaded[0]) - self._clock()

    def renew(self) -> None:
        """Take up new files; say when the present one is about to end."""
        files = (read_pem(self._certificate), read_pem(self._key))
        if files != self._loaded:
            self._load(self._certificate, self._key)
            self._loaded = files
        left = self.left
        if left.days < SOON_DAYS:
            log.warning(
                "certificate_ends", extra={"path": str(self._certificate), "days": left.days}
            )


def read_pem(path: Path) -> bytes:
    """A file with a certificate or a key. Raises ConfigurationError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"cannot read {path}: {error.strerror}",
            "name files that the gateway may read: [tls] certificate, key",
        ) from error


def write_whole(path: Path, content: bytes) -> None:
    """Whole or not at all, also when the power goes."""
    part = path.with_suffix(".part")
    try:
        part.unlink(missing_ok=True)
        file = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except OSError as error:
        raise disk_error(f"cannot write {path}", path.parent, error, "mend the disk") from error
