"""Modbus devices that obey a test: pymodbus's own server, its answers bent where that is asked for.

Over TCP on a free port, or as RTU at one end of a pair of pseudo-terminals.
"""

import asyncio
import os
import tty
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field

from pymodbus.constants import ExcCodes
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from tests.kit.gateways import LOOPBACK, free_port

SIZE = 200
"""Registers of each table of a device, from 0 on; there are 16 bits."""

_OF_BITS = frozenset({1, 2, 5, 15})

Server = ModbusTcpServer | ModbusSerialServer


@dataclass(slots=True)
class Device:
    """A unit: `asked` are its requests as (function, address, count).

    `refused` are exceptions by address, of any request that has it; `late_s` is how long it thinks.
    """

    unit: int = 1
    asked: list[tuple[int, int, int]] = field(default_factory=list)
    refused: dict[int, ExcCodes] = field(default_factory=dict)
    late_s: float = 0.0
    late_at: frozenset[int] = frozenset()
    registers: dict[int, int] = field(default_factory=dict)
    written: list[tuple[int, list[int]]] = field(default_factory=list)
    is_deaf: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def act(
        self,
        function: int,
        start: int,
        address: int,
        count: int,
        current: list[int],
        values: list[int] | list[bool] | None,
    ) -> ExcCodes | None:
        """What the server asks before it answers."""
        self.asked.append((function, address, count))
        self.changed.set()
        places = range(address, address + count)
        if self.late_s and (not self.late_at or self.late_at & set(places)):
            await asyncio.sleep(self.late_s)
        for place in places:
            if place in self.refused:
                return self.refused[place]
        is_of_bits = function in _OF_BITS
        for place, word in self.registers.items():
            if not is_of_bits:
                current[place - start] = word
        if values is not None:
            words = [int(each) for each in values]
            self.written.append((address, words))
            if self.is_deaf and not is_of_bits:
                values[:] = current[address - start : address - start + count]
            for place, word in zip(places, words, strict=False):
                if not self.is_deaf and place in self.registers:
                    self.registers[place] = word
        return None

    async def until(self, condition: Callable[[], bool], timeout_s: float = 20.0) -> None:
        """Wait until requests have made the condition true."""
        async with asyncio.timeout(timeout_s):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    def simulated(self) -> SimDevice:
        """As the library has it: the four tables are apart."""
        bits = [SimData(0, count=16, values=False, datatype=DataType.BITS)]
        words = [SimData(0, count=SIZE, values=0, datatype=DataType.REGISTERS)]
        blocks = (bits, bits, words, words)
        return SimDevice(self.unit, simdata=blocks, use_bit_addressing=True, action=self.act)


@asynccontextmanager
async def tcp(devices: Sequence[Device], port: int = 0) -> AsyncIterator[int]:
    """Devices behind one port, which is told; units that are none of them are silent."""
    port = port or free_port()
    server = ModbusTcpServer(
        [device.simulated() for device in devices],
        address=(LOOPBACK, port),
        ignore_missing_devices=True,
    )
    async with _serving(server):
        yield port


@asynccontextmanager
async def rtu(devices: Sequence[Device], terminal: str) -> AsyncIterator[None]:
    """Devices at one end of a line."""
    server = ModbusSerialServer(
        [device.simulated() for device in devices],
        port=terminal,
        baudrate=9600,
        ignore_missing_devices=True,
    )
    async with _serving(server):
        yield


@asynccontextmanager
async def _serving(server: Server) -> AsyncIterator[None]:
    await server.serve_forever(background=True)
    try:
        yield
    finally:
        await server.shutdown()


class Cable:
    """A pair of pseudo-terminals, `ends` by their paths; what one writes the other reads.

    `cut` carries nothing any more, `mend` does again; `garble` is what is done to the bytes of the
    device.
    """

    def __init__(self) -> None:
        self._masters: list[int] = []
        self._slaves: list[int] = []
        self.ends: list[str] = []
        self.is_cut = False
        self.garble: Callable[[bytes], bytes] = lambda data: data
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> "Cable":
        for _ in range(2):
            master, slave = os.openpty()
            tty.setraw(master)
            tty.setraw(slave)
            os.set_blocking(master, False)
            self._masters.append(master)
            self._slaves.append(slave)
            self.ends.append(os.ttyname(slave))
        first, second = self._masters
        self._loop.add_reader(first, self._carry, first, second, False)
        self._loop.add_reader(second, self._carry, second, first, True)
        return self

    def __exit__(self, *_: object) -> None:
        for master in self._masters:
            self._loop.remove_reader(master)
        for each in (*self._masters, *self._slaves):
            with suppress(OSError):
                os.close(each)

    def _carry(self, source: int, target: int, is_device: bool) -> None:
        with suppress(OSError):
            data = os.read(source, 1024)
            if not self.is_cut:
                os.write(target, self.garble(data) if is_device else data)


@contextmanager
def cable() -> Iterator[Cable]:
    """One, as long as the context lasts; in the event loop."""
    with Cable() as made:
        yield made


@asynccontextmanager
async def answering(answer: Callable[[bytes], bytes]) -> AsyncIterator[int]:
    """A TCP peer that answers whatever it likes to each request; its port is told."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while request := await reader.read(260):
                if reply := answer(request):
                    writer.write(reply)
                    await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
