"""A bus without a gateway: a line that a test answers for, a clock that a test moves."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import Any

from adapters.modbus.polls import Named, polls_of
from adapters.modbus.register import Device, Register
from adapters.values.message import Message
from gateway.config.modbus import BusSettings
from gateway.errors import StorageError
from gateway.gates.modbus.bus import MOST_COMMANDS, Bus, Command, Counts
from gateway.gates.modbus.line import Answer, Outcome
from gateway.runtime.clocks import Clocks

SILENT = Answer(Outcome.SILENT, why="no answer in 1 s")


@dataclass
class Bench:
    """A bus, what it asked for, what came of it."""

    answer: Callable[[int, str, int, int], Answer] = lambda unit, table, at, count: Answer(
        Outcome.ANSWERED, [at + place for place in range(count)]
    )
    asked: list[tuple[int, str, int, int]] = field(default_factory=list)
    written: list[tuple[int, str, int, list[int]]] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    settles: list[Callable[[Exception | None], None]] = field(default_factory=list)
    now_s: float = 0.0
    settles_by_itself: bool = True

    def bus(self, *selectors: str, **settings: object) -> Bus:
        usual = {"name": "b", "host": "127.0.0.1", "interval_s": 1.0, "unchanged_s": 0.0}
        given = {**usual, **settings}
        clocks = Clocks(lambda: datetime(2026, 3, 2, tzinfo=UTC), lambda: self.now_s)
        made = Bus(
            BusSettings.model_validate(given), self, self.put, clocks, Counts(Counter(), Counter())
        )
        made.follow(polls_of(self.named(*selectors), 1.0))
        return made

    def named(self, *selectors: str, lasts_s: float = inf) -> list[Named]:
        return [Named(f"modbus/d{each[2]}", Register.parse(each), lasts_s) for each in selectors]

    async def read(self, unit: int, table: str, address: int, count: int) -> Answer:
        self.asked.append((unit, table, address, count))
        return self.answer(unit, table, address, count)

    async def write(self, unit: int, table: str, address: int, words: Sequence[int]) -> Answer:
        self.written.append((unit, table, address, list(words)))
        return Answer(Outcome.ANSWERED)

    def close(self) -> None:
        """There is no connection."""

    async def put(self, message: Message, settle: Callable[[Exception | None], None]) -> bool:
        self.messages.append(message)
        if self.settles_by_itself:
            settle(None)
        else:
            self.settles.append(settle)
        return True

    async def pass_time(self, bus: Bus, seconds: float, step_s: float = 0.5) -> None:
        """Have the bus work while time passes."""
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            for _ in range(4):
                await bus.work()
            self.now_s += step_s

    @property
    def told(self) -> list[Any]:
        return [json.loads(each.payload) for each in self.messages]


async def test_each_poll_has_its_interval_and_missed_ones_are_not_made_up_for() -> None:
    bench = Bench()
    bus = bench.bus("b/1 input 0 int16", "b/2 input 0 int16 every 5")
    await bench.pass_time(bus, 10)
    assert Counter(unit for unit, *_ in bench.asked) == {1: 10, 2: 2}
    bench.asked.clear()
    bench.now_s += 100
    for _ in range(10):
        await bus.work()
    assert Counter(unit for unit, *_ in bench.asked) == {1: 1, 2: 1}


async def test_a_silent_device_is_asked_more_and_more_seldom_and_told_once() -> None:
    bench = Bench(answer=lambda unit, table, at, count: SILENT)
    bus = bench.bus("b/1 input 0 int16")
    await bench.pass_time(bus, 600)
    assert len(bench.asked) < 20
    assert bench.told == [{"bus": "b", "unit": 1, "silent": "no answer in 1 s"}]
    assert bus.silent == {Device("b", 1): "no answer in 1 s"}
    bench.answer = lambda unit, table, at, count: Answer(Outcome.ANSWERED, [7])
    await bench.pass_time(bus, 61)
    assert not bus.silent
    assert bench.told[1] == {"bus": "b", "unit": 1, "input": {"0": [7]}}


async def test_nothing_piles_up_behind_a_message_that_is_not_settled() -> None:
    bench = Bench(settles_by_itself=False)
    bus = bench.bus("b/1 input 0 int16")
    await bench.pass_time(bus, 10)
    assert len(bench.messages) == 1
    bench.settles[0](None)
    await bench.pass_time(bus, 2)
    assert len(bench.messages) == 2


async def test_what_stands_is_told_again_seldom() -> None:
    bench = Bench()
    words = {0: 1, 1: 1}
    bench.answer = lambda unit, table, at, count: Answer(
        Outcome.ANSWERED, [words[at + place] for place in range(count)]
    )
    bus = bench.bus("b/1 input 0 int16", "b/1 input 1 int16", unchanged_s=5)
    await bench.pass_time(bus, 3)
    assert bench.told == [{"bus": "b", "unit": 1, "input": {"0": [1], "1": [1]}}]
    words[1] = 2
    await bench.pass_time(bus, 1)
    assert bench.told[1] == {"bus": "b", "unit": 1, "input": {"1": [2]}}
    await bench.pass_time(bus, 2)
    assert bench.told[2] == {"bus": "b", "unit": 1, "input": {"0": [1]}}
    assert len(bench.asked) >= 6


async def test_what_stands_is_told_again_before_it_expires() -> None:
    bench = Bench()
    bus = bench.bus(unchanged_s=60)
    bus.follow(polls_of(bench.named("b/1 input 0 int16", lasts_s=10), 1.0))
    await bench.pass_time(bus, 60)
    assert len(bench.asked) == 60
    assert len(bench.messages) == 12


async def test_what_was_not_stored_is_told_again() -> None:
    bench = Bench(settles_by_itself=False)
    bus = bench.bus("b/1 input 0 int16", unchanged_s=3600)
    await bench.pass_time(bus, 1)
    bench.settles[0](StorageError("the disk is full"))
    await bench.pass_time(bus, 1)
    assert bench.told[0] == bench.told[1]


async def test_commands_go_first_are_bounded_and_never_late() -> None:
    bench = Bench()
    bus = bench.bus("b/1 holding 0 int16 every 3600")
    await bench.pass_time(bus, 1)
    device = Device("b", 1)
    late = Command("modbus/d1/set", device, "holding", 0, [1], bench.now_s - 1)
    assert bus.command(late)
    assert bus.command(Command("modbus/d1/set", device, "holding", 0, [2], bench.now_s + 1))
    await bus.work()
    assert bench.written == [(1, "holding", 0, [2])]
    assert len(bench.messages) == 2
    taken = [bus.command(late) for _ in range(MOST_COMMANDS + 1)]
    assert taken == [True] * MOST_COMMANDS + [False]


async def test_mappings_that_change_while_a_device_is_asked() -> None:
    bench = Bench()
    bus = bench.bus("b/1 input 0 int16")

    def answer(unit: int, table: str, at: int, count: int) -> Answer:
        bus.follow(())
        return Answer(Outcome.ANSWERED, [1])

    bench.answer = answer
    await bench.pass_time(bus, 3)
    assert len(bench.asked) == 1
    assert bus.devices == 0


async def test_a_bus_that_fails_in_itself_goes_on() -> None:
    bench = Bench()
    bus = bench.bus("b/1 input 0 int16")
    seen = asyncio.Event()

    def answer(unit: int, table: str, at: int, count: int) -> Answer:
        seen.set()
        raise RuntimeError("a defect")

    bench.answer = answer
    task = asyncio.create_task(bus.run())
    await asyncio.wait_for(seen.wait(), 60)
    await asyncio.sleep(0)
    assert not task.done()
    assert bus.fault == "RuntimeError: a defect"
    task.cancel()
    await asyncio.wait({task})
