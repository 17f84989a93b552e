"""Zigbee2MQTT and Tasmota, as they are by default: cached values, times without a zone.

Sources: documentation of Zigbee2MQTT 2 (MQTT topics, cache_state, last_seen, availability) and of
Tasmota (SENSOR, LWT, TempUnit, Epoch).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from gateway.demo.fleet.acts import (
    DEVICE,
    NETWORK,
    UNTIMED,
    Act,
    Connect,
    Drop,
    Sent,
    StreamKey,
    When,
)
from gateway.demo.fleet.channel import Channel
from gateway.demo.fleet.device import Device, MappingFields, iso, shifted

BEHIND_ONE_BRIDGE = 20
EXPIRES_S = 150.0


class Zigbee(Device):
    """Behind a bridge that repeats all it knows in each message.

    Every second one has `last_seen`, which the bridge stamps. After a null anything is news. With
    the bridge, which the first of them looks after, all behind it are gone, and back when they
    speak.
    """

    family = "zigbee2mqtt"
    faults = ("null", "cached", "torn", "bridge", "repeat", "offline", "silence")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.base = f"{self.kind or 'zigbee'}{number // BEHIND_ONE_BRIDGE}"
        self.client = f"{self.base}-bridge"
        self.topic = f"{self.base}/{self.name}"
        self._behind: list[Zigbee] = []
        self._told: dict[str, tuple[int, int]] = {}
        self._told_before: dict[str, tuple[int, int]] = {}
        self.channels = {
            "temperature": Channel(self.key("temperature"), "DEG_C", 2137, 2),
            "humidity": Channel(self.key("humidity"), "PERCENT_RH", 462, 1, high=900),
            "battery": Channel(self.key("battery"), "PERCENT", 87, 0, step=1),
        }
        self._off = False

    def mappings(self) -> Sequence[MappingFields]:
        """The units stand in the mappings, as exposes have them; with a promise."""
        units = {"temperature": "°C", "humidity": "%RH", "battery": "%"}
        return [
            self.mapping(
                self.topic, channel, selector=member, unit=units[member], expiresAfter=EXPIRES_S
            )
            for member, channel in self.channels.items()
        ]

    @property
    def _is_first(self) -> bool:
        return self.number % BEHIND_ONE_BRIDGE == 0

    def streams(self) -> Sequence[StreamKey]:
        """All streams of the device."""
        return [channel.key for channel in self.channels.values()]

    def meet(self, fleet: Sequence[Device]) -> None:
        """Know the devices behind the same bridge."""
        self._behind = [
            each for each in fleet if isinstance(each, Zigbee) and each.base == self.base
        ]

    def will(self) -> Sent:
        """The bridge's last will: all devices behind it are gone."""
        gone = tuple(channel.key for each in self._behind for channel in each.channels.values())
        topic = f"{self.base}/bridge/state"
        return Sent(self.client, topic, _json({"state": "offline"}), gone=gone, retain=True)

    def arrive(self, now: datetime) -> Iterator[Act]:
        """The bridge is there for all of them; the first connects it."""
        if self._is_first:
            yield from super().arrive(now)

    def _do(self, now: datetime, fault: str) -> Iterator[Act]:
        if fault == "bridge" and self._is_first:
            yield Drop(self.client)
            yield Connect(self.client, self.will())
        yield from super()._do(now, fault)

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """All attributes, whichever has changed."""
        keys = tuple(channel.key for channel in self.channels.values())
        if self._off:
            self._off = False
            yield self._availability("online", alive=keys)
        if fault == "offline":
            self._off = True
            yield self._availability("offline", gone=keys)
            return
        if fault not in {"cached", "null"}:
            self._measure()
        self._number_readings()
        values = {member: channel.value for member, channel in self.channels.items()}
        state: dict[str, object] = {**values, "linkquality": self.dice.randint(20, 255)}
        when = UNTIMED
        if self.number % 2:
            state["last_seen"], when = iso(now), When(now, NETWORK)
        seen = [self.expected(channel, when=when) for channel in self.channels.values()]
        if fault == "null":
            state["temperature"] = None
            del seen[0], self._told["temperature"]
        alive = tuple(each.stream for each in seen)
        wrong = ("null",) if fault == "null" else ()
        promises = {} if self.announced else dict.fromkeys(alive, EXPIRES_S)
        yield Sent(
            self.client, self.topic, _json(state), tuple(seen), wrong, alive, promises=promises
        )

    def torn(self, sent: Sent) -> Sent:
        """A message cut short: what it told is not heard."""
        self._told = self._told_before
        return super().torn(sent)

    def _number_readings(self) -> None:
        """A value like the one that was told before is no reading of its own, nobody can tell."""
        self._told_before = dict(self._told)
        for member, channel in self.channels.items():
            raw, reading = self._told.get(member, (None, 0))
            channel.reading = reading if raw == channel.raw else self.turns
            self._told[member] = channel.raw, channel.reading

    def _measure(self) -> None:
        for channel, chance in zip(self.channels.values(), (0.8, 0.4, 0.05), strict=True):
            if self.dice.random() < chance:
                channel.move(self.dice)

    def _availability(
        self, word: str, alive: tuple[StreamKey, ...] = (), gone: tuple[StreamKey, ...] = ()
    ) -> Sent:
        payload = _json({"state": word})
        topic = f"{self.topic}/availability"
        return Sent(self.client, topic, payload, alive=alive, gone=gone, retain=True)


