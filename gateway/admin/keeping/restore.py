"""A backup becomes what a gateway has: unpacked, looked through, in place at its next start.

Place: behind `sosa-gateway restore` and POST /restore; `gateway.admin.keeping.replacement` puts it
in place. What a backup says is believed only as far as it was looked at: a path leads nowhere
outside the folder of data, a size is no more than the disk has.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Self

from pyoxigraph import Store

from gateway.admin.keeping.archive import Content, unpacked
from gateway.admin.keeping.backup import DATA, FORMAT, HEAD, KEPT, SETTINGS
from gateway.admin.keeping.replacement import BEFORE_UPGRADE, Plan, prepare, put
from gateway.errors import BadRequestError, ConflictError, GatewayError, TooLargeError
from gateway.journal.events import Events
from gateway.journal.lineage import lineage
from gateway.journal.names import raw_segments, raw_start
from gateway.journal.record import Position
from gateway.runtime.clocks import FIRST
from gateway.runtime.folders import disk_error
from gateway.runtime.forms import Forms
from gateway.security.identity_store import read_identities

_OF_A_JOURNAL = ("journal", "events", "mqtt-session.json", "quarantine.jsonl")
"""What belongs to the readings that were taken here, and goes where they go."""

_HEAD_BYTES, _SETTINGS_BYTES = 1_048_576, 67_108_864
_EACH_BYTES = 512
"""What a file of settings takes at least, however short."""

_LEFT_FREE = 16_777_216
LAST_EPOCH = 99_999_999_999
"""Twelve digits at most are the name of a journal's file: one with more would never be read."""

_OTHER = "use another backup"


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup says of itself; `made_at` is in seconds since 1970.

    `applied` is the epoch of the last reading that its store has, 0 for none; `journal` says which
    one it was made beside.
    """

    gateway: str
    base_iri: str
    version: str
    epoch: int
    applied: int
    journal: str
    made_at: float
    settings: str
    left_out: tuple[str, ...]

    @classmethod
    def decode(cls, text: bytes) -> Self:
        """Raises BadRequestError."""
        try:
            told = json.loads(text)
            if int(told["format"]) > FORMAT or told["store"] not in Forms.read().store.reads:
                raise BadRequestError(
                    f"this backup is of {told['version']!r:.40}, which keeps in other forms",
                    "restore it with that version, and upgrade then",
                )
            applied = Position.parse(told["applied"]).epoch if told["applied"] else 0
            if max(int(told["epoch"]), applied) > LAST_EPOCH:
                raise ValueError(f"no epoch is beyond {LAST_EPOCH}")
            return cls(
                str(told["gateway"]),
                str(told["base_iri"]),
                str(told["version"]),
                max(int(told["epoch"]), applied),
                applied,
                str(told["journal"]),
                datetime.fromisoformat(told["made_at"]).timestamp(),
                str(told["settings"]),
                tuple(map(str, told["left_out"])),
            )
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise BadRequestError(
                f"{HEAD} of this backup cannot be read: {error}", _OTHER
            ) from error

    def behind(self, now: float, asked: int | None = None) -> int | None:
        """An epoch that no life before has gone beyond: that of the next start is higher.

        By the clock `now`, in seconds since 1970, or by the epoch that somebody asks for; None: the
        clock is behind what is known, so it tells nothing. Raises BadRequestError for an epoch that
        was used.
        """
        if asked is not None:
            if asked <= self.epoch:
                raise BadRequestError(
                    f"epoch {asked} was used: the backup is of epoch {self.epoch}",
                    "give one that is higher than any that this gateway ever began",
                )
            if asked > LAST_EPOCH:
                raise BadRequestError(
                    f"epoch {asked} is beyond {LAST_EPOCH}",
                    "give seconds since 1970 (date +%s), or one more than the last",
                )
            return asked - 1
        if now <= max(self.epoch, self.made_at, FIRST.timestamp()):
            return None
        return int(now)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A backup in `data_dir/replacement/new`, and its settings, by their paths."""

    backup: Backup
    data: Path
    new: Path
    settings: Mapping[str, bytes] = field(default_factory=dict)

    def plan(self, epoch: int, *, replace: bool) -> Plan:
        """What is to happen to what is there. Raises ConflictError.

        A journal of the same gateway stays, and is applied from the backup's position on; one with
        other readings goes aside with `replace` alone.
        """
        names = put(self.new, KEPT)
        dropped = (*(each for each in KEPT if each not in names), BEFORE_UPGRADE)
        if not _goes_on(self.data / "journal", self.backup):
            if not replace:
                raise ConflictError(
                    f"{self.data} has readings that this backup is not of",
                    "give --replace to put them aside (into the folder `replaced` there), or "
                    "restore into another folder",
                )
            dropped += _OF_A_JOURNAL
        why = f"restore of {self.backup.gateway}, epoch {self.backup.epoch}"
        return Plan(why, names, dropped, epoch)


