"""Modbus put together: the mappings in force say what is asked, the buses run as long as we do."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from adapters.values.mapping import Mapping
from gateway.app.reception import Reception
from gateway.app.tasks import Tasks
from gateway.config.settings import Config
from gateway.gates.modbus.gate import ModbusGate
from gateway.ingest.mappings import MappingTable
from gateway.runtime.clocks import Clocks
from gateway.runtime.loop_calls import LoopCalls


def modbus_of(config: Config, clocks: Clocks, reception: Reception) -> ModbusGate:
    """The buses of the configuration, which may be none.

    Raises ConfigurationError where there are some and the extra `modbus` is missing.
    """
    return ModbusGate(config.modbus.buses, reception.inbox, clocks)


@asynccontextmanager
async def asking(
    gate: ModbusGate, reception: Reception, loop_calls: LoopCalls, tasks: Tasks
) -> AsyncIterator[None]:
    """Registers are read as long as the context lasts."""
    table = reception.mappings
    gate.follow(_in_force(table))
    table.on_change(lambda _filters: loop_calls.call(_follow, gate, table))
    async with AsyncExitStack() as running:
        for name, bus in gate.buses.items():
            await running.enter_async_context(tasks.task(bus.run, f"modbus {name}"))
        yield


def _follow(gate: ModbusGate, table: MappingTable) -> None:
    gate.follow(_in_force(table))


def _in_force(table: MappingTable) -> list[Mapping]:
    refused = {error.mapping for error in table.errors}
    return [each for each in table.mappings if each.iri not in refused]
