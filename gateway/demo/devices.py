"""The demo's devices: what each publishes about its room, in the form that its family has.

Place on the way of the data: the very beginning, MQTT topics and payloads. An ESP board that
sends bare scalars, Zigbee devices behind Zigbee2MQTT (JSON objects), a meter that sends a line of
text, a SenML board (RFC 8428). Faults are part of them: see `house`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random

from gateway.demo.room import Room

FAN_TOPIC = "zigbee2mqtt/fan7"
FAN_COMMAND_TOPIC = f"{FAN_TOPIC}/set"
FAN_POWER_W = 31.0
SENML_BASE_NAME = "urn:dev:mac:0024befffe804ff1_"


@dataclass(frozen=True, slots=True)
class Publication:
    """One MQTT PUBLISH of `device`."""

    device: str
    topic: str
    payload: bytes
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Fan:
    """The fan, an actuator: what it was last told, and how often."""

    running: bool = False
    commands: int = 0

    def obey(self, payload: bytes) -> "Fan":
        """The fan after a command `{"state": "ON"|"OFF"|"TOGGLE"}`; others are ignored."""
        try:
            command = json.loads(payload)
        except ValueError:
            return self
        state = command.get("state") if isinstance(command, dict) else None
        if state not in ("ON", "OFF", "TOGGLE"):
            return self
        running = not self.running if state == "TOGGLE" else state == "ON"
        return replace(self, running=running, commands=self.commands + 1)


@dataclass(frozen=True, slots=True)
class Meter:
    """A power meter: the energy it counted, in Wh, and the number of its next telegram."""

    energy_wh: float = 1_204_000.0
    sequence: int = 1

    def count(self, power_w: float, dt_s: float) -> "Meter":
        """The meter after `dt_s` at `power_w`."""
        return Meter(self.energy_wh + power_w * dt_s / 3_600, self.sequence + 1)


def board(room: Room, chance: Random) -> list[Publication]:
    """An ESP board: bare scalars, one topic a value."""
    celsius = f"{room.temperature_c + chance.gauss(0, 0.05):.2f}".encode()
    occupied = b"ON" if room.occupied else b"OFF"
    topic = f"home/{room.name}"
    return [
        Publication("board", f"{topic}/temperature", celsius),
        Publication("board", f"{topic}/occupancy", occupied),
    ]


def zigbee_climate(room: Room, chance: Random, now: datetime) -> list[Publication]:
    """A Zigbee climate sensor; the bridge adds when it last heard of it."""
    state = {
        "battery": 87,
        "humidity": round(room.humidity_percent + chance.gauss(0, 0.3), 1),
        "temperature": round(room.temperature_c + chance.gauss(0, 0.04), 2),
        "linkquality": chance.randint(90, 140),
        "last_seen": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    return [_zigbee(f"climate_{room.name}", state)]


def zigbee_motion(room: Room, chance: Random) -> list[Publication]:
    """A Zigbee presence sensor."""
    state = {"occupancy": room.occupied, "linkquality": chance.randint(60, 110)}
    return [_zigbee(f"motion_{room.name}", state)]


def zigbee_fan(fan: Fan, chance: Random) -> list[Publication]:
    """The fan tells its state, as every Zigbee2MQTT switch does."""
    power = FAN_POWER_W + chance.gauss(0, 0.4) if fan.running else 0.0
    state = {"state": "ON" if fan.running else "OFF", "power": round(power, 1)}
    return [Publication("fan7", FAN_TOPIC, json.dumps(state).encode())]


def power_meter(meter: Meter, power_w: float) -> list[Publication]:
    """A meter behind a serial bridge: one line of text."""
    line = f"P={power_w:.1f} W E={meter.energy_wh / 1_000:.3f} kWh seq={meter.sequence}"
    return [Publication("meter", "meter/main", line.encode())]


def senml_board(room: Room, chance: Random) -> list[Publication]:
    """A SenML pack of three records with one base name."""
    pack: list[dict[str, object]] = [
        {
            "bn": SENML_BASE_NAME,
            "n": "temperature",
            "u": "Cel",
            "v": round(room.temperature_c + chance.gauss(0, 0.01), 2),
        },
        {"n": "humidity", "u": "%RH", "v": round(room.humidity_percent, 1)},
        {"n": "occupancy", "vb": room.occupied},
    ]
    return [Publication("senml", f"senml/{room.name}", json.dumps(pack).encode())]


def _zigbee(name: str, state: Mapping[str, object]) -> Publication:
    return Publication(name, f"zigbee2mqtt/{name}", json.dumps(state).encode())
