"""Which observations have been accepted before? Asked before an identity is assigned.

Rules, the first that applies:
- the payload carries the device's time: same stream, time and device counter means the same
  observation, and so does the same time of another clock where there is no counter;
- it carries a counter, and a time of the network at most, which differs between the gateways that
  heard one uplink: same stream, counter and value within `WINDOW`, since counters of
  devices wrap and start again;
- it carries neither, and MQTT marks it as redelivered (DUP): same client, packet id and content
  within `WINDOW`. Without DUP a repeated bare value is a new observation.
"""

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import blake2b

from adapters.values.message import Message
from adapters.values.observation import Observation, TimeSource
from gateway.journal import Record

WINDOW = timedelta(minutes=10)


class Duplicates:
    """A bounded memory of accepted observations, filled again from the journal at start."""

    def __init__(self, capacity: int = 200_000) -> None:
        self._capacity = capacity
        self._seen: OrderedDict[bytes, datetime] = OrderedDict()

    def recall(self, records: Iterable[Record]) -> None:
        """Remember what an earlier life accepted."""
        for record in records:
            self._remember(_digest(record.observation, record.delivery), record.ingested_at)

    def is_known(
        self, observation: Observation, message: Message, *, is_replay: bool = False
    ) -> bool:
        """Whether it was accepted before; if not it counts as accepted from now on.

        What has the very time of reception of a message that is replayed is of that message.
        """
        key = _digest(observation, delivery_of(observation, message))
        now = message.received_at
        before = self._seen.get(key)
        if is_replay and before == now:
            return True
        timed = _is_told_by_time(observation)
        recently = before is not None and (timed or now - before <= WINDOW)
        if recently and (timed or observation.device_sequence is not None or message.duplicate):
            return True
        self._remember(key, now)
        return False

    def _remember(self, key: bytes, when: datetime) -> None:
        self._seen[key] = when
        self._seen.move_to_end(key)
        if len(self._seen) > self._capacity:
            self._seen.popitem(last=False)


def delivery_of(observation: Observation, message: Message) -> str:
    """The MQTT delivery as an identity, where the payload has none of its own."""
    if observation.phenomenon_time is not None or observation.device_sequence is not None:
        return ""
    return f"{message.client_id}/{message.packet_id}" if message.packet_id else ""


def _is_told_by_time(observation: Observation) -> bool:
    """Whether the time is part of the identity."""
    if observation.phenomenon_time is None:
        return False
    is_devices = observation.circumstances.time_source is TimeSource.DEVICE
    return is_devices or observation.device_sequence is None


def _digest(observation: Observation, delivery: str) -> bytes:
    time = observation.phenomenon_time if _is_told_by_time(observation) else None
    parts = [*observation.stream, delivery, observation.device_sequence or ""]
    parts.append(observation.lexical if time is None else time.isoformat())
    return blake2b("\n".join(parts).encode(), digest_size=12).digest()
