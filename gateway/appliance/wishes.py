"""`Wishes`: what whoever flashed the card wants of the device, read from files that anybody writes.

    gateway.toml: [device], and any section of the gateway's own settings -> Wishes, faults

Nothing here changes anything. Each wish is taken or told as a fault in plain words; a fault costs
that wish and no other. Sources: RFC 1123 section 2.1 (names of hosts); IEEE 802.11-2020, 9.4.2.2
(SSID, 32 bytes) and J.4 (passphrases); RFC 4253 section 6.6 (public keys).
"""

import ipaddress
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from gateway.security.claim import ALPHABET, normal

MOST_BYTES = 65_536
"""A longer file is nobody's wishes."""

_MOST_DEPTH, _MOST_BITS = 20, 64
CLAIM_SIGNS = 10
_SSH_KEY = re.compile(
    r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-[a-z0-9@.-]+)"
    r" [A-Za-z0-9+/]{40,2000}={0,2}"
    r"( [^\x00-\x1f\x7f]{0,200})?"
)
_NO_ZONES = {"localtime"}
"""Debian has it among the zones: a link to what it would be linked from."""

_HOST = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Wifi:
    """A network to join; `key` is a passphrase of 8 to 63 signs or 64 hexadecimal digits."""

    ssid: str
    key: str = ""
    country: str = ""


