"""The start of a device: what its card's boot partition wishes becomes its settings, once.

    gateway.toml, rpi-preseed.toml on FAT -> Wishes -> files below /data -> report on FAT

Run by root before the network and the gateway start, at each start. A file is taken up whole, then
put away without its secrets; a power cut between any two steps has it taken up once more, with the
same result. Whatever is wrong with it, the device comes up, and the report says so.
"""

import os
import secrets
import tomllib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.appliance.claim_code import choose, offered
from gateway.appliance.device_settings import BROKER_PASSWORD, closed, settings_of
from gateway.appliance.open_ports import FILE as PORTS
from gateway.appliance.open_ports import firewall_rules, open_ports
from gateway.appliance.secrets import put_away
from gateway.appliance.serial_lines import allow_serial_lines, has_serial_line
from gateway.appliance.system_files import PUBLIC, link_timezone, system_files
from gateway.appliance.toml_text import toml_of
from gateway.appliance.wishes import (
    WishError,
    Wishes,
    preset_wishes,
    read_document,
    wishes_of,
)
from gateway.config.file import load_config
from gateway.config.settings import Config
from gateway.errors import ConfigurationError, GatewayError
from gateway.runtime.durable_files import write_durably

WISHES, PRESET, REPORT = "gateway.toml", "rpi-preseed.toml", "gateway-report.txt"
SETTINGS = "etc/sosa-gateway/gateway.toml"
MACHINE_ID = "etc/machine-id"
Read = Callable[[Mapping[str, object]], tuple[Wishes, list[str]]]


@dataclass(frozen=True, slots=True)
class Places:
    """The boot partition, the partition of data, and the folder of the gateway's own data."""

    boot: Path
    data: Path
    state: Path


def first_boot(places: Places) -> str:
    """Take up what the card says; the report, written there too, tells how the device is reached.

    Raises OSError only where the partition of data cannot be written.
    """
    faults = [*_take_up(places, PRESET, preset_wishes), *_take_up(places, WISHES, wishes_of)]
    _complete(places)
    report = _report(places, faults)
    try:
        write_durably(places.boot / REPORT, report.encode(), PUBLIC)
    except OSError as error:  # a card that takes nothing more still has a device that serves
        return f"{report}\nThis report could not be written to the card: {error.strerror}\n"
    return report


def _take_up(places: Places, name: str, read: Read) -> list[str]:
    """What is wrong with a file of the boot partition; one that is not there is right."""
    file = places.boot / name
    if not file.exists():
        return []
    try:
        document = read_document(file)
    except WishError as error:
        return [f"{name} {error}"]
    wishes, faults = read(document)
    faults += _apply(places, wishes, file)
    try:
        put_away(file, document)
    except OSError as error:
        faults.append(f"still has its secrets, the card cannot be written: {error.strerror}")
    return [f"{name}: {fault}" for fault in faults]


def _apply(places: Places, wishes: Wishes, file: Path) -> list[str]:
    data = places.data
    for name, each in system_files(wishes).items():
        write_durably(data / name, each.text.encode(), each.mode)
    if wishes.timezone:
        link_timezone(data, wishes.timezone)
    if wishes.claim_code:
        choose(data, wishes.claim_code)
    if wishes.broker_password:
        _write_for_gateway(places, BROKER_PASSWORD, f"{wishes.broker_password}\n")
    settings, faults = settings_of(wishes, _settings(data), _name(data), file)
    _write_for_gateway(places, SETTINGS, toml_of(settings))
    return faults


def _complete(places: Places) -> None:
    """What a device needs that nobody has said anything of; made on it, so no two have the same."""
    data = places.data
    if not (data / MACHINE_ID).exists():
        write_durably(data / MACHINE_ID, f"{uuid.uuid4().hex}\n".encode(), 0o444)
    if not (data / "etc/hostname").exists():
        name = f"sosa-gateway-{secrets.token_hex(2)}"
        write_durably(data / "etc/hostname", f"{name}\n".encode(), PUBLIC)
    if not _settings(data):
        _write_for_gateway(places, SETTINGS, toml_of(closed(_name(data))))
    config = _config(data)
    write_durably(data / PORTS, firewall_rules(open_ports(config)).encode(), PUBLIC)
    allow_serial_lines(data, wanted=has_serial_line(config))


def _config(data: Path) -> Config:
    """What the gateway will read; where that has become wrong since, a new device's."""
    try:
        return load_config(data / SETTINGS, {})
    except ConfigurationError:
        return Config.model_validate(closed(_name(data)))


def _write_for_gateway(places: Places, name: str, text: str) -> None:
    """Root's, and readable to the gateway's group: it need not change its own settings."""
    path = places.data / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(path.parent, 0, places.state.stat().st_gid)
        path.parent.chmod(0o750)
    # As its folder at once: a file that is there is not written again after a power cut.
    write_durably(path, text.encode(), 0o640, like=path.parent.stat())


def _settings(data: Path) -> Mapping[str, object]:
    """As they are; none where there are none, or such as cannot be read."""
    try:
        return tomllib.loads((data / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def _name(data: Path) -> str:
    file = data / "etc/hostname"
    return file.read_text(encoding="utf-8").strip() if file.exists() else "sosa-gateway"


def _report(places: Places, faults: Sequence[str]) -> str:
    name = _name(places.data)
    lines = [f"This device is called {name}. In a browser: https://{name}.local:8443/"]
    try:
        code = offered(places.data, places.state)
    except (GatewayError, OSError) as error:
        lines.append(f"No code could be made: {error}")
    else:
        lines.append(
            f"The code that makes your browser its first client, for an hour: {code}"
            if code
            else "It has clients: sign in as one of them."
        )
    if faults:
        lines += ["", "Not everything could be done as it was written:", *faults]
    return "\n".join([*lines, ""])