def unpack(data: Path, source: BinaryIO, passphrase: str = "") -> Unpacked:
    """Unpack a backup beside what a gateway has, and look whether it can be used.

    Raises BadRequestError, TooLargeError, StorageError; nothing is changed but that folder.
    """
    try:
        new = prepare(data)
        settings: dict[str, bytes] = {}
        with unpacked(source, passphrase) as members:
            first = next(members, None)
            if first is None or first.name != HEAD or first.size > _HEAD_BYTES:
                raise BadRequestError(f"this is no backup: {HEAD} is not the first in it", _OTHER)
            backup = Backup.decode(first.file.read())
            _take(members, new, settings)
        _look(new)
    except OSError as error:
        raise disk_error("the backup cannot be unpacked", data, error, "mend the disk") from error
    return Unpacked(backup, data, new, settings)


def _take(members: Iterable[Content], new: Path, settings: dict[str, bytes]) -> None:
    left = _SETTINGS_BYTES
    for each in members:
        if not _is_within(each.name):
            raise BadRequestError(f"{each.name!r:.100} is no path within a backup", _OTHER)
        if each.name.startswith(SETTINGS):
            left -= max(each.size, _EACH_BYTES)
            if left < 0:
                raise TooLargeError(f"its settings have more than {_SETTINGS_BYTES} bytes", _OTHER)
            settings[each.name.removeprefix(SETTINGS)] = each.file.read()
        elif each.name.startswith(DATA) and each.name.split("/")[1] in KEPT:
            _write(each, new, each.name.removeprefix(DATA))
        else:
            raise BadRequestError(f"{each.name!r:.100} is nothing that a gateway keeps", _OTHER)


def _is_within(name: str) -> bool:
    """Whether it is a path that leads nowhere else, of parts that people name files by."""
    parts = name.split("/")
    return name.isprintable() and not any(part in {"", ".", ".."} for part in parts)


def _write(content: Content, new: Path, name: str) -> None:
    path, disk = new / name, os.statvfs(new)
    if content.size + _LEFT_FREE > disk.f_bavail * disk.f_frsize:
        raise TooLargeError(f"there is no room for {content.name}", "make room on the disk")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadRequestError(f"{content.name!r:.100} is in this backup twice", _OTHER) from error
    with open(descriptor, "wb") as file:
        left = content.size
        while left and (chunk := content.file.read(min(65_536, left))):
            left -= len(chunk)
            file.write(chunk)


def _look(new: Path) -> None:
    """Open what was unpacked. Raises BadRequestError."""
    store, identities = new / "store", new / "security" / "identities.sqlite"
    try:
        if store.exists():
            generation = (store / "current").read_text(encoding="ascii")
            Store.read_only(str(store / str(int(generation))))
        if identities.exists():
            read_identities(identities.absolute())
    except (OSError, RuntimeError, ValueError, sqlite3.Error, GatewayError) as error:
        raise BadRequestError(f"what this backup has does not open: {error}", _OTHER) from error


def _goes_on(journal: Path, backup: Backup) -> bool:
    """Whether a journal has no readings, or is the one that the backup was made beside."""
    if not journal.is_dir():
        return True
    events = Events.read(journal / "manifest.jsonl")
    known = {start.epoch for start in events.starts}
    known |= {raw_start(path).epoch for path in raw_segments(journal) if path.stat().st_size}
    return not known or lineage(journal) == backup.journal
