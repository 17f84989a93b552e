"""`Bus`: the devices of one line, asked one after another; commands before polls.

Place on the way of the data: a task of the event loop for each bus, so that one that hangs delays
nobody else. What was read goes into the inbox as a message of `modbus/DEVICE`; while the last one
of a poll is not settled, that poll is left out: nothing piles up.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from adapters.modbus.polls import Poll, PollKey
from adapters.modbus.reading import Refused, reading_payload
from adapters.modbus.register import Device
from adapters.values.message import Message
from gateway.config.modbus import BusSettings
from gateway.gates.modbus.line import Answer, Asking, Outcome
from gateway.gates.modbus.polling import MOST_PAUSE_S, Block, Health, Polling, pause_s
from gateway.runtime.clocks import Clocks

log = logging.getLogger(__name__)

MOST_COMMANDS = 100
DOWN_AFTER = 2
"""Connections in a row that were not made, before its devices count as silent."""

_LOOK_S = 1.0
"""So often the clock is looked at, which may not be the loop's."""

Put = Callable[[Message, Callable[[Exception | None], None]], Awaitable[bool]]
"""Into the inbox; the second is called from any thread when the message is settled."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be written: from `address` on, until `expires_s` by the steady clock.

    `refused` is told why it surely was not.
    """

    topic: str
    device: Device
    table: str
    address: int
    words: Sequence[int]
    expires_s: float
    refused: Callable[[str], None] = lambda reason: None  # noqa: ARG005


@dataclass(slots=True)
class Counts:
    """What became of requests and of commands, of all buses."""

    requests: Counter[str]
    writes: Counter[str]


