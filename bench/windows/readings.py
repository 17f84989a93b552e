"""Readings of sensors, with a fixed seed: sensor, time and a value in tenths.

Place on the way of the data: the workload of `windows`, for every way. It needs nothing but Python,
so that a way that has an environment of its own makes the same.
"""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

START_US = 1_699_999_800_000_000
"""A multiple of ten minutes."""

PERIOD_US = 10_000_000
"""Between two readings of one sensor."""

SENSORS_A_ROOM = 4

_SEED = 18
_MEAN, _DEVIATION = 210, 40
"""Tenths of a degree."""


class Reading(NamedTuple):
    """One reading."""

    number: int
    time: int
    sensor: int
    tenths: int


def readings(sensors: int, number: int) -> Iterator[Reading]:
    """So many readings, evenly in time, the sensors in turn."""
    random = Random(_SEED)  # noqa: S311 - a workload is no secret
    between = PERIOD_US // sensors
    for at in range(number):
        tenths = round(random.gauss(_MEAN, _DEVIATION))
        yield Reading(at, START_US + at * between, at % sensors, tenths)