class ZigbeeAnnounced(Zigbee):
    """The same without mappings: the bridge's list of devices says what they expose."""

    kind = "zigbeeannounced"
    announced = True

    @property
    def address(self) -> str:
        """The IEEE address, by which the gateway names it."""
        return f"0x00158d{self.number:010x}"

    def key(self, member: str, quantity: str = "") -> StreamKey:
        """The key by which the gateway names an announced stream of this address."""
        return self.announced_key(self.address, member, quantity or member)

    def mappings(self) -> Sequence[MappingFields]:
        """No mappings: they are proposed and confirmed."""
        return []

    def arrive(self, now: datetime) -> Iterator[Act]:
        """Arrive behind the bridge, which then publishes its list."""
        for act in super().arrive(now):
            yield act
            devices = [each.described() for each in self._behind if isinstance(each, type(self))]
            yield Sent(self.client, f"{self.base}/bridge/devices", _json(devices), retain=True)

    def described(self) -> dict[str, object]:
        """What the bridge tells of this device."""
        units = {"temperature": "°C", "humidity": "%", "battery": "%"}
        exposes: list[dict[str, object]] = [
            {"type": "numeric", "property": member, "name": member, "unit": unit, "access": 1}
            for member, unit in units.items()
        ]
        return {
            "ieee_address": self.address,
            "friendly_name": self.name,
            "type": "EndDevice",
            "definition": {"model": "WSDCGQ11LM", "vendor": "Aqara", "exposes": exposes},
        }


class Tasmota(Device):
    """Nested sensors; half of them tell the time as Epoch, the others without a zone.

    A local time is no time, but it tells a message from another.
    """

    family = "tasmota"
    faults = ("null", "lost", "vanish", "torn", "fahrenheit", "again", "past", "future", "unset")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        # Halves of a degree: what is a number of one place in Fahrenheit too.
        self.air = Channel(self.key("air", "temperature"), "DEG_C", 41, 0, low=20, high=60)
        self.power = Channel(self.key("power"), "W", 41, 0, high=2000)
        self.total = Channel(self.key("total", "energy"), "KiloW-HR", 112_481, 3, high=10**9)
        self.channels = (self.air, self.power, self.total)
        self.tells_epoch = bool(number % 2)

    def mappings(self) -> Sequence[MappingFields]:
        """Only the temperature's unit is told by the device."""
        topic = f"tele/{self.name}/SENSOR"
        return [
            self.mapping(topic, self.air, selector="BME280.Temperature", unit="°C"),
            self.mapping(topic, self.power, selector="ENERGY.Power[0]"),
            self.mapping(topic, self.total, selector="ENERGY.Total"),
        ]

    def streams(self) -> Sequence[StreamKey]:
        """All streams of the device."""
        return [channel.key for channel in self.channels]

    def will(self) -> Sent:
        """`LWT` with `Offline`, retained."""
        return replace(self._lwt(b"Offline"), gone=tuple(self.streams()))

    def arrive(self, now: datetime) -> Iterator[Act]:
        """Connect, and say `Online`."""
        yield from super().arrive(now)
        yield replace(self._lwt(b"Online"), alive=tuple(self.streams()))

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """One telemetry message; "again" is the same once more, as after a lost PUBACK."""
        for channel in self.channels:
            channel.move(self.dice)
        celsius = self.air.raw / 2
        told = shifted(now, fault)
        shown = round(celsius * 9 / 5 + 32, 1) if fault == "fahrenheit" else celsius
        power, total = [self.power.value, 0], self.total.value
        state: dict[str, object] = {
            "Time": told.strftime("%Y-%m-%dT%H:%M:%S"),
            "BME280": {"Temperature": None if fault == "null" else shown, "Humidity": 44.8},
            "ENERGY": {"Total": total, "Power": power, "Voltage": 231},
            "TempUnit": "F" if fault == "fahrenheit" else "C",
        }
        when = UNTIMED
        if self.tells_epoch:
            unset = fault == "unset"
            state["Epoch"] = 17 if unset else int(told.timestamp())
            when = UNTIMED if unset else When(told, DEVICE, fault == "future")
        seen = [self.expected(self.air, celsius, when)]
        seen += [self.expected(each, when=when) for each in (self.power, self.total)]
        wrong: list[str] = ["null"] if fault == "null" else []
        if fault == "vanish":
            del state["BME280"]
        if fault in {"null", "vanish"}:
            del seen[0]
        if fault == "unset" and self.tells_epoch:
            wrong += ["time_unusable"] * len(seen)
        topic = f"tele/{self.name}/SENSOR"
        sent = Sent(self.client, topic, _json(state), tuple(seen), tuple(wrong))
        yield sent
        if fault == "again":
            yield sent

    def _lwt(self, word: bytes) -> Sent:
        return Sent(self.client, f"tele/{self.name}/LWT", word, retain=True)


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
