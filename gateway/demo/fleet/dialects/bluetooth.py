"""Tags heard by two gateways: a Ruuvi Gateway's raw advertisements, Theengs' decoded ones.

Sources: Ruuvi's documentation, data format 5; Theengs decoder, properties.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from gateway.demo.fleet.acts import NETWORK, Act, Connect, Sent, When
from gateway.demo.fleet.channel import Channel, fixed
from gateway.demo.fleet.device import Device, MappingFields

_GATEWAYS = ("C80000000001", "C80000000002")
_COUNTS = 65_535
"""65535 says "not available": the counter wraps before it."""

_NO_FORMAT = 0x7F


class Ruuvi(Device):
    """A RuuviTag, data format 5."""

    family = "ruuvi"
    faults = ("sentinel", "one", "torn", "format", "silence")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.client = f"ruuvi-{_GATEWAYS[0]}"
        self.mac = f"CB{number:010X}"
        self.air = Channel(self.key("temperature"), "DEG_C", 4860, 0, low=0, high=8000)
        self.humidity = Channel(self.key("humidity"), "PERCENT_RH", 21_360, 0, high=40_000)
        self.pressure = Channel(self.key("pressure"), "HectoPA", 50_944, 0, high=60_000)
        self.count = _COUNTS - 30

    def mappings(self) -> Sequence[MappingFields]:
        """A mapping for each value, whichever gateway forwards it."""
        topic = f"ruuvi/+/{self.mac}"
        members = {"temperature": self.air, "humidity": self.humidity, "pressure": self.pressure}
        return [
            self.mapping(
                topic, channel, selector=name, **({"unit": "hPa"} if name == "pressure" else {})
            )
            for name, channel in members.items()
        ]

    def arrive(self, now: datetime) -> Iterator[Act]:
        """The first connects both gateways."""
        del now
        if self.number == 0:
            yield from (Connect(f"ruuvi-{each}") for each in _GATEWAYS)

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """An advertisement, which both gateways hear, one a second later."""
        for channel in (self.air, self.humidity, self.pressure):
            channel.move(self.dice)
        self.count = (self.count + 1) % _COUNTS
        heard = _GATEWAYS[:1] if fault == "one" else _GATEWAYS
        for late_s, gateway in enumerate(heard):
            time = now - timedelta(seconds=2 - late_s)
            yield self._heard(gateway, time, fault)

    def _heard(self, gateway: str, time: datetime, fault: str) -> Sent:
        when = When(time, NETWORK)
        values = (
            (self.air, fixed(self.air.raw * 5, 3)),
            (self.humidity, fixed(self.humidity.raw * 25, 4)),
            (self.pressure, _hectopascals(self.pressure.raw + 50_000)),
        )
        seen = [self.expected_text(channel, text, when) for channel, text in values]
        if fault == "sentinel":
            del seen[0]
        wrong = {"sentinel": "sentinel", "format": "malformed"}.get(fault)
        if fault == "format":
            seen = []
        stamp = str(int(time.timestamp()))
        message = {"gw_mac": gateway, "rssi": -70, "aoa": [], "gwts": stamp, "ts": stamp}
        message |= {"data": self._advertisement(fault).hex().upper(), "coords": ""}
        return Sent(
            f"ruuvi-{gateway}",
            f"ruuvi/{gateway}/{self.mac}",
            json.dumps(message).encode(),
            tuple(seen),
            (wrong,) if wrong else (),
        )

    def _advertisement(self, fault: str) -> bytes:
        """Flags, then manufacturer data of company 0x0499."""
        air = 0x8000 if fault == "sentinel" else self.air.raw
        data = bytes([_NO_FORMAT if fault == "format" else 5])
        data += air.to_bytes(2, "big") + self.humidity.raw.to_bytes(2, "big")
        data += self.pressure.raw.to_bytes(2, "big") + bytes.fromhex("0004fffc040cac3642")
        data += self.count.to_bytes(2, "big") + bytes.fromhex(self.mac)
        ours = b"\xff\x99\x04" + data
        return bytes.fromhex("020106") + bytes([len(ours)]) + ours


def _hectopascals(pascals: int) -> str:
    """Converted to the mapping's unit; an integer that divides stays one."""
    return fixed(pascals, 2).rstrip("0").removesuffix(".")


class Theengs(Device):
    """What OpenMQTTGateway makes of a tag: no time, but a counter."""

    family = "theengs"
    faults = ("null", "one", "torn", "repeat", "silence")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.client = "omg-1"
        self.mac = f"C4{number:010X}"
        self.air = Channel(self.key("tempc", "temperature"), "DEG_C", 487, 2)
        self.volts = Channel(self.key("volt", "voltage"), "V", 2911, 3, high=3600)
        self.count = _COUNTS - 20

    def mappings(self) -> Sequence[MappingFields]:
        """From any gateway; the keys have their units."""
        topic = f"home/+/BTtoMQTT/{self.mac}"
        return [
            self.mapping(topic, channel, selector=channel.key[0].rpartition(":")[2])
            for channel in (self.air, self.volts)
        ]

    def arrive(self, now: datetime) -> Iterator[Act]:
        """The first connects both gateways."""
        del now
        if self.number == 0:
            yield from (Connect(f"omg-{each}") for each in (1, 2))

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """An advertisement, which both gateways hear, one louder."""
        del now
        self.air.move(self.dice)
        self.volts.move(self.dice)
        self.count = (self.count + 1) % 65_536
        seen = [self.expected(self.air), self.expected(self.volts)]
        members: dict[str, object] = {
            "id": self.mac,
            "brand": "Ruuvi",
            "tempc": self.air.value,
            "tempf": 40.8,
        }
        members |= {"volt": self.volts.value, "seq": self.count}
        if fault == "null":
            members["tempc"] = None
            del seen[0]
        wrong = ("null",) if fault == "null" else ()
        for gateway in (1,) if fault == "one" else (1, 2):
            payload = json.dumps({**members, "rssi": -60 - gateway}).encode()
            topic = f"home/omg{gateway}/BTtoMQTT/{self.mac}"
            yield Sent(f"omg-{gateway}", topic, payload, tuple(seen), wrong)
