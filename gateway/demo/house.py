"""`House`: the rooms and devices of the demo, moved on by a pure function.

Place on the way of the data: before it. `step(house, dt_s, commands, now)` gives the house later
and what its devices published; equal arguments give equal answers, so a demo can be repeated by
its seed. The fan stands in the office, which its computers heat above what people like.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random

from gateway.demo import announced, devices, things
from gateway.demo.devices import FAN_POWER_W, Fan, Meter, Publication
from gateway.demo.room import Room
from gateway.demo.room import step as step_room
from gateway.demo.things import Things

BASE_LOAD_W = 180.0
KITCHEN = Room("kitchen", 22.4, 52.0, False, 260.0)
LIVING = Room("living", 21.6, 49.0, True, 110.0)
OFFICE = Room("office", 25.85, 44.0, False, 640.0)
FAN_AT_REST = Fan()
METER = Meter()
THINGS = Things()

# Steps apart; small primes, so that a demo of a few seconds shows each and they rarely coincide.
NAN_EVERY = 11
GARBAGE_EVERY = 13
DUPLICATE_EVERY = 7
NULL_EVERY = 17

QUIET_S = 240.0
"""So long nobody comes into the office, which is too warm before that."""


@dataclass(frozen=True, slots=True)
class House:
    """Everything that the simulation knows, at one moment.

    >>> House(seed=7).office.name
    'office'
    """

    seed: int = 0
    count: int = 0
    elapsed_s: float = 0.0
    kitchen: Room = KITCHEN
    living: Room = LIVING
    office: Room = OFFICE
    fan: Fan = FAN_AT_REST
    meter: Meter = METER
    things: Things = THINGS

    @property
    def rooms(self) -> tuple[Room, ...]:
        """The three rooms."""
        return (self.kitchen, self.living, self.office)

    @property
    def power_w(self) -> float:
        """What the meter sees: everything that makes heat draws power, and so does the fan."""
        appliances = sum(room.appliances_w for room in self.rooms)
        fan = FAN_POWER_W if self.fan.running else 0.0
        return BASE_LOAD_W + appliances + self.things.power_w + fan


def step(
    house: House, dt_s: float, commands: Iterable[bytes], now: datetime
) -> tuple[House, tuple[Publication, ...]]:
    """The house `dt_s` later, having obeyed the fan's `commands`, and what was published then.

    `now` is the wall clock, aware UTC: devices tell real time, however fast theirs passes.
    """
    chance = Random(f"{house.seed}/{house.count}")  # noqa: S311 - noise, not a secret
    turns = Random(f"{house.seed}/{house.count}/things")  # noqa: S311
    fan = house.fan
    for command in commands:
        fan = fan.obey(command)
    later = replace(
        house,
        count=house.count + 1,
        kitchen=step_room(house.kitchen, dt_s, chance),
        living=step_room(house.living, dt_s, chance),
        office=_office(house, dt_s, chance),
        elapsed_s=house.elapsed_s + dt_s,
        fan=fan,
        meter=house.meter.count(house.power_w, dt_s),
        things=things.step(house.things, dt_s, turns),
    )
    return later, tuple(_with_faults(later, _published(later, chance, now)))


def _office(house: House, dt_s: float, chance: Random) -> Room:
    """A fan that was switched just now has told so before it has changed the air."""
    later = step_room(house.office, dt_s, chance, ventilated=house.fan.running)
    return replace(later, occupied=later.occupied and house.elapsed_s + dt_s > QUIET_S)


def _published(house: House, chance: Random, now: datetime) -> list[Publication]:
    return [
        *devices.board(house.kitchen, chance),
        *devices.zigbee_climate(house.living, chance, now),
        *devices.zigbee_motion(house.living, chance),
        *devices.senml_board(house.office, chance),
        *devices.power_meter(house.meter, house.power_w),
        *devices.zigbee_fan(house.fan, chance),
        *announced.telegrams(house.things, house.count, now, chance),
    ]


def _with_faults(house: House, published: list[Publication]) -> Iterable[Publication]:
    """What really goes out: broken sensors and links happen, at known steps."""
    for publication in published:
        if publication.topic.endswith("/temperature") and house.count % NAN_EVERY == 5:
            yield replace(publication, payload=b"nan")
        elif publication.device == "climate_living" and house.count % NULL_EVERY == 4:
            yield replace(publication, payload=_without_temperature(publication.payload))
        elif publication.device == "senml" and house.count % GARBAGE_EVERY == 6:
            yield replace(publication, payload=publication.payload[:40] + b"\xff\x00")
        elif publication.device == "meter" and house.count % DUPLICATE_EVERY == 3:
            yield from (publication, publication)
        else:
            yield publication


def _without_temperature(payload: bytes) -> bytes:
    """As the bridge tells it of a sensor that it has not heard of since it started."""
    return json.dumps({**json.loads(payload), "temperature": None}).encode()
