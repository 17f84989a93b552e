"""The consumer over a real engine, with a clock that is told: any commands, readings, time steps.

Invariants: of an actuator at most one actuation is sent and not ended; each ends in one state, or
can still; what was published was published once, in the order of the requests, and had been marked.
"""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from gateway.actuation import consumer as consumer_module
from gateway.actuation.actuators import Actuators
from gateway.actuation.consumer import Consumer, Notes
from gateway.actuation.history import History
from gateway.actuation.orders import Confirmation, End, Orders, Pending
from gateway.actuation.recovery import recover
from gateway.actuation.requests import requests
from gateway.actuation.templates import ActuationTemplates
from gateway.actuation.values import Reading, value_of
from gateway.config.settings import Config
from gateway.engine import Engine, Notification, Outcome
from gateway.errors import StorageError
from gateway.profiles import Profiles
from gateway.rdf.namespaces import ACTUATIONS_GRAPH, GW
from gateway.runtime.clocks import Clocks
from gateway.store.update import BoundUpdate

PROFILES = Profiles.load(Config().jsap.profiles)
TEMPLATES = ActuationTemplates(PROFILES)
START = datetime(2026, 11, 21, 12, tzinfo=UTC)
LIMIT_S = 10.0
ACTUATORS = ("urn:a", "urn:b")
ENDED = ("Confirmed", "Failed", "Superseded")


def declared() -> str:
    one = """<{iri}> a sosa:Actuator ; gw:commandTopic "{iri}" ; ssn:forProperty <urn:p> ;
      gw:featureOfInterest <{iri}> ; gw:allowedValue "ON" , "OFF" ."""
    return """PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX ssn: <http://www.w3.org/ns/ssn/>
      PREFIX gw: <https://sosa-gateway.example/ns#> INSERT DATA {
      GRAPH <https://sosa-gateway.example/graph/mappings> { %s } }""" % " ".join(  # noqa: UP031
        one.format(iri=iri) for iri in ACTUATORS
    )


class World:
    """An engine, a consumer and a device that only counts; all by one clock."""

    def __init__(self) -> None:
        self.time_s = 0.0
        self.engine = Engine.open(clock=self.micros)
        self.published: list[tuple[str, str]] = []
        self.engine.update(declared())
        self.sent: set[str] = set()
        self.ends: dict[str, str] = {}
        self.count = self.failing = 0
        self.begin()

    def micros(self) -> int:
        return int((self.now() - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))

    def now(self) -> datetime:
        return START + timedelta(seconds=self.time_s)

    def begin(self) -> None:
        """A life of the gateway: what an earlier one knew is forgotten."""
        self.actuators = Actuators()
        clocks = Clocks(self.now, lambda: self.time_s)
        self.orders, history = Orders(LIMIT_S), History(1000)
        self.consumer = Consumer(
            self,
            self,
            TEMPLATES,
            self.actuators,
            orders=self.orders,
            history=history,
            notes=Notes(lambda order, _: self.note(order.request.iri), self.note_end),
            clocks=clocks,
        )
        self.notes: list[str] = []
        self.sinks: dict[str, Any] = {}
        self.subscribe("ACTUATORS", self.actuators.learn)
        self.consumer.left_over = recover(
            self.rows(), self.actuators, self.orders, history, templates=TEMPLATES, clocks=clocks
        )
        self.subscribe("REQUESTED", lambda told: self.consumer.take(requests(told)))

    def note(self, actuation: str) -> None:
        self.notes.append(actuation)
        self.sent.add(actuation)

    def note_end(self, pending: Pending, end: End) -> None:
        """Told once, when the store has it."""
        assert pending.iri in self.sent
        assert pending.iri not in self.ends
        assert pending.message is not None
        assert self.statuses(pending.iri) == [end.status]
        self.ends[pending.iri] = end.status

    def subscribe(self, query: str, sink: Any) -> None:
        first = self.engine.subscribe(PROFILES.query_text(query))
        self.sinks[first.spuid] = sink
        self.tell(first)

    def tell(self, notification: Notification) -> None:
        self.sinks[notification.spuid](notification)

    def end(self) -> None:
        for spuid in self.sinks:
            self.engine.unsubscribe(spuid)

    async def settled(self) -> None:
        """Everybody is told at once."""

    async def update_own(self, update: Any, /) -> Outcome:
        if self.failing:
            self.failing -= 1
            raise StorageError("the disk is full")
        outcome = self.engine.update(update)
        for notification in outcome.notifications:
            self.tell(notification)
        return outcome

    def publish(
        self, topic: str, payload: bytes, qos: int, retain: bool, within_s: float = 0.0
    ) -> None:
        """Whatever is published had been marked before."""
        assert (retain, within_s) == (False, LIMIT_S)
        assert self.statuses(self.notes[-1]) == ["Sent"]
        self.published.append((topic, payload.decode()))

    async def ask(self, actuator: str, values: list[str]) -> None:
        updates: list[BoundUpdate] = []
        for value in values:
            self.count += 1
            updates.append(TEMPLATES.request(f"urn:act:{self.count:04}", actuator, value_of(value)))
        await self.update_own(updates)

    def read(self, actuator: str, value: str) -> None:
        stream = ("urn:s", "urn:p", actuator)
        self.consumer.observe(Confirmation("urn:o", stream, Reading(Literal(value)), self.now()))

    def rows(self) -> list[dict[str, Any]]:
        results: Any = self.engine.query(PROFILES.query_text("ACTUATIONS"))
        names = [variable.value for variable in results.variables]
        return [dict(zip(names, row, strict=True)) for row in results]

    def statuses(self, actuation: str) -> list[str]:
        status = NamedNode(GW + "status")
        quads = self.engine.store.match(NamedNode(actuation), status, None, ACTUATIONS_GRAPH)
        return [str(quad.object)[1:-1].removeprefix(GW) for quad in quads]

    def check(self) -> None:
        """The invariants, of what the store says."""
        open_of: Counter[str] = Counter()
        for number in range(1, self.count + 1):
            iri = f"urn:act:{number:04}"
            statuses = self.statuses(iri)
            assert len(statuses) == 1, (iri, statuses)
        for row in self.rows():
            if str(row["status"]) == f"<{GW}Sent>":
                open_of[str(row["actuator"])] += 1
        assert self.sent - self.ends.keys() == {each.iri for each in self.orders.pending}
        assert all(count == 1 for count in open_of.values()), open_of
        assert sum(open_of.values()) == len(self.orders.pending)


