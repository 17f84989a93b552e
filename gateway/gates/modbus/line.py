"""`Line`: one connection to a bus, one request at a time; what became of it is a value.

Place on the way of the data: the only module that knows pymodbus, which is in the extra `modbus`.
A device that answers late is not mistaken for the next one: over TCP by the transaction
identifier, on a serial line by waiting, after a request without an answer, until one that is late
has passed.

Sources: MODBUS Application Protocol Specification V1.1b3 (2012), 7 (exceptions); MODBUS over
Serial Line V1.02 (2006), 2.5.1.1 (3.5 characters of silence between frames); MODBUS Messaging on
TCP/IP Implementation Guide V1.0b (2006), 4.2 (transaction identifier).
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum, unique
from importlib import import_module
from typing import Any, Protocol

from gateway.config.modbus import BusSettings
from gateway.errors import ConfigurationError

_BITS_A_CHARACTER = 11
_SILENCE_CHARACTERS = 3.5
_LEAST_SILENCE_S = 0.00175
_ILLEGAL_FUNCTION = 1
_UNREACHABLE = frozenset({0x0A, 0x0B})
"""A gateway of the bus says that who is behind it does not answer: that is no refusal."""

_EXCEPTIONS = {
    1: "illegal function",
    2: "illegal data address",
    3: "illegal data value",
    4: "device failure",
    5: "acknowledged, still at it",
    6: "device busy",
    8: "memory parity error",
    10: "gateway path unavailable",
    11: "gateway target does not respond",
}
ILLEGAL_ADDRESS, ILLEGAL_VALUE = 2, 3

_PARITIES = {"none": "N", "even": "E", "odd": "O"}
_LIBRARY_LOG = "pymodbus"


@unique
class Outcome(Enum):
    """What became of a request."""

    ANSWERED = "answered"
    REFUSED = "refused"
    SILENT = "silent"
    WRONG = "wrong"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Answer:
    """The words where there are any; else why there are none, and the exception code."""

    outcome: Outcome
    words: Sequence[int] = ()
    why: str = ""
    code: int = 0


class Asking(Protocol):
    """What a bus asks by."""

    async def read(self, unit: int, table: str, address: int, count: int) -> Answer:
        """Read registers or bits."""
        ...

    async def write(self, unit: int, table: str, address: int, words: Sequence[int]) -> Answer:
        """Write them."""
        ...

    def close(self) -> None:
        """Give the connection up; the next request makes a new one."""
        ...


def require_library() -> None:
    """Raises ConfigurationError where the extra is missing."""
    for name in ("pymodbus", "serial"):
        try:
            import_module(name)
        except ImportError as error:
            raise ConfigurationError(
                f"[modbus] names buses, and {error.name or name} is not installed",
                "pip install 'sosa-gateway[modbus]', or remove the buses",
            ) from error


class Line:
    """A connection made when it is needed; for one task of the event loop."""

    def __init__(self, bus: BusSettings) -> None:
        """Raises ConfigurationError where the extra is missing."""
        require_library()
        logging.getLogger(_LIBRARY_LOG).setLevel(logging.CRITICAL)  # it says each lost frame
        self._bus = bus
        self._silence_s = _silence_s(bus)
        self._client: Any = None
        self._defect = ""
        self._free_s = 0.0

    async def read(self, unit: int, table: str, address: int, count: int) -> Answer:
        """Ask for `count` registers or bits; as many words come back, or the answer is wrong."""
        name = _READS[table]

        def ask(client: Any) -> Awaitable[Any]:
            asked: Awaitable[Any] = getattr(client, name)(address, count=count, device_id=unit)
            return asked

        answer, response = await self._request(ask)
        if response is None:
            return answer
        has_bits = table in {"coil", "discrete"}
        given = response.bits if has_bits else response.registers
        is_right = response.function_code == _FUNCTIONS[table]
        # The last byte of bits is filled up.
        if not is_right or (len(given) != -(-count // 8) * 8 if has_bits else len(given) != count):
            return Answer(Outcome.WRONG, why=f"it answered {len(given)} where {count} were asked")
        return Answer(Outcome.ANSWERED, [int(word) for word in given[:count]])

    async def write(self, unit: int, table: str, address: int, words: Sequence[int]) -> Answer:
        """Write them; one register by function 6, and by 16 where the device knows no 6."""
        single = len(words) == 1
        answer = await self._write(unit, table, address, words, single=single)
        if single and table == "holding" and answer.code == _ILLEGAL_FUNCTION:
            answer = await self._write(unit, table, address, words, single=False)
        return answer

    async def _write(
        self, unit: int, table: str, address: int, words: Sequence[int], *, single: bool
    ) -> Answer:
        def ask(client: Any) -> Awaitable[Any]:
            asked: Awaitable[Any]
            if table == "coil" and single:
                asked = client.write_coil(address, bool(words[0]), device_id=unit)
            elif table == "coil":
                asked = client.write_coils(address, list(map(bool, words)), device_id=unit)
            elif single:
                asked = client.write_register(address, words[0], device_id=unit)
            else:
                asked = client.write_registers(address, list(words), device_id=unit)
            return asked

        answer, _ = await self._request(ask)
        return answer

    def close(self) -> None:
        """Give the connection up."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    async def _request(self, ask: Callable[[Any], Awaitable[Any]]) -> tuple[Answer, Any]:
        """The answer, and what it is made of where somebody gave one."""
        exceptions = import_module("pymodbus.exceptions")
        down = await self._connect()
        if down is not None:
            return down, None
        await self._leave_alone()
        self._defect = ""
        try:
            response = await ask(self._client)
        except exceptions.ConnectionException:
            return Answer(Outcome.DOWN, why=f"{self._bus.address}: the connection is lost"), None
        except exceptions.ModbusException:
            return await self._unanswered(), None
        finally:
            self._free_s = asyncio.get_running_loop().time() + self._silence_s
        if response.isError():
            return _refusal(response), None
        return Answer(Outcome.ANSWERED), response

    async def _unanswered(self) -> Answer:
        """On a serial line an answer that is late may still come: it is let pass."""
        if self._bus.is_serial:
            await asyncio.sleep(self._bus.timeout_s)
        if self._defect:
            return Answer(Outcome.WRONG, why=f"it sent what is no answer: {self._defect}")
        return Answer(Outcome.SILENT, why=f"no answer in {self._bus.timeout_s:g} s")

    async def _leave_alone(self) -> None:
        rest_s = self._free_s - asyncio.get_running_loop().time()
        if rest_s > 0:
            await asyncio.sleep(rest_s)

    async def _connect(self) -> Answer | None:
        """None where there is a connection; a device that cannot be opened is told why."""
        if self._client is None:
            self._client = self._made()
        if self._client.connected or await self._client.connect():
            return None
        return Answer(Outcome.DOWN, why=_why_not(self._bus))

    def _made(self) -> Any:
        bus = self._bus
        clients = import_module("pymodbus.client")
        kept = {"timeout": bus.timeout_s, "retries": 0, "reconnect_delay": 0}
        if bus.is_serial:
            client = clients.AsyncModbusSerialClient(
                bus.device,
                baudrate=bus.baud,
                parity=_PARITIES[bus.parity],
                stopbits=bus.stop_bits,
                **kept,
            )
        else:
            client = clients.AsyncModbusTcpClient(bus.host, port=bus.port, **kept)
        client.ctx.callback_data = self._guarded(client.ctx.callback_data)
        return client

    def _guarded(self, take: Callable[..., int]) -> Callable[..., int]:
        """What a peer sends costs its answer alone: the library raises for some of it."""

        def guarded(data: bytes, addr: object = None) -> int:
            try:
                return take(data, addr)
            except Exception as error:
                self._defect = ascii(str(error))[1:100]
                return len(data)

        return guarded


