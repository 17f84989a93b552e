"""gateway.demo: the simulated rooms, devices and their faults."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from random import Random

import pytest

from gateway.demo import house as house_module
from gateway.demo.devices import Fan, Meter, Publication
from gateway.demo.house import House, step
from gateway.demo.players import TICK_S
from gateway.demo.room import FAN_W_PER_K, LOSS_W_PER_K, OUTDOOR_C, Room
from gateway.demo.room import step as step_room
from gateway.demo.session import HOUSE_SPEED

NOW = datetime(2026, 3, 2, 7, 14, 55, 102_000, UTC)
ROOM = Room("office", 25.0, 45.0, False, 600.0)


class Nobody(Random):
    """Chance by which nobody comes or goes."""

    def random(self) -> float:
        return 1.0


def lived(house: House, steps: int, dt_s: float = 15.0) -> tuple[House, list[Publication]]:
    published: list[Publication] = []
    for _ in range(steps):
        house, more = step(house, dt_s, (), NOW)
        published += more
    return house, published


def payloads(topic: str, steps: int = 30) -> list[bytes]:
    return [each.payload for each in lived(House(), steps)[1] if each.topic == topic]


def test_an_empty_room_tends_to_its_equilibrium() -> None:
    later = replace(ROOM, temperature_c=5.0)
    for _ in range(200):
        later = step_room(later, 600.0, Nobody())
    assert later.temperature_c == pytest.approx(OUTDOOR_C + 600.0 / LOSS_W_PER_K)


def test_two_half_steps_are_one_step_while_nobody_comes() -> None:
    half = step_room(step_room(ROOM, 0.5, Random(1)), 0.5, Random(1))
    whole = step_room(ROOM, 1.0, Random(1))
    assert half.occupied == whole.occupied == ROOM.occupied
    assert half.temperature_c == pytest.approx(whole.temperature_c)
    assert half.humidity_percent == pytest.approx(whole.humidity_percent)


def test_the_fan_cools_a_room_that_would_grow_warmer() -> None:
    assert step_room(ROOM, 60, Random(1)).temperature_c > ROOM.temperature_c
    assert step_room(ROOM, 60, Random(1), ventilated=True).temperature_c < ROOM.temperature_c


def test_the_fan_cools_no_further_than_outdoors_and_the_heat_allow() -> None:
    later = step_room(ROOM, 1e6, Nobody(), ventilated=True)
    limit = OUTDOOR_C + 600.0 / (LOSS_W_PER_K + FAN_W_PER_K)
    assert later.temperature_c == pytest.approx(limit)


def test_people_warm_and_moisten_a_room() -> None:
    empty = step_room(ROOM, 60, Random(1))
    used = step_room(replace(ROOM, occupied=True), 60, Random(1))
    assert used.temperature_c > empty.temperature_c
    assert used.humidity_percent > empty.humidity_percent


def test_people_come_and_go_over_a_day() -> None:
    occupied, room, chance = 0, ROOM, Random(3)
    for _ in range(1_440):
        room = step_room(room, 60, chance)
        occupied += room.occupied
    assert 300 < occupied < 1_000


def test_a_house_repeats_itself_by_its_seed() -> None:
    assert lived(House(seed=4), 20) == lived(House(seed=4), 20)
    assert lived(House(seed=4), 20)[1] != lived(House(seed=5), 20)[1]


def test_a_step_leaves_the_house_before_it_as_it_was() -> None:
    house = House()
    step(house, 15.0, (b'{"state":"ON"}',), NOW)
    assert house == House()


def test_every_device_publishes_within_a_second() -> None:
    published = lived(House(), 4)[1]
    assert {each.device for each in published} == {
        "board",
        "climate_living",
        "motion_living",
        "senml",
        "meter",
        "fan7",
        "zigbee2mqtt",
        "shelly",
        "tasmota",
        "esphome",
    }


def test_the_office_grows_too_warm_and_the_fan_mends_it() -> None:
    warm = lived(House(), 20)[0]
    assert warm.office.temperature_c > 26
    cooler, _ = step(warm, 15.0, (b'{"state":"ON"}',), NOW)
    assert cooler.fan.running
    assert lived(cooler, 40)[0].office.temperature_c < 24.5


@pytest.mark.parametrize("seed", range(40))
def test_the_office_is_too_warm_and_empty_within_ten_seconds_of_the_demo(seed: int) -> None:
    house, published = House(seed=seed), list[Publication]()
    for _ in range(round(10 / TICK_S)):
        house, published_now = step(house, TICK_S * HOUSE_SPEED, (), NOW)
        published += published_now
        if house.office.temperature_c > 26.1:
            break
    assert house.office.temperature_c > 26.1
    packs = [each.payload for each in published if each.topic == "senml/office"]
    assert packs
    assert all(b'"occupancy", "vb": false' in pack for pack in packs if pack.endswith(b"]"))


def test_a_fan_that_was_switched_has_told_so_before_it_cools() -> None:
    warm = lived(House(), 20)[0]
    after, published = step(warm, 15.0, (b'{"state":"ON"}',), NOW)
    told = [json.loads(each.payload)["state"] for each in published if each.device == "fan7"]
    assert told == ["ON"]
    assert after.office.temperature_c > warm.office.temperature_c


def test_the_bridge_tells_null_of_a_sensor_that_it_has_not_heard_of() -> None:
    states = [json.loads(each) for each in payloads("zigbee2mqtt/climate_living", 40)]
    assert 1 < sum(state["temperature"] is None for state in states) < 5


@pytest.mark.parametrize(
    ("before", "command", "after"),
    [
        (False, b'{"state":"ON"}', True),
        (True, b'{"state":"OFF"}', False),
        (True, b'{"state":"TOGGLE"}', False),
        (False, b'{"state":"TOGGLE","transition":2}', True),
    ],
)
def test_the_fan_obeys_a_command(before: bool, command: bytes, after: bool) -> None:
    assert Fan(before, 3).obey(command) == Fan(after, 4)


@pytest.mark.parametrize(
    "command", [b"", b"ON", b"\xff", b"[]", b"{}", b'{"state":["ON"]}', b'{"state":"on"}']
)
def test_the_fan_ignores_what_is_no_command(command: bytes) -> None:
    assert Fan(True, 3).obey(command) == Fan(True, 3)


def test_the_fan_draws_power_that_the_meter_counts() -> None:
    still = House()
    running = replace(still, fan=Fan(running=True))
    assert running.power_w > still.power_w
    assert Meter(1_000.0, 7).count(360.0, 10.0) == Meter(1_001.0, 8)


def test_zigbee_devices_publish_objects_with_the_bridge_time() -> None:
    state = json.loads(payloads("zigbee2mqtt/climate_living", 1)[0])
    assert state["last_seen"] == "2026-03-02T07:14:55.102Z"
    assert {"temperature", "humidity", "battery", "linkquality"} < set(state)


def test_the_senml_pack_has_one_base_name() -> None:
    pack = json.loads(payloads("senml/office", 1)[0])
    assert [record["n"] for record in pack] == ["temperature", "humidity", "occupancy"]
    assert [record.get("bn") for record in pack] == ["urn:dev:mac:0024befffe804ff1_", None, None]


def test_a_broken_sensor_sends_nan_now_and_then() -> None:
    readings = payloads("home/kitchen/temperature")
    assert 1 < readings.count(b"nan") < 5


def test_a_broken_link_cuts_packs_now_and_then() -> None:
    cut = [each for each in payloads("senml/office") if each.endswith(b"\xff\x00")]
    assert 1 < len(cut) < 5


def test_some_telegrams_of_the_meter_come_twice() -> None:
    lines = payloads("meter/main")
    twice = [line for line, after in pairwise(lines) if line == after]
    assert len(twice) == len(range(3, 31, house_module.DUPLICATE_EVERY))