VALUE = st.sampled_from(["ON", "OFF", "BLUE"])
ACTUATOR = st.sampled_from([*ACTUATORS, "urn:none"])
STEP = st.one_of(
    st.tuples(st.just("ask"), ACTUATOR, st.lists(VALUE, min_size=1, max_size=3)),
    st.tuples(st.just("read"), ACTUATOR, VALUE),
    st.tuples(st.just("pass"), st.floats(0, 12)),
    st.tuples(st.just("work")),
    st.tuples(st.just("restart")),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=25))
def test_whatever_comes_each_ends_once_and_nothing_is_sent_twice(
    steps: list[tuple[Any, ...]],
) -> None:
    asyncio.run(_live(steps))


async def _live(steps: list[tuple[Any, ...]]) -> None:
    world = World()
    marked: list[str] = []
    ended: dict[str, str] = {}
    for kind, *given_ in [*steps, ("work",), ("pass", LIMIT_S + 1), ("work",)]:
        match kind:
            case "ask":
                await world.ask(*given_)
            case "read":
                world.read(*given_)
            case "pass":
                world.time_s += given_[0]
            case "work":
                await world.consumer.work()
                world.check()
            case "restart":
                marked += world.notes
                world.end()
                world.begin()
                await world.update_own(list(world.consumer.left_over))
        for number in range(1, world.count + 1):
            iri = f"urn:act:{number:04}"
            (status,) = world.statuses(iri)
            assert ended.get(iri, status) == status
            if status in ENDED:
                ended[iri] = status
    marked += world.notes
    assert len(ended) == world.count
    assert len(set(marked)) == len(marked) == len(world.published)
    assert marked == sorted(marked, key=marked.index)
    for actuator in ACTUATORS:
        mine = [iri for iri in marked if actuator in _actuator(world, iri)]
        assert mine == sorted(mine)
    world.engine.close()


def _actuator(world: World, iri: str) -> str:
    return next(str(row["actuator"]) for row in world.rows() if str(row["actuation"]) == f"<{iri}>")


async def test_disk_that_takes_nothing_for_a_while_delays_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumer_module, "_PAUSE_S", 0.0)
    world = World()
    await world.ask("urn:a", ["ON"])
    world.failing = 2
    while not world.published:
        await world.consumer.work()
    assert world.published == [("urn:a", "ON")]
    assert world.statuses("urn:act:0001") == ["Sent"]
    world.engine.close()


async def test_disk_that_takes_nothing_for_too_long_fails_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumer_module, "_PAUSE_S", 0.0)
    world = World()
    await world.ask("urn:a", ["ON"])
    world.failing = 1
    await world.consumer.work()
    world.time_s += LIMIT_S + 1
    await world.ask("urn:b", ["OFF"])
    await world.consumer.work()
    assert world.published == [("urn:b", "OFF")]
    assert world.statuses("urn:act:0001") == ["Failed"]
    world.engine.close()


async def test_what_is_taken_back_before_it_is_sent_is_not_sent() -> None:
    world = World()
    await world.ask("urn:a", ["ON"])
    world.engine.update(f"DROP GRAPH {ACTUATIONS_GRAPH}")
    await world.consumer.work()
    assert world.published == []
    assert world.orders.pending == ()
    world.engine.close()
