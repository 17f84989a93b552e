"""`Room`: how warm, how humid and how crowded a simulated room is, and how that goes on.

Place on the way of the data: before it, this is what the demo's devices measure. The model is
one thermal mass behind one resistance (a first-order RC circuit):
C dT/dt = (T_out - T) / R + heat sources; the fan lowers R by blowing outdoor air in.
"""

import math
from dataclasses import dataclass, replace
from random import Random

OUTDOOR_C = 19.0
OUTDOOR_HUMIDITY = 48.0
HEAT_CAPACITY_J_PER_K = 200_000.0
LOSS_W_PER_K = 45.0
FAN_W_PER_K = 160.0
PERSON_W = 100.0
MOISTURE_TIME_S = 1_800.0
PERSON_HUMIDITY = 6.0
STAY_S = 900.0
ABSENCE_S = 1_200.0


@dataclass(frozen=True, slots=True)
class Room:
    """A room at one moment; `appliances_w` is the heat of what runs in it, in W."""

    name: str
    temperature_c: float
    humidity_percent: float
    occupied: bool
    appliances_w: float


def step(room: Room, dt_s: float, chance: Random, *, ventilated: bool = False) -> Room:
    """The room `dt_s` later; exact for any `dt_s` during which nobody comes or goes."""
    conductance = LOSS_W_PER_K + (FAN_W_PER_K if ventilated else 0.0)
    heat = room.appliances_w + (PERSON_W if room.occupied else 0.0)
    humid = OUTDOOR_HUMIDITY + (PERSON_HUMIDITY if room.occupied else 0.0)
    return replace(
        room,
        temperature_c=_approach(
            room.temperature_c,
            OUTDOOR_C + heat / conductance,
            dt_s * conductance / HEAT_CAPACITY_J_PER_K,
        ),
        humidity_percent=_approach(room.humidity_percent, humid, dt_s / MOISTURE_TIME_S),
        occupied=_turn(room.occupied, dt_s, chance),
    )


def _approach(value: float, limit: float, time_constants: float) -> float:
    """Exponential decay towards `limit`: the solution of the differential equation."""
    return limit + (value - limit) * math.exp(-time_constants)


def _turn(occupied: bool, dt_s: float, chance: Random) -> bool:
    """Coming and going as a Poisson process of mean STAY_S and ABSENCE_S."""
    mean = STAY_S if occupied else ABSENCE_S
    turns = chance.random() < -math.expm1(-dt_s / mean)
    return occupied != turns
