"""`sosa-gateway backup` and `restore`: what a gateway keeps as one file, and back.

docs/upgrades.md tells what is in it. A backup is asked of a running gateway; a restore works on the
folder of data, whoever runs.
"""

import argparse
import getpass
import os
import sys
import time
import tomllib
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from gateway.admin.keeping.replacement import NewSettings, Plan, commit
from gateway.admin.keeping.restore import Backup, Unpacked, unpack
from gateway.appliance.toml_text import toml_of
from gateway.cli.asking import service
from gateway.cli.options import Commands, add_access, add_command, add_config, say
from gateway.cli.verbs import VERBS
from gateway.config.file import load_config
from gateway.config.settings import Config
from gateway.errors import BadRequestError, ConflictError, StorageError
from gateway.runtime.durable_files import as_owner, rename_durably, write_durably
from gateway.runtime.folders import disk_error

_LOOK_S = 1.0


def add(commands: Commands) -> None:
    """The commands `backup` and `restore`."""
    backup = add_command(commands, "backup", _backup, VERBS["backup"].purpose)
    backup.add_argument("file", type=Path, metavar="FILE", help="a new file")
    told = "ask for a passphrase, without which nobody can read it"
    backup.add_argument("--encrypt", action="store_true", help=told)
    add_access(backup)
    restore = add_command(commands, "restore", _restore, VERBS["restore"].purpose)
    restore.add_argument("file", type=Path, metavar="FILE", help="of `sosa-gateway backup`")
    restore.add_argument("--decrypt", action="store_true", help="ask for its passphrase")
    told = "leave the file of settings as it is"
    restore.add_argument("--keep-settings", action="store_true", help=told)
    told = "put readings aside that the backup is not of"
    restore.add_argument("--replace", action="store_true", help=told)
    told = "begin with this epoch or a later one, where the clock is not set"
    restore.add_argument("--epoch", type=int, metavar="N", help=told)
    add_config(restore)


def _backup(options: argparse.Namespace) -> int:
    passphrase = _passphrase(twice=True) if options.encrypt else ""
    access = service.Access(options.ca, options.credentials)
    fresh = options.file.with_name(f".{options.file.name}.new")
    if options.file.exists():
        raise ConflictError(f"{options.file} is there already", "name a new file")
    try:
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            asked = {"passphrase": passphrase}
            for chunk in service.download(f"{options.url}/backup", asked, access):
                file.write(chunk)
            file.flush()
            os.fsync(descriptor)
        size = fresh.stat().st_size
        rename_durably(fresh, options.file)
    except OSError as error:
        raise disk_error(
            f"{options.file} cannot be written", fresh.parent, error, "see its folder"
        ) from error
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
    say(f"{options.file}: {size:,} bytes{', encrypted' if passphrase else ''}")
    return 0


def _restore(options: argparse.Namespace) -> int:
    passphrase = _passphrase(twice=False) if options.decrypt else ""
    data = _data_of(options.config)
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with options.file.open("rb") as source, as_owner(data):
            found = unpack(data, source, passphrase)
        epoch = _behind(found.backup, options.epoch)
        plan = found.plan(epoch, replace=options.replace)
        settings = None if options.keep_settings else _settings(found, options.config)
        _commit(data, plan, settings, found)
    except OSError as error:
        raise StorageError(
            f"{options.file} cannot be restored: {error}", "see the file, and the disk of the data"
        ) from error
    for each in found.backup.left_out:
        say(f"not in the backup, since it lay elsewhere: {each}")
    say(
        f"{found.backup.gateway} as it was in epoch {found.backup.epoch} takes its place at the "
        "next start: sudo systemctl restart sosa-gateway"
    )
    return 0


def _data_of(config: Path | None) -> Path:
    """The folder of data of the settings here; of the default ones, where there are none yet."""
    if config is not None and not config.exists():
        return Config().at(config.parent).gateway.data_dir
    return load_config(config, os.environ).gateway.data_dir


def _behind(backup: Backup, asked: int | None) -> int:
    """An epoch that no life before has gone beyond; waits until the clock is set."""
    if (epoch := backup.behind(time.time(), asked)) is None:
        say(
            f"the clock of this machine says {time.strftime('%F %T', time.gmtime())}, which is "
            "before this backup: waiting until it is set; or end this, and give --epoch N"
        )
        while (epoch := backup.behind(time.time())) is None:
            time.sleep(_LOOK_S)
    return epoch


def _settings(found: Unpacked, config: Path | None) -> NewSettings | None:
    """The settings of the backup with the folder of data of this machine; None: it has none."""
    text = found.settings.get(found.backup.settings)
    if text is None:
        return None
    file = (config or Path("gateway.toml")).absolute()
    try:
        document = tomllib.loads(text.decode())
        there = Config.model_validate(document).at(file.parent).gateway.data_dir
    except (ValueError, ValidationError) as error:
        raise BadRequestError(
            f"the settings of this backup are not such as this version takes: {error}",
            "restore with --keep-settings, and write them anew",
        ) from error
    if there.resolve() != found.data.resolve():
        document.setdefault("gateway", {})["data_dir"] = str(found.data.absolute())
        text = toml_of(document).encode()
    return NewSettings(file, text)


def _commit(data: Path, plan: Plan, settings: NewSettings | None, found: Unpacked) -> None:
    """First what nobody looks at yet; the settings decide."""
    if settings is None:
        with as_owner(data):
            commit(data, plan)
        return
    _write_named(found, settings)
    with as_owner(data):
        commit(data, plan.awaiting(settings))
    _write(settings.file, settings.content)
    with as_owner(data):
        commit(data, plan)


def _write_named(found: Unpacked, settings: NewSettings) -> None:
    """Files that the settings name, where there are none.

    Raises ConflictError for others there, BadRequestError for what no settings name: it would
    become whatever reads its name, as a shell does in somebody's home.
    """
    folder = settings.file.parent
    config = Config.model_validate(tomllib.loads(settings.content.decode())).at(folder)
    wanted = {os.path.abspath(path) for path in config.named_files}
    files = {folder / n: c for n, c in found.settings.items() if n != found.backup.settings}
    for path in files:
        if os.path.abspath(path) not in wanted:
            raise BadRequestError(
                f"settings/{path.relative_to(folder)} is no file that these settings name",
                "use another backup, or restore with --keep-settings",
            )
    for path, content in files.items():
        if path.exists() and path.read_bytes() == content:
            continue
        if os.path.lexists(path):
            raise ConflictError(
                f"{path} is another file than in the backup",
                "move it away, or restore with --keep-settings",
            )
        _write(path, content)


def _write(path: Path, content: bytes) -> None:
    """As readable as the folder's files are: root's settings are read by the gateway's group."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found = (path if path.exists() else path.parent).stat()
    write_durably(path, content, found.st_mode & 0o666, found)


def _passphrase(*, twice: bool) -> str:
    """Asked for on a terminal; the first line of input elsewhere."""
    interactive = sys.stdin.isatty()
    given = getpass.getpass("passphrase: ") if interactive else sys.stdin.readline().rstrip("\n")
    if not given:
        raise BadRequestError("the passphrase is empty", "type one, or pipe one in")
    if interactive and twice and getpass.getpass("again: ") != given:
        raise BadRequestError("the two passphrases differ", "try again")
    return given
