"""`ModbusGate`: all buses; the mappings in force say what is asked, actuations what is written.

Place on the way of the data: where an external broker's connection is: messages into the inbox,
commands out. Nothing is asked before a mapping is in force, nothing is written that no actuator
of format "modbus" names: commands come from the consumer of actuations alone.
"""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from adapters.modbus.command import read_command
from adapters.modbus.polls import Named, named_registers, polls_of
from adapters.modbus.register import Device
from adapters.values.mapping import Mapping as RegisterMapping
from adapters.values.message import Message
from gateway.config.modbus import BusSettings
from gateway.gates.modbus.bus import Bus, Command, Counts
from gateway.gates.modbus.line import Asking, Line
from gateway.ingest.inbox import Delivery, Inbox
from gateway.ingest.mappings import MappingTable
from gateway.runtime.clocks import Clocks
from gateway.runtime.loop_calls import LoopCalls

log = logging.getLogger(__name__)

UNITS_OF_A_LINE = range(1, 248)
"""Serial lines have no others: 0 is for everybody, and nobody answers to it."""


Run = Callable[[], Coroutine[object, object, None]]
Task = Callable[[Run, str], AbstractAsyncContextManager[None]]
"""What runs a task, by a name, as long as a context lasts."""


class ModbusGate:
    """For the event loop; `lost` says by topic why its registers are not asked for.

    `forged` counts messages of a broker on topics of devices that are asked.
    """

    def __init__(
        self,
        buses: Sequence[BusSettings],
        inbox: Inbox,
        clocks: Clocks,
        *,
        line: Callable[[BusSettings], Asking] = Line,
    ) -> None:
        """Raises ConfigurationError where there are buses and the extra is missing."""
        self.counts = Counts(Counter(), Counter())
        self.lost: Mapping[str, str] = {}
        self.forged = 0
        self._topics: frozenset[str] = frozenset()
        self._inbox = inbox
        self._clocks = clocks
        self.buses = {
            each.name: Bus(each, line(each), self._put, clocks, self.counts) for each in buses
        }

    def follow(self, mappings: Iterable[RegisterMapping]) -> None:
        """Ask for the registers of these, and of no others, from now on."""
        lost: dict[str, str] = {}
        of_bus: dict[str, list[Named]] = {name: [] for name in self.buses}
        for named in named_registers(mappings):
            device = named.register.device
            if why := self._why_lost(device):
                lost[named.topic] = why
            else:
                of_bus[device.bus].append(named)
        for name, bus in self.buses.items():
            settings = bus.settings
            bus.follow(polls_of(of_bus[name], settings.interval_s, settings.registers))
        self.lost = lost
        asked = (bus.topics() for bus in self.buses.values())
        self._topics = frozenset(topic for topics in asked for topic in topics)

    @asynccontextmanager
    async def running(
        self, table: MappingTable, loop_calls: LoopCalls, task: Task
    ) -> AsyncIterator[None]:
        """Registers are read, those of the mappings in force, as long as the context lasts."""
        self.follow(_in_force(table))
        table.on_change(lambda _filters: loop_calls.call(lambda: self.follow(_in_force(table))))
        async with AsyncExitStack() as tasks:
            for name, bus in self.buses.items():
                await tasks.enter_async_context(task(bus.run, f"modbus {name}"))
            yield

    def is_ours(self, topic: str) -> bool:
        """Whether a message that a broker has is taken for none: it is we who read this device.

        From any thread; it counts.
        """
        is_forged = topic in self._topics
        self.forged += is_forged
        return is_forged

    def send(
        self, topic: str, payload: bytes, within_s: float, refused: Callable[[str], None]
    ) -> None:
        """Have registers written; does not wait. A command is `adapters.modbus.command`'s.

        `refused` is told why it surely was not; of what nobody answered, a reading tells.
        """
        message = Message(topic, payload, self._clocks.now())
        reason = self._enqueue(message, self._clocks.steady() + within_s, refused)
        if reason:
            self.counts.writes["dropped"] += 1
            log.error("command_dropped", extra={"topic": topic, "reason": reason})
            refused(reason)

    def _enqueue(self, message: Message, expires_s: float, refused: Callable[[str], None]) -> str:
        """Why it is not written, empty where it will be tried."""
        try:
            reading = read_command(message)
        except ValueError as error:
            return str(error)
        if why := self._why_lost(reading.device):
            return why
        bus = self.buses[reading.device.bus]
        table, address = min(reading.words)
        words = [reading.words[table, place] for _, place in sorted(reading.words)]
        command = Command(message.topic, reading.device, table, address, words, expires_s, refused)
        return "" if bus.command(command) else "too many wait for this bus"

    def _why_lost(self, device: Device) -> str:
        """Why a device cannot be asked; empty where it can."""
        bus = self.buses.get(device.bus)
        if bus is None:
            return _no_bus(device.bus)
        if bus.settings.is_serial and device.unit not in UNITS_OF_A_LINE:
            return f"{device}: a serial line has the units 1 to 247"
        return ""

    async def _put(self, message: Message, settle: Callable[[Exception | None], None]) -> bool:
        return await self._inbox.put_soon(Delivery(message, settle))


def _in_force(table: MappingTable) -> list[RegisterMapping]:
    refused = {error.mapping for error in table.errors}
    return [each for each in table.mappings if each.iri not in refused]


def _no_bus(name: str) -> str:
    return f"[modbus] buses has no {name!a}"
