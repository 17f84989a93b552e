"""ESPHome, what Home Assistant's discovery announces, and Homie 4 and 5.

Sources: ESPHome's MQTT client component; Home Assistant's MQTT sensor; Homie conventions 4.0, 5.0.
"""

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import ClassVar

from gateway.demo.fleet.acts import Act, Sent, StreamKey
from gateway.demo.fleet.channel import Channel, fixed
from gateway.demo.fleet.device import Device, MappingFields

EXPIRES_S = 150.0


class _WithWill(Device):
    """A retained topic says that it is there, and by the last will that it is gone."""

    state_topic: str
    words: ClassVar[tuple[bytes, bytes]]
    channels: Sequence[Channel]

    def streams(self) -> Sequence[StreamKey]:
        """All streams of the device."""
        return [channel.key for channel in self.channels]

    def will(self) -> Sent:
        """The word for gone, as last will."""
        return self._state(self.words[1], gone=tuple(self.streams()))

    def arrive(self, now: datetime) -> Iterator[Act]:
        """Connect, and say the word for there."""
        yield from super().arrive(now)
        yield self._state(self.words[0], alive=tuple(self.streams()))

    def _state(
        self, word: bytes, alive: tuple[StreamKey, ...] = (), gone: tuple[StreamKey, ...] = ()
    ) -> Sent:
        return Sent(self.client, self.state_topic, word, alive=alive, gone=gone, retain=True)

    def _text(self, channel: Channel, topic: str, text: str) -> Sent:
        """A bare number, retained as these families do."""
        seen = (self.expected_text(channel, text),)
        return Sent(self.client, topic, text.encode(), seen, retain=True)


class Esphome(_WithWill):
    """Bare states, retained; a sensor that has no value says nan."""

    family = "esphome"
    words = (b"online", b"offline")
    faults = ("nan", "lost", "empty", "repeat", "silence")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.prefix = self.name
        if number % 3 == 2:  # a topic's level may be any text, an IRI may not
            self.prefix, self.place = f"{self.name} ü", f"{self.name}%20ü"
        self.state_topic = f"{self.prefix}/status"
        self.soil = Channel(self.key("moisture"), "PERCENT", 3050, 2, high=9000)
        self.door = Channel(self.key("door"), None, 0)
        self.channels = (self.soil, self.door)

    def mappings(self) -> Sequence[MappingFields]:
        """One mapping for each component of all nodes."""
        place = "urn:fleet:{1}"
        parts = (("moisture", "sensor/moisture", "%"), ("door", "binary_sensor/door", ""))
        return [
            {
                "id": f"urn:fleet:mapping:esphome:{member}",
                "topic": f"+/{component}/state",
                "format": self.family,
                "sensor": f"{place}:{member}",
                "property": f"urn:fleet:property:{member}",
                "feature": place,
                **({"unit": unit} if unit else {}),
            }
            for member, component, unit in parts
        ]

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """A sensor and a binary sensor."""
        del now
        self.soil.move(self.dice)
        topic = f"{self.prefix}/sensor/moisture/state"
        bad = {"nan": (b"nan", "not_finite"), "empty": (b"", "empty")}
        if fault in bad:
            payload, reason = bad[fault]
            yield Sent(self.client, topic, payload, wrong=(reason,), retain=True)
        else:
            yield self._text(self.soil, topic, self.soil.text)
        self.door.reading += 1
        is_open = self.dice.random() < 0.5
        payload = b"ON" if is_open else b"OFF"
        seen = (self.expected(self.door, is_open),)
        topic = f"{self.prefix}/binary_sensor/door/state"
        yield Sent(self.client, topic, payload, seen, retain=True)


class HomeAssistant(_WithWill):
    """Announced by Home Assistant's discovery: value templates, units, expiry, availability."""

    family = "homeassistant"
    announced = True
    words = (b"online", b"offline")
    faults = ("silence", "null", "lost", "missing", "torn", "nan")

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.state_topic = f"ha/{self.name}/available"
        air, volts = (self._key(quantity) for quantity in ("temperature", "voltage"))
        self.air = Channel(air, "DEG_C", 2137, 2, high=4000)
        self.volts = Channel(volts, "V", 2985, 3, high=3600)
        self.channels = (self.air, self.volts)

    def _key(self, quantity: str) -> StreamKey:
        return self.announced_key(self.name, f"{self.name}_{quantity}", quantity)

    def mappings(self) -> Sequence[MappingFields]:
        """No mappings: they are proposed and confirmed."""
        return []

    def arrive(self, now: datetime) -> Iterator[Act]:
        """Both sensors are announced, with and without abbreviations."""
        connect, online = super().arrive(now)
        yield connect
        temperature = {
            "~": f"ha/{self.name}",
            "uniq_id": f"{self.name}_temperature",
            "stat_t": "~/state",
            "val_tpl": "{{ value_json.t }}",
            "unit_of_meas": "°C",
            "dev_cla": "temperature",
            "avty_t": "~/available",
            "exp_aft": int(EXPIRES_S),
            "dev": {"ids": [self.name]},
        }
        voltage = {
            "unique_id": f"{self.name}_voltage",
            "state_topic": f"ha/{self.name}/state",
            "value_template": "{{ value_json.mv / 1000 }}",
            "unit_of_measurement": "V",
            "device_class": "voltage",
            "availability_topic": self.state_topic,
            "expire_after": int(EXPIRES_S),
            "device": {"identifiers": [self.name]},
        }
        for name, members in (("temperature", temperature), ("voltage", voltage)):
            topic = f"homeassistant/sensor/{self.name}/{name}/config"
            yield Sent(self.client, topic, json.dumps(members).encode(), retain=True)
        yield online

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """Both values in one message."""
        del now
        for channel in self.channels:
            channel.move(self.dice)
        state: dict[str, object] = {"t": self.air.value, "mv": self.volts.raw}
        seen = [self.expected(self.air), self.expected(self.volts)]
        wrong = {"null": ("null",), "nan": ("not_finite",)}.get(fault, ())
        if fault in {"null", "nan"}:
            state["t"] = None if fault == "null" else "nan"
            del seen[0]
        if fault == "missing":
            state, seen, wrong = {"other": 1}, [], ("missing",)
        promises = {each.stream: EXPIRES_S for each in seen}
        payload = json.dumps(state).encode()
        yield Sent(
            self.client, f"ha/{self.name}/state", payload, tuple(seen), wrong, promises=promises
        )


