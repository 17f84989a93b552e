"""Byte tables: what the bytes of one model of device mean, as data instead of code.

Place on the way: a LoRaWAN uplink whose network server decoded nothing, and the broadcasts of a
Ruuvi tag, are read by a table; the names that it gives are those of the vendor's own decoder, so
a mapping's selector holds for either. The tables themselves stand in `adapters.lorawan.codecs`.

A layout is `Fixed` (each field at its place) or `Tagged` (items one after another, each behind a
tag that says what it is: Milesight, Elsys, Cayenne LPP). A table takes a layout by LoRaWAN port.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from adapters.lorawan.byte_field import ByteField
from adapters.values.fault import Fault, FaultReason
from adapters.values.result import Result

MAX_BYTES = 512
"""Twice what an uplink or a broadcast can have; a longer payload is none."""


class Found(NamedTuple):
    """A value of a table, or why there is none; `unit` is a symbol of the crosswalk or empty."""

    result: Result | Fault
    unit: str


class Reading(NamedTuple):
    """The values of a payload by name, and what was wrong with the rest of it."""

    found: dict[str, Found]
    faults: list[Fault]


@dataclass(frozen=True, slots=True)
class NamedField:
    """A field with its name and the symbol of its unit."""

    name: str
    unit: str
    field: ByteField


def fields(text: str) -> tuple[NamedField, ...]:
    """Fields from lines `name [unit] notation`; `[]` for no unit. See byte_field.

    >>> [each.name for each in fields("battery [%] u8@0" + chr(10) + "moves [] u8@1")]
    ['battery', 'moves']
    """
    return tuple(map(_named_field, filter(None, map(str.strip, text.splitlines()))))


def _named_field(line: str) -> NamedField:
    name, _, rest = line.partition(" [")
    unit, _, notation = rest.partition("]")
    return NamedField(name.strip(), unit, ByteField.compile(notation))


class Layout(Protocol):
    """How the bytes of a payload are divided."""

    def read(self, data: bytes) -> Reading:
        """What is in `data`. Never raises; linear in it."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """Each field at its own place."""

    fields: tuple[NamedField, ...]

    def read(self, data: bytes) -> Reading:
        """Every field whose condition holds; one beyond the end of `data` is a fault."""
        return Reading(dict(_found(self.fields, data, "")), [])


@dataclass(frozen=True, slots=True)
class Item:
    """What follows a tag: `length` bytes, all that are left (None), or as its first byte says."""

    length: int | None
    fields: tuple[NamedField, ...] = ()
    counted: bool = False

    def end(self, data: bytes, start: int) -> int:
        """Where the item that begins at `start` ends; beyond `data` where it is cut off."""
        if self.counted:
            return start + 1 + (data[start] if start < len(data) else 0)
        return len(data) if self.length is None else start + self.length


@dataclass(frozen=True, slots=True)
class Tagged:
    """Items behind tags of `tag_bytes`; with `channels` a channel number stands before the tag.

    A name that comes again in a payload, and every name with a channel, gets a number: `_2`.
    An unknown tag ends the reading, because nothing tells how long its item is.
    """

    tag_bytes: int
    items: Mapping[bytes, Item]
    channels: bool = False

    def read(self, data: bytes) -> Reading:
        """The fields of one item after the other, up to the first unknown tag."""
        reading = Reading({}, [])
        start = 0
        while start < len(data):
            head = start + self.channels
            tag = data[head : head + self.tag_bytes]
            item, start_of_item = self.items.get(tag), head + self.tag_bytes
            if item is None:
                reading.faults.append(
                    _malformed(f"{tag.hex() or 'nothing'} at byte {head} is no known tag")
                )
                break
            end = item.end(data, start_of_item)
            if end > len(data):
                reading.faults.append(_malformed(f"the item at byte {head} is cut off"))
                break
            suffix = f"_{data[start]}" if self.channels else ""
            for name, found in _found(item.fields, data[start_of_item:end], suffix):
                reading.found[_free(name, reading.found)] = found
            start = end
        return reading


@dataclass(frozen=True, slots=True)
class ByteTable:
    """The layouts of one model, or family of models, by port; `ports` None is every other port.

    `models` are the names under which network servers know it, as `model_key` writes them.
    """

    name: str
    models: frozenset[str]
    layouts: tuple[tuple[frozenset[int] | None, Layout], ...]

    def read(self, port: int | None, data: bytes) -> Reading:
        """What an uplink says. Never raises."""
        if len(data) > MAX_BYTES:
            return Reading({}, [_malformed(f"{len(data)} bytes are too long for {self.name}")])
        for ports, layout in self.layouts:
            if ports is None or port in ports:
                return layout.read(data)
        return Reading({}, [_malformed(f"{self.name} sends no values on port {port}")])


def model_key(text: str) -> str:
    """A model's name without case and without what is no letter or digit.

    >>> model_key("ERS-CO2") == model_key("ers co2")
    True
    """
    return "".join(filter(str.isalnum, text.casefold()))


def _found(named: tuple[NamedField, ...], data: bytes, suffix: str) -> Iterator[tuple[str, Found]]:
    for each in named:
        result = each.field.read(data)
        if result is not None:
            yield each.name + suffix, Found(result, each.unit)


def _free(name: str, taken: Mapping[str, Found]) -> str:
    """`name`, or with the first number that makes it another one."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _malformed(detail: str) -> Fault:
    return Fault(None, FaultReason.MALFORMED, detail)
