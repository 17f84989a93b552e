"""Which gateway a command asks: its URL, the CA to trust, the credentials to get in with.

For each of the three, first found wins: the option, the environment (SOSA_GATEWAY_URL,
SOSA_GATEWAY_CA, SOSA_GATEWAY_CREDENTIALS), the gateway.toml of this folder, what `sosa-gateway
login` remembered, the default. Credentials that were remembered are for the gateway that they were
given for, and no other. One URL serves all commands: WebSockets are on the HTTP port as well.
"""

import argparse
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gateway.cli.options import HTTP_URL
from gateway.errors import BadRequestError, ConfigurationError

_SCHEMES = {"http": "ws", "https": "wss", "ws": "http", "wss": "https"}
_SUBSCRIBE = "/subscribe"
_ANY_ADDRESS = frozenset({"0.0.0.0", "::", ""})  # noqa: S104  # looked for, not bound


@dataclass(frozen=True, slots=True)
class Login:
    """What `sosa-gateway login` remembers, in a file of mode 0600."""

    url: str
    ca: str = ""
    credentials: str = ""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> "Login | None":
        """None where nobody has logged in. Raises ConfigurationError for what is no login."""
        file = login_file(environ)
        try:
            members = json.loads(file.read_text(encoding="utf-8"))
            return cls(**{name: str(value) for name, value in members.items()})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise ConfigurationError(
                f"{file} is no login: {error}", "sosa-gateway login writes it anew"
            ) from error

    def write(self, environ: Mapping[str, str]) -> Path:
        """For the user alone; replaces an earlier one."""
        file = login_file(environ)
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = file.with_suffix(".new")
            new.unlink(missing_ok=True)
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                json.dump(asdict(self), out)
            new.replace(file)
        except OSError as error:
            raise ConfigurationError(f"cannot write {file}: {error}", "see its folder") from error
        return file


def login_file(environ: Mapping[str, str]) -> Path:
    """Where it is remembered, by the XDG base directories."""
    home = environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "~")).expanduser() / ".config"
    return Path(home) / "sosa-gateway" / "login.json"


def fill(options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Settle `url`, `ca` and `credentials` of a command that asks a gateway."""
    here, login = _here(Path("gateway.toml"), environ), Login.read(environ)
    known = [here, login or Login(""), Login(HTTP_URL)]
    given = options.url or environ.get("SOSA_GATEWAY_URL")
    options.url = base_url(given or next(each.url for each in known if each.url))
    for name in ("ca", "credentials"):
        told = getattr(options, name) or environ.get(f"SOSA_GATEWAY_{name.upper()}")
        if not told:
            same = (each for each in known if each.url and base_url(each.url) == options.url)
            told = next((value for each in same if (value := getattr(each, name))), None)
        setattr(options, name, Path(told) if told else None)


def base_url(url: str) -> str:
    """Scheme http or https, host and port of a URL of the gateway, in whichever form it is given.

    Raises BadRequestError.

    >>> base_url("wss://hall.lan:8443/subscribe"), base_url("hall.lan:8000/")
    ('https://hall.lan:8443', 'http://hall.lan:8000')
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port
    except ValueError as error:
        raise BadRequestError(f"{url!r}: {error}", "write http://HOST:PORT") from error
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise BadRequestError(f"{url!r} is no URL of a gateway", "write http://HOST:PORT")
    scheme = parts.scheme.replace("ws", "http")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/").removesuffix("/secure/subscribe").removesuffix(_SUBSCRIBE)
    return f"{scheme}://{host}{'' if port is None else f':{port}'}{path}"


def subscribe_url(url: str) -> str:
    """Where the WebSocket of a gateway is.

    >>> subscribe_url("https://hall.lan:8443")
    'wss://hall.lan:8443/subscribe'
    """
    scheme, _, rest = url.partition("://")
    return f"{_SCHEMES[scheme]}://{rest}{_SUBSCRIBE}"


def _here(file: Path, environ: Mapping[str, str]) -> Login:
    """The gateway that the gateway.toml of this folder is of; only what is needed is read.

    What is wrong with the file is for `sosa-gateway check` to say, and for `run`.
    """
    try:
        told: Mapping[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Login("")

    def value(section: str, key: str, otherwise: str) -> str:
        table = told.get(section)
        given = table.get(key, otherwise) if isinstance(table, dict) else otherwise
        return environ.get(f"SOSA_GATEWAY_{section}__{key}".upper()) or str(given)

    is_plain = value("tls", "mode", "off") == "off"
    port = value("http", "port", "8000") if is_plain else value("tls", "http_port", "8443")
    host = value("http", "host", "127.0.0.1")
    host = "127.0.0.1" if host in _ANY_ADDRESS else host
    if not port.isdigit() or port == "0":
        return Login("")
    url = f"{'http' if is_plain else 'https'}://{f'[{host}]' if ':' in host else host}:{port}"
    ca = file.parent / value("gateway", "data_dir", "data") / "tls" / "ca.crt"
    return Login(url, str(ca) if not is_plain and ca.exists() else "")
