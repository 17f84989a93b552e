"""`sosa-gateway upgrade`: another release in the place of this one, by the package's updater."""

import argparse
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.appliance.upgrade.service import StandingStill, SystemdService
from gateway.appliance.upgrade.slots import Slots
from gateway.appliance.upgrade.source import Source
from gateway.appliance.upgrade.updater import Updater
from gateway.cli.options import Commands, add_command, add_group, say
from gateway.cli.verbs import VERBS
from gateway.errors import ConfigurationError, UpgradeError

_SETTINGS = Path("/etc/sosa-gateway/gateway.toml")


def add(commands: Commands) -> None:
    """The command `upgrade`."""
    group = add_group(commands, "upgrade", VERBS["upgrade"].purpose)
    check = add_command(group, "check", _check, "say which release `apply` would take")
    apply = add_command(group, "apply", _apply, "take the newest release, if it passes its trial")
    back = add_command(group, "rollback", _rollback, "go back to the version before")
    recover = add_command(
        group, "recover", _recover, "go back from a trial that was cut off; the unit calls it"
    )
    for parser in (check, apply, back, recover):
        told = f"the gateway's settings; default: {_SETTINGS}"
        parser.add_argument("--config", type=Path, default=_SETTINGS, metavar="FILE", help=told)
    for parser in (check, apply):
        told = "a folder or an https address; default: [upgrade] from"
        parser.add_argument("--from", dest="source", default="", metavar="PLACE", help=told)
    apply.add_argument(
        "--allow-downgrade", action="store_true", help="take an older release as well"
    )


def _updater(options: argparse.Namespace, *, by_hand: bool = True) -> Updater:
    told = _told(options.config).get("gateway", {})
    data = options.config.parent / str(told.get("data_dir", "data"))
    if not data.is_dir():
        raise UpgradeError(f"there is no {data}", "start the gateway once")
    service = SystemdService() if by_hand else StandingStill()
    return Updater(Slots(), service, data, options.config)


def _told(file: Path) -> dict[str, dict[str, object]]:
    """The settings as they are written: other releases may know others, and must be gone back from.

    Raises ConfigurationError.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"cannot read {file}: {error}", "correct it") from error


@contextmanager
def _by_root() -> Iterator[None]:
    """What cannot be done is told as every other error is."""
    if os.geteuid() != 0:
        raise UpgradeError("this changes the system", "sudo sosa-gateway upgrade …")
    try:
        yield
    except OSError as error:
        raise UpgradeError(f"the slots cannot be changed: {error}", "see their disk") from error


def _source(options: argparse.Namespace) -> Source:
    told = _told(options.config).get("upgrade", {})
    return Source(options.source or str(told.get("from", "")))


def _check(options: argparse.Namespace) -> int:
    release = _updater(options).check(_source(options))
    say("nothing newer" if release is None else f"{release.version} ({release.name})")
    return 0


def _apply(options: argparse.Namespace) -> int:
    with _by_root():
        updater, source = _updater(options), _source(options)
        say(f"in use: {updater.apply(source, allow_downgrade=options.allow_downgrade)}")
    return 0


def _rollback(options: argparse.Namespace) -> int:
    with _by_root():
        say(f"in use: {_updater(options).rollback()}")
    return 0


def _recover(options: argparse.Namespace) -> int:
    with _by_root():
        given_up = _updater(options, by_hand=False).recover()
    if given_up:
        say(f"went back from {given_up}, which had not passed")
    return 0
