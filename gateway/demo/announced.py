"""The demo's devices that say themselves what they are, of four makes.

Place on the way of the data: the very beginning. Zigbee2MQTT lists its devices in
`bridge/devices`, Tasmota tells `tasmota/discovery`, an ESPHome node announces itself as Home
Assistant's discovery wants it, a Shelly of the second generation tells its whole status when it
connects. No mapping is written for them: what they propose is confirmed (docs/mappings.md).
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

from gateway.demo.devices import Publication
from gateway.demo.things import Things

BRIDGE, SHELLY, TASMOTA, ESPHOME = "zigbee2mqtt", "shelly", "tasmota", "esphome"
"""Their MQTT connections; what is behind the bridge has none of its own."""

_MAC = "A0B1C2D3E4F5"
_NODE = "hallway"
_SHELLY = "heater"
"""The topic prefix that its owner has set."""
_PERIOD = 4
"""Steps between two telegrams of a device."""

_TELEPERIOD = 8
"""The same of Tasmota, which tells the time in whole seconds."""


def introductions(now: datetime) -> list[Publication]:
    """What each says of itself when it connects; each topic has something to propose."""
    return [
        Publication(BRIDGE, "zigbee2mqtt/bridge/devices", _json(_ZIGBEE), retain=True),
        _retained(TASMOTA, f"tasmota/discovery/{_MAC}/config", _TASMOTA_CONFIG),
        _retained(TASMOTA, f"tasmota/discovery/{_MAC}/sensors", _TASMOTA_SENSORS),
        *(_entity(*each) for each in _ENTITIES),
        _notification("NotifyFullStatus", {"switch:0": {"id": 0, **_SWITCH}}, now.timestamp()),
    ]


def telegrams(things: Things, count: int, now: datetime, chance: Random) -> list[Publication]:
    """What they tell in step `count`, each in its own form: every device tells by turns."""
    told = [*_zigbee(things, now, chance), *_shelly(things, now, chance), *_esphome(things)]
    turn = [each for index, each in enumerate(told) if index % _PERIOD == count % _PERIOD]
    return [*turn, *(_tasmota(things, now, chance) if count % _TELEPERIOD == 1 else ())]


def _zigbee(things: Things, now: datetime, chance: Random) -> Iterator[Publication]:
    """Contacts are true when they touch: when the window is closed."""
    contacts = {"kitchen window": things.kitchen_window, "bath window": things.bath_window}
    told: dict[str, dict[str, object]] = {
        name: {"contact": not is_open, "battery": 100, "battery_low": False}
        for name, is_open in contacts.items()
    }
    told["bedroom climate"] = {
        "temperature": round(20.5 + chance.gauss(0, 0.05), 2),
        "humidity": 47.2,
        "battery": int(things.battery_percent),
    }
    told["dishwasher"] = {
        "state": "ON",
        "power": _noisy(things.dishwasher_w, chance),
        "energy": 312.4,
    }
    seen = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for name, state in told.items():
        payload = _json({**state, "linkquality": 120, "last_seen": seen})
        yield Publication(BRIDGE, f"zigbee2mqtt/{name}", payload)


def _shelly(things: Things, now: datetime, chance: Random) -> Iterator[Publication]:
    """Only what has changed, the power."""
    status: dict[str, object] = {"switch:0": {"id": 0, "apower": _noisy(things.heater_w, chance)}}
    yield _notification("NotifyStatus", status, now.timestamp())


def _tasmota(things: Things, now: datetime, chance: Random) -> Iterator[Publication]:
    """Telemetry with a time that names no zone."""
    energy = {"Total": 118.6, "Power": round(_noisy(things.fridge_w, chance)), "Voltage": 231}
    document = {"Time": now.strftime("%Y-%m-%dT%H:%M:%S"), "ENERGY": energy}
    yield Publication(TASMOTA, "tele/fridge/SENSOR", _json(document))


def _esphome(things: Things) -> Iterator[Publication]:
    """Bare states, retained."""
    words = {
        "binary_sensor/window": "ON" if things.hallway_window else "OFF",
        "sensor/lamp_power": f"{things.lamp_w:.1f}",
    }
    for topic, word in words.items():
        yield Publication(ESPHOME, f"{_NODE}/{topic}/state", word.encode(), retain=True)


def _noisy(watts: float, chance: Random) -> float:
    """As a meter sees it, to a tenth of a watt."""
    return round(watts * (1 + chance.gauss(0, 0.01)), 1)


def _notification(method: str, status: dict[str, object], ts: float) -> Publication:
    document = {
        "src": _SHELLY,
        "dst": f"{_SHELLY}/events",
        "method": method,
        "params": {"ts": round(ts, 2), **status},
    }
    return Publication(SHELLY, f"{_SHELLY}/events/rpc", _json(document))


def _entity(component: str, part: str, members: dict[str, object]) -> Publication:
    """The abbreviations that ESPHome writes."""
    document = {
        **members,
        "stat_t": f"{_NODE}/{component}/{part}/state",
        "avty_t": f"{_NODE}/status",
        "uniq_id": f"ESP{component}{part}",
        "dev": {"ids": "a4cf12f0e1b2", "name": _NODE, "mdl": "esp32dev", "mf": "Espressif"},
    }
    return _retained(ESPHOME, f"homeassistant/{component}/{_NODE}/{part}/config", document)


def _retained(device: str, topic: str, document: object) -> Publication:
    return Publication(device, topic, _json(document), retain=True)


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _numeric(name: str, unit: str, category: str = "") -> dict[str, object]:
    member = {"type": "numeric", "name": name, "property": name, "unit": unit, "access": 1}
    return {**member, "category": category} if category else member


def _binary(name: str, on: object, off: object, category: str = "") -> dict[str, object]:
    member = {"type": "binary", "name": name, "property": name, "access": 1}
    return {
        **member,
        "value_on": on,
        "value_off": off,
        **({"category": category} if category else {}),
    }


def _device(address: str, name: str, model: str, *exposes: dict[str, object]) -> dict[str, object]:
    return {
        "ieee_address": address,
        "friendly_name": name,
        "type": "EndDevice",
        "definition": {"vendor": "Aqara", "model": model, "exposes": list(exposes)},
    }


_BATTERY = _numeric("battery", "%", "diagnostic")
_CONTACT = (
    _binary("contact", on=False, off=True),
    _BATTERY,
    _binary("battery_low", True, False, "diagnostic"),
)
_ZIGBEE = [
    {"ieee_address": "0x00124b0024c1a3f0", "friendly_name": "Coordinator", "type": "Coordinator"},
    _device("0x00158d0003a1b2c1", "kitchen window", "MCCGQ11LM", *_CONTACT),
    _device("0x00158d0003a1b2c2", "bath window", "MCCGQ11LM", *_CONTACT),
    _device(
        "0x00158d0003a1b2c3",
        "bedroom climate",
        "WSDCGQ11LM",
        _numeric("temperature", "°C"),
        _numeric("humidity", "%"),
        _BATTERY,
    ),
    _device(
        "0x00158d0003a1b2c4",
        "dishwasher",
        "ZNCZ04LM",
        {
            "type": "switch",
            "features": [{**_binary("state", "ON", "OFF"), "access": 7}],
        },
        _numeric("power", "W"),
        _numeric("energy", "kWh"),
    ),
]
_TASMOTA_CONFIG = {
    "ip": "192.0.2.7",
    "dn": "fridge",
    "fn": ["fridge", None],
    "hn": "fridge-1234",
    "mac": _MAC,
    "md": "Nous A1T",
    "ofln": "Offline",
    "onln": "Online",
    "state": ["OFF", "ON", "TOGGLE", "HOLD"],
    "t": "fridge",
    "ft": "%prefix%/%topic%/",
    "tp": ["cmnd", "stat", "tele"],
    "rl": [1, 0, 0, 0],
    "ver": 1,
}
_TASMOTA_SENSORS = {
    "sn": {
        "Time": "2026-03-02T08:15:00",
        "ENERGY": {"Total": 118.6, "Power": 0, "Voltage": 231},
    },
    "ver": 1,
}
_ENTITIES: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("binary_sensor", "window", {"name": "window", "dev_cla": "window"}),
    ("sensor", "lamp_power", {"name": "lamp", "dev_cla": "power", "unit_of_meas": "W"}),
    ("sensor", "water_pulses", {"name": "water", "unit_of_meas": "pulses/min"}),
)
_SWITCH: dict[str, object] = {"output": True, "apower": 0.0, "voltage": 230.4, "current": 0.0}

INTRODUCED = frozenset(each.topic for each in introductions(datetime.now(UTC)))
"""The topics on which they introduce themselves."""
