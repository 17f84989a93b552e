"""What reaches the journal of a sender over a bad line, whoever dies, is what it measured.

Random sequences of values under few times, by MQTT at QoS 1 as its specification has it: sent in
order, repeated in order with DUP until acknowledged.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from adapters.values.message import Message
from adapters.values.observation import XSD, Observation
from gateway.ingest.duplicates import Duplicates, Novelty, delivery_of
from gateway.journal import Position, Record

START = datetime(2026, 3, 2, tzinfo=UTC)
WINDOW = 5
PACKET_IDS = 65_535
STREAMS = ("urn:door", "urn:window")

Reading = tuple[datetime | None, str | None, str]
"""Time, counter and value: the same value of both streams."""

Pack = tuple[Reading, ...]
"""What one message has."""


@dataclass(slots=True)
class Receiver:
    """Ingest with a journal: what is not durable when it dies is gone, and was not acknowledged."""

    journal: list[Record] = field(default_factory=list)
    lost: int = 0
    _fresh: list[Record] = field(default_factory=list)
    _duplicates: Duplicates = field(default_factory=Duplicates)
    _next: int = 1

    def take(self, message: Message, pack: Pack) -> None:
        first = self._next
        for (time, counter, value), sensor in product(pack, STREAMS):
            seen = Observation(sensor, "urn:p", "urn:f", value, XSD + "boolean", None, time)
            seen = replace(seen, device_sequence=counter)
            if self._duplicates.judge(seen, message) is Novelty.KNOWN:
                continue
            told = delivery_of(message) if self._next == first else ""
            position = Position(1, self._next)
            self._fresh.append(Record(position, first, seen, message.received_at, told))
            self._next += 1

    def sync(self) -> None:
        self.journal += self._fresh
        self._fresh.clear()

    def die(self) -> None:
        self.lost += len(self._fresh)
        self._fresh.clear()
        self._duplicates = Duplicates()
        self._duplicates.recall(self.journal)


@dataclass(slots=True)
class Unacknowledged:
    packet_id: int
    pack: Pack
    is_sent: bool = False
    is_received: bool = False


class Line:
    """A sender, a connection that breaks, and the receiver behind it."""

    def __init__(self, chance: random.Random) -> None:
        self.receiver = Receiver()
        self.redelivered = 0
        self.chance = chance
        self._waiting: list[Unacknowledged] = []
        self._now = START
        self._packet_id = 0

    def send(self, pack: Pack) -> None:
        while len(self._waiting) == WINDOW:
            self.acknowledge(1.0)
        self._packet_id = self._packet_id % PACKET_IDS + 1
        self._waiting.append(Unacknowledged(self._packet_id, pack))
        if self.chance.random() < 0.7 and all(each.is_received for each in self._waiting[:-1]):
            self._deliver(self._waiting[-1])
        self._waiting[-1].is_sent = True

    def acknowledge(self, probability: float) -> None:
        """The receiver has made durable what it had; the PUBACKs, in order, may be lost."""
        self.receiver.sync()
        if not all(each.is_received for each in self._waiting):
            self.reconnect()
            self.receiver.sync()
        while self._waiting and self.chance.random() < probability:
            self._waiting.pop(0)

    def reconnect(self) -> None:
        for each in self._waiting:
            self._deliver(each)

    def kill(self) -> None:
        self.receiver.die()
        for each in self._waiting:
            each.is_received = False
        self.reconnect()

    def end(self) -> None:
        while self._waiting:
            self.acknowledge(0.7)

    def _deliver(self, each: Unacknowledged) -> None:
        self._now += timedelta(milliseconds=50)
        self.redelivered += each.is_sent
        message = Message("t", b"", self._now, "c", each.packet_id, duplicate=each.is_sent)
        self.receiver.take(message, each.pack)
        each.is_received = True


def readings(chance: random.Random, count: int, *, repeated: bool) -> Iterator[Reading]:
    """Few values under each time or counter, which goes on now and then."""
    is_timed, number, value = chance.random() < 0.5, 0, "true"
    for _ in range(count):
        number += chance.random() < 0.15
        time = START + timedelta(seconds=number) if is_timed else None
        if not repeated or chance.random() < 0.5:
            value = "false" if value == "true" else "true"
        yield time, None if is_timed else str(number), value


def truth(said: list[Reading]) -> list[Reading]:
    """Without what has time, counter and value of the one before."""
    return [each for before, each in zip([None, *said], said, strict=False) if each != before]


def heard(line: Line, said: list[Reading], *, kills: bool) -> list[list[Reading]]:
    """What the journal has of each stream once all of it is acknowledged."""
    trouble = [line.reconnect, line.receiver.sync, *([line.kill] if kills else ())]
    left = list(said)
    while left:
        size = line.chance.choice((1, 1, 2, 3))
        line.send(tuple(left[:size]))
        del left[:size]
        if line.chance.random() < 0.3:
            line.chance.choice(trouble)()
        if line.chance.random() < 0.3:
            line.acknowledge(0.7)
    line.end()
    seen = [each.observation for each in line.receiver.journal]
    return [
        [(s.phenomenon_time, s.device_sequence, s.lexical) for s in seen if s.sensor == stream]
        for stream in STREAMS
    ]


@pytest.mark.parametrize(
    ("repeated", "kills"), [(False, True), (True, False)], ids=["kills", "repeated values"]
)
def test_journal_has_each_change_once_and_in_order(repeated: bool, kills: bool) -> None:
    lost = redelivered = 0
    for seed in range(300):
        line = Line(random.Random(seed))
        said = list(readings(line.chance, 40, repeated=repeated))
        assert heard(line, said, kills=kills) == [truth(said)] * len(STREAMS), seed
        lost += line.receiver.lost
        redelivered += line.redelivered
    assert redelivered > 5000
    assert (lost > 1000) is kills


def test_repeated_values_that_a_kill_caught_on_the_way_may_double_but_end_true() -> None:
    """Of what was known at once there is no line in the journal to know it by again."""
    for seed in range(300):
        line = Line(random.Random(seed))
        said = list(readings(line.chance, 40, repeated=True))
        for told in heard(line, said, kills=True):
            left = iter(told)
            assert all(each in left for each in truth(said)), seed
            assert told[-1] == said[-1]
