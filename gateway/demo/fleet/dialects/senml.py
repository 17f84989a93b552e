"""SenML in JSON and CBOR (RFC 8428): base fields, relative times, promises, a version too high."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import cbor2

from gateway.demo.fleet.acts import DEVICE, UNTIMED, Sent, When
from gateway.demo.fleet.channel import Channel
from gateway.demo.fleet.device import Device, MappingFields, shifted

PROMISE_S = 150
_LABELS = {"bver": -1, "bn": -2, "bt": -3, "bu": -4, "n": 0, "u": 1, "v": 2, "vb": 4, "t": 6}
_LABELS["ut"] = 7
_BEFORE_S = 30


class SenmlJson(Device):
    """A board that tells the air now and half a minute ago, and promises to speak again."""

    family = "senml"
    kind = "senmljson"
    faults = ("silence", "relative", "torn", "version", "past", "untimed", "structure", "future")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.air = Channel(self.key("air", "temperature"), "DEG_C", 192, 1)
        self.humidity = Channel(self.key("rh", "humidity"), "PERCENT_RH", 51, 0, high=90)
        self.door = Channel(self.key("door"), None, 0)

    def mappings(self) -> Sequence[MappingFields]:
        """Each record by the end of its name."""
        topic = f"m/fleet/c/{self.name}"
        channels = (self.air, self.humidity, self.door)
        return [
            self.mapping(topic, channel, selector=f"*:{channel.key[0].rpartition(':')[2]}")
            for channel in channels
        ]

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """One pack, with the fault in it."""
        pack: list[dict[str, Any]] = [{"bn": f"urn:dev:mac:{self.number:012x}:", "bu": "Cel"}]
        base = shifted(now, fault)
        if fault == "version":
            pack[0]["bver"] = 99
        if fault not in {"relative", "untimed"}:
            pack[0]["bt"] = int(base.timestamp())
        suspect = fault == "future"
        before = When(base - timedelta(seconds=_BEFORE_S), DEVICE, suspect)
        is_timed = fault not in {"relative", "untimed"}
        at = When(base, DEVICE, suspect) if is_timed else UNTIMED
        seen = []
        if fault != "untimed":
            self.air.move(self.dice)
            seen.append(self.expected(self.air, when=before))
            pack.append({"n": "air", "t": -_BEFORE_S, "v": self.air.value})
        for channel in (self.air, self.humidity):
            channel.move(self.dice)
            seen.append(self.expected(channel, when=at))
        self.door.reading += 1
        seen.append(self.expected(self.door, False, at))
        pack[0] |= {"n": "air", "v": self.air.value, "ut": PROMISE_S}
        pack.append({"n": "rh", "u": "%RH", "v": self.humidity.value})
        pack.append({"n": "door", "vb": False})
        promises = {self.air.key: float(PROMISE_S)}
        wrong = {"version": "senml_version", "structure": "senml_structure"}.get(fault)
        if fault == "structure":
            pack[-1]["v"] = 1  # a second value
        if wrong:
            seen, promises = [], {}
        told = (wrong,) if wrong else ()
        topic = f"m/fleet/c/{self.name}"
        yield Sent(self.client, topic, self.encode(pack), tuple(seen), told, promises=promises)

    def encode(self, pack: list[dict[str, Any]]) -> bytes:
        """The bytes of a pack."""
        return json.dumps(pack).encode()


class SenmlCbor(SenmlJson):
    """The same with integers for labels."""

    kind = "senmlcbor"

    def encode(self, pack: list[dict[str, Any]]) -> bytes:
        """The bytes of a pack in CBOR, labels as integers."""
        return cbor2.dumps([{_LABELS[k]: v for k, v in each.items()} for each in pack])
