"""Which observations have been accepted before? Asked before an identity is assigned.

What observations have in common, the first that applies:
- the payload carries the device's time: stream, time and device counter; without a counter the time
  of another clock does as well;
- it carries a counter, and a time of the network at most, which differs between the gateways that
  heard one uplink: stream and counter, within `WINDOW`, since counters of devices wrap and start
  again;
- it carries neither: client, packet id and content, within `WINDOW`.

With time or counter in common an observation is a duplicate where it also has the value of the one
accepted last: what changes under an unchanged time is another reading. It is one too where MQTT
marks the message as redelivered (DUP) and this delivery gave this value before, whatever came in
between: a sender keeps client and packet id when it repeats (MQTT 5.0, 4.4), so one whose first
delivery was lost is none. A bare value is a duplicate with DUP alone.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import Enum, auto, unique
from itertools import islice
from typing import TypeAlias

from adapters.values.message import Message
from adapters.values.observation import Observation, TimeSource
from adapters.values.result import DECIMAL, NUMERIC
from gateway.journal import Record

WINDOW = timedelta(minutes=10)
_VALUES = 1000
"""So many earlier values are known of one time and counter: as many may be on their way."""

_NO_DELIVERY = hash("")

_Accepted: TypeAlias = tuple[datetime | None, int, int, tuple[tuple[int, int], ...]]
"""When, where that matters; the value accepted last, its delivery, and those before (by hash)."""


@unique
class Novelty(Enum):
    """What an observation is to those accepted before."""

    NEW = auto()
    REVISED = auto()
    """It has time and counter in common with another one, and has another value."""
    KNOWN = auto()


class Duplicates:
    """A memory of at most `capacity` accepted values, filled again from the journal at start."""

    def __init__(self, capacity: int = 200_000) -> None:
        self._capacity = capacity
        self._seen: dict[int, _Accepted] = {}
        self._earlier = 0

    def recall(self, records: Iterable[Record]) -> None:
        """Remember what an earlier life accepted, in the order of the journal."""
        delivery = ""
        for record in records:
            is_first = record.message == record.position.sequence
            delivery = record.delivery if is_first else record.delivery or delivery
            seen, when = record.observation, record.ingested_at
            if _is_bare(seen):
                self._put(_bare_key(seen, delivery), (when, 0, 0, ()))
            else:
                self._accept(_key(seen), (_when(seen, when), _value(seen), hash(delivery)), when)

    def judge(
        self, observation: Observation, message: Message, *, is_replay: bool = False
    ) -> Novelty:
        """What it is; unless it is known it counts as accepted from now on.

        What has the very time of reception of a message that is replayed is of that message, and
        what has its device's time is of long ago: it revises nothing that was accepted since.
        """
        delivery, now = delivery_of(message), message.received_at
        if _is_bare(observation):
            return self._judge_bare(_bare_key(observation, delivery), message, is_replay)
        key, value, sent = _key(observation), _value(observation), hash(delivery)
        before = self._seen.get(key)
        if before is not None and _is_recent(before, now):
            if value == before[1]:
                if sent not in (before[2], _NO_DELIVERY):
                    self._put(key, (before[0], value, sent, _earlier(before)))
                return Novelty.KNOWN
            if is_replay and (before[0] is None or value in (told for told, _ in before[3])):
                return Novelty.KNOWN
            if message.duplicate and _is_redelivered(before, value, sent):
                return Novelty.KNOWN
        return self._accept(key, (_when(observation, now), value, sent), now)

    def _judge_bare(self, key: int, message: Message, is_replay: bool) -> Novelty:
        before, now = self._seen.get(key), message.received_at
        if before is not None:
            is_again = message.duplicate and _is_recent(before, now)
            if is_again or (is_replay and before[0] == now):
                return Novelty.KNOWN
        self._put(key, (now, 0, 0, ()))
        return Novelty.NEW

    def _accept(self, key: int, told: tuple[datetime | None, int, int], when: datetime) -> Novelty:
        before = self._seen.get(key)
        if before is None or not _is_recent(before, when):
            self._put(key, (*told, ()))
            return Novelty.NEW
        self._put(key, (*told, _earlier(before)))
        return Novelty.REVISED

    def _put(self, key: int, accepted: _Accepted) -> None:
        """Remember as the newest; the oldest twentieth goes where there are too many.

        One by one a dict would look through the places of all that went before.
        """
        before = self._seen.pop(key, None)
        if before is not None:
            self._earlier -= len(before[3])
        self._seen[key] = accepted
        self._earlier += len(accepted[3])
        while len(self._seen) + self._earlier > self._capacity:
            for oldest in list(islice(self._seen, max(1, self._capacity // 20))):
                self._earlier -= len(self._seen.pop(oldest)[3])


def delivery_of(message: Message) -> str:
    """The MQTT delivery: what a sender keeps when it repeats a message, "" at QoS 0."""
    return f"{message.client_id}/{message.packet_id}" if message.packet_id else ""


def _is_bare(observation: Observation) -> bool:
    return observation.phenomenon_time is None and observation.device_sequence is None


def _is_told_by_time(observation: Observation) -> bool:
    """Whether the time is part of the identity."""
    if observation.phenomenon_time is None:
        return False
    is_devices = observation.circumstances.time_source is TimeSource.DEVICE
    return is_devices or observation.device_sequence is None


def _when(observation: Observation, now: datetime) -> datetime | None:
    """The time of acceptance, where it matters."""
    return None if _is_told_by_time(observation) else now


def _is_recent(before: _Accepted, now: datetime) -> bool:
    """Whether it has a time, or was accepted a short while ago."""
    return before[0] is None or now - before[0] <= WINDOW


def _earlier(before: _Accepted) -> tuple[tuple[int, int], ...]:
    """What is before the next value."""
    return (*before[3], (before[1], before[2]))[-_VALUES:]


def _is_redelivered(before: _Accepted, value: int, sent: int) -> bool:
    """Whether what `sent` gave last under this time and counter was this value.

    Lines of older journals do not say by which delivery a value came.
    """
    given = (before[1], before[2]), *reversed(before[3])
    for told, delivery in given:
        if delivery == sent:
            return told == value
    return (value, _NO_DELIVERY) in given


# Hashes, since texts would take more memory; they have 64 bits, keyed anew in each process, and
# what has the same one is taken for the same.
def _key(observation: Observation) -> int:
    """Stream, counter, and where it tells them apart the time."""
    time = observation.phenomenon_time if _is_told_by_time(observation) else None
    return hash((*observation.stream, observation.device_sequence, time))


def _bare_key(observation: Observation, delivery: str) -> int:
    return hash((*observation.stream, delivery, observation.lexical))


def _value(observation: Observation) -> int:
    """The value with its unit: 21.50 is 21.5, and 21."""
    lexical, datatype = observation.lexical, observation.datatype
    if datatype not in NUMERIC:
        return hash((lexical, datatype))
    if datatype == DECIMAL and "." in lexical:
        lexical = lexical.rstrip("0").rstrip(".")
    return hash((lexical, observation.unit))
