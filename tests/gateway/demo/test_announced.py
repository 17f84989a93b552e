"""The house of four makes: its proposals are accepted at once, three questions are answered."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.client import AsyncClient
from gateway.demo import acceptance as acceptance_module
from gateway.demo.acceptance import Acceptance, Accepted
from gateway.demo.announced import ESPHOME, INTRODUCED, introductions, telegrams
from gateway.demo.devices import Publication
from gateway.demo.link import Link
from gateway.demo.seen import Seen
from gateway.demo.settings import (
    HOUSE_PROFILE,
    Ports,
    client_profile,
    demo_config,
    standing_queries,
)
from gateway.demo.things import Things
from gateway.demo.witness import Witness, watching
from gateway.errors import StorageError
from tests.kit.gateways import free_port

ALL_SHUT = Things(
    kitchen_window=False,
    bath_window=False,
    hallway_window=False,
    dishwasher_runs=False,
    heater_runs=False,
    fridge_runs=False,
    battery_percent=80.0,
)
WINDOWS = {
    "kitchen_window": "kitchen window contact",
    "bath_window": "bath window contact",
    "hallway_window": "hallway window",
}


class NoNoise(Random):
    """Chance by which a meter sees what is there."""

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        return mu


@dataclass
class Lived:
    """A gateway at which the house has arrived, and what its questions are answered."""

    gateway: Gateway
    seen: Seen
    witness: Witness
    accepted: Accepted
    told: int = 0

    async def tell(self, things: Things) -> dict[str, list[str]]:
        """The answers after every device has told, and all that came of it was heard."""
        now = datetime.now(UTC) + timedelta(seconds=self.told)
        publications = [
            each for count in range(1, 5) for each in telegrams(things, count, now, NoNoise())
        ]
        self.told += 1
        await asyncio.to_thread(publish, self.gateway.mqtt_port, publications)
        await self.witness.settle()
        return dict(self.seen.activity.answers)


def publish(port: int, publications: Iterable[Publication]) -> None:
    with Link(port, "house", lambda _: None) as link:
        for each in publications:
            link.publish(each)
        link.drain()


@asynccontextmanager
async def lived(folder: Path) -> AsyncIterator[Lived]:
    seen = Seen()
    async with Gateway(demo_config(folder, Ports(0, 0, 0), HOUSE_PROFILE)) as gateway:
        profile = client_profile(HOUSE_PROFILE, gateway.http_port, gateway.websocket_port)
        http = f"http://127.0.0.1:{gateway.http_port}"
        async with watching(profile, http, seen, standing_queries(None)) as witness:
            acceptance = Acceptance(INTRODUCED)
            await witness.subscribe("PROPOSALS", acceptance.hear)
            introduced = introductions(datetime.now(UTC))
            await asyncio.to_thread(publish, gateway.mqtt_port, introduced)
            accepted = await acceptance.accept_all(witness)
            yield Lived(gateway, seen, witness, accepted)


async def test_three_questions_are_answered_whatever_the_make(tmp_path: Path) -> None:
    async with lived(tmp_path) as house:
        assert await house.tell(ALL_SHUT) == {
            "which windows are open": [],
            "what uses more than 100 W": [],
            "which batteries are low": [],
        }
        for name, label in WINDOWS.items():
            answers = await house.tell(replace(ALL_SHUT, **{name: True}))
            assert answers["which windows are open"] == [label]
        running = replace(ALL_SHUT, dishwasher_runs=True, heater_runs=True, fridge_runs=True)
        answers = await house.tell(replace(running, battery_percent=12.0))
    assert answers == {
        "which windows are open": [],
        "what uses more than 100 W": [
            "dishwasher power 1940",
            "fridge ENERGY.Power 118",
            "heater switch:0.apower 1210",
        ],
        "which batteries are low": ["bedroom climate battery 12"],
    }


async def test_what_is_a_question_is_left_and_listed(tmp_path: Path) -> None:
    async with lived(tmp_path) as house:
        assert house.accepted == Accepted(22, ("hallway water",))
    assert str(house.accepted).endswith("22 accepted; left with a question: hallway water")


async def test_the_witness_sees_a_device_of_each_make_and_what_was_not_believed(
    tmp_path: Path,
) -> None:
    async with lived(tmp_path) as house:
        await house.tell(ALL_SHUT)
        broken = Publication(ESPHOME, "home/kitchen/temperature", b"nan")
        await asyncio.to_thread(publish, house.gateway.mqtt_port, [broken])
        await house.witness.look()
        sight = house.seen.sight()
    dialects = {dialect: (reading.name, reading.text) for dialect, reading in sight.devices}
    assert dialects == {
        "Zigbee2MQTT": ("dishwasher power", "0.8 W"),
        "Shelly": ("heater switch:0.apower", "0 W"),
        "Tasmota": ("fridge ENERGY.Power", "1 W"),
        "ESPHome": ("hallway lamp", "9 W"),
    }
    (fault,) = sight.faults
    assert (fault.reason, fault.topic) == ("not_finite", "home/kitchen/temperature")
    assert sight.now.count("quarantined") == 1


async def test_a_gateway_that_does_not_answer_is_told() -> None:
    profile = client_profile(HOUSE_PROFILE, free_port(), free_port())
    async with (
        AsyncClient(profile) as client,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{free_port()}") as http,
        AsyncExitStack() as opened,
    ):
        with pytest.raises(StorageError, match="/health"):
            await Witness(client, http, Seen(), opened).look()


async def test_a_device_that_says_nothing_of_itself_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with lived(tmp_path) as house:
        witness = house.witness
    monkeypatch.setattr(acceptance_module, "_HEARD_S", 0.05)
    with pytest.raises(StorageError, match="no proposals from cellar/x"):
        await Acceptance(["cellar/x"]).accept_all(witness)
