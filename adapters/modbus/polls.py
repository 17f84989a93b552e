"""`Poll`: which registers of a device are asked for together, made of the mappings in force.

Place on the way: mappings in, requests out, for the gate. Registers side by side are one request,
what lies between is never asked for: there are devices that refuse it.

Source: MODBUS Application Protocol Specification V1.1b3 (2012), 6.1 to 6.4: at most 125 registers,
2000 bits a request.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from adapters.modbus.register import BITS, Device, Register
from adapters.modbus.topics import is_device_topic
from adapters.values.mapping import Mapping

MOST_REGISTERS = 125
BITS_A_REGISTER = 16

FORMAT_NAME = "modbus"


class Span(NamedTuple):
    """One value: its first address and how many registers or bits."""

    address: int
    size: int

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.address + self.size


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a device; `parts` are the values in it, in order, none cut in two.

    >>> Request("input", (Span(10, 2), Span(12, 1))).count
    3
    """

    table: str
    parts: tuple[Span, ...]

    @property
    def address(self) -> int:
        """The first address."""
        return self.parts[0].address

    @property
    def count(self) -> int:
        """How many registers or bits, up to the last of the values."""
        return max(part.end for part in self.parts) - self.address

    def halves(self) -> tuple["Request", "Request"]:
        """The same in two, where there are several values."""
        middle = len(self.parts) // 2
        return Request(self.table, self.parts[:middle]), Request(self.table, self.parts[middle:])


class PollKey(NamedTuple):
    """What is asked for together: by topic, device and interval."""

    topic: str
    device: Device
    interval_s: float


@dataclass(frozen=True, slots=True)
class Poll:
    """What one message is made of; `lasts_s` is the shortest `expiresAfter` of its mappings."""

    key: PollKey
    requests: tuple[Request, ...]
    lasts_s: float = inf


class Named(NamedTuple):
    """A register that a mapping names; what it says holds for `lasts_s`."""

    topic: str
    register: Register
    lasts_s: float = inf


def named_registers(mappings: Iterable[Mapping]) -> Iterator[Named]:
    """The registers of mappings of this format; one that does not compile asks for nothing."""
    for mapping in mappings:
        if mapping.format == FORMAT_NAME and is_device_topic(mapping.topic_filter):
            with suppress(ValueError):
                register = Register.parse(mapping.selector)
                yield Named(mapping.topic_filter, register, mapping.expires_after_s or inf)


def polls_of(
    named: Iterable[Named], interval_s: float, most: int = MOST_REGISTERS
) -> tuple[Poll, ...]:
    """What is asked for together.

    `interval_s` is for selectors that say none, `most` how many registers one request may have.
    """
    groups: dict[PollKey, list[Named]] = {}
    for each in named:
        register = each.register
        every_s = interval_s if register.interval_s is None else register.interval_s
        groups.setdefault(PollKey(each.topic, register.device, every_s), []).append(each)
    return tuple(_poll(key, group, most) for key, group in sorted(groups.items()))


def _poll(key: PollKey, group: Sequence[Named], most: int) -> Poll:
    requests = requests_of([each.register for each in group], most)
    return Poll(key, requests, min(each.lasts_s for each in group))


def requests_of(registers: Sequence[Register], most: int = MOST_REGISTERS) -> tuple[Request, ...]:
    """As few requests as their places allow, each with at most `most` registers.

    >>> made = requests_of([Register.parse(f"b/1 holding {at} int16") for at in (7, 8, 20)])
    >>> [(each.address, each.count) for each in made]
    [(7, 2), (20, 1)]
    """
    found: list[Request] = []
    spans = {(each.table, Span(each.address, each.count)) for each in registers}
    for table, span in sorted(spans):
        before = found[-1] if found and found[-1].table == table else None
        longest = most * BITS_A_REGISTER if table in BITS else most
        if before is not None and _joins(before, span, longest):
            found[-1] = Request(table, (*before.parts, span))
        else:
            found.append(Request(table, (span,)))
    return tuple(found)


def _joins(before: Request, span: Span, longest: int) -> bool:
    """Whether it begins within what was asked for or right behind, and is not too much."""
    is_near = span.address <= before.address + before.count
    return is_near and span.end - before.address <= longest
