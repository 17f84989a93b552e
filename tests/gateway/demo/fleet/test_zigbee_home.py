"""A day of a Zigbee home at a gateway that is started anew twice: it equals the truth."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from pyoxigraph import Literal, NamedNode

from gateway.app.gateway import Gateway
from gateway.config.settings import Config
from gateway.demo.fleet import comparison, findings
from gateway.demo.fleet.acts import FLUSH, Connect, Sent, StreamKey
from gateway.demo.fleet.comparison import compare
from gateway.demo.fleet.findings import ABSENT_QUERY, AbsenceLog
from gateway.demo.fleet.session import fleet_config
from gateway.demo.fleet.simulated import SimulatedTime, write_profile
from gateway.demo.fleet.truth import Truth
from gateway.demo.fleet.wire import Wire
from gateway.engine import Notification
from gateway.ingest.duplicates import Duplicates, Novelty
from gateway.rdf.terms import Term
from tests.gateway.demo.fleet.zigbee_home import BASE, CLIENT, DEVICES, MINUTES, Home, Thing

RESTARTS = (7 * 60 + 3, 16 * 60 + 31)
WAIT_S = 30.0
TOPICS_QUERY = """\
PREFIX gw: <https://sosa-gateway.example/ns#>
SELECT ?mapping ?topic { GRAPH <https://sosa-gateway.example/graph/mappings> {
  ?mapping a gw:Mapping ; gw:topicFilter ?topic } }"""


class Watched:
    """What the gateway's subscriptions tell of mappings and absences; told in its thread."""

    def __init__(self, time: SimulatedTime) -> None:
        self.absences = AbsenceLog(time)
        self.topics: dict[str, str] = {}
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()

    def mapped(self, notification: Notification) -> None:
        """The sink of TOPICS_QUERY."""
        if not notification.sequence:
            self.topics.clear()
        for rows, is_added in (
            (notification.results.removed, False),
            (notification.results.added, True),
        ):
            for mapping, topic in rows:
                self._map(mapping, topic, is_added=is_added)
        self._tell()

    def absent(self, notification: Notification) -> None:
        """The sink of ABSENT_QUERY."""
        self.absences(notification)
        self._tell()

    async def until(self, holds: Callable[[], bool], otherwise: Callable[[], str]) -> None:
        """Wait until it holds; fails, saying what is `otherwise`, when it does not."""
        try:
            async with asyncio.timeout(WAIT_S):
                while not holds():
                    self._changed.clear()
                    if not holds():
                        await self._changed.wait()
        except TimeoutError:
            pytest.fail(otherwise())

    def _map(self, mapping: Term | None, topic: Term | None, *, is_added: bool) -> None:
        assert isinstance(mapping, NamedNode)
        assert isinstance(topic, Literal)
        if f"/mapping/{BASE}/" not in mapping.value:
            return
        if is_added:
            self.topics[mapping.value] = topic.value
        elif self.topics.get(mapping.value) == topic.value:
            del self.topics[mapping.value]

    def _tell(self) -> None:
        self._loop.call_soon_threadsafe(self._changed.set)


