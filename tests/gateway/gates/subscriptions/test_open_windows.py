"""First answers over windows are tried apart with what the windows have."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions, Store, Triple

from gateway.engine import Engine, SubscribeRequest
from gateway.engine.windowed.window_copies import copies, seen
from gateway.errors import (
    TooLargeError,
    TooManyRequestsError,
    TooManySolutionsError,
    WindowError,
    WindowFullError,
)
from gateway.gates.sparql.queries_apart import QueriesApart
from gateway.gates.subscriptions.open_windows import OpenWindows
from gateway.gates.subscriptions.tried_first import TriedFirst
from gateway.rdf.rights import Rights
from gateway.scheduler.scheduler import Scheduler
from gateway.sparql.bounds.answer import AnswerBounds
from gateway.store.quad_store import QuadStore
from gateway.store.readable import Readable
from gateway.windows import Window
from tests.kit.gateways import Watch

STREAM, W = "urn:stream", "urn:w"
CROSS = f"SELECT * {{ GRAPH <{W}> {{ ?a <urn:p> ?b . ?c <urn:p> ?d }} }}"
SLIDING = f"""SELECT ?s (COUNT(*) AS ?n) {{
  GRAPH <{W}> {{ ?s <urn:p> ?o }}
  FILTER NOT EXISTS {{ ?s <urn:in> ?room . ?room <urn:is> <urn:shut> }}
}} GROUP BY ?s"""
TEXTS = [
    CROSS,
    SLIDING,
    f"SELECT * {{ GRAPH <{W}> {{ ?a <urn:p> ?b }} ?a <urn:in> ?room }} ORDER BY ?b",
    f"SELECT * {{ GRAPH <{W}> {{ ?a <urn:p> ?b }} GRAPH ?g {{ ?x ?p ?y }} }}",
    f"SELECT * FROM NAMED <{W}> {{ GRAPH ?g {{ ?a <urn:p> ?b }} }} ORDER BY ?b",
    f"SELECT * FROM <{W}> {{ ?a ?p ?b MINUS {{ ?a <urn:p> 1 }} }}",
    f"SELECT * {{ GRAPH <{W}> {{ ?w ?bound ?at }} }} ORDER BY ?bound",
]
WINDOWS = [Window(STREAM, triples=50), Window(STREAM, range="PT1H", step="PT1S", bounds=True)]


def told(number: int) -> list[Triple]:
    subject = NamedNode(f"urn:{number % 5}")
    p, q = NamedNode("urn:p"), NamedNode("urn:q")
    return [Triple(subject, p, Literal(number)), Triple(subject, q, Literal("q"))]


class Hand:
    now = 1_000_000_000_000

    def __call__(self) -> int:
        return self.now


def engine_with(clock: Hand | None = None) -> Engine:
    """An engine whose store has a default graph and a named one; elements enter `push`ed."""
    hand = clock or Hand()
    engine = Engine.open(clock=hand, steady=hand)
    engine.update(
        "INSERT DATA { <urn:1> <urn:in> <urn:a> . <urn:a> <urn:is> <urn:shut> ."
        "<urn:2> <urn:in> <urn:b> GRAPH <urn:g> { <urn:x> <urn:y> <urn:z> } }"
    )
    return engine


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("window", WINDOWS, ids=["triples", "bounds"])
@pytest.mark.parametrize("readable", [None, frozenset((NamedNode("urn:g"), NamedNode(STREAM)))])
def test_copies_have_what_the_first_answer_is_made_of(
    text: str, window: Window, readable: frozenset[NamedNode] | None
) -> None:
    hand = Hand()
    with closing(engine_with(hand)) as engine:
        rights = Rights() if readable is None else Rights(read=readable)
        request = SubscribeRequest(text, rights=rights, windows=((W, window),))
        holder = engine.subscribe("ASK { GRAPH <urn:w> { ?x ?x ?x } }", windows={W: window})
        for number in range(12):
            engine.push(STREAM, told(number))
        hand.now += 2_000_000
        engine.advance()
        first = engine.subscribe(request)
        copied = copies(request, seen(request, engine.windowed.contents_of(holder.spuid)), 1 << 20)
        beside = copied.beside(engine.store)
        source = beside if readable is None else Readable(beside, readable | request.beside)
        results = source.query(copied.text, request.dataset)
        assert isinstance(results, QuerySolutions)
        assert len(list(results)) == len(first.added)


def test_what_the_query_does_not_look_at_is_not_copied() -> None:
    with closing(engine_with()) as engine:
        window = Window(STREAM, triples=50)
        holder = engine.subscribe("ASK { GRAPH <urn:w> { ?x ?x ?x } }", windows={W: window})
        for number in range(12):
            engine.push(STREAM, told(number))
        request = SubscribeRequest(CROSS, windows=((W, window),))
        there = seen(request, engine.windowed.contents_of(holder.spuid))
        store = copies(request, there, 1 << 20).beside(QuadStore(Store()))
        assert len(store) == 12
        with pytest.raises(TooLargeError, match="more than 100 bytes"):
            copies(request, there, 100)


class House:
    """Subscriptions that are tried first, with limits that are soon reached."""

    def __init__(self, scheduler: Scheduler, tried: TriedFirst) -> None:
        self.scheduler = scheduler
        self.tried = tried

    async def subscribe(self, text: str, windows: Mapping[str, Window]) -> Watch:
        watch = Watch()
        request = SubscribeRequest(text, windows=tuple(windows.items()), owner="somebody")
        await self.tried.subscribe(request, sink=watch, ended=lambda _: None)
        return watch

    async def push(self, numbers: range) -> None:
        for number in numbers:
            await self.scheduler.look(lambda engine, n=number: engine.push(STREAM, told(n)))  # type: ignore[misc]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    limits = AnswerBounds(solutions=1000, timeout_s=30.0)
    with (
        Scheduler(engine_with()) as scheduler,
        closing(QueriesApart(scheduler.engine, tmp_path / "copies", limits)) as apart,
        closing(TriedFirst(scheduler, apart, OpenWindows(scheduler, 10_000))) as tried,
    ):
        yield House(scheduler, tried)


async def test_first_answer_that_is_too_large_over_a_window_costs_its_asker_an_error(
    house: House,
) -> None:
    window = {W: Window(STREAM, triples=200)}
    await house.subscribe(f"SELECT * {{ GRAPH <{W}> {{ ?a <urn:p> ?b }} }}", window)
    await house.push(range(20))
    assert len((await house.subscribe(CROSS, window)).added) == 400
    await house.push(range(20, 50))
    other = CROSS.replace("?d", "?e")
    with pytest.raises(TooManySolutionsError):
        await house.subscribe(other, window)
    assert house.scheduler.engine.statistics.subscriptions == 2


async def test_what_is_too_much_to_copy_is_refused_unless_aggregates_slide(house: House) -> None:
    window = {W: Window(STREAM, triples=2000)}
    await house.subscribe(f"SELECT * {{ GRAPH <{W}> {{ ?a <urn:p> ?b }} }}", window)
    await house.push(range(500))
    with pytest.raises(TooLargeError, match="raise \\[limits\\] query_memory_bytes"):
        await house.subscribe(CROSS, window)
    assert len((await house.subscribe(SLIDING, window)).notifications[0].added) == 4
    assert house.scheduler.engine.statistics.subscriptions == 2


async def test_window_that_cannot_be_had_is_refused_as_ever(house: House) -> None:
    with pytest.raises(WindowError, match="has the name of a graph"):
        await house.subscribe(
            "SELECT * { GRAPH <urn:g> { ?a <urn:p> ?b } } ORDER BY ?a",
            {"urn:g": Window(STREAM, triples=5)},
        )
    assert house.scheduler.engine.statistics.subscriptions == 0


async def test_windows_are_let_go_though_the_queue_is_full(tmp_path: Path) -> None:
    hold = threading.Event()
    with Scheduler(engine_with(), srq=2) as scheduler:
        windows = OpenWindows(scheduler, 10_000)
        request = SubscribeRequest(CROSS, windows=((W, WINDOWS[0]),))
        async with windows.of(request):
            assert not scheduler.engine.windowed.is_idle
            waiting = [asyncio.create_task(scheduler.look(lambda _: hold.wait())) for _ in range(9)]
            await asyncio.sleep(0)
            asyncio.get_running_loop().call_later(0.1, hold.set)
        assert scheduler.engine.windowed.is_idle
        refused = await asyncio.gather(*waiting, return_exceptions=True)
        assert any(isinstance(each, TooManyRequestsError) for each in refused)


async def test_window_that_is_full_before_it_is_copied_says_so() -> None:
    with Scheduler(engine_with()) as scheduler:
        windows = OpenWindows(scheduler, 10_000)
        look = scheduler.look

        async def looked(work: Callable[[Engine], object]) -> object:
            await look(lambda engine: [engine.push(STREAM, told(n)) for n in range(3)])
            return await look(work)

        scheduler.look = looked  # type: ignore[assignment]
        request = SubscribeRequest(CROSS, windows=((W, Window(STREAM, range="PT1H", limit=2)),))
        with pytest.raises(WindowFullError):
            async with windows.of(request):
                pass
        assert scheduler.engine.statistics.subscriptions == 0
