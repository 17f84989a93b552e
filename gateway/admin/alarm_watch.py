"""`AlarmWatch`: what is wrong with the gateway now, and since when; one list for everybody.

Place: `app` gives it what each room can say and has it look once a second; /alarms, /health, the
metric and the graph of alarms are told what it found. While all is well that is one look a second,
and nothing on the way of a reading.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.runtime.alarms import AlarmKind, Condition, Source
from gateway.runtime.clocks import SYSTEM_CLOCKS

log = logging.getLogger(__name__)

_EACH_S = 1.0

_MOST = 100
"""Alarms of a kind that are told one by one; an UPDATE can break any number of mappings."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A condition, and since when it has been told."""

    condition: Condition
    since: datetime

    def __str__(self) -> str:
        said = self.condition
        return f"{said.where}: {said.what}; {said.what_to_do}"


Told = Callable[[Sequence[Alarm], Sequence[Alarm]], None]
"""Told what has come and what has gone; an alarm whose texts have changed is in both."""

_Key = tuple[AlarmKind, str]


class AlarmWatch:
    """The alarms of a gateway, in the event loop; `raised` and `cleared` count since the start.

    >>> wrong = [Condition(AlarmKind.DISK, "/data", "the disk is full", "make room")]
    >>> watch = AlarmWatch([lambda: wrong])
    >>> [alarm.condition.what for alarm in watch.look()]
    ['the disk is full']
    """

    def __init__(
        self, sources: Iterable[Source], now: Callable[[], datetime] = SYSTEM_CLOCKS.now
    ) -> None:
        self.raised = 0
        self.cleared = 0
        self._sources = tuple(sources)
        self._now = now
        self._alarms: dict[_Key, Alarm] = {}
        self._listeners: list[Told] = []
        self._failing: set[str] = set()

    def on_change(self, listener: Told) -> None:
        """Have `listener` told after each change, and now of what there is already."""
        self._listeners.append(listener)
        if self._alarms:
            listener(self.alarms, ())

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """What was wrong at the last look: the first that came, first."""
        return tuple(self._alarms.values())

    def add(self, source: Source) -> None:
        """Ask another one from now on."""
        self._sources = (*self._sources, source)

    async def run(self) -> None:
        """Look once a second, until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(_EACH_S)

    def look(self) -> tuple[Alarm, ...]:
        """Ask every source; tells what has changed, and what is wrong now."""
        found = {(each.kind, each.where): each for each in _bounded(self._conditions())}
        came = [alarm for key, said in found.items() if (alarm := self._renewed(key, said))]
        went = [alarm for key, alarm in self._alarms.items() if key not in found]
        went += [self._alarms[key] for alarm in came if (key := _key(alarm)) in self._alarms]
        if came or went:
            self._change(came, went)
        return self.alarms

    def counts(self) -> dict[str, float]:
        """How many there are now, by kind."""
        return {kind: float(count) for kind, count in self._by_kind().items()}

    def _by_kind(self) -> Counter[str]:
        counted = Counter(dict.fromkeys(map(str, AlarmKind), 0))
        counted.update(kind.value for kind, _ in self._alarms)
        return counted

    def _conditions(self) -> Iterator[Condition]:
        for source in self._sources:
            try:
                yield from source()
            except Exception as error:  # a defect of one source hides none of the others
                name = getattr(source, "__qualname__", "a source")
                if name not in self._failing:
                    log.exception("alarm_source_failed")
                self._failing.add(name)
                what = f"what is wrong there cannot be told: {error!r}"
                yield Condition(AlarmKind.ENDED, name, what, "report this defect with the log")

    def _renewed(self, key: _Key, said: Condition) -> Alarm | None:
        """What is to be told of a condition that holds; None where it has been."""
        known = self._alarms.get(key)
        if known is None:
            return Alarm(said, self._now())
        return None if known.condition == said else Alarm(said, known.since)

    def _change(self, came: Sequence[Alarm], went: Sequence[Alarm]) -> None:
        renewed = set(map(_key, came)) & set(self._alarms)
        for alarm in went:
            key = _key(alarm)
            if key not in renewed:
                del self._alarms[key]
                self.cleared += 1
                log.info("alarm_cleared", extra=_fields(alarm))
        for alarm in came:
            if _key(alarm) not in renewed:
                self.raised += 1
                log.warning("alarm_raised", extra=_fields(alarm))
            self._alarms[_key(alarm)] = alarm
        for listener in self._listeners:
            listener(came, went)


def _key(alarm: Alarm) -> _Key:
    return alarm.condition.kind, alarm.condition.where


def _fields(alarm: Alarm) -> dict[str, str]:
    said = alarm.condition
    return {
        "kind": said.kind.value,
        "where": said.where,
        "what": said.what,
        "what_to_do": said.what_to_do,
    }


def _bounded(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The first of each kind; how many more there are is one more. The first of a place counts."""
    seen: set[_Key] = set()
    counts: Counter[AlarmKind] = Counter()
    for each in conditions:
        if (each.kind, each.where) in seen:
            continue
        counts[each.kind] += 1
        if counts[each.kind] <= _MOST:
            seen.add((each.kind, each.where))
            yield each
    for kind, count in counts.items():
        if count > _MOST:
            what = f"there are {count - _MOST} more of this kind"
            yield Condition(kind, "others", what, "correct the others first")
