"""`Register`: one value of a Modbus device, as the selector of a mapping writes it.

    cellar/1 holding 100 int16
    cellar/1 40101 int16                  the same, as data sheets number them from 1
    cellar/1 input 0x10 float32 cdab every 5 !0x7fc00000
    cellar/1 coil 3

First the name of the bus ([modbus] buses) and the unit identifier, then table and address (from 0,
as in the request), then the type. In any order behind it: the order of bytes, `every` how many
seconds it is read, and after `!` raw values that mean "not available".

Source: MODBUS Application Protocol Specification V1.1b3 (2012), 4.3 and 4.4: the four tables, their
addresses 0 to 65535, numbered from 1 in the data model.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

TABLES = ("coil", "discrete", "input", "holding")
"""Two of single bits, two of registers of 16 bits; coil and holding can be written."""

BITS = frozenset({"coil", "discrete"})
WRITTEN = frozenset({"coil", "holding"})
ORDERS = ("abcd", "cdab", "badc", "dcba")
"""The bytes of two registers, `a` the most significant: as Modbus has them; its registers, its
bytes, and both exchanged."""

MOST_ADDRESS = 65_535
LONGEST_TEXT = 60
"""Registers of a text; two characters each."""

SHORTEST_S, LONGEST_S = 0.1, 86_400.0
MAX_CHARS = 300

_DEVICE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})/([0-9]{1,3})")
_NUMBER = re.compile(r"0x[0-9A-Fa-f]{1,16}|[0-9]{1,20}")
_NUMBERED = re.compile(r"([0134])([0-9]{4,5})")
_TABLE_OF = {"0": "coil", "1": "discrete", "3": "input", "4": "holding"}
_TYPE = re.compile(r"(u?)(int|float)(16|32|64)")
_TEXT = re.compile(r"string:([1-9][0-9]{0,2})")
_BIT = re.compile(r"bit:([0-9]{1,2})")
_DECIMAL = re.compile(r"-?[0-9]{1,32}(?:\.[0-9]{1,32})?")
_TAKES_ONE = frozenset({"every", "scale", "offset"})
_TYPES = "int16, uint16, int32, uint32, int64, uint64, float32, float64, string:N or bit:N"


class Device(NamedTuple):
    """Who is asked: the name of a bus, and the unit identifier of 0 to 255."""

    bus: str
    unit: int

    def __str__(self) -> str:
        return f"{self.bus}/{self.unit}"


@dataclass(frozen=True, slots=True)
class Register:
    """Where a value stands and how it is read; `count` registers (or bits) from `address`.

    `kind` is int, uint, float, string or bit, `bit` which one of a register, None for a coil.
    `absent` are raw values, all registers as one unsigned number, that stand for no value.
    `interval_s` is None where the selector does not say. `scale` and `offset` are those of a
    command: the value is the number of the registers times scale plus offset.
    """

    device: Device
    table: str
    address: int
    kind: str
    count: int
    order: str = "abcd"
    bit: int | None = None
    absent: frozenset[int] = field(default=frozenset())
    interval_s: float | None = None
    scale: Decimal = Decimal(1)
    offset: Decimal = Decimal(0)

    @classmethod
    def parse(cls, text: str, *, scaled: bool = False) -> "Register":
        """The register that `text` names; `scaled` allows scale and offset, as commands have them.

        Raises ValueError with what to write instead.

        >>> register = Register.parse("cellar/1 30011 float32 cdab every 5")
        >>> register.table, register.address, register.count, register.interval_s
        ('input', 10, 2, 5.0)
        """
        if len(text) > MAX_CHARS:
            raise ValueError(f"is longer than {MAX_CHARS} characters")
        words = text.split()
        if len(words) < 2:
            raise ValueError("write BUS/UNIT TABLE ADDRESS TYPE: cellar/1 holding 100 int16")
        device = _device(words[0])
        table, address, rest = _place(words[1:])
        said = _Said.of(rest)
        return _register(device, table, address, said, scaled=scaled)

    @property
    def places(self) -> range:
        """The addresses that it takes."""
        return range(self.address, self.address + self.count)


@dataclass(slots=True)
class _Said:
    """What stands behind the address, each at most once."""

    type: str = ""
    order: str = ""
    absent: set[int] = field(default_factory=set)
    numbers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, words: list[str]) -> "_Said":
        said = cls()
        left = iter(words)
        for word in left:
            said._take(word, left)
        return said

    def _take(self, word: str, left: Iterator[str]) -> None:
        if word in _TAKES_ONE:
            if word in self.numbers:
                raise ValueError(f"says {word} twice")
            self.numbers[word] = next(left, "")
        elif word in ORDERS:
            self.order = _once(self.order, word, "order")
        elif word.startswith("!"):
            self.absent.add(_whole(word[1:], "a raw value"))
        else:
            self.type = _once(self.type, word, "type")

    def number(self, name: str, default: Decimal) -> Decimal:
        text = self.numbers.get(name)
        if text is None:
            return default
        if not _DECIMAL.fullmatch(text):
            raise ValueError(f"{name} is followed by a decimal number, not by {text[:40]!a}")
        return Decimal(text)


def _once(before: str, word: str, what: str) -> str:
    if before:
        raise ValueError(f"has two words for its {what}: {before} and {word[:40]!a}")
    return word


def _device(word: str) -> Device:
    found = _DEVICE.fullmatch(word)
    if found is None or int(found[2]) > 255:
        raise ValueError(
            f"{word[:80]!a} is no BUS/UNIT: the name of a bus of [modbus], and 0 to 255"
        )
    return Device(found[1], int(found[2]))


def _place(words: list[str]) -> tuple[str, int, list[str]]:
    """Table, address from 0, and what stands behind."""
    if words[0] in TABLES:
        if len(words) < 2:
            raise ValueError(f"says no address: {words[0]} 100")
        return words[0], _address(_whole(words[1], "an address")), words[2:]
    numbered = _NUMBERED.fullmatch(words[0])
    if numbered is None:
        raise ValueError(
            f"{words[0][:40]!a} is no table ({', '.join(TABLES)}) and no number such as 40101"
        )
    number = int(numbered[2])
    if number == 0:
        raise ValueError(f"{words[0]}: these numbers begin with 1; write {words[0][:-1]}1")
    return _TABLE_OF[numbered[1]], _address(number - 1), words[1:]


def _whole(text: str, what: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:40]!a} is not {what}: write 100 or 0x64")
    return int(text, 0) if text.startswith("0x") else int(text)


def _address(number: int) -> int:
    if number > MOST_ADDRESS:
        raise ValueError(f"addresses end with {MOST_ADDRESS}, {number} is beyond")
    return number


def _register(device: Device, table: str, address: int, said: _Said, *, scaled: bool) -> Register:
    kind, count, bit = _type(table, said.type)
    if address + count - 1 > MOST_ADDRESS:
        raise ValueError(f"addresses end with {MOST_ADDRESS}, {count} from {address} are beyond")
    if not scaled and said.numbers.keys() & {"scale", "offset"}:
        raise ValueError("scale and offset are members of the mapping, not of its selector")
    _refuse_misplaced(table, kind, said)
    if any(raw >> (16 * count) for raw in said.absent):
        raise ValueError(f"a raw value behind ! has more than the {16 * count} bits of its type")
    scale = said.number("scale", Decimal(1))
    if not scale:
        raise ValueError("with a scale of 0 every number is the same")
    return Register(
        device,
        table,
        address,
        kind,
        count,
        said.order or "abcd",
        bit,
        frozenset(said.absent),
        _interval(said),
        scale,
        said.number("offset", Decimal(0)),
    )


def _refuse_misplaced(table: str, kind: str, said: _Said) -> None:
    is_number = kind in {"int", "uint", "float"}
    if table in BITS and (said.order or said.absent):
        raise ValueError(f"a {table} is one bit: it has no order and no raw values")
    if not is_number and said.numbers.keys() & {"scale", "offset"}:
        raise ValueError("scale and offset are for numbers")


def _type(table: str, word: str) -> tuple[str, int, int | None]:
    """Kind, how many registers or bits, and which bit of one."""
    if table in BITS:
        if word not in {"", "bit"}:
            raise ValueError(f"a {table} is one bit, no {word[:40]}: leave the type out")
        return "bit", 1, None
    if number := _TYPE.fullmatch(word):
        sign, kind, bits = number.groups()
        if kind == "int" or (not sign and bits != "16"):
            return sign + kind, int(bits) // 16, None
    elif (text := _TEXT.fullmatch(word)) and int(text[1]) <= LONGEST_TEXT:
        return "string", int(text[1]), None
    elif (bit := _BIT.fullmatch(word)) and int(bit[1]) < 16:
        return "bit", 1, int(bit[1])
    if not word:
        raise ValueError(f"says no type: {_TYPES}")
    raise ValueError(
        f"{word[:40]!a} is none of {_TYPES} (N: registers to {LONGEST_TEXT}, bit to 15)"
    )


def _interval(said: _Said) -> float | None:
    if "every" not in said.numbers:
        return None
    seconds = float(said.number("every", Decimal(0)))
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise ValueError(f"every is followed by {SHORTEST_S:g} to {LONGEST_S:g} seconds")
    return seconds
