"""The payload of a poll: the registers of one device as they were read, as JSON.

    {"bus": "cellar", "unit": 1, "holding": {"100": [215, 3]}, "coil": {"0": [1, 0]}}
    {"bus": "cellar", "unit": 1, "refused": [["input", 300, 2, "illegal data address"]]}
    {"bus": "cellar", "unit": 1, "silent": "no answer in 1 s"}

A member for each table has the first address of each request and what stood from there on.
`refused` are requests that the device answered with an exception. Place on the way: written by the
gate, kept and tried like every message, read by the format "modbus". A command has the same form.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adapters.modbus.register import BITS, MOST_ADDRESS, TABLES, Device, Register
from adapters.values.fault import Fault, FaultReason
from adapters.values.payload import Json, Payload
from adapters.values.result import JsonNumber

MOST_WORDS = 20_000

Runs = Mapping[str, Mapping[int, Sequence[int]]]
"""By table, the words from an address on."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that got an exception: where it began, how many, and why."""

    table: str
    address: int
    count: int
    why: str

    def concerns(self, register: Register) -> bool:
        """Whether the register is among those that were asked for."""
        first, last = self.address, self.address + self.count
        is_apart = register.address >= last or register.address + register.count <= first
        return self.table == register.table and not is_apart


@dataclass(frozen=True, slots=True)
class Reading:
    """What a device said, once; `silent` is why it said nothing, empty where it did."""

    device: Device
    words: Mapping[tuple[str, int], int] = field(default_factory=dict)
    refused: tuple[Refused, ...] = ()
    silent: str = ""

    def of(self, register: Register) -> list[int] | None:
        """The words of a register; None where they were not asked for together."""
        words = self.words
        table = register.table
        try:
            return [words[table, place] for place in register.places]
        except KeyError:
            return None


def reading_payload(
    device: Device, runs: Runs, refused: Sequence[Refused] = (), silent: str = ""
) -> bytes:
    """The bytes of a message; `runs` are what was read, or is to be written.

    >>> reading_payload(Device("cellar", 1), {"holding": {100: [215]}})
    b'{"bus":"cellar","unit":1,"holding":{"100":[215]}}'
    """
    document: dict[str, object] = {"bus": device.bus, "unit": device.unit}
    for table, by_address in runs.items():
        document[table] = {str(address): list(words) for address, words in by_address.items()}
    if refused:
        document["refused"] = [[r.table, r.address, r.count, r.why] for r in refused]
    if silent:
        document["silent"] = silent
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def read_reading(payload: Payload) -> Reading | Fault:
    """What a payload says; a Fault where it is none of these documents. Never raises."""
    document = payload.document()
    if isinstance(document, Fault):
        return document
    try:
        return _reading(document)
    except ValueError as error:
        return Fault(None, FaultReason.MALFORMED, str(error))


def _reading(document: Json) -> Reading:
    if not isinstance(document, dict):
        raise ValueError("registers are an object with bus and unit")
    bus = document.get("bus")
    if not isinstance(bus, str) or "unit" not in document:
        raise ValueError("the members bus and unit say whose registers these are")
    device = Device(bus, _whole(document["unit"], 255, "unit"))
    words: dict[tuple[str, int], int] = {}
    for table in TABLES:
        runs = document.get(table)
        if runs is not None:
            _take_runs(table, runs, words)
    refused = document.get("refused", [])
    if not isinstance(refused, list):
        raise ValueError("refused is a list")
    silent = document.get("silent", "")
    if not isinstance(silent, str):
        raise ValueError("silent is a text")
    return Reading(device, words, tuple(map(_refused, refused)), silent)


def _take_runs(table: str, runs: Json, words: dict[tuple[str, int], int]) -> None:
    if not isinstance(runs, dict):
        raise ValueError(f"{table} is an object of addresses")
    most = 1 if table in BITS else 0xFFFF
    for text, run in runs.items():
        if not text.isascii() or not text.isdigit() or len(text) > 5 or not isinstance(run, list):
            raise ValueError(f"{table} has a list behind each address")
        address = int(text)
        if address + len(run) > MOST_ADDRESS + 1 or len(words) + len(run) > MOST_WORDS:
            raise ValueError(f"{table} {address} has more than there is")
        for place, word in enumerate(run, start=address):
            words[table, place] = _whole(word, most, table)


def _whole(value: Json, most: int, what: str) -> int:
    if type(value) is JsonNumber and value.isdigit() and len(value) <= 5:
        number = int(value)
        if number <= most:
            return number
    raise ValueError(f"{what} has whole numbers of 0 to {most}")


def _refused(entry: Json) -> Refused:
    if isinstance(entry, list) and len(entry) == 4:
        table, address, count, why = entry
        if isinstance(table, str) and isinstance(why, str):
            first = _whole(address, MOST_ADDRESS, "refused")
            return Refused(table, first, _whole(count, MOST_ADDRESS, "refused"), why)
    raise ValueError("refused has table, address, count and reason")