class Day:
    """The home at its gateway, minute by minute, and what has become of it."""

    def __init__(self, config: Config) -> None:
        self.home = Home()
        self.truth = Truth()
        self.time = SimulatedTime()
        self.watched = Watched(self.time)
        self.stored: list[findings.Stored] = []
        self.ended: list[str] = []
        """What has become of each of the gateway's commands."""
        self._commands: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self._config = config
        self._wire: Wire | None = None
        self._has_listed = False
        """Whether groups can be understood, which have the leaves of the devices in them."""

    async def live(self, first: int, end: int) -> None:
        """One life of the gateway."""
        async with Gateway(self._config, self.time.clocks) as gateway:
            await gateway.scheduler.subscribe(TOPICS_QUERY, sink=self.watched.mapped)
            await gateway.scheduler.subscribe(ABSENT_QUERY, sink=self.watched.absent)
            async with self._bridge(gateway.mqtt_port):
                self.truth.restart(self.time.now)
                await self._say(list(self.home.arrive(self.time.now)))
                for minute in range(first, end):
                    self.time.elapsed_s = minute * 60
                    self.truth.advance(self.time.now)
                    await self._say(list(self.home.at(minute, self.time.now)))
                    if thing := self.home.orders.get(minute):
                        self.ended.append(await self._order(gateway, thing))
            self.stored = await findings.stored(gateway.http_port)
            assert await findings.quarantined(gateway.http_port) == []
        gc.collect()  # nothing may refer to the store's folder when it is opened again

    @asynccontextmanager
    async def _bridge(self, port: int) -> AsyncIterator[None]:
        arriving = Connect(CLIENT, listens=(f"{BASE}/+/set",))
        self._wire = await Wire.connect(
            port, arriving, lambda *command: self._commands.put_nowait(command)
        )
        try:
            yield
        finally:
            await self._wire.close()

    async def _say(self, told: Sequence[Sent]) -> None:
        """All of it is stored, and what is announced is taken up, when this returns."""
        assert self._wire is not None
        for sent in told:
            self.truth.take(sent, self.time.now, _label(sent.topic))
            self._wire.publish(sent)
            self._has_listed |= sent.topic == DEVICES
            if self._has_listed and "/bridge/" in sent.topic:
                await self._flush()
                await self.watched.until(self._is_followed, self._unfollowed)
                await self._flush()
        if told:
            await self._flush()

    async def _order(self, gateway: Gateway, thing: Thing) -> str:
        """Have the gateway switch it; what has become of the command."""
        sensor = thing.streams["state"][0]
        word = "OFF" if thing.state["state"] == "ON" else "ON"
        url = f"http://127.0.0.1:{gateway.http_port}"
        async with asyncio.timeout(WAIT_S), httpx.AsyncClient(base_url=url) as client:
            listed = (await client.get("/actuators")).json()["actuators"]
            [actuator] = [each["id"] for each in listed if each.get("sensor") == sensor]
            body = {"value": word, "wait": WAIT_S}
            asking = client.post(f"/actuators/{quote(actuator, safe='')}/command", json=body)
            asked = asyncio.create_task(asking)
            topic, payload = await self._commands.get()
            await self._say(list(self.home.obey(topic, payload)))
            status: str = (await asked).json()["status"]
        return f"{thing.name} {word}: {status}"

    async def _flush(self) -> None:
        """What was said before is stored, and absences that come of it are written."""
        assert self._wire is not None
        self._wire.publish(Sent(CLIENT, FLUSH, b"1"))
        await self._wire.settled()

    def _is_followed(self) -> bool:
        wanted = self.home.topics
        told = len(self.watched.absences.events) >= len(self.truth.absences)
        return told and self.watched.topics.items() >= wanted.items()

    def _unfollowed(self) -> str:
        wanted, found = self.home.topics, self.watched.topics
        moved = [
            f"{iri}: {wanted[iri]}, not {found.get(iri)}"
            for iri in wanted
            if wanted[iri] != found.get(iri)
        ]
        missing = set(map(str, self.truth.absences)) - set(map(str, self.watched.absences.events))
        return "\n".join(["not followed:", *moved, *sorted(missing)])


def _label(topic: str) -> str:
    return topic.removeprefix(f"{BASE}/")


def differences(day: Day, folder: Path) -> list[str]:
    """Everything in which gateway and truth differ, device and value in each line."""
    names = {
        key: each.name
        for each in (*day.home.devices, *day.home.groups)
        for key in each.streams.values()
    }

    def of(stream: StreamKey) -> str:
        return f"{names.get(stream, '?')}, {stream[1].rpartition('/')[2]}"

    compared = (
        compare(
            "observations",
            comparison.observations(day.truth),
            findings.journalled(folder / "data" / "journal"),
            lambda each: of(each.expected.stream),
        ),
        compare("store", comparison.in_store(day.truth), day.stored, lambda each: of(each.stream)),
        compare(
            "absences",
            day.truth.absences,
            day.watched.absences.events,
            lambda each: of(each.stream),
        ),
    )
    return [str(each) for of_aspect in compared for each in of_aspect.differences]


async def played(folder: Path, until: int = MINUTES) -> Day:
    day = Day(fleet_config(folder, write_profile((), folder), 1))
    halts = [*(each for each in RESTARTS if each < until), until]
    for first, end in zip([1, *halts], halts, strict=False):
        await day.live(first, end)
    return day


async def test_a_day_of_a_zigbee_home_with_two_restarts_equals_the_truth(tmp_path: Path) -> None:
    day = await played(tmp_path)
    assert len(day.home.devices) == 35
    assert differences(day, tmp_path)[:20] == []
    observed = day.truth.observed.values()
    assert len(observed) > 3000
    of_one_time = {(each.expected.stream, each.expected.time) for each in observed}
    assert len(observed) - len(of_one_time) > 80  # told under a time that was told before
    assert len(day.truth.raised) > 100
    assert len(day.ended) == 14
    assert {each.rpartition(" ")[2] for each in day.ended} == {"confirmed"}, day.ended


async def test_a_gateway_that_drops_what_changes_under_one_time_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Duplicates.judge

    def drops(*given: object) -> Novelty:
        found = judge(*given)  # type: ignore[arg-type]
        return Novelty.KNOWN if found is Novelty.REVISED else found

    monkeypatch.setattr(Duplicates, "judge", drops)
    day = await played(tmp_path, 60)
    found = differences(day, tmp_path)
    assert any(
        each.startswith("contact 3, opening, observations: the gateway lacks") for each in found
    )
