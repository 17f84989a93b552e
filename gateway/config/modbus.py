"""The settings of Modbus: the buses that devices are on; which devices, mappings say.

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gateway.config.values import Section, Token

MOST_BUSES = 256
UNCHANGED_S = 60.0
"""A reading that says what the one before said costs the disk as much and tells nobody anything."""


class BusSettings(Section):
    """One way to devices: a host that speaks Modbus TCP, or a serial line with RTU.

    A device that has not answered in `timeout_s` is passed over; `pause_s` is what the line is
    left alone between requests, the standard's silence at least. `registers` is how many one
    request may have; `interval_s` is how often a register is read whose mapping does not say. A
    value that stands as it stood is told again after `unchanged_s`, or earlier where its mapping
    says that it expires; 0 for each time.
    """

    name: Token
    host: str = ""
    port: Annotated[int, Field(ge=1, le=65_535)] = 502
    device: str = ""
    baud: Annotated[int, Field(ge=300, le=4_000_000)] = 9600
    parity: Literal["none", "even", "odd"] = "none"
    stop_bits: Literal[1, 2] = 1
    timeout_s: Annotated[float, Field(ge=0.02, le=60, allow_inf_nan=False)] = 1.0
    interval_s: Annotated[float, Field(ge=0.1, le=86_400, allow_inf_nan=False)] = 10.0
    pause_s: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] = 0.0
    unchanged_s: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = UNCHANGED_S
    registers: Annotated[int, Field(ge=1, le=125)] = 125

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.host) == bool(self.device):
            raise ValueError(
                f'bus "{self.name}" has either host = "192.168.1.40" (Modbus TCP) '
                'or device = "/dev/ttyUSB0" (RTU)'
            )
        return self

    @property
    def is_serial(self) -> bool:
        """Whether it is a line that devices share, and not a host."""
        return bool(self.device)

    @property
    def address(self) -> str:
        """For people: where it is."""
        return self.device or f"{self.host}:{self.port}"


class ModbusSettings(Section):
    """Buses by name (docs/families/modbus.md); without one nothing is asked, nothing is needed."""

    buses: Annotated[tuple[BusSettings, ...], Field(max_length=MOST_BUSES)] = ()

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [bus.name for bus in self.buses]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two buses are called {', '.join(twice)}; give each its own name")
        lines = [bus.address for bus in self.buses if bus.is_serial]
        if twice := sorted({line for line in lines if lines.count(line) > 1}):
            raise ValueError(f"{', '.join(twice)} is one line: give it one name")
        return self
