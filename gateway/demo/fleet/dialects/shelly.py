"""Shelly of both generations: frames with deltas and a clock, bare values without any.

Sources: Shelly's documentation of Gen2 RPC notifications and of Gen1 MQTT topics.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from gateway.demo.fleet.acts import DEVICE, Act, Expected, Sent, StreamKey, When
from gateway.demo.fleet.channel import Channel, fixed
from gateway.demo.fleet.device import Device, MappingFields, shifted


class _WithOnline(Device):
    """`<prefix>/online` says true, and by the last will false."""

    prefix: str
    channels: Sequence[Channel]

    def streams(self) -> Sequence[StreamKey]:
        """All streams of the device."""
        return [channel.key for channel in self.channels]

    def will(self) -> Sent:
        """`online` false, retained."""
        return replace(self._online(b"false"), gone=tuple(self.streams()))

    def arrive(self, now: datetime) -> Iterator[Act]:
        """Connect, and say that the device is online."""
        yield from super().arrive(now)
        yield replace(self._online(b"true"), alive=tuple(self.streams()))

    def _online(self, word: bytes) -> Sent:
        return Sent(self.client, f"{self.prefix}/online", word, retain=True)


class Shelly(_WithOnline):
    """A plug of the second generation; "unset" is its clock after a wake-up."""

    family = "shelly"
    faults = ("unset", "lost", "delta", "null", "torn", "repeat", "event", "past", "future")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.prefix = self.name
        self.power = Channel(self.key("power"), "W", 632, 1, high=20_000)
        self.energy = Channel(self.key("energy"), "W-HR", 48_211_337, 3, high=10**9)
        self.button = Channel(self.key("button"), None, 0)
        self.channels = (self.power, self.energy, self.button)

    def mappings(self) -> Sequence[MappingFields]:
        """Shelly tells no units; the gateway knows them."""
        topic = f"{self.prefix}/events/rpc"
        return [
            self.mapping(topic, self.power, selector="switch:0.apower"),
            self.mapping(topic, self.energy, selector="switch:0.aenergy.total"),
            self.mapping(topic, self.button, selector="event.input:0"),
        ]

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """A status, or a push of the button."""
        told = shifted(now, fault) + timedelta(seconds=0.25)
        when = When(told, DEVICE, suspect=fault in {"unset", "future"})
        if fault == "event":
            self.button.reading += 1
            event = {"component": "input:0", "event": "single_push", "ts": told.timestamp()}
            seen = [self.expected(self.button, "single_push", when)]
            yield self._notify("NotifyEvent", told, {"events": [event]}, seen)
            return
        self.power.move(self.dice)
        self.energy.move(self.dice)
        switch: dict[str, object] = {"id": 0, "apower": self.power.value}
        seen = [self.expected(self.power, when=when)]
        if fault != "delta":
            switch["aenergy"] = {"total": self.energy.value, "minute_ts": int(now.timestamp())}
            seen.append(self.expected(self.energy, when=when))
        if fault == "null":
            switch["apower"] = None
            del seen[0]
        clock = None if fault == "unset" else int(told.timestamp())
        params = {"sys": {"unixtime": clock}, "switch:0": switch}
        sent = self._notify("NotifyStatus", told, params, seen)
        yield replace(sent, wrong=("null",)) if fault == "null" else sent

    def _notify(
        self, method: str, told: datetime, params: dict[str, object], seen: list[Expected]
    ) -> Sent:
        frame = {
            "src": self.name,
            "dst": f"{self.name}/events",
            "method": method,
            "params": {"ts": told.timestamp(), **params},
        }
        payload = json.dumps(frame).encode()
        return Sent(self.client, f"{self.prefix}/events/rpc", payload, tuple(seen))


class ShellyGen1(_WithOnline):
    """A relay of the first generation, one topic a value; energy comes in watt-minutes."""

    family = "shelly_gen1"
    faults = ("nan", "lost", "word", "empty", "repeat", "silence")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.prefix = f"shellies/{self.name}"
        self.power = Channel(self.key("power"), "W", 6320, 2, high=200_000)
        self.energy = Channel(self.key("energy"), "W-HR", 9_000, 1, high=10**9)
        self.channels = (self.power, self.energy)

    def mappings(self) -> Sequence[MappingFields]:
        """One mapping for all relays."""
        place = "urn:fleet:{1}"
        return [
            {
                "id": f"urn:fleet:mapping:shellies:{member}",
                "topic": f"shellies/+/relay/0/{member}",
                "format": self.family,
                "sensor": f"{place}:{member}",
                "property": f"urn:fleet:property:{member}",
                "feature": place,
            }
            for member in ("power", "energy")
        ]

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """Power, then energy."""
        del now
        self.power.move(self.dice)
        self.energy.move(self.dice)
        bad = {"nan": (b"nan", "not_finite"), "word": (b"null", "null"), "empty": (b"", "empty")}
        topic = f"{self.prefix}/relay/0"
        if fault in bad:
            payload, reason = bad[fault]
            yield Sent(self.client, f"{topic}/power", payload, wrong=(reason,))
        else:
            text = self.power.text
            seen = (self.expected_text(self.power, text),)
            yield Sent(self.client, f"{topic}/power", text.encode(), seen)
        # Tenths of a watt-hour are multiples of six watt-minutes.
        watt_hours = fixed(self.energy.raw, 1).removesuffix(".0")
        minutes = str(self.energy.raw * 6).encode()
        seen = (self.expected_text(self.energy, watt_hours),)
        yield Sent(self.client, f"{topic}/energy", minutes, seen)
