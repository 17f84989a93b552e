"""Registers as values, and values as registers.

Place on the way: `decoded` gives the result of an observation, `encoded` what a command writes.
Registers are whole numbers of 16 bits, most significant byte first in the frame; which byte of a
value of several registers is where, each vendor has decided for itself (`Register.order`).

Source: MODBUS Application Protocol Specification V1.1b3 (2012), 4.2 (big-endian within a register).
"""

import math
import struct
from collections.abc import Sequence
from decimal import Context, Decimal, Inexact, InvalidOperation

from adapters.documents.binary_float import float_text
from adapters.modbus.register import Register
from adapters.values.fault import Fault, FaultReason
from adapters.values.result import (
    FALSE,
    INTEGER,
    TRUE,
    Result,
    number_result,
    string_result,
)

_EXACT = Context(prec=200, traps=[InvalidOperation])
_ON = {"true": 1, "on": 1, "1": 1, "false": 0, "off": 0, "0": 0}


def decoded(register: Register, words: Sequence[int]) -> Result | Fault:
    """The value of as many `words` as the register has; bits are 0 or 1, others 0 to 65535.

    >>> decoded(Register.parse("b/1 holding 0 float32 cdab"), [0x0000, 0x41AC])
    Result(lexical='21.5', datatype='http://www.w3.org/2001/XMLSchema#decimal')
    """
    if register.kind == "bit":
        bit = register.bit
        is_on = bool(words[0]) if bit is None else bool(words[0] >> bit & 1)
        return _absence(register, words[0]) or (TRUE if is_on else FALSE)
    if register.kind == "int" and register.count == 1 and register.order in {"abcd", "cdab"}:
        word = words[0]
        signed = word - 0x10000 if word & 0x8000 else word
        return _absence(register, word) or Result(str(signed), INTEGER)
    run = _ordered(b"".join(word.to_bytes(2, "big") for word in words), register.order)
    if register.kind == "string":
        return _text(run)
    absence = _absence(register, int.from_bytes(run, "big"))
    if absence is not None:
        return absence
    if register.kind == "float":
        text = float_text(run, "big")
        if text is None:
            return Fault(None, FaultReason.NOT_FINITE, "the registers are no finite number")
        return number_result(text)
    return Result(str(int.from_bytes(run, "big", signed=register.kind == "int")), INTEGER)


def encoded(register: Register, value: str) -> list[int]:
    """The words of a value given as text: a number, true or false, or what a string register takes.

    Raises ValueError with why it cannot be written.

    >>> encoded(Register.parse("b/1 holding 0 int16 scale 0.1", scaled=True), "-21.5")
    [65321]
    """
    if register.kind == "bit":
        if register.bit is not None:
            raise ValueError("a bit of a register cannot be written: its others would be too")
        if value.lower() not in _ON:
            raise ValueError(f"{value[:40]!a} is neither true nor false")
        return [_ON[value.lower()]]
    if register.kind == "string":
        run = value.encode()
        if len(run) > 2 * register.count:
            raise ValueError(f"{len(run)} bytes are more than its {2 * register.count}")
        run = run.ljust(2 * register.count, b"\0")
    else:
        run = _number_run(register, value)
    run = _ordered(run, register.order)
    return [int.from_bytes(run[at : at + 2], "big") for at in range(0, len(run), 2)]


def _absence(register: Register, raw: int) -> Fault | None:
    if raw not in register.absent:
        return None
    return Fault(None, FaultReason.SENTINEL, f"0x{raw:x} stands for no value")


def _ordered(run: bytes, order: str) -> bytes:
    """Most significant byte first, or as the device has it: each order is its own inverse.

    >>> _ordered(bytes([1, 2, 3, 4]), "cdab").hex()
    '03040102'
    """
    if order == "dcba":
        return run[::-1]
    pairs = [run[at : at + 2] for at in range(0, len(run), 2)]
    if order == "cdab":
        return b"".join(reversed(pairs))
    return b"".join(pair[::-1] for pair in pairs) if order == "badc" else run


def _text(run: bytes) -> Result | Fault:
    """Up to the first NUL; what pads it at the end is none of it."""
    try:
        text = run.partition(b"\0")[0].decode().strip()
    except UnicodeDecodeError as error:
        return Fault(None, FaultReason.INVALID_UTF8, f"{error.reason} at byte {error.start}")
    return string_result(text) if text else Fault(None, FaultReason.EMPTY, "the text is empty")


def _number_run(register: Register, value: str) -> bytes:
    number = _unscaled(register, value)
    size = 2 * register.count
    if register.kind == "float":
        code = ">f" if size == 4 else ">d"
        try:
            run = struct.pack(code, float(number))
        except OverflowError as error:
            raise ValueError(f"{value[:40]} is beyond float{8 * size}") from error
        if not math.isfinite(struct.unpack(code, run)[0]):
            raise ValueError(f"{value[:40]} is beyond float{8 * size}")
        return run
    if number != number.to_integral_value():
        raise ValueError(f"{value[:40]} is no whole multiple of {register.scale}")
    try:
        return int(number).to_bytes(size, "big", signed=register.kind == "int")
    except OverflowError as error:
        raise ValueError(f"{value[:40]} is beyond {register.kind}{8 * size}") from error


def _unscaled(register: Register, value: str) -> Decimal:
    try:
        number = Decimal(value)
    except InvalidOperation as error:
        raise ValueError(f"{value[:40]!a} is no number") from error
    if not number.is_finite() or abs(number.adjusted()) > 64:
        raise ValueError(f"{value[:40]!a} is no number that a register has")
    context = _EXACT.copy()
    quotient = context.divide(context.subtract(number, register.offset), register.scale)
    if register.kind != "float" and context.flags[Inexact]:
        raise ValueError(f"{value[:40]} is no whole multiple of {register.scale}")
    return quotient
