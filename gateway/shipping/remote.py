"""A landing zone that fsspec reaches: SFTP, S3-compatible stores, and what else has a driver.

Drivers come with the extra `ship` (fsspec, s3fs, sshfs). An upload ends with a rename where a store
can show half a file; stores of objects cannot. What arrived is read back and compared.
"""

import hashlib
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError, ShippingError
from gateway.shipping.zone import BLOCK, Parcel, require_same, shown

_OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az", "memory"})
_SSH = frozenset({"sftp", "ssh"})
_CONNECT_S = 15
_ANSWER_S = 60

Options = Mapping[str, Any]


class Remote:
    """A landing zone behind a driver of fsspec; `options` are the driver's own."""

    def __init__(self, url: str, options: Options) -> None:
        """Raises ConfigurationError where the driver is not installed."""
        self._url = url
        self._shown = shown(url)
        self._options = options
        self._scheme = urlsplit(url).scheme
        self._files: Any = None
        self._root = ""
        driver(self._scheme)

    def deliver(self, parcel: Parcel) -> None:
        """Upload, rename where the store can, and read back what arrived."""
        try:
            self._deliver(parcel)
        except ShippingError:
            raise
        except Exception as error:  # a driver raises whatever its libraries raise
            self.close()
            raise ShippingError(
                f"{self._shown}: {type(error).__name__}: {error}",
                "check the address, the credentials and the network; it is tried again",
            ) from error

    def close(self) -> None:
        """Disconnect the driver; the next delivery connects anew."""
        files, self._files = self._files, None
        if files is not None:
            with suppress(Exception):  # what is closed is of no use any more
                _disconnect(files)

    def _deliver(self, parcel: Parcel) -> None:
        files = self._connected()
        target = f"{self._root}/{parcel.place}"
        if self._digest(files, target) != parcel.sha256:
            if self._scheme in _OBJECT_STORES:  # making a folder there would make a bucket
                files.put_file(str(parcel.path), target)
            else:
                files.makedirs(target.rpartition("/")[0], exist_ok=True)
                self._upload(files, parcel, target)
        require_same(self._digest(files, target), parcel, self._shown)

    def _upload(self, files: Any, parcel: Parcel, target: str) -> None:
        part = f"{target}.{secrets.token_hex(4)}.part"
        files.put_file(str(parcel.path), part)
        if files.exists(target):  # damaged there, or we had not asked for a rename
            files.rm_file(target)
        files.mv(part, target)

    def _digest(self, files: Any, target: str) -> str:
        """The SHA-256 of what the zone has, "" where it has nothing."""
        digest = hashlib.sha256()
        try:
            with files.open(target, "rb") as there:
                while block := there.read(BLOCK):
                    digest.update(block)
        except FileNotFoundError:
            return ""
        return digest.hexdigest()

    def _connected(self) -> Any:
        if self._files is None:
            self._files, self._root = _connect(self._url, self._scheme, self._options)
        return self._files


def driver(scheme: str) -> type[Any]:
    """The class of fsspec that serves a scheme; raises ConfigurationError."""
    try:
        import fsspec  # noqa: PLC0415  the extra is needed by those who ship this way only

        found: type[Any] = fsspec.get_filesystem_class("ssh" if scheme in _SSH else scheme)
    except ImportError as error:
        raise ConfigurationError(
            f"[shipping] to: {scheme}:// needs a driver that is not installed: {error}",
            "pip install 'sosa-gateway[ship]'",
        ) from error
    except ValueError as error:
        raise ConfigurationError(
            f"[shipping] to: no driver of fsspec serves {scheme}://",
            "use a folder, sftp://, s3://, http:// or https://",
        ) from error
    return found


def _disconnect(files: Any) -> None:
    """Close now what the drivers close when their object is collected, which may be hours later."""
    if hasattr(files, "_stack"):  # sshfs
        files._finalize(files.loop, files._pool, files._stack)
    elif hasattr(files, "close_session"):  # s3fs
        files.close_session(files.loop, files.s3)


def _connect(url: str, scheme: str, options: Options) -> tuple[Any, str]:
    parts = urlsplit(url)
    settings: dict[str, Any] = {"skip_instance_cache": True, **options}
    if scheme in _SSH:
        # () is asyncssh's own default, ~/.ssh/known_hosts; sshfs would ask no server who it is.
        usual = {"connect_timeout": _CONNECT_S, "keepalive_interval": _CONNECT_S, "known_hosts": ()}
        settings = {**usual, "host": parts.hostname, "port": parts.port or 22, **settings}
        if parts.username:
            settings.setdefault("username", parts.username)
        return driver(scheme)(**settings), parts.path.rstrip("/")
    if scheme in {"s3", "s3a"}:
        usual = {"connect_timeout": _CONNECT_S, "read_timeout": _ANSWER_S}
        settings = {"config_kwargs": usual, "use_listings_cache": False, **settings}
    return driver(scheme)(**settings), f"{parts.netloc}{parts.path}".rstrip("/")
