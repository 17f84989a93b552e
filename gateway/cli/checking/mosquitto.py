"""A Mosquitto beside the gateway: whether it is there, and whom of those we know it cannot let in.

Place: a look of `check`, where `[mqtt] mode` says so; nothing is written.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from gateway.admin.profile_checks import Finding
from gateway.app.brokers.settings import external_settings
from gateway.app.security import identities_path
from gateway.cli.checking.folder import Where
from gateway.config.settings import Config
from gateway.errors import GatewayError
from gateway.gates.mqtt.external.trial import refusal
from gateway.gates.mqtt.mosquitto.beside import logins_of, own_login_path
from gateway.gates.mqtt.mosquitto.configuration import CONFIGURATION
from gateway.runtime.folders import folder_trouble
from gateway.security.identity import Snapshot
from gateway.security.identity_store import read_identities

BROKER_S = 5.0
_SBIN = "/usr/sbin"
"""Where Debian has it, and only root's PATH looks."""


def mosquitto_findings(config: Config, where: Where) -> Iterator[Finding]:
    """The program, the folder, the broker where it runs; clients that it cannot know."""
    place = where("mqtt", "mode")
    if shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:{_SBIN}") is None:
        hint = 'apt install mosquitto, or say mode = "embedded"'
        yield Finding(place, "Mosquitto is not installed", is_error=False, what_to_do=hint)
    trouble = folder_trouble(config.mqtt.mosquitto_dir)
    if trouble is not None:
        folder = where("mqtt", "mosquitto_dir")
        yield Finding(folder, trouble.what, what_to_do=trouble.what_to_do)
    written = (config.mqtt.mosquitto_dir / CONFIGURATION, own_login_path(config))
    if all(map(_is_there, written)):
        yield from _refused(config, place)
    yield from _left_out(config, where)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _refused(config: Config, place: str) -> Iterator[Finding]:
    """Files for it were written, so it should take the gateway."""
    try:
        refused = refusal(external_settings(config), BROKER_S)
    except GatewayError as error:
        yield Finding.of(place, error)
        return
    if refused is not None:
        hint = "systemctl status sosa-gateway-mosquitto; it reads mosquitto.conf in mosquitto_dir"
        yield Finding(place, refused.description, is_error=False, what_to_do=hint)


def _left_out(config: Config, where: Where) -> Iterator[Finding]:
    path: Path = identities_path(config)
    place = where("mqtt", "mode")
    try:
        is_known = config.security.enabled and path.exists() and path.stat().st_size > 0
        snapshot = read_identities(path.absolute()) if is_known else Snapshot()
    except GatewayError:
        return  # which another look tells
    for each in logins_of(config, snapshot).left_out:
        reason = f"{each.name} cannot come by MQTT as it should: {each.reason}"
        yield Finding(place, reason, is_error=False, what_to_do=each.what_to_do)
