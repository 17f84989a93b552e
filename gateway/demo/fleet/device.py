"""`Device`: turns, faults and silences, the same for every dialect.

Place on the way of the data: before it. What a device does is decided by its seed and its turns
alone, so that a fleet can be repeated. Of seven turns one has a fault, the next one of those that
the dialect knows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from gateway.demo.fleet.acts import UNTIMED, Act, Connect, Drop, Expected, Sent, StreamKey, When
from gateway.demo.fleet.channel import Channel, Value, literal, text_literal

STEP_S = 20
"""How far simulated time moves at once; periods are multiples of it."""

FAULT_EVERY = 7
SILENT_TURNS = 5
BACK_S, AHEAD_S = 3607, 3 * 86_400 + 11
"""How far clocks jump; no multiples of a period, for two readings of one time are one."""

GATEWAY_ID = "fleet"
MINTED = "https://sosa-gateway.example/id/"
PROPERTIES = "https://sosa-gateway.example/property/"

MappingFields = dict[str, str | float]


class Device(ABC):
    """A device of a dialect; subclasses say what a turn sends and what each fault does to it.

    `faults` that every device knows: "silence" (it says nothing for some turns), "lost" (it is
    gone without a word, and comes back), "repeat" (its last message once more, with DUP), "torn"
    (its messages cut in two). Others are the dialect's own, given to `turn`. `family` is a format
    of the gateway, `kind` its variety where there are several; `place` is the device in IRIs. One
    that is `announced` has no mappings: it says what it is when it arrives.
    """

    family: ClassVar[str]
    kind: ClassVar[str] = ""
    faults: ClassVar[Sequence[str]] = ()
    period_s: ClassVar[int] = 60
    torn_reason: ClassVar[str] = "malformed"
    announced: ClassVar[bool] = False

    def __init__(self, number: int, seed: int) -> None:
        self.number = number
        self.name = f"{(self.kind or self.family).replace('_', '')}-{number}"
        self.place = self.client = self.name
        self.dice = Random(f"{seed}/{self.name}")  # noqa: S311 - a simulation, no secret
        self.turns = 0
        self._silent = 0
        self._back = False
        self._first_fault = self.dice.randrange(FAULT_EVERY)
        self._offset_s = STEP_S * self.dice.randrange(self.period_s // STEP_S)

    def meet(self, fleet: Sequence["Device"]) -> None:  # noqa: B027  most know nobody
        """Know the others, before the first step."""

    def forgotten(self) -> None:  # noqa: B027  most need not know
        """Take note that the gateway has started anew."""

    @property
    def label(self) -> str:
        """The dialect, for people; the first part of `name`."""
        return self.name.rpartition("-")[0]

    @property
    def is_away(self) -> bool:
        """Whether it is lost and not yet back."""
        return self._back

    @abstractmethod
    def mappings(self) -> Sequence[MappingFields]:
        """The gw:Mappings of the device; equal ones of several devices are written once."""

    def capabilities(self) -> Sequence[tuple[StreamKey, str]]:
        """Streams whose sensor has a capability, and its range as Turtle."""
        return ()

    def streams(self) -> Sequence[StreamKey]:
        """The streams that a last will of the device is about."""
        return ()

    def will(self) -> Sent | None:
        """What the broker says when the device is lost."""
        return None

    def arrive(self, now: datetime) -> Iterator[Act]:
        """Connect, and say what the dialect says then."""
        del now
        yield Connect(self.client, self.will())

    @abstractmethod
    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """Measure and tell; `fault` is one of the dialect's own or empty."""

    def act(self, now: datetime, elapsed_s: int) -> Iterator[Act]:
        """What the device does at this moment, a multiple of STEP_S after the start."""
        if elapsed_s == 0:
            yield from self.arrive(now)
            if self.announced:
                return
        if elapsed_s % self.period_s != self._offset_s:
            return
        if self._silent:
            self._silent -= 1
            return
        if self._back:
            self._back = False
            yield from self.arrive(now)
        fault = self._next_fault()
        self.turns += 1
        yield from self._do(now, fault)

    def _do(self, now: datetime, fault: str) -> Iterator[Act]:
        if fault in {"silence", "lost"}:
            self._silent, self._back = SILENT_TURNS, fault == "lost"
            if fault == "lost":
                yield Drop(self.client)
        elif fault == "repeat":
            sent = list(self.turn(now, ""))
            yield from sent
            yield from (replace(each, duplicate=True) for each in sent[-1:])
        elif fault == "torn":
            for each in self.turn(now, ""):
                yield self.torn(each)
        else:
            yield from self.turn(now, fault)

    def _next_fault(self) -> str:
        number, rest = divmod(self.turns - self._first_fault, FAULT_EVERY)
        if rest or self.turns < 2 or not self.faults:
            return ""
        return self.faults[(number + self.number) % len(self.faults)]

    def torn(self, sent: Sent) -> Sent:
        """The message cut in two: nothing of it can be believed."""
        return replace(
            sent,
            payload=sent.payload[: len(sent.payload) // 2],
            observed=(),
            alive=(),
            promises={},
            wrong=(self.torn_reason,),
        )

    def key(self, member: str, quantity: str = "") -> StreamKey:
        """The stream of a member; its feature is the device's surroundings."""
        what = quantity or member
        place = f"urn:fleet:{self.place}"
        return f"{place}:{member}", f"urn:fleet:property:{what}", place

    def announced_key(self, device: str, member: str, quantity: str) -> StreamKey:
        """The stream of what is announced, by the gateway's names (docs/mappings.md)."""
        return (
            f"{MINTED}{GATEWAY_ID}/sensor/{self.family}/{device}/{member}",
            f"{PROPERTIES}{quantity}",
            f"{MINTED}{GATEWAY_ID}/feature/{self.family}/{device}",
        )

    def mapping(self, topic: str, channel: Channel, **members: str | float) -> MappingFields:
        """A gw:Mapping of this device and channel, as a JSAP profile has it."""
        sensor, observed_property, feature = channel.key
        fields: MappingFields = {
            "id": sensor.replace("urn:fleet:", "urn:fleet:mapping:"),
            "topic": topic,
            "sensor": sensor,
            "property": observed_property,
            "feature": feature,
        }
        return {**fields, "format": self.family, **members}

    def expected(
        self, channel: Channel, value: Value | None = None, when: When = UNTIMED
    ) -> Expected:
        """The observation of a channel, whose value was sent as JSON, or another `value`."""
        written = literal(channel.value if value is None else value)
        return self._expected(channel, written, when)

    def expected_text(self, channel: Channel, text: str, when: When = UNTIMED) -> Expected:
        """The same of a number that was sent as text."""
        return self._expected(channel, text_literal(text), when)

    def _expected(self, channel: Channel, written: tuple[str, str], when: When) -> Expected:
        return Expected(
            channel.key,
            str(channel.reading),
            *written,
            channel.unit,
            when.time,
            when.source,
            when.suspect,
            when.historical,
        )


def shifted(now: datetime, fault: str) -> datetime:
    """What a clock says that jumped back or ahead."""
    seconds = {"past": -BACK_S, "future": AHEAD_S}.get(fault, 0)
    return now + timedelta(seconds=seconds)


def iso(time: datetime) -> str:
    """RFC 3339 with milliseconds and Z."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
