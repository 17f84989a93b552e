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
from datetime import UTC, datetime, timedelta
from enum import Enum, auto, unique
from itertools import islice
from typing import TypeAlias

from adapters.values.message import Message
from adapters.values.observation import Observation, TimeSource
from adapters.values.result import DECIMAL, NUMERIC
from gateway.ingest.inbox import Replay
from gateway.journal import Record

WINDOW = timedelta(minutes=10)
_VALUES = 1000
"""So many earlier values are known of one time and counter: as many may be on their way."""

_DELIVERY_BITS = 32
_DELIVERY = (1 << _DELIVERY_BITS) - 1

_VALUE_BITS = 64
_TOLD_BITS = _VALUE_BITS + _DELIVERY_BITS

_Accepted: TypeAlias = tuple[datetime, int, tuple[tuple[int, datetime], ...]]
"""When, the value accepted last with its delivery (`_told`), and those before with their times."""

_Kept: TypeAlias = int | _Accepted
"""The same; with no values before as one number, which takes 48 bytes where the rest takes 170."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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
        self._seen: dict[int, _Kept] = {}
        self._earlier = 0
        self._again: Message | Replay | None = None
        self._then: dict[int, _Accepted | None] = {}

    def recall(self, records: Iterable[Record]) -> None:
        """Remember what an earlier life accepted, in the order of the journal."""
        delivery = ""
        for record in records:
            is_first = record.message == record.position.sequence
            delivery = record.delivery if is_first else record.delivery or delivery
            seen, when = record.observation, record.ingested_at
            if _is_bare(seen):
                self._put(_bare_key(seen, delivery), (when, 0, ()))
                continue
            key = _key(seen)
            self._accept(key, _told(seen, delivery), when, self._recent(key, seen, when))

    def judge(
        self, observation: Observation, message: Message, replay: Replay | None = None
    ) -> Novelty:
        """What it is; unless it is known it counts as accepted from now on.

        What has the very time of reception of a message that is replayed is of that message, and
        what has its device's time is of long ago: it revises nothing that was accepted since.
        """
        delivery, now = delivery_of(message), message.received_at
        if _is_bare(observation):
            return self._judge_bare(_bare_key(observation, delivery), message, replay)
        key, told = _key(observation), _told(observation, delivery)
        before = self._recent(key, observation, now)
        when = now if _is_told_by_time(observation) else None
        if (message.duplicate or replay is not None) and self._is_again(
            key, told, when, message=message, replay=replay, before=before
        ):
            return Novelty.KNOWN
        if before is None or not _is_same_value(told, before[1]):
            return self._accept(key, told, now, before)
        if told != before[1] and delivery:
            self._put(key, (*before[:2], (*before[2], (told, now))[-_VALUES:]))
        return Novelty.KNOWN

    def _judge_bare(self, key: int, message: Message, replay: Replay | None) -> Novelty:
        before, now = self._known(key), message.received_at
        if before is not None:
            is_again = message.duplicate and now - before[0] <= WINDOW
            if is_again or (replay is not None and before[0] == now):
                return Novelty.KNOWN
        self._put(key, (now, 0, ()))
        return Novelty.NEW

    def _is_again(
        self,
        key: int,
        told: int,
        when: datetime | None,
        *,
        message: Message,
        replay: Replay | None,
        before: _Accepted | None,
    ) -> bool:
        """Whether a message that comes again gave this; compared with what was before it.

        It may have several values, and once one of them is new those behind it are as well.
        """
        again = replay or message
        if again is not self._again:
            self._again, self._then = again, {}
        then = self._then.setdefault(key, before)
        if then is not None and (
            _is_redelivered(then, told) if replay is None else _is_replayed(then, told, when)
        ):
            return True
        self._then[key] = None
        return False

    def _known(self, key: int) -> _Accepted | None:
        kept = self._seen.get(key)
        return None if kept is None else _unpacked(kept)

    def _recent(self, key: int, observation: Observation, now: datetime) -> _Accepted | None:
        """What was accepted with this in common; by a counter alone a short while ago."""
        before = self._known(key)
        if before is None or _is_told_by_time(observation) or now - before[0] <= WINDOW:
            return before
        return None

    def _accept(self, key: int, told: int, now: datetime, before: _Accepted | None) -> Novelty:
        if before is None:
            self._put(key, (now, told, ()))
            return Novelty.NEW
        self._put(key, (now, told, _all(before)))
        return Novelty.REVISED

    def _put(self, key: int, accepted: _Accepted) -> None:
        """Remember as the newest; the oldest twentieth goes where there are too many.

        One by one a dict would look through the places of all that went before.
        """
        before = self._seen.pop(key, None)
        if before is not None:
            self._earlier -= _earlier_values(before)
        self._seen[key] = _packed(accepted)
        self._earlier += len(accepted[2])
        while len(self._seen) + self._earlier > self._capacity:
            for oldest in list(islice(self._seen, max(1, self._capacity // 20))):
                self._earlier -= _earlier_values(self._seen.pop(oldest))


def _packed(accepted: _Accepted) -> _Kept:
    when, told, earlier = accepted
    return accepted if earlier else (when - _EPOCH) // _MICROSECOND << _TOLD_BITS | told


def _unpacked(kept: _Kept) -> _Accepted:
    if not isinstance(kept, int):
        return kept
    told = kept & (1 << _TOLD_BITS) - 1
    return _EPOCH + (kept >> _TOLD_BITS) * _MICROSECOND, told, ()


def _earlier_values(kept: _Kept) -> int:
    return 0 if isinstance(kept, int) else len(kept[2])


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


def _all(before: _Accepted) -> tuple[tuple[int, datetime], ...]:
    """The values of one time and counter, the newest last."""
    return (*before[2], (before[1], before[0]))[-_VALUES:]


def _is_redelivered(before: _Accepted, told: int) -> bool:
    """Whether the last message of this delivery gave this value.

    Lines of older journals do not say by which delivery a value came.
    """
    given = _all(before)
    for other, when in reversed(given):
        if (other ^ told) & _DELIVERY == 0:
            return (told, when) in given
    return any(other & _DELIVERY == 0 and _is_same_value(other, told) for other, _ in given)


def _is_replayed(before: _Accepted, told: int, when: datetime | None) -> bool:
    """Whether others were accepted since, or this; `when` is the time of reception, if it tells."""
    if when is not None and before[0] != when:
        return True
    return any(_is_same_value(other, told) for other, _ in _all(before))


# Hashes, since texts would take more memory; they have 64 bits, keyed anew in each process, and
# what has the same one is taken for the same.
def _key(observation: Observation) -> int:
    """Stream, counter, and where it tells them apart the time."""
    time = observation.phenomenon_time if _is_told_by_time(observation) else None
    return hash((*observation.stream, observation.device_sequence, time))


def _bare_key(observation: Observation, delivery: str) -> int:
    return hash((*observation.stream, delivery, observation.lexical))


def _told(observation: Observation, delivery: str) -> int:
    """The value with its unit, and the delivery that gave it: 21.50 is 21.5, and 21."""
    lexical, datatype = observation.lexical, observation.datatype
    if datatype == DECIMAL and "." in lexical:
        lexical = lexical.rstrip("0").rstrip(".")
    value = hash((lexical, observation.unit if datatype in NUMERIC else datatype))
    value &= (1 << _VALUE_BITS) - 1  # of a hash, which may be negative
    return value << _DELIVERY_BITS | hash(delivery) & _DELIVERY


def _is_same_value(one: int, other: int) -> bool:
    return (one ^ other) >> _DELIVERY_BITS == 0
