"""`python -m bench.modbus.devices PLAN`: Modbus devices as a process, each at a port of its own.

PLAN is JSON: `devices` and `registers` in numbers. Each time that a device is asked its registers
have all changed, or the first few, `moving`. It says its ports when it listens, and ends with its
standard input.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack

from pymodbus.constants import ExcCodes
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice


class Counting:
    """A device: a register says how often it was asked, plus its own address; `moving` of them."""

    def __init__(self, registers: int, moving: int) -> None:
        self._registers = registers
        self._moving = moving
        self._times = 0

    async def act(  # noqa: PLR0917 - the library calls it so
        self,
        function: int,
        start: int,
        address: int,
        count: int,
        current: list[int],
        values: list[int] | list[bool] | None,
    ) -> ExcCodes | None:
        """Before each answer."""
        del function, address, count, values
        self._times += 1
        for place in range(self._moving):
            current[place - start] = (self._times + place) & 0x7FFF
        return None

    def simulated(self) -> SimDevice:
        """As the library has it."""
        words = [SimData(0, count=self._registers, values=0, datatype=DataType.REGISTERS)]
        return SimDevice(1, simdata=words, action=self.act)


async def serve(devices: int, registers: int, moving: int) -> None:
    """Until standard input ends."""
    ports = []
    async with AsyncExitStack() as running:
        for _ in range(devices):
            device = Counting(registers, moving).simulated()
            server = ModbusTcpServer(device, address=("127.0.0.1", 0))
            await server.serve_forever(background=True)
            running.push_async_callback(server.shutdown)
            ports.append(server.transport.sockets[0].getsockname()[1])  # type: ignore[attr-defined]
        sys.stdout.write(json.dumps({"ports": ports}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    plan = json.loads(sys.argv[1])
    asyncio.run(serve(plan["devices"], plan["registers"], plan.get("moving", plan["registers"])))
