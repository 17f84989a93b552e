"""A clock that is not set, is set forward, or back: what is observed is marked and in order."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway.app.gateway import Gateway
from gateway.config.settings import Config
from gateway.runtime.clocks import Clocks
from tests.kit.gateways import (
    PREFIXES,
    mapping,
    publish,
    rows_of,
    settings,
    watch,
    write_profile,
)

TOLD = f"""{PREFIXES} SELECT ?sensor ?value ?suspect {{
  ?o sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ?value .
  OPTIONAL {{ ?o gw:clockSuspect ?s }} BIND(COALESCE(STR(?s), "false") AS ?suspect) }}"""
BARE = mapping("bare", "bare/+", format="scalar", sensor="urn:bare")
TIMED = mapping("timed", "timed/+", selector="$.v", time="$.at", sensor="urn:timed")
LONG_AGO = datetime(1970, 1, 1, 0, 5, tzinfo=UTC)
NOW = datetime(2026, 3, 2, tzinfo=UTC)


class Wall:
    """A wall clock that is set by the test; the other one goes on."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def clocks(self) -> Clocks:
        return Clocks(lambda: self.now)


def config_of(folder: Path) -> Config:
    return settings(folder, write_profile(folder, [BARE, TIMED]), kind="disk")


async def observed(gateway: Gateway, value: int, topic: str = "bare/a", at: str = "") -> None:
    told = await watch(gateway, TOLD)
    payload = f'{{"v":{value},"at":"{at}"}}' if at else str(value)
    await publish(gateway.mqtt_port, [(topic, payload.encode())])
    await told.until(lambda: str(value) in told.values(1))


async def test_what_comes_while_the_clock_is_not_set_is_marked_and_gives_way(
    tmp_path: Path,
) -> None:
    wall = Wall(LONG_AGO)
    async with Gateway(config_of(tmp_path), wall.clocks()) as gateway:
        await observed(gateway, 1)
        await observed(gateway, 2, "timed/a", NOW.isoformat())
        # A device that knows the time is believed, though it is further ahead than any limit.
        assert rows_of(gateway, TOLD) == [["urn:bare", "1", "true"], ["urn:timed", "2", "false"]]
        wall.now = NOW
        await observed(gateway, 3)
        await observed(gateway, 4, "timed/a", (NOW + timedelta(seconds=1)).isoformat())
        assert rows_of(gateway, TOLD) == [["urn:bare", "3", "false"], ["urn:timed", "4", "false"]]
        store = gateway.scheduler.engine.store
    vars(store).clear()


async def test_a_time_that_nobody_has_set_is_marked_though_it_looks_right(tmp_path: Path) -> None:
    heard = False
    async with Gateway(config_of(tmp_path), Clocks(lambda: NOW, is_set=lambda _: heard)) as gateway:
        await observed(gateway, 1)
        await observed(gateway, 2, "timed/a", (NOW + timedelta(days=9)).isoformat())
        assert rows_of(gateway, TOLD) == [["urn:bare", "1", "true"], ["urn:timed", "2", "false"]]
        heard = True
        await observed(gateway, 3)
        assert rows_of(gateway, TOLD) == [["urn:bare", "3", "false"], ["urn:timed", "2", "false"]]
        store = gateway.scheduler.engine.store
    vars(store).clear()


async def test_a_clock_that_is_set_back_hides_no_later_value(tmp_path: Path) -> None:
    wall = Wall(NOW + timedelta(days=900))
    async with Gateway(config_of(tmp_path), wall.clocks()) as gateway:
        await observed(gateway, 1)
        wall.now = NOW
        await observed(gateway, 2)
        assert rows_of(gateway, TOLD) == [["urn:bare", "2", "false"]]
        wall.now = NOW + timedelta(days=900)
        await observed(gateway, 3)
        store = gateway.scheduler.engine.store
    vars(store).clear()
    wall.now = NOW
    async with Gateway(config_of(tmp_path), wall.clocks()) as gateway:
        await observed(gateway, 4)
        assert rows_of(gateway, TOLD) == [["urn:bare", "4", "false"]]
        store = gateway.scheduler.engine.store
    vars(store).clear()
