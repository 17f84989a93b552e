"""`Beside`: what a Mosquitto beside the gateway is told, kept as settings and clients have it.

Place: written at the start, then whenever clients or certificates change, by the gateway that runs
(`run` is its task); commands that change clients write it too, so a Mosquitto knows them though no
gateway runs.
"""

import asyncio
import logging
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.config.settings import Config
from gateway.errors import GatewayError, StorageError
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.mqtt.mosquitto.configuration import (
    CERTIFICATE,
    CONFIGURATION,
    KEY,
    LOOPBACK,
    PASSWORDS,
    RULES,
    configuration,
)
from gateway.gates.mqtt.mosquitto.folder import write
from gateway.gates.mqtt.mosquitto.logins import (
    OURS,
    Logins,
    acl_file,
    logins_of_identities,
    logins_of_users,
    password_file,
)
from gateway.runtime.alarms import AlarmKind, Condition
from gateway.runtime.durable_files import write_durably
from gateway.runtime.folders import disk_error
from gateway.security.identity import Snapshot
from gateway.security.identity_store import IdentityStore
from gateway.security.mosquitto_hash import MADE_ROUNDS, mosquitto_hash
from gateway.security.tls import read_pem

log = logging.getLogger(__name__)

_LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class OwnLogin:
    """How the gateway logs in: a secret of its own, and what Mosquitto is told of it."""

    secret: str = field(repr=False)
    hash: str = field(repr=False)


def own_login_path(config: Config) -> Path:
    """Where it is kept."""
    return config.gateway.data_dir / "security" / "mosquitto-login"


def own_login(path: Path) -> OwnLogin:
    """The one that is kept there, made at the first call. Raises StorageError."""
    try:
        if not path.exists():
            _make_login(path)
        secret, stored = path.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise disk_error(f"cannot use {path}", path.parent, error, "mend the disk") from error
    except ValueError as error:
        raise StorageError(f"{path} is damaged", "remove it: a new one is made") from error
    return OwnLogin(secret, stored)


def _make_login(path: Path) -> None:
    secret = secrets.token_urlsafe(32)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = f"{secret}\n{mosquitto_hash(secret, MADE_ROUNDS)}\n"
    write_durably(path, text.encode("ascii"), like=path.parent.stat())


def dialled(config: Config) -> ExternalSettings:
    """How the gateway reaches it. Raises StorageError."""
    own = own_login(own_login_path(config))
    return ExternalSettings(LOOPBACK, config.mqtt.port, config.mqtt_client_id, OURS, own.secret)


def logins_of(config: Config, snapshot: Snapshot) -> Logins:
    """Who may come: the identities, or the users of the settings."""
    if config.security.enabled:
        return logins_of_identities(snapshot)
    return logins_of_users(config.mqtt.users)


class Beside:
    """The files of one Mosquitto; `store` has the identities, where the gateway asks who comes."""

    def __init__(self, config: Config, store: IdentityStore | None) -> None:
        self._config = config
        self._store = store
        self._fault = ""
        self._written: object = None

    def write(self) -> bool:
        """Have the folder as it is to be; whether something changed. Raises a GatewayError."""
        snapshot = Snapshot() if self._store is None else self._store.snapshot()
        changed = write(self._config.mqtt.mosquitto_dir, self._files(snapshot))
        if changed:
            log.info(
                "mosquitto_files_written", extra={"folder": str(self._config.mqtt.mosquitto_dir)}
            )
        return changed

    def _files(self, snapshot: Snapshot) -> Mapping[str, bytes]:
        """The configuration is last: who waits for it finds what it names."""
        config = self._config
        logins = logins_of(config, snapshot).by_name
        own = own_login(own_login_path(config))
        files = {PASSWORDS: password_file(logins, own.hash).encode()}
        files[RULES] = acl_file(logins, config.mqtt.sparql_topic).encode()
        if config.tls.mode != "off":
            certificate, key = self._certificate()
            files |= {KEY: read_pem(key), CERTIFICATE: read_pem(certificate)}
        return files | {CONFIGURATION: configuration(config).encode()}

    def _certificate(self) -> tuple[Path, Path]:
        """Where the gateway's own servers have it."""
        tls = self._config.tls
        if tls.mode == "files":
            return Path(tls.certificate), Path(tls.key)
        folder = self._config.gateway.data_dir / "tls"
        return folder / "server.crt", folder / "server.key"

    def follow_from_now(self) -> None:
        """Write, and remember of what. Raises a GatewayError."""
        state = self._state()
        self.write()
        self._written = state

    async def run(self) -> None:
        """Follow clients and certificates, until cancelled; what fails is tried again."""
        while True:
            await asyncio.sleep(_LOOK_S)
            await asyncio.to_thread(self.follow)

    def follow(self) -> None:
        """Write where something has changed since it was written."""
        try:
            if self._state() != self._written:
                self.follow_from_now()
            self._fault = ""
        except GatewayError as error:
            if not self._fault:
                log.error("mosquitto_files_not_written", extra={"reason": str(error)})
            self._fault = error.description

    def _state(self) -> object:
        """Another one after each change of what the files are made of."""
        version = b"" if self._store is None else self._store.version
        if self._config.tls.mode == "off":
            return version
        return version, *map(_stamp, self._certificate())

    def conditions(self) -> Iterator[Condition]:
        """That new clients do not get in, nor those that were removed out."""
        if self._fault:
            hint = "give the folder to the gateway's user; it is tried again by itself"
            where = str(self._config.mqtt.mosquitto_dir)
            yield Condition(AlarmKind.BROKER, where, self._fault, hint)


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
