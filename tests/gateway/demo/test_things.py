"""gateway.demo.things: windows and appliances turn, a battery is used up and changed."""

from random import Random

import pytest

from gateway.demo.things import FRIDGE_W, LAMP_W, Things, step


class Still(Random):
    """Chance by which nothing turns."""

    def random(self) -> float:
        return 1.0


def test_everything_turns_within_an_hour() -> None:
    things, chance, seen = Things(), Random(1), set()
    for _ in range(240):
        things = step(things, 15.0, chance)
        seen |= {
            ("kitchen", things.kitchen_window),
            ("bath", things.bath_window),
            ("hallway", things.hallway_window),
            ("dishwasher", things.dishwasher_runs),
            ("heater", things.heater_runs),
            ("fridge", things.fridge_runs),
        }
    assert len(seen) == 12


def test_a_battery_is_used_up_and_changed() -> None:
    levels = []
    things = Things(battery_percent=8.3)
    for _ in range(3):
        things = step(things, 60.0, Still())
        levels.append(things.battery_percent)
    assert levels == pytest.approx([8.1, 100.0, 99.8])


def test_what_runs_draws_power() -> None:
    idle = Things(heater_runs=False, fridge_runs=False)
    assert idle.power_w < LAMP_W + 2
    assert Things(heater_runs=False).power_w == pytest.approx(idle.power_w + FRIDGE_W - 0.8)