class Bus:
    """`run` is a task; the other functions are called in the same event loop.

    `fault` is why the bus is not reached, empty as long as it is.
    """

    def __init__(
        self, settings: BusSettings, line: Asking, put: Put, clocks: Clocks, counts: Counts
    ) -> None:
        self.settings = settings
        self.fault = ""
        self._line = line
        self._put = put
        self._clocks = clocks
        self._counts = counts
        self._pollings: dict[PollKey, Polling] = {}
        self._health: dict[Device, Health] = {}
        self._commands: deque[Command] = deque()
        self._changed = asyncio.Event()
        self._downs = 0
        self._down_until_s = -1.0

    @property
    def silent(self) -> Mapping[Device, str]:
        """The devices that do not answer, and why."""
        return {device: each.silent for device, each in self._health.items() if each.silent}

    @property
    def devices(self) -> int:
        """How many are asked."""
        return len(self._health)

    def topics(self, device: Device | None = None) -> list[str]:
        """What a device is called; None for all of them."""
        keys = self._pollings
        return sorted({key.topic for key in keys if device in {None, key.device}})

    def follow(self, polls: Iterable[Poll]) -> None:
        """Ask for these from now on; what stays as it was keeps its time."""
        now_s = self._clocks.steady()
        pollings = {}
        for poll in polls:
            known = self._pollings.get(poll.key)
            is_same = known is not None and known.poll == poll
            pollings[poll.key] = known if known and is_same else Polling.of(poll, now_s)
        self._pollings = pollings
        devices = {key.device for key in pollings}
        self._health = {device: self._health.get(device, Health()) for device in devices}
        self._changed.set()

    def command(self, command: Command) -> bool:
        """Write soon; False where too many wait already."""
        if len(self._commands) >= MOST_COMMANDS:
            return False
        self._commands.append(command)
        self._changed.set()
        return True

    async def run(self) -> None:
        """Ask and write until cancelled."""
        task = asyncio.current_task()
        try:
            # wait_for of Python 3.11, by which the library waits, forgets a cancellation that
            # comes together with an answer.
            while task is not None and not task.cancelling():
                await self._wait()
                try:
                    await self.work()
                except Exception as error:
                    log.exception("modbus_bus_failed", extra={"bus": self.settings.name})
                    self._line.close()
                    await self._is_down(f"{type(error).__name__}: {error}")
        finally:
            self._line.close()

    async def work(self) -> None:
        """Write what waits, then ask whose turn it is."""
        while self._commands:
            await self._write(self._commands.popleft())
        now_s = self._clocks.steady()
        polling = self._next()
        if polling is not None and self._due_s(polling) <= now_s:
            await self._poll(polling, now_s)

    def _next(self) -> Polling | None:
        return min(self._pollings.values(), key=lambda each: each.due_s, default=None)

    def _due_s(self, polling: Polling) -> float:
        return max(polling.due_s, self._down_until_s)

    async def _wait(self) -> None:
        """Until somebody's turn comes, or something changes."""
        polling = self._next()
        self._changed.clear()
        if self._commands:
            return
        wait_s = _LOOK_S
        if polling is not None:
            wait_s = min(wait_s, self._due_s(polling) - self._clocks.steady())
        if wait_s <= 0:
            await asyncio.sleep(0)
            return
        try:
            async with asyncio.timeout(wait_s):
                await self._changed.wait()
        except TimeoutError:
            pass

    async def _poll(self, polling: Polling, now_s: float) -> None:
        """One round of a poll: its requests, then the message of what came."""
        if polling.is_waiting:
            self._counts.requests["skipped"] += 1
        elif self._health_of(polling.key.device).retry_s <= now_s:
            await self._ask(polling, list(polling.blocks_due(now_s)))
        polling.step(self._clocks.steady(), self._health_of(polling.key.device).retry_s)

    def _health_of(self, device: Device) -> Health:
        """Kept as long as it is asked for: mappings may have changed meanwhile."""
        return self._health.get(device) or Health()

    async def _ask(
        self, polling: Polling, blocks: Sequence[Block], unchanged_s: float | None = None
    ) -> None:
        """Ask for these, and have told what is news."""
        if unchanged_s is None:
            unchanged_s = min(self.settings.unchanged_s, polling.poll.lasts_s / 2)
        runs: dict[str, dict[int, Sequence[int]]] = {}
        has_answered = False
        refused: list[Refused] = []
        for block in blocks:
            answer = await self._read(polling.key.device, block)
            request = block.request
            if answer.outcome is Outcome.ANSWERED:
                block.answered()
                has_answered = True
                news = block.news(answer.words, self._clocks.steady(), unchanged_s)
                runs.setdefault(request.table, {}).update(news)
            elif answer.outcome is Outcome.REFUSED:
                if polling.refuse(block, answer, self._clocks.steady()):
                    refused.append(_refused(block, answer))
            else:
                if await self._unanswered(polling, block, answer, has_answered=has_answered):
                    refused.append(_refused(block, answer))
                break
        if has_answered or refused:
            self._is_heard(polling.key.device)
        if refused or any(runs.values()):
            await self._deliver(polling, reading_payload(polling.key.device, runs, refused))

    def _is_heard(self, device: Device) -> None:
        """What a device told before it was silent is told again."""
        if not self._health_of(device).answered():
            return
        log.info("modbus_answers", extra={"device": str(device)})
        for polling in self._pollings.values():
            if polling.key.device == device:
                polling.tell_all()

    async def _read(self, device: Device, block: Block) -> Answer:
        request = block.request
        answer = await self._line.read(device.unit, request.table, request.address, request.count)
        self._counts.requests[answer.outcome.value] += 1
        if answer.outcome is Outcome.DOWN:
            await self._is_down(answer.why)
        else:
            self._is_up()
        return answer

    async def _unanswered(
        self, polling: Polling, block: Block, answer: Answer, *, has_answered: bool
    ) -> bool:
        """Whether it is this request that the device does not answer, and not the device."""
        if answer.outcome is Outcome.DOWN:
            return False
        polling.put_last(block)
        now_s, interval_s = self._clocks.steady(), polling.key.interval_s
        if has_answered:
            block.refused(now_s, interval_s)
            return True
        device = polling.key.device
        if self._health_of(device).failed(answer.why, now_s, interval_s):
            await self._tell_silent(device, answer.why)
        return False

    async def _tell_silent(self, device: Device, why: str) -> None:
        log.warning("modbus_silent", extra={"device": str(device), "reason": why})
        payload = reading_payload(device, {}, silent=why)
        for key, polling in list(self._pollings.items()):
            if key.device == device:
                await self._deliver(polling, payload)

    def _is_up(self) -> None:
        if self.fault:
            log.info("modbus_bus_up", extra={"bus": self.settings.name})
        self.fault, self._downs, self._down_until_s = "", 0, -1.0

    async def _is_down(self, why: str) -> None:
        """Try again later, and say of everybody on it that they are not heard."""
        if not self.fault:
            log.warning("modbus_bus_down", extra={"bus": self.settings.name, "reason": why})
        self.fault = why
        self._downs += 1
        self._down_until_s = self._clocks.steady() + pause_s(self._downs, 1.0, MOST_PAUSE_S)
        if self._downs >= DOWN_AFTER:
            for device, health in list(self._health.items()):
                if not health.silent:
                    health.silent = why
                    await self._tell_silent(device, why)

    async def _deliver(self, polling: Polling, payload: bytes) -> None:
        """Returns when the inbox has it."""
        polling.is_waiting = True

        def settle(error: Exception | None) -> None:
            polling.is_waiting = False
            if error is not None:
                polling.tell_all()
                self._counts.requests["lost"] += 1

        message = Message(polling.key.topic, payload, self._clocks.now())
        if not await self._put(message, settle):
            polling.is_waiting = False

    async def _write(self, command: Command) -> None:
        """Write, then read the register back: that is what confirms.

        Of a command that is not answered nobody knows, but by what the register has.
        """
        if self._clocks.steady() > command.expires_s:
            self._is_not_written(command, "late", "it came too late")
            return
        unit, words = command.device.unit, command.words
        answer = await self._line.write(unit, command.table, command.address, words)
        if answer.outcome is Outcome.DOWN:
            self._is_not_written(command, answer.outcome.value, answer.why)
            await self._is_down(answer.why)
            return
        if answer.outcome is Outcome.REFUSED:
            why = f"the device refused it: {answer.why}"
            self._is_not_written(command, answer.outcome.value, why)
        else:
            self._counts.writes[answer.outcome.value] += 1
        await self._read_back(command)

    def _is_not_written(self, command: Command, outcome: str, reason: str) -> None:
        self._counts.writes[outcome] += 1
        extra = {"topic": command.topic, "device": str(command.device), "reason": reason}
        log.warning("modbus_write_failed", extra=extra)
        command.refused(reason)

    async def _read_back(self, command: Command) -> None:
        wanted = range(command.address, command.address + len(command.words))
        for key, polling in list(self._pollings.items()):
            if key.device == command.device:
                blocks = [each for each in polling.blocks if _reads(each, command.table, wanted)]
                if blocks:
                    await self._ask(polling, blocks, unchanged_s=0.0)


def _reads(block: Block, table: str, wanted: range) -> bool:
    request = block.request
    is_apart = request.address >= wanted.stop or request.address + request.count <= wanted.start
    return request.table == table and not is_apart


def _refused(block: Block, answer: Answer) -> Refused:
    request = block.request
    return Refused(request.table, request.address, request.count, answer.why)
