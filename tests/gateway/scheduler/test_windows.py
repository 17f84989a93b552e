"""What time alone changes in windows is told by the scheduler itself, once a tick at most."""

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine import Engine, SubscribeRequest
from gateway.scheduler.scheduler import Scheduler
from gateway.scheduler.timers import Timers
from gateway.windows import Window
from tests.gateway.scheduler.test_delayed import Inbox

QUERY = "SELECT ?o { GRAPH <urn:w> { ?s ?p ?o } }"


def element(value: int) -> list[Triple]:
    node = NamedNode("urn:n")
    return [Triple(node, node, Literal(value))]


async def test_what_is_over_leaves_though_nothing_comes() -> None:
    with Scheduler(Engine.open(), tick_ms=10) as scheduler:
        scheduler.start_timers()
        inbox = Inbox()
        window = Window("urn:s", range=50_000)
        await scheduler.subscribe(SubscribeRequest(QUERY, windows=(("urn:w", window),)), sink=inbox)
        assert (await inbox.next()).sequence == 0
        pushed = await scheduler.look(lambda engine: engine.push("urn:s", element(1)))
        assert len((await inbox.next()).added) == 1
        left = await inbox.next()
        assert len(left.removed) == 1
        assert left.time >= pushed.time + 50_000


def test_a_tick_is_the_most_often_that_windows_are_looked_at() -> None:
    now = 1_700_000_000_000_000
    engine = Engine.open(clock=lambda: now)
    timers = Timers(engine, tick_s=3600)
    window = Window("urn:s", range=10)
    spuid = engine.subscribe(QUERY, windows={"urn:w": window}).spuid
    assert timers.left_s is None
    timers.start()
    assert timers.left_s is None
    engine.push("urn:s", element(1))
    now += 10
    assert timers.left_s == 0
    timers.run()
    assert engine.windowed.contents_of(spuid)[NamedNode("urn:w")].info().elements == 0
    engine.push("urn:s", element(2))
    now += 10
    assert timers.left_s == 1.0  # looked after again soon, and not due for an hour
    timers.run()
    assert engine.windowed.contents_of(spuid)[NamedNode("urn:w")].info().elements == 1
    engine.close()


def test_a_tick_that_fails_costs_no_other(caplog: pytest.LogCaptureFixture) -> None:
    now = 1_700_000_000_000_000
    engine = Engine.open(clock=lambda: now)
    timers = Timers(engine, tick_s=0)
    engine.subscribe(QUERY, windows={"urn:w": Window("urn:s", range=10)})
    timers.start()
    engine.push("urn:s", element(1))
    now += 10
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine.windowed, "step", lambda *_: 1 / 0)
        timers.run()
    assert "windows_crashed" in caplog.messages
    timers.run()
    assert engine.windowed.next_due is None
    engine.close()
