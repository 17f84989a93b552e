r"""`ByteField`: one value in a run of bytes, written in one line of a byte table.

Place on the way: what `byte_table` and the binary generic format read a payload with.

    u16be@0:0+14 /1000 !0x3fff       kind @first byte :lowest bit+bits, then what follows, in order

    u8 .. u64, i8 .. i64   unsigned, two's complement; beyond one byte with `be` or `le`
    f32be, f64le           IEEE 754
    bool                   a byte, or a bit of it with `:bit`
    hex3, text8            that many bytes; without a number all that are left
    *0.01  /10  +50000     value = raw * scale + constant, in decimal arithmetic without loss
    !0x8000,0xffff         raw values (after the bits were cut out) that say "not available"
    ?6&0x7f=1,9            only where byte 6, masked, is 1 or 9; elsewhere there is no such value
    =0:closed,1:open       words for the raw values; another raw value is a fault

A raw integer that is two's complement may be written as `!-32768` or `!0x8000`.
"""

import re
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation

from adapters.documents.binary_float import Order, float_text
from adapters.values.device_time import EXACT
from adapters.values.fault import Fault, FaultReason
from adapters.values.payload import utf8_text
from adapters.values.result import (
    DECIMAL,
    FALSE,
    INTEGER,
    TRUE,
    Result,
    captured_result,
    number_result,
    string_result,
)

_NOTATION = re.compile(
    r"(?P<kind>[uif](?P<bits>8|16|24|32|40|48|56|64)(?P<order>be|le)?|bool|(?:hex|text)(?P<size>\d{1,4})?)"
    r"@(?P<at>\d{1,4})(?::(?P<low>\d{1,2})(?:\+(?P<count>\d{1,2}))?)?"
    r"(?:\s*(?P<by>[*/])\s*(?P<scale>-?\d+(?:\.\d+)?))?"
    r"(?:\s*(?P<add>[+-]\s*\d+(?:\.\d+)?))?"
    r"(?:\s*!(?P<absent>[-\w,]+))?"
    r"(?:\s*\?(?P<test>\d{1,4}(?:&\w+)?=[\w,]+))?"
    r"(?:\s*=(?P<words>\w+:[^,:]+(?:,\w+:[^,:]+)*))?"
)
MAX_NOTATION_CHARS = 256
_EXACTLY = Context(prec=28, traps=[Inexact, InvalidOperation, DivisionByZero])


@dataclass(frozen=True, slots=True)
class Condition:
    """That byte `at` of the run, under `mask`, is one of `values`."""

    at: int
    mask: int
    values: frozenset[int]

    def holds(self, data: bytes) -> bool:
        """False as well where the run is too short."""
        return self.at < len(data) and data[self.at] & self.mask in self.values