class _Homie(_WithWill):
    """A tank whose unit only the device tells, and changes."""

    family = "homie"
    words = (b"ready", b"lost")
    faults = ("word", "lost", "unit", "nan", "silence", "repeat", "empty")
    root: str
    unit: str = "°C"

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(number, seed)
        self.device_topic = f"{self.root}/{self.name}"
        self.state_topic = f"{self.device_topic}/$state"
        self.top = Channel(self.key("top"), "DEG_C", 2150, 2, high=9000)
        self.pump = Channel(self.key("pump"), None, 0)
        self.channels = (self.top, self.pump)

    def mappings(self) -> Sequence[MappingFields]:
        """One mapping for each property of all tanks of a version."""
        place = "urn:fleet:{1}"
        return [
            {
                "id": f"urn:fleet:mapping:{self.kind}:{member}",
                "topic": f"{self.root}/+/tank/{member}",
                "format": self.family,
                "sensor": f"{place}:{member}",
                "property": f"urn:fleet:property:{member}",
                "feature": place,
            }
            for member in ("top", "pump")
        ]

    @abstractmethod
    def described(self) -> Iterator[Sent]:
        """What the version says of its properties, before they have values."""

    def arrive(self, now: datetime) -> Iterator[Act]:
        """State init, the description, state ready."""
        connect, ready = super().arrive(now)
        yield connect
        yield self._state(b"init")
        yield from self.described()
        yield ready

    def turn(self, now: datetime, fault: str) -> Iterator[Sent]:
        """Both properties; an empty payload takes a retained value back."""
        del now
        self.top.move(self.dice)
        topic = f"{self.device_topic}/tank/top"
        if fault == "unit":
            self._change_unit()
            yield from self.described()
        bad: dict[str, tuple[bytes, tuple[str, ...]]] = {
            "word": (b"warm", ("not_a_value",)),
            "nan": (b"NaN", ("not_finite",)),
            "empty": (b"", ()),
        }
        if fault in bad:
            payload, wrong = bad[fault]
            yield Sent(self.client, topic, payload, wrong=wrong, retain=True)
        else:
            yield self._text(self.top, topic, self._shown)
        self.pump.reading += 1
        runs = self.dice.random() < 0.5
        payload = b"true" if runs else b"false"
        seen = (self.expected(self.pump, runs),)
        yield Sent(self.client, f"{self.device_topic}/tank/pump", payload, seen, retain=True)

    def _change_unit(self) -> None:
        is_celsius = self.unit == "°C"
        self.unit = "°F" if is_celsius else "°C"
        self.top.unit = "DEG_F" if is_celsius else "DEG_C"

    @property
    def _shown(self) -> str:
        is_celsius = self.unit == "°C"
        return self.top.text if is_celsius else fixed(self.top.raw * 18 + 32_000, 3)


class Homie5(_Homie):
    """One description in JSON."""

    kind = "homie5"
    root = "homie/5"

    def described(self) -> Iterator[Sent]:
        """The description of version 5."""
        properties = {
            "top": {"datatype": "float", "unit": self.unit, "format": "-10:230"},
            "pump": {"datatype": "boolean", "settable": True},
        }
        nodes = {"tank": {"properties": properties}}
        payload = json.dumps({"homie": "5.0", "version": 1, "nodes": nodes}).encode()
        yield Sent(self.client, f"{self.device_topic}/$description", payload, retain=True)


class Homie4(_Homie):
    """One topic for each attribute."""

    kind = "homie4"
    root = "homie"

    def described(self) -> Iterator[Sent]:
        """The attributes of version 4."""
        attributes = {
            "top/$datatype": b"float",
            "top/$unit": self.unit.encode(),
            "pump/$datatype": b"boolean",
        }
        for topic, payload in attributes.items():
            yield Sent(self.client, f"{self.device_topic}/tank/{topic}", payload, retain=True)
