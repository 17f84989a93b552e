"""Modbus devices that obey a test: pymodbus's own server, its answers bent where that is asked for.

Over TCP on a free port, or as RTU at one end of a pair of pseudo-terminals.
"""

import asyncio
import os
import tty
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

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

    `refused` are exceptions by address, of any request that has it. Nothing is answered while it
    `is_silent`, or to requests that begin at an address of `silent_at`.
    """

    unit: int = 1
    asked: list[tuple[int, int, int]] = field(default_factory=list)
    refused: dict[int, ExcCodes] = field(default_factory=dict)
    is_silent: bool = False
    silent_at: frozenset[int] = frozenset()
    registers: dict[int, int] = field(default_factory=dict)
    written: list[tuple[int, list[int]]] = field(default_factory=list)
    is_deaf: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def act(  # noqa: PLR0917 - the library calls it so
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
                values[:] = current[address - start : address - start + count]  # type: ignore[assignment]
            for place, word in zip(places, words, strict=False):
                if not self.is_deaf and place in self.registers:
                    self.registers[place] = word
        return None

    @property
    def says_nothing(self) -> bool:
        """Whether the last request gets no answer."""
        return self.is_silent or (bool(self.asked) and self.asked[-1][1] in self.silent_at)

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
    """Devices behind one port, which is told."""
    port = port or free_port()
    server = ModbusTcpServer(
        [device.simulated() for device in devices],
        address=(LOOPBACK, port),
        ignore_missing_devices=True,
        trace_packet=partial(_swallow, devices, 6),
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
        trace_packet=partial(_swallow, devices, 0),
    )
    async with _serving(server):
        yield


def _swallow(devices: Sequence[Device], place: int, is_sent: bool, packet: bytes) -> bytes:
    """What goes out of a frame, whose unit stands at `place`."""
    if not is_sent:
        return packet
    is_silent = any(each.unit == packet[place] and each.says_nothing for each in devices)
    return b"" if is_silent else packet


@asynccontextmanager
async def delaying(port: int, late_s: dict[int, float]) -> AsyncIterator[int]:
    """A port in front of another one, behind which some units answer late, by unit."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        behind, forward = await asyncio.open_connection(LOOPBACK, port)

        async def back() -> None:
            while frame := await behind.read(260):
                loop.call_later(late_s.get(frame[6], 0.0), writer.write, frame)

        task = asyncio.create_task(back())
        with suppress(ConnectionError):
            while request := await reader.read(260):
                forward.write(request)
        task.cancel()
        forward.close()
        writer.close()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def _serving(server: Server) -> AsyncIterator[None]:
    await server.serve_forever(background=True)
    try:
        yield
    finally:
        await server.shutdown()  # type: ignore[no-untyped-call]


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