_READS = {
    "coil": "read_coils",
    "discrete": "read_discrete_inputs",
    "input": "read_input_registers",
    "holding": "read_holding_registers",
}
_FUNCTIONS = {"coil": 1, "discrete": 2, "input": 4, "holding": 3}


def _refusal(response: Any) -> Answer:
    code = int(getattr(response, "exception_code", 0))
    why = f"{_EXCEPTIONS.get(code, 'exception')} ({code})"
    is_refused = code not in _UNREACHABLE
    return Answer(Outcome.REFUSED if is_refused else Outcome.SILENT, why=why, code=code)


def _silence_s(bus: BusSettings) -> float:
    """How long the line is left alone between two requests."""
    if not bus.is_serial:
        return bus.pause_s
    characters_s = _SILENCE_CHARACTERS * _BITS_A_CHARACTER / bus.baud
    return max(bus.pause_s, characters_s, _LEAST_SILENCE_S)


def _why_not(bus: BusSettings) -> str:
    if not bus.is_serial:
        return f"{bus.address} takes no connection"
    if not os.path.exists(bus.device):
        return f"{bus.device} is not there"
    if not os.access(bus.device, os.R_OK | os.W_OK):
        return f"{bus.device} may not be opened by this user"
    return f"{bus.device} cannot be opened: another program may have it"
