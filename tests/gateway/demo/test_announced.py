"""The house of four makes: its proposals are accepted at once, three questions are answered."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from gateway.app.gateway import Gateway
from gateway.demo import acceptance as acceptance_module
from gateway.demo.acceptance import PROPOSALS_QUERY, Acceptance, Accepted
from gateway.demo.activity import Activity
from gateway.demo.announced import INTRODUCED, introductions, telegrams
from gateway.demo.devices import Publication
from gateway.demo.link import Link
from gateway.demo.settings import HOUSE_PROFILE, Ports, demo_config, standing_queries
from gateway.demo.things import Things
from gateway.errors import StorageError
from jsap.profile import load_profile

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
    activity: Activity
    accepted: Accepted
    told: int = 0

    async def tell(self, things: Things) -> dict[str, list[str]]:
        """The answers after every device has told; each PUBACK comes behind the notifications."""
        now = datetime.now(UTC) + timedelta(seconds=self.told)
        publications = [
            each for count in range(1, 5) for each in telegrams(things, count, now, NoNoise())
        ]
        self.told += 1
        await asyncio.to_thread(publish, self.gateway.mqtt_port, publications)
        return dict(self.activity.answers)


def publish(port: int, publications: Iterable[Publication]) -> None:
    with Link(port, "house", lambda _: None) as link:
        for each in publications:
            link.publish(each)
        link.drain()


@asynccontextmanager
async def lived(folder: Path) -> AsyncIterator[Lived]:
    activity = Activity()
    queries = load_profile(HOUSE_PROFILE).queries
    async with Gateway(demo_config(folder, Ports(0, 0, 0), HOUSE_PROFILE)) as gateway:
        for each in standing_queries(None):
            sink = activity.sink(each.name, is_question=each.is_question)
            await gateway.scheduler.subscribe(queries[each.query_id].text, sink=sink)
        acceptance = Acceptance(INTRODUCED)
        await gateway.scheduler.subscribe(PROPOSALS_QUERY, sink=acceptance.sink)
        introduced = introductions(datetime.now(UTC))
        await asyncio.to_thread(publish, gateway.mqtt_port, introduced)
        accepted = await acceptance.accept_all(gateway.http_port)
        yield Lived(gateway, activity, accepted)


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


async def test_a_device_that_says_nothing_of_itself_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(acceptance_module, "_HEARD_S", 0.05)
    with pytest.raises(StorageError, match="no proposals from cellar/x"):
        await Acceptance(["cellar/x"]).accept_all(1)