@dataclass(frozen=True, slots=True)
class ByteField:
    """One value of a run of bytes; `compile` makes it of the notation above.

    >>> ByteField.compile("i16be@1 *0.005 !0x8000").read(bytes.fromhex("0512fc"))
    Result(lexical='24.300', datatype='http://www.w3.org/2001/XMLSchema#decimal')
    """

    kind: str
    at: int
    size: int
    order: Order = "big"
    low: int = 0
    bits: int = 0
    scale: Decimal = Decimal(1)
    add: Decimal = Decimal(0)
    absent: frozenset[int] = frozenset()
    condition: Condition | None = None
    words: tuple[tuple[int, str], ...] = ()

    @classmethod
    def compile(cls, text: str) -> "ByteField":
        """Raises ValueError, with the reason."""
        match = _NOTATION.fullmatch(text.strip()) if len(text) <= MAX_NOTATION_CHARS else None
        if match is None:
            raise ValueError(f"{text[:40]!a} is no field: kind@byte, then *scale +constant !absent")
        parts = match.groupdict()
        field = cls(
            kind=_kind(parts),
            at=int(parts["at"]),
            size=_size(parts),
            order="little" if parts["order"] == "le" else "big",
            low=int(parts["low"] or 0),
            bits=_bits(parts),
            scale=_scale(parts),
            add=Decimal((parts["add"] or "0").replace(" ", "")),
            absent=frozenset(_raw(word) for word in (parts["absent"] or "").split(",") if word),
            condition=_condition(parts["test"]),
            words=_words(parts["words"]),
        )
        field._refuse_defects(parts)
        return field

    def read(self, data: bytes) -> Result | Fault | None:
        """The value in `data`; None where the field's condition does not hold. Never raises."""
        if self.condition is not None and not self.condition.holds(data):
            return None
        end = self.at + self.size if self.size else len(data)
        if end > len(data) or self.at >= len(data):
            detail = f"bytes {self.at} to {end - 1} are wanted, there are {len(data)}"
            return Fault(None, FaultReason.MALFORMED, detail)
        run = data[self.at : end]
        if self.kind in {"hex", "text"}:
            return _text_result(self.kind, run)
        return self._float(run) if self.kind == "f" else self._integer(run)

    def _integer(self, run: bytes) -> Result | Fault:
        unsigned = int.from_bytes(run, self.order)
        unsigned >>= self.low
        unsigned &= (1 << self.bits) - 1
        signed = unsigned - ((unsigned >> (self.bits - 1)) << self.bits)
        raw = signed if self.kind == "i" else unsigned
        if unsigned in self.absent or raw in self.absent:
            return _not_available(raw)
        if self.kind == "bool":
            return TRUE if raw else FALSE
        if self.words:
            return _word(self.words, raw)
        return self._scaled(Decimal(raw))

    def _float(self, run: bytes) -> Result | Fault:
        if int.from_bytes(run, self.order) in self.absent:
            return _not_available("the bits")
        text = float_text(run, self.order)
        if text is None:
            return Fault(None, FaultReason.NOT_FINITE, "the float is infinite or no number")
        return number_result(text) if self._is_plain else self._scaled(Decimal(text))

    @property
    def _is_plain(self) -> bool:
        return self.scale == 1 and self.add == 0

    def _scaled(self, raw: Decimal) -> Result:
        number = EXACT.add(EXACT.multiply(raw, self.scale), self.add)
        exponent = number.as_tuple().exponent
        return Result(format(number, "f"), INTEGER if exponent == 0 else DECIMAL)

    def _refuse_defects(self, parts: dict[str, str | None]) -> None:
        if self.size > 1 and self.kind in {"u", "i", "f"} and not parts["order"]:
            raise ValueError("a number of several bytes says be or le")
        if self.kind == "f" and self.size not in {4, 8}:
            raise ValueError("a float has 32 or 64 bits")
        if self.kind in {"f", "hex", "text"} and parts["low"]:
            raise ValueError("only integers have bits to cut out")
        if self.kind in {"bool", "hex", "text"} and not self._is_plain:
            raise ValueError("only numbers are scaled")
        if self.kind not in {"hex", "text"} and self.low + self.bits > self.size * 8:
            raise ValueError(f"there are {self.size * 8} bits")


def _kind(parts: dict[str, str | None]) -> str:
    kind = parts["kind"] or ""
    return kind[0] if parts["bits"] else kind.rstrip("0123456789")


def _size(parts: dict[str, str | None]) -> int:
    if parts["bits"]:
        return int(parts["bits"]) // 8
    return 1 if parts["kind"] == "bool" else int(parts["size"] or 0)


def _bits(parts: dict[str, str | None]) -> int:
    whole = _size(parts) * 8
    if parts["count"]:
        return int(parts["count"]) or whole
    return 1 if parts["low"] else whole


def _scale(parts: dict[str, str | None]) -> Decimal:
    number = Decimal(parts["scale"] or 1)
    if parts["by"] != "/":
        return number
    try:
        return _EXACTLY.divide(Decimal(1), number)
    except ArithmeticError:
        raise ValueError(f"1/{number} is no finite decimal; give it as *scale") from None


def _raw(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"{text[:40]!a} is no raw value, as 255 or 0xff") from None


def _condition(text: str | None) -> Condition | None:
    if not text:
        return None
    place, _, values = text.partition("=")
    at, _, mask = place.partition("&")
    wanted = frozenset(_raw(value) for value in values.split(",") if value)
    return Condition(int(at), _raw(mask) if mask else 0xFF, wanted)


def _words(text: str | None) -> tuple[tuple[int, str], ...]:
    pairs = (pair.partition(":") for pair in text.split(",")) if text else ()
    return tuple((_raw(raw), word.strip()) for raw, _, word in pairs)


def _word(words: tuple[tuple[int, str], ...], raw: int) -> Result | Fault:
    for code, word in words:
        if code == raw:
            return string_result(word)
    return Fault(None, FaultReason.NOT_A_VALUE, f"{raw} is none of the known codes")


def _text_result(kind: str, run: bytes) -> Result | Fault:
    if kind == "hex":
        return string_result(run.hex())
    text = utf8_text(run)
    return text if isinstance(text, Fault) else captured_result(text)


def _not_available(raw: int | str) -> Fault:
    return Fault(None, FaultReason.SENTINEL, f"{raw} stands for not available")
