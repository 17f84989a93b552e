"""`Things`: windows, appliances and a battery of the demo's house, moved on by a pure function.

Place on the way of the data: before it, this is what the devices that announce themselves measure
(`announced`). Windows and appliances turn as the people of `room` do, by a Poisson process.
"""

import math
from dataclasses import dataclass, replace
from random import Random

TURN_S = 240.0
"""Mean time between two turns of a window or an appliance."""

BATTERY_LIFE_S = 30_000.0
CHANGED_AT_PERCENT = 8.0
"""How empty the battery is when somebody puts a new one in."""

DISHWASHER_W, HEATER_W, FRIDGE_W, LAMP_W = 1_940.0, 1_210.0, 118.0, 9.0
_STANDBY_W = 0.8


@dataclass(frozen=True, slots=True)
class Things:
    """What is open, what runs, and how much is left in the battery of the climate sensor."""

    kitchen_window: bool = True
    bath_window: bool = False
    hallway_window: bool = True
    dishwasher_runs: bool = False
    heater_runs: bool = True
    fridge_runs: bool = True
    battery_percent: float = 20.4

    @property
    def dishwasher_w(self) -> float:
        """The power that the dishwasher draws; a little where it waits."""
        return DISHWASHER_W if self.dishwasher_runs else _STANDBY_W

    @property
    def heater_w(self) -> float:
        """The same for the heater."""
        return HEATER_W if self.heater_runs else 0.0

    @property
    def fridge_w(self) -> float:
        """The same for the fridge, whose compressor rests in between."""
        return FRIDGE_W if self.fridge_runs else _STANDBY_W

    @property
    def lamp_w(self) -> float:
        """The same for a lamp that is always on."""
        return LAMP_W

    @property
    def power_w(self) -> float:
        """All of them together."""
        return self.dishwasher_w + self.heater_w + self.fridge_w + self.lamp_w


def step(things: Things, dt_s: float, chance: Random) -> Things:
    """The things `dt_s` later, which may be any while nothing turns twice."""
    left = things.battery_percent - 100 * dt_s / BATTERY_LIFE_S
    turned = {
        name: getattr(things, name) != _turns(dt_s, chance)
        for name in (
            "kitchen_window",
            "bath_window",
            "hallway_window",
            "dishwasher_runs",
            "heater_runs",
            "fridge_runs",
        )
    }
    return replace(things, **turned, battery_percent=100.0 if left < CHANGED_AT_PERCENT else left)


def _turns(dt_s: float, chance: Random) -> bool:
    return chance.random() < -math.expm1(-dt_s / TURN_S)
