"""Devices with a clock and a counter of their own, in the formats that belong to no family.

A logger tells what it measured, when, and the how many-th that was; one may hold messages back and
send them in another order. What differs is how it writes: JSON, CBOR, MessagePack, CSV, bytes, hex
digits, a line of text, FIWARE's measures and notifications, InfluxDB's lines, an Observation of
SensorThings.
"""

import json
import struct
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import cbor2
import msgpack

from gateway.demo.fleet.acts import DEVICE, UNTIMED, Sent, When
from gateway.demo.fleet.channel import Channel, fixed
from gateway.demo.fleet.device import Device, MappingFields, iso, shifted

PROMISE_S = 200.0
MOST_HELD = 3
_MISSING = 0x8000


@dataclass(frozen=True, slots=True)
class Line:
    """What a logger tells at once; `air` None where the sensor gave nothing.

    `unix` are seconds since 1970, `air` and `level` tenths.
    """

    unix: int
    count: int
    air: int | None
    level: int

    @property
    def members(self) -> dict[str, Any]:
        """The line as a document."""
        air = None if self.air is None else self.air / 10
        return {"ts": self.unix * 1000, "n": self.count, "air": air, "level": self.level / 10}


class Logger(Device):
    """`encode` writes a line; `selectors` say where air, level, time and counter stand."""

    faults: ClassVar[Sequence[str]] = (
        "null",
        "past",
        "repeat",
        "torn",
        "late",
        "future",
        "silence",
        "unset",
    )
    selectors: ClassVar[tuple[str, str, str, str]]
    null_reason: ClassVar[str] = "null"
    unset_reasons: ClassVar[Sequence[str]] = ("time_unusable", "time_unusable")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self._held: list[Sent] = []
        self._holding = 0
        self.air = Channel(self.key("air", "temperature"), "DEG_C", 203, 1)
        self.level = Channel(self.key("level"), "CentiM", 1200, 1, high=9000)
        self.topic = f"fleet/{self.kind or self.family}/{self.name}"

    def mappings(self) -> Sequence[MappingFields]:
        """With a promise, and units of the mappings."""
        air, level, time, count = self.selectors
        more: dict[str, str | float] = {"expiresAfter": PROMISE_S}
        more |= {name: text for name, text in (("time", time), ("sequence", count)) if text}
        return [
            self.mapping(self.topic, self.air, selector=air, unit="°C", **more),
            self.mapping(self.topic, self.level, selector=level, unit="cm", **more),
        ]

    @abstractmethod
    def encode(self, line: Line) -> bytes:
        """The payload that tells a line."""

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """One line; "late" holds it and perhaps others back, and tells the last one first."""
        self.air.move(self.dice)
        self.level.move(self.dice)
        sent = self._sent(now, fault)
        if fault == "late" and not self._held:
            self._holding = self.dice.randint(1, MOST_HELD)
        if self._holding:
            self._holding -= 1
            self._held.append(sent)
            return
        yield sent
        while self._held:
            yield self._held.pop()

    def _sent(self, now: datetime, fault: str) -> Sent:
        told = shifted(now, fault)
        unset = fault == "unset"
        unix = 86_417 if unset else int(told.timestamp())
        air = None if fault == "null" else self.air.raw
        line = Line(unix, self.turns, air, self.level.raw)
        when = UNTIMED if unset else When(told, DEVICE, fault == "future")
        seen = [self.expected(channel, when=when) for channel in (self.air, self.level)]
        wrong: tuple[str, ...] = tuple(self.unset_reasons) if unset else ()
        if air is None:
            del seen[0]
            wrong = (self.null_reason,)
        promises = {each.stream: PROMISE_S for each in seen}
        payload = self.encode(line)
        return Sent(self.client, self.topic, payload, tuple(seen), wrong, promises=promises)


class JsonLogger(Logger):
    """A flat object."""

    family = "json"
    selectors = ("$.air", "$.level", "$.ts", "$.n")

    def encode(self, line: Line) -> bytes:
        """A JSON object."""
        return json.dumps(line.members).encode()


class CborLogger(Logger):
    """The object in CBOR."""

    family = "cbor"
    selectors = JsonLogger.selectors

    def encode(self, line: Line) -> bytes:
        """A CBOR map."""
        return cbor2.dumps(line.members)


class MsgpackLogger(Logger):
    """The object in MessagePack."""

    family = "msgpack"
    selectors = JsonLogger.selectors

    def encode(self, line: Line) -> bytes:
        """A MessagePack map."""
        packed: bytes = msgpack.packb(line.members)
        return packed


class CsvLogger(Logger):
    """A header and a row; a value that is not there is an empty cell."""

    family = "csv"
    selectors = ("air", "level", "time", "n")
    null_reason = "empty"

    def encode(self, line: Line) -> bytes:
        """Header and row, divided by semicolons."""
        air = "" if line.air is None else fixed(line.air, 1)
        return f"time;n;air;level\n{line.unix};{line.count};{air};{fixed(line.level, 1)}\n".encode()

    def torn(self, sent: Sent) -> Sent:
        """A message with a quote that nobody closes."""
        payload = sent.payload.replace(b"\n", b'\n"', 1)
        return replace(super().torn(sent), payload=payload)


