"""LoRaWAN uplinks of ChirpStack and The Things Stack, heard by several gateways.

Sources: ChirpStack v4, integrations, event types; The Things Stack v3, data formats.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from gateway.demo.fleet.acts import NETWORK, Act, Connect, Expected, Sent, When
from gateway.demo.fleet.channel import Channel
from gateway.demo.fleet.device import Device, MappingFields, iso


class ChirpStack(Device):
    """A soil probe; its uplinks come through an integration that all of them share."""

    family = "chirpstack"
    faults = ("second", "null", "torn", "repeat", "late", "status", "unavailable")
    _held: Sent | None = None

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.client = "chirpstack"
        self.eui = f"a84041{number:010x}"
        self.soil = Channel(self.key("soil", "temperature"), "DEG_C", 116, 1)
        self.water = Channel(self.key("water", "moisture"), "PERCENT", 274, 1, high=900)
        self.battery = Channel(self.key("battery"), "PERCENT", 97, 0)

    def mappings(self) -> Sequence[MappingFields]:
        """Values of the codec, and the battery of status events."""
        topic = f"application/orchard/device/{self.eui}/event"
        return [
            self.mapping(f"{topic}/up", self.soil, selector="soil_temp_C", unit="°C"),
            self.mapping(f"{topic}/up", self.water, selector="water_pct", unit="%"),
            self.mapping(f"{topic}/status", self.battery, selector="$.batteryLevel", unit="%"),
        ]

    def arrive(self, now: datetime) -> Iterator[Act]:
        """The first connects the integration."""
        del now
        if self.number == 0:
            yield Connect(self.client)

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """An uplink; "late" holds it back behind the next one."""
        if fault in {"status", "unavailable"}:
            yield self._status(now, fault)
            return
        uplink = self._uplink(now, fault)
        if fault == "late" and self._held is None:
            self._held = uplink
            return
        yield uplink
        if fault == "second":
            yield self._copy(uplink, now)
        if self._held is not None:
            held, self._held = self._held, None
            yield held

    def _uplink(self, now: datetime, fault: str) -> Sent:
        self.soil.move(self.dice)
        self.water.move(self.dice)
        decoded: dict[str, float | None] = {
            "soil_temp_C": self.soil.value,
            "water_pct": self.water.value,
            "BatV": 3.08,
        }
        time = now - timedelta(milliseconds=120)
        when = When(time, NETWORK)
        seen = [self.expected(each, when=when) for each in (self.soil, self.water)]
        if fault == "null":
            decoded["soil_temp_C"] = None
            del seen[0]
        event = self._event(time) | {"fCnt": self.turns, "fPort": 2, "object": decoded}
        if not self.turns % 9:
            del event["fCnt"]  # as protobuf's JSON leaves out a zero
        wrong = ("null",) if fault == "null" else ()
        return self._sent(
            "up", event, replace(Sent("", "", b""), observed=tuple(seen), wrong=wrong)
        )

    def _copy(self, uplink: Sent, now: datetime) -> Sent:
        """The same uplink through another server: other times, other gateways."""
        event = json.loads(uplink.payload)
        event["time"] = iso(now - timedelta(milliseconds=35))
        event["rxInfo"] = [{"gatewayId": "24e124fffef1bb03", "rssi": -117}]
        return replace(uplink, payload=json.dumps(event).encode())

    def _status(self, now: datetime, fault: str) -> Sent:
        time = now - timedelta(milliseconds=120)
        self.battery.raw = 0 if self.turns % 2 else 97
        self.battery.reading += 1
        event = self._event(time) | {"margin": 7}
        if fault == "unavailable":
            event |= {"batteryLevelUnavailable": True}
            return self._sent("status", event, Sent("", "", b"", wrong=("null",)))
        if self.battery.raw:
            event["batteryLevel"] = self.battery.raw
        seen = self.expected(self.battery, when=When(time, NETWORK))
        return self._sent("status", event, Sent("", "", b"", (seen,)))

    def _event(self, time: datetime) -> dict[str, object]:
        return {
            "deduplicationId": str(UUID(int=self.dice.getrandbits(128))),
            "time": iso(time),
            "deviceInfo": {"deviceName": self.name, "devEui": self.eui, "tags": {}},
            "rxInfo": [{"gatewayId": "24e124fffef1aa02", "rssi": -103, "time": None}],
        }

    def _sent(self, kind: str, event: dict[str, object], what: Sent) -> Sent:
        topic = f"application/orchard/device/{self.eui}/event/{kind}"
        payload = json.dumps(event).encode()
        return replace(what, client=self.client, topic=topic, payload=payload)


class Ttn(Device):
    """A cold store at The Things Stack: QoS 0, zeroes left out, a counter that wraps."""

    family = "ttn"
    faults = ("second", "simulated", "null", "torn", "decoded", "silence")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.client = "ttn"
        self.air = Channel(self.key("air", "temperature"), "DEG_C", -76, 1, low=-300, high=100)
        self.count = 65_520

    def mappings(self) -> Sequence[MappingFields]:
        """The normalized name; the unit is that of its schema."""
        topic = f"v3/pharma@fleet/devices/{self.name}/up"
        return [self.mapping(topic, self.air, selector="air.temperature")]

    def arrive(self, now: datetime) -> Iterator[Act]:
        """The first connects the application server."""
        del now
        if self.number == 0:
            yield Connect(self.client)

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """An uplink; "second" is its copy through a packet broker, some time later."""
        self.air.move(self.dice)
        self.count = (self.count + 1) % 65_536
        time = now - timedelta(milliseconds=216)
        value = None if fault == "null" else self.air.value
        message: dict[str, object] = {
            "f_port": 10,
            "f_cnt": self.count,
            "frm_payload": "D2f/tA==",
            "normalized_payload": [{"air": {"temperature": value}}],
            "received_at": iso(time),
        }
        if not self.count:
            del message["f_cnt"]
        seen = [self.expected(self.air, when=When(time, NETWORK))]
        if fault == "decoded":  # by a codec without a schema: its values have no unit
            message["decoded_payload"] = {"air": {"temperature": value}}
            message["normalized_payload"] = []
            seen = [replace(seen[0], unit=None)]
        event: dict[str, object] = {"end_device_ids": {"device_id": self.name}}
        wrong: tuple[str, ...] = ()
        if fault == "simulated":
            event["simulated"], seen, wrong = True, [], ("bad_quality",)
        elif fault == "null":
            seen, wrong = [], ("null",)
        yield self._sent({**event, "uplink_message": message}, seen, wrong)
        if fault == "second":
            message["received_at"] = iso(now - timedelta(milliseconds=5))
            yield self._sent({**event, "uplink_message": message}, seen, wrong)

    def _sent(
        self, event: dict[str, object], seen: Sequence[Expected], wrong: tuple[str, ...]
    ) -> Sent:
        topic = f"v3/pharma@fleet/devices/{self.name}/up"
        return Sent(self.client, topic, json.dumps(event).encode(), tuple(seen), wrong, qos=0)