@dataclass(frozen=True, slots=True)
class FixedAddress:
    """What the wired interface has, in place of DHCP: `address` with its prefix length."""

    address: str
    gateway: str = ""
    dns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is wanted of the device; "" and None where nothing was said. `settings` are as written.

    `claim_code` is normal, `broker_password` that of another broker.
    """

    name: str = ""
    timezone: str = ""
    wifi: Wifi | None = None
    ethernet: FixedAddress | None = None
    ssh_keys: tuple[str, ...] = ()
    claim_code: str = ""
    broker_password: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)


class WishError(Exception):
    """Why a wish cannot be fulfilled, in words for who wrote it."""


def read_document(file: Path) -> dict[str, object]:
    """A TOML file as people's editors leave it. Raises WishError."""
    try:
        with file.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise WishError(f"cannot be read: {error.strerror or error}") from error
    if len(content) > MOST_BYTES:
        raise WishError(f"has more than {MOST_BYTES} bytes: that is no file of settings")
    try:
        document = tomllib.loads(content.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise WishError("is no text in UTF-8: save it again as plain text") from error
    except ValueError as error:  # a number of thousands of digits is no TOMLDecodeError
        raise WishError(f"cannot be understood: {error}") from error
    except RecursionError as error:
        raise WishError("is nested too deeply") from error
    _require_plain(document, _MOST_DEPTH)
    return document


def _require_plain(value: object, depth: int) -> None:
    """Dotted keys nest without end, and a number in base 16 has no bound: nobody reads on then."""
    if depth < 0:
        raise WishError("is nested too deeply")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise WishError("has a number that is too large for any setting")
    nested = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in nested:
        _require_plain(each, depth - 1)


def wishes_of(document: Mapping[str, object]) -> tuple[Wishes, list[str]]:
    """The wishes of gateway.toml, and what is wrong with the others."""
    settings = {name: value for name, value in document.items() if name != "device"}
    device = document.get("device", {})
    if not isinstance(device, dict):
        return Wishes(settings=settings), ["device: write it as a table [device]"]
    taken: dict[str, Any] = {}
    faults: list[str] = []
    for name, value in device.items():
        take = _DEVICE.get(name)
        if take is None:
            faults.append(f"device.{name}: unknown; known are {', '.join(_DEVICE)}")
            continue
        try:
            taken[name] = take(value)
        except WishError as error:
            faults.append(f"device.{name}: {error}")
    return Wishes(settings=settings, **taken), faults


def preset_wishes(document: Mapping[str, object]) -> tuple[Wishes, list[str]]:
    """The same of Raspberry Pi Imager's file: the keys that a device of ours has a use for."""
    found: dict[str, object] = {}
    for name, (table, key) in _PRESET.items():
        section = document.get(table)
        if isinstance(section, dict) and section.get(key):
            found[name] = section[key]
    wlan = document.get("wlan")
    if isinstance(wlan, dict) and wlan.get("ssid"):
        found["wifi"] = {key: wlan[key] for key in ("ssid", "password", "country") if key in wlan}
    return wishes_of({"device": found})


_PRESET = {
    "name": ("system", "hostname"),
    "timezone": ("locale", "timezone"),
    "ssh_keys": ("ssh", "authorized_keys"),
}


def _text(value: object, most: int = 200) -> str:
    if not isinstance(value, str) or len(value) > most or not value.isprintable():
        raise WishError(f"write it as a text of at most {most} printable signs, in quotes")
    return value


def _name(value: object) -> str:
    text = _text(value, 63).lower()
    if not _HOST.fullmatch(text):
        raise WishError("use letters, digits and - (not at the ends), at most 63")
    return text


def _timezone(value: object) -> str:
    text = _text(value)
    if text not in available_timezones() - _NO_ZONES:
        raise WishError(f"there is no time zone {text!r}; one is written like Europe/Rome")
    return text


def _wifi(value: object) -> Wifi:
    table = _table(value, ("ssid", "password", "country"))
    ssid, key = _text(table.get("ssid", "")), _text(table.get("password", ""))
    country = _text(table.get("country", ""))
    if not 1 <= len(ssid.encode()) <= 32:
        raise WishError("ssid is the network's name, 1 to 32 bytes")
    if key and not (re.fullmatch(r"[ -~]{8,63}", key) or re.fullmatch(r"[0-9a-fA-F]{64}", key)):
        raise WishError("password has 8 to 63 signs of ASCII")
    if country and not re.fullmatch(r"[A-Z]{2}", country):
        raise WishError("country has two capital letters: IT, DE, GB")
    return Wifi(ssid, key, country)


def _ethernet(value: object) -> FixedAddress:
    table = _table(value, ("address", "gateway", "dns"))
    try:
        written = _text(table.get("address", ""))
        if "/" not in written:  # which would be an address without a network
            raise ValueError(f"{written!r} has no length of its network")
        address = ipaddress.ip_interface(written)
        router = table.get("gateway", "")
        servers = [ipaddress.ip_address(_text(each)) for each in _list(table.get("dns", []))]
        gateway = str(ipaddress.ip_address(_text(router))) if router else ""
    except ValueError as error:
        raise WishError(f"{error}; address is written like 192.168.1.5/24") from error
    return FixedAddress(str(address), gateway, tuple(map(str, servers)))


def _ssh_keys(value: object) -> tuple[str, ...]:
    keys = tuple(_text(each, 3000).strip() for each in _list(value))
    for number, key in enumerate(keys, start=1):
        if not _SSH_KEY.fullmatch(key):
            raise WishError(f"number {number} is no public key: ssh-ed25519 AAAA… name")
    return keys


def _claim_code(value: object) -> str:
    code = normal(_text(value))
    if len(code) != CLAIM_SIGNS or not set(code) <= set(ALPHABET):
        raise WishError(f"use {CLAIM_SIGNS} of {ALPHABET}")
    return code


def _password(value: object) -> str:
    return _text(value, 1000)


def _table(value: object, known: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(value, dict):
        raise WishError("write it as a table")
    for name in value:
        if name not in known:
            raise WishError(f"{name} is unknown; known are {', '.join(known)}")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list) or len(value) > 20:
        raise WishError("write it as a list of at most 20")
    return value


_DEVICE: Mapping[str, Callable[[object], object]] = {
    "name": _name,
    "timezone": _timezone,
    "wifi": _wifi,
    "ethernet": _ethernet,
    "ssh_keys": _ssh_keys,
    "claim_code": _claim_code,
    "broker_password": _password,
}
"""What each wish has to be."""