class BytesLogger(Logger):
    """Twelve bytes, big endian; 0x8000 says that there is no value."""

    family = "bytes"
    selectors = ("i16be@6 *0.1 !0x8000", "u32be@8 *0.1", "u32be@0", "u16be@4")
    null_reason = "sentinel"

    def encode(self, line: Line) -> bytes:
        """Time, counter, air and level as integers of 4, 2, 2 and 4 bytes."""
        air = _MISSING if line.air is None else line.air
        return struct.pack(">IHHI", line.unix, line.count, air, line.level)

    def torn(self, sent: Sent) -> Sent:
        """Both values are behind the end, and each says so."""
        return replace(super().torn(sent), wrong=("malformed", "malformed"))


class HexLogger(BytesLogger):
    """The same in hex digits; half a digit more makes it none."""

    family = "hex"

    def encode(self, line: Line) -> bytes:
        """Two hex digits for each byte."""
        return super().encode(line).hex().encode()

    def torn(self, sent: Sent) -> Sent:
        """A message without its last digit."""
        return replace(Logger.torn(self, sent), payload=sent.payload[:-1])


class TextLogger(Logger):
    """A line for people; what cannot be read matches nothing."""

    family = "text"
    selectors = (
        "A=(?P<value>[-0-9.a-z]+) .*n=(?P<seq>[0-9]+) t=(?P<time>[0-9]+)$",
        "L=(?P<value>[0-9.]+) n=(?P<seq>[0-9]+) t=(?P<time>[0-9]+)$",
        "",
        "",
    )
    torn_reason = "missing"

    def encode(self, line: Line) -> bytes:
        """One line, `A=20.3 L=120.0 n=7 t=1700000000`."""
        air = "null" if line.air is None else fixed(line.air, 1)
        return f"A={air} L={fixed(line.level, 1)} n={line.count} t={line.unix}".encode()


class FiwareLogger(Logger):
    """Measures of an IoT Agent, the time in ISO 8601, without a counter."""

    family = "fiware"
    selectors = ("air", "level", "", "")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.topic = f"/json/fleet/{self.name}/attrs"

    def encode(self, line: Line) -> bytes:
        """A measure; every third one is an array of one."""
        measure = line.members
        del measure["ts"], measure["n"]
        measure["TimeInstant"] = _zulu(line.unix)
        return json.dumps([measure] if line.count % 3 == 0 else measure).encode()


class SensorThingsLogger(Logger):
    """Observations created by MQTT; the interval of each ends when it was measured."""

    family = "sensorthings"
    selectors = ("$.result", "$.parameters.level", "", "")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.topic = f"v1.1/Datastreams({number})/Observations"

    def encode(self, line: Line) -> bytes:
        """An Observation about the minute before the line."""
        time = _zulu(line.unix)
        return json.dumps(
            {
                "phenomenonTime": f"{_zulu(line.unix - 60)}/{time}",
                "resultTime": time,
                "result": line.members["air"],
                "parameters": {"level": line.members["level"]},
            }
        ).encode()


class UltralightLogger(Logger):
    """Measures of an IoT Agent for UltraLight 2.0, without a counter."""

    family = "ultralight"
    selectors = ("air", "level", "", "")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.topic = f"/ul/fleet/{self.name}/attrs"

    def encode(self, line: Line) -> bytes:
        """The time, then names and values between bars."""
        air = "null" if line.air is None else fixed(line.air, 1)
        return f"{_zulu(line.unix)}|air|{air}|level|{fixed(line.level, 1)}".encode()

    def torn(self, sent: Sent) -> Sent:
        """A message whose last value is cut off."""
        return replace(super().torn(sent), payload=sent.payload[: sent.payload.rindex(b"|") + 1])


class NgsiLogger(Logger):
    """A notification of a context broker, normalized, about an entity that has its own time."""

    family = "ngsi"
    selectors = ("air", "level", "", "")

    def encode(self, line: Line) -> bytes:
        """An entity with two numbers."""
        time = {"type": "DateTime", "value": _zulu(line.unix), "metadata": {}}
        entity: dict[str, object] = {"id": self.name, "type": "Logger", "TimeInstant": time}
        for name in ("air", "level"):
            entity[name] = {"type": "Number", "value": line.members[name], "metadata": {}}
        return json.dumps({"subscriptionId": "fleet", "data": [entity]}).encode()


class InfluxLogger(Logger):
    """A point of InfluxDB's line protocol, which has no word for a missing value or clock."""

    family = "influx"
    faults = ("past", "repeat", "torn", "late", "future", "silence")
    selectors = ("fleet air", "fleet level", "", "")

    def encode(self, line: Line) -> bytes:
        """Two fields, the time in nanoseconds."""
        air, level = (fixed(each, 1) for each in (line.air or 0, line.level))
        return f"fleet air={air},level={level} {line.unix}000000000\n".encode()

    def torn(self, sent: Sent) -> Sent:
        """A line whose last field has no value."""
        return replace(super().torn(sent), payload=sent.payload[: sent.payload.rindex(b"=") + 1])


def _zulu(unix: int) -> str:
    return iso(datetime.fromtimestamp(unix, UTC))
