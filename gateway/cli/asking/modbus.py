"""`sosa-gateway modbus`: registers of a device read once, to see it alive before it has mappings.

Place on the way of the data: beside it; the line is that of the gate, nothing is written or kept.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator, Sequence

from adapters.modbus.polls import BITS_A_REGISTER, MOST_REGISTERS
from adapters.modbus.register import BITS, ORDERS, Register
from adapters.modbus.words import decoded
from adapters.values.fault import Fault
from gateway.cli.options import Commands, add_command, add_config, add_group
from gateway.cli.verbs import VERBS
from gateway.config.file import load_config
from gateway.config.modbus import BusSettings
from gateway.config.settings import Config
from gateway.errors import BadRequestError, ConfigurationError, NotFoundError
from gateway.gates.modbus.line import Answer, Line, Outcome

_NUMBERED = {"coil": "", "discrete": "1", "input": "3", "holding": "4"}
_HINTS = {
    Outcome.DOWN: "look at power, cable and [[modbus.buses]]; a running gateway may have the line",
    Outcome.SILENT: "look at the unit, at baud, parity, stop_bits, and whether A and B are swapped",
    Outcome.REFUSED: "try another address, another table, or fewer with --count",
    Outcome.WRONG: "look at the port: it may be no Modbus",
}


def add(commands: Commands) -> None:
    """The command `modbus`."""
    inner = add_group(commands, "modbus", VERBS["modbus"].purpose)
    purpose = "registers as they stand now, in the ways in which they can be read"
    parser = add_command(inner, "read", _read, purpose)
    parser.add_argument("device", metavar="BUS/UNIT", help="a bus of gateway.toml, and 0 to 255")
    parser.add_argument(
        "place", metavar="PLACE", nargs="+", help="holding 100, input 0x64, coil 3, or 40101"
    )
    parser.add_argument("--count", type=int, default=1, metavar="N", help="how many; default: 1")
    add_config(parser)


def _read(options: argparse.Namespace) -> int:
    first = _first(options.device, options.place)
    most = MOST_REGISTERS * (BITS_A_REGISTER if first.table in BITS else 1)
    if not 1 <= options.count <= most:
        raise BadRequestError(f"--count {options.count}", f"one request has 1 to {most}")
    bus = _bus(load_config(options.config, os.environ), first.device.bus)
    answer = asyncio.run(_asked(bus, first, options.count))
    if answer.outcome is not Outcome.ANSWERED:
        raise NotFoundError(f"{first.device}: {answer.why}", _HINTS[answer.outcome])
    for row in _rows(first, answer.words):
        sys.stdout.write("  ".join(f"{cell:>{wide}}" for cell, wide in row).rstrip() + "\n")
    return 0


def _first(device: str, place: Sequence[str]) -> Register:
    text = " ".join((device, *place))
    for kind in ("", " uint16"):
        try:
            return Register.parse(text + kind)
        except ValueError as error:
            reason = str(error)
    raise BadRequestError(reason, "sosa-gateway modbus read cellar/1 holding 100 --count 10")


def _bus(config: Config, name: str) -> BusSettings:
    found = {bus.name: bus for bus in config.modbus.buses}
    if name not in found:
        known = ", ".join(found) or "none"
        hint = "write [[modbus.buses]] with name and host or device (docs/families/modbus.md)"
        raise ConfigurationError(f"[modbus] buses has no {name!r}, but {known}", hint)
    return found[name]


async def _asked(bus: BusSettings, first: Register, count: int) -> Answer:
    line = Line(bus)
    try:
        return await line.read(first.device.unit, first.table, first.address, count)
    finally:
        line.close()


Row = Sequence[tuple[str, int]]
"""Cells, each with its width."""

_WAYS = ("int16", "uint16", *(f"float32 {order}" for order in ORDERS[:2]), "int32 abcd")


def _rows(first: Register, words: Sequence[int]) -> Iterator[Row]:
    """A heading, then a line for each register: its address, its number, what it may be."""
    if first.table in BITS:
        for at, word in enumerate(words, start=first.address):
            yield (str(at), 7), ("true" if word else "false", 5)
        return
    yield ("address", 7), ("number", 8), ("hex", 6), *((way, 16) for way in _WAYS)
    for place, word in enumerate(words):
        at = first.address + place
        number = f"{_NUMBERED[first.table]}{at + 1:04d}"
        ways = ((_shown(first, at, way, words[place:]), 16) for way in _WAYS)
        yield (str(at), 7), (number, 8), (f"0x{word:04x}", 6), *ways


def _shown(first: Register, address: int, way: str, words: Sequence[int]) -> str:
    """What the registers from there on are in this way; nothing where there are too few."""
    try:
        register = Register.parse(f"{first.device} {first.table} {address} {way}")
    except ValueError:
        return ""
    if register.count > len(words):
        return ""
    result = decoded(register, words[: register.count])
    return "-" if isinstance(result, Fault) else result.lexical[:16]
