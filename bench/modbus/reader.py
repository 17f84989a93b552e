"""`python -m bench.modbus.reader PLAN`: registers read and decoded, and nothing kept, as a process.

PLAN is JSON: `ports`, `registers`, `seconds`. The gate of the gateway with its buses, mappings and
inbox, behind which each message is decoded and settled: all that Modbus adds to a reading by MQTT.
Says its CPU time and what came, after a start that does not count.
"""

import asyncio
import json
import sys
import threading
from collections.abc import Mapping
from contextlib import AsyncExitStack
from time import process_time

from adapters.registry import Registry
from adapters.values.mapping import Mapping as RegisterMapping
from gateway.config.modbus import BusSettings
from gateway.gates.modbus.gate import ModbusGate
from gateway.ingest.inbox import Inbox
from gateway.runtime.clocks import SYSTEM_CLOCKS

_START_S = 3.0
_MOST = 1_000


class Decoding:
    """The thread behind the inbox; `observations` counts what was decoded."""

    def __init__(self, inbox: Inbox, registry: Registry) -> None:
        self.observations = 0
        self._inbox = inbox
        self._registry = registry

    def run(self) -> None:
        """Until the inbox is closed."""
        while not self._inbox.is_drained:
            for delivery in self._inbox.take(_MOST):
                self.observations += len(self._registry.decode(delivery.message).observations)
                delivery.settle(None)


async def read(plan: Mapping[str, list[int]], registers: int, seconds: float) -> None:
    """Read the ports for so long."""
    ports = plan["ports"]
    mappings = [_mapping(at, place) for at in range(len(ports)) for place in range(registers)]
    registry, _ = Registry.compile(mappings)
    inbox = Inbox(10_000)
    decoding = Decoding(inbox, registry)
    buses = [_bus(at, port) for at, port in enumerate(ports)]
    gate = ModbusGate(buses, inbox, SYSTEM_CLOCKS)
    gate.follow(mappings)
    thread = threading.Thread(target=decoding.run, name="decoding", daemon=True)
    thread.start()
    async with AsyncExitStack() as running:
        for bus in gate.buses.values():
            task = asyncio.create_task(bus.run())
            running.callback(task.cancel)
        await asyncio.sleep(_START_S)
        before, cpu_s = decoding.observations, process_time()
        await asyncio.sleep(seconds)
        told = {"cpu_s": process_time() - cpu_s, "observations": decoding.observations - before}
    inbox.close()
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def _mapping(device: int, place: int) -> RegisterMapping:
    return RegisterMapping(
        f"urn:m:{device}:{place}",
        f"modbus/meter{device}",
        "modbus",
        f"urn:s:{device}:{place}",
        "urn:p:power",
        f"urn:f:{device}",
        f"b{device}/1 holding {place} int16",
        scale="0.1",
    )


def _bus(at: int, port: int) -> BusSettings:
    return BusSettings(name=f"b{at}", host="127.0.0.1", port=port, interval_s=1.0)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    asyncio.run(read(given, given["registers"], given["seconds"]))
