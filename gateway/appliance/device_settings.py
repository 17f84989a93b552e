"""The gateway's settings on an appliance: closed by default, changed by wishes, such as load.

A wrong setting is told with its line and left out, so that a device whose file has a slip serves.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.appliance.wishes import Wishes
from gateway.config.file import Given

DATA_DIR = "/var/lib/sosa-gateway"
MOSQUITTO_DIR = "/var/lib/sosa-gateway-mosquitto"
BROKER_PASSWORD = "etc/sosa-gateway/broker-password"  # noqa: S105  # where it is, not what
"""Below the folder of data, to which /etc/sosa-gateway leads."""


def closed(name: str) -> dict[str, Any]:
    """A device's that nobody has said anything of: the network, by TLS, and clients identify."""
    names = [f"{name}.local", name]
    return {
        "gateway": {"id": name, "data_dir": DATA_DIR},
        "http": {"host": "0.0.0.0", "hosts": names},  # noqa: S104
        "mqtt": {"host": "0.0.0.0", "mosquitto_dir": MOSQUITTO_DIR},  # noqa: S104
        "tls": {"mode": "own"},
        "security": {"enabled": True},
    }


def settings_of(
    wishes: Wishes, before: Mapping[str, object], name: str, file: Path
) -> tuple[dict[str, object], list[str]]:
    """What is to be written, and what was wrong with what is wished, by its line in `file`.

    `before` are the settings so far; none: the closed ones of a device called `name`.
    """
    base = dict(before) or closed(name)
    wished = _merged(base, wishes.settings)
    if wishes.broker_password:
        wished = _merged(wished, {"mqtt": {"password_file": f"/{BROKER_PASSWORD}"}})
    places = {"gateway": {"data_dir": DATA_DIR}, "mqtt": {"mosquitto_dir": MOSQUITTO_DIR}}
    wished = _merged(wished, places)
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    given = Given(file, text, wished, {})
    _, faults = given.what_is_right()
    return given.settings, [str(fault).removeprefix(f"{file}:") for fault in faults]


def _merged(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, Any]:
    """Tables into tables, at any depth; else what is above."""
    merged = dict(below)
    for name, value in above.items():
        old = merged.get(name)
        both = isinstance(old, dict) and isinstance(value, dict)
        merged[name] = _merged(old, value) if both else value  # type: ignore[arg-type]
    return merged
