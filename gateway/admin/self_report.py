"""`SelfReport`: how the gateway was, over all its lives, in a file that stays small.

Place: beside the `AlarmWatch`, which tells it what came and went; once an hour it notes counters.
A life that did not end by a stop is told at the next start. Entries are numbered, since the clock
may be set: the number is their order. Nothing is fsynced: a power cut costs the last half minute.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from gateway.admin.alarm_watch import Alarm, AlarmWatch
from gateway.ingest.line_file import LineFile

log = logging.getLogger(__name__)

MOST_ENTRIES = 2_000
_MOST_BYTES = 524_288
_EACH_S = 3600.0
_MOST_ALARMS = 100
"""Entries of alarms between two counts: one that comes and goes does not fill the card."""

_MOST_SIGNS = 500
"""What an alarm is about may be called by whoever sends."""

Facts = Callable[[], Mapping[str, float]]
Said = Mapping[str, str | float | bool]


class What(StrEnum):
    """What an entry is about."""

    STARTED = "started"
    STOPPED = "stopped"
    ALARM = "alarm"
    CLEARED = "cleared"
    COUNTED = "counted"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was, by the wall clock of then; `said` are its members."""

    number: int
    at: str
    what: What
    said: Said

    def line(self) -> bytes:
        """As it is kept."""
        told = {"n": self.number, "at": self.at, "what": self.what.value, **self.said}
        return json.dumps(told, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def of(cls, line: bytes) -> "Entry | None":
        """The reverse of `line`; None for what is no entry."""
        try:
            told = json.loads(line)
            number, at, what = int(told.pop("n")), str(told.pop("at")), What(told.pop("what"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        said = {name: each for name, each in told.items() if isinstance(each, str | float | int)}
        return cls(number, at, what, said)


class SelfReport:
    """The entries, in the event loop; `facts` are counters and rooms that are noted."""

    def __init__(self, path: Path, now: Callable[[], datetime], facts: Facts) -> None:
        self._file = LineFile(path)
        self._now = now
        self._facts = facts
        self._entries: deque[Entry] = deque(maxlen=MOST_ENTRIES)
        self._unwritten: list[Entry] = []
        self._alarms_noted = self._alarms_passed_over = 0
        self._wanted = asyncio.Event()
        self._failing = False

    @property
    def entries(self) -> Sequence[Entry]:
        """All that are kept, the oldest first."""
        return tuple(self._entries)

    def follow(self, watch: AlarmWatch) -> None:
        """Note what it finds from now on, and what it has found."""
        watch.on_change(self._take)

    @asynccontextmanager
    async def kept(self, life: Said) -> AsyncIterator[None]:
        """From the start, which `life` is told of, to the stop."""
        await asyncio.to_thread(self._load)
        last = next((each for each in reversed(self._entries) if each.what != What.CLEARED), None)
        before = {} if last is None else {"after_stop": last.what == What.STOPPED}
        self._note(What.STARTED, {**life, **before})
        try:
            yield
        finally:
            self._note(What.STOPPED, dict(self._facts()))
            await asyncio.to_thread(self._write)

    async def run(self) -> None:
        """Write what was noted, and count once an hour, until cancelled."""
        loop = asyncio.get_running_loop()
        due = loop.time() + _EACH_S
        while True:
            try:
                async with asyncio.timeout_at(due):
                    await self._wanted.wait()
            except TimeoutError:
                due = loop.time() + _EACH_S
                self.count()
            self._wanted.clear()
            await asyncio.to_thread(self._write)

    def count(self) -> None:
        """Note the facts, and how many alarms were too many to note since the last time."""
        passed_over = self._alarms_passed_over
        more = {"alarms_passed_over": passed_over} if passed_over else {}
        self._alarms_noted = self._alarms_passed_over = 0
        self._note(What.COUNTED, {**self._facts(), **more})

    def _take(self, came: Sequence[Alarm], went: Sequence[Alarm]) -> None:
        """Alarms whose texts alone have changed are no news."""
        keys = {(each.condition.kind, each.condition.where) for each in came}
        gone = [a for a in went if (a.condition.kind, a.condition.where) not in keys]
        before = {(each.condition.kind, each.condition.where) for each in went}
        new = [a for a in came if (a.condition.kind, a.condition.where) not in before]
        for what, alarms in ((What.ALARM, new), (What.CLEARED, gone)):
            for alarm in alarms:
                self._note_alarm(what, alarm)

    def _note_alarm(self, what: What, alarm: Alarm) -> None:
        if self._alarms_noted >= _MOST_ALARMS:
            self._alarms_passed_over += 1
            return
        self._alarms_noted += 1
        said = alarm.condition
        where, text = said.where[:_MOST_SIGNS], said.what[:_MOST_SIGNS]
        told: dict[str, str | float | bool] = {"kind": said.kind.value, "where": where}
        if what == What.ALARM:
            told |= {"text": text, "fault": said.is_fault}
        self._note(what, told)

    def _note(self, what: What, said: Said) -> None:
        number = self._entries[-1].number + 1 if self._entries else 1
        entry = Entry(number, self._now().isoformat(timespec="milliseconds"), what, said)
        self._entries.append(entry)
        self._unwritten.append(entry)
        self._wanted.set()

    # The next two are called in a thread, one after the other.

    def _load(self) -> None:
        for line in self._file.lines():
            entry = Entry.of(line)
            if entry is None:
                self._file.is_behind = True  # damaged: written anew without it
            else:
                self._entries.append(entry)

    def _newest(self) -> Sequence[bytes]:
        """The lines that leave room for as many again, so that not every write is a rewrite."""
        lines, left = deque[bytes](), _MOST_BYTES // 2
        for entry in list(self._entries)[: -MOST_ENTRIES // 2 - 1 : -1]:
            line = entry.line()
            left -= len(line)
            if left < 0:
                break
            lines.appendleft(line)
        return lines

    def _write(self) -> None:
        """A disk that takes nothing costs what is written there, not what is told."""
        entries, self._unwritten = self._unwritten, []
        try:
            if self._file.is_behind or self._file.size > _MOST_BYTES:
                self._file.rewrite(self._newest())
            else:
                for entry in entries:
                    self._file.append(entry.line())
            self._failing = False
        except OSError as error:
            if not self._failing:
                log.error("health_history_not_written", extra={"reason": str(error)})
            self._failing = True
