"""What Modbus counts, and what is wrong with its buses and devices."""

from collections.abc import Iterator

from gateway.gates.modbus.gate import ModbusGate
from gateway.runtime.alarms import AlarmKind, Condition, Source
from gateway.runtime.measures import Measure

_MOST_TOLD = 100


def modbus_measures(gate: ModbusGate) -> tuple[Measure, ...]:
    """Requests and writes by what became of them; devices, and those that are silent."""
    buses, counts = gate.buses.values(), gate.counts
    return (
        Measure(
            "modbus_requests",
            "requests for registers",
            lambda: dict(counts.requests),
            label="outcome",
        ),
        Measure(
            "modbus_writes", "commands to registers", lambda: dict(counts.writes), label="outcome"
        ),
        Measure(
            "modbus_forged",
            "messages of a broker in a device's name, not taken",
            lambda: gate.forged,
        ),
        Measure(
            "modbus_devices",
            "devices that are asked",
            lambda: sum(bus.devices for bus in buses),
            is_counter=False,
        ),
        Measure(
            "modbus_devices_silent",
            "of these, those that do not answer",
            lambda: sum(len(bus.silent) for bus in buses),
            is_counter=False,
        ),
        Measure(
            "modbus_buses_down",
            "buses that are not reached",
            lambda: sum(bool(bus.fault) for bus in buses),
            is_counter=False,
        ),
    )


def modbus_alarms(gate: ModbusGate) -> Source:
    """Buses that are not reached, devices that do not answer, mappings that ask nobody."""

    def look() -> Iterator[Condition]:
        for name, bus in gate.buses.items():
            if bus.fault:
                yield Condition(AlarmKind.MODBUS, f"[modbus] {name}", bus.fault, _BUS)
                continue
            for device, why in sorted(bus.silent.items())[:_MOST_TOLD]:
                what = f"{', '.join(bus.topics(device))}: {why}"
                yield Condition(AlarmKind.MODBUS, str(device), what, _DEVICE)
        for topic, why in sorted(gate.lost.items())[:_MOST_TOLD]:
            yield Condition(AlarmKind.MODBUS, topic, why, _MAPPING)

    return look


_BUS = "look at power, cable and address; correct [[modbus.buses]]: it is tried again by itself"
_DEVICE = (
    "look at power, cable, unit, baud and parity: sosa-gateway modbus read; "
    "it is asked again by itself, more and more seldom"
)
_MAPPING = "correct the selector of its mappings, or name the bus in [[modbus.buses]]"
