"""Proposals from LoRaWAN uplinks, of any network server.

Place on the way: "chirpstack" and "ttn" propose with it. Where the network server's codec gave
names only, their usual units are guessed and a person is asked; a byte table, or the schema of
normalized payloads, is certain of its units.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from adapters.adapter import Fault
from adapters.documents.json_path import JsonPath, leaves
from adapters.lorawan.byte_table import Reading
from adapters.lorawan.uplink import Codec, Uplink, read_frame
from adapters.lorawan.words import (
    NORMALIZED,
    battery_unit,
    codec_meaning,
    codec_unit,
    truth_words,
)
from adapters.values.mapping import Mapping
from adapters.values.meaning import Meaning, WordTable
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.result import BOOLEAN, NUMERIC, TRUE, JsonNumber, Result, json_result

MAX_PROPOSALS = 100


class _Value(NamedTuple):
    """A selector, what it means, the symbol of the unit, and whether these are certain."""

    selector: str
    meaning: Meaning
    unit: str | None
    is_certain: bool
    words: tuple[str, str] = ("", "")


def propose_uplink(
    family: str, uplink: Uplink, payload: Payload, names: Names
) -> Sequence[Proposal]:
    """A mapping for each decoded value, with the unit that is told or usual for its name."""
    if not uplink.device:
        return ()
    topic = payload.message.topic
    found = islice(_values(uplink), MAX_PROPOSALS)
    return [_proposal(family, uplink, topic, value, names) for value in found]


def propose_members(
    family: str, event: Uplink, topic: str, members: WordTable, names: Names
) -> Sequence[Proposal]:
    """A mapping for each member of an event that is no uplink, by the path that `members` has."""
    found = []
    for path in members.words:
        value = JsonPath.compile(path).find(event.event)
        if event.device and type(value) is JsonNumber:
            meaning = members.meaning(path, word=path.rpartition(".")[2])
            seen = _Value(path, meaning, members.unit(path), True)
            found.append(_proposal(family, event, topic, seen, names))
    return found


def _values(uplink: Uplink) -> Iterator[_Value]:
    return _decoded(uplink) if uplink.is_decoded else _read(uplink)


def _decoded(uplink: Uplink) -> Iterator[_Value]:
    told: dict[str, _Value] = {}
    for codec in next(filter(None, uplink.codecs)):
        for path, _, value in leaves(codec.document):
            name = path.removeprefix("$.")
            if name.startswith("$") or name in {"time", "timestamp"}:
                continue
            seen = _normalized(name, codec, value) if codec.units else _by_codec(name, value)
            if seen is not None:
                told.setdefault(seen.selector, seen)
    yield from told.values()


def _normalized(name: str, codec: Codec, value: Json) -> _Value | None:
    """By the schema; what is measured in the soil at a depth is a stream of that depth."""
    if name == "soil.depth":
        return None
    selector = f"{name}@{codec.depth}" if codec.depth and name.startswith("soil.") else name
    is_certain = name in NORMALIZED
    meaning = NORMALIZED.meaning(name) if is_certain else codec_meaning(name, None, value)
    return _Value(selector, meaning, NORMALIZED.unit(name), is_certain)


def _by_codec(name: str, value: Json) -> _Value:
    value = _as_number(value)
    unit = battery_unit(value) if name == "battery" else codec_unit(name)
    is_volts = name == "battery" and unit in {"V", "mV"}
    meaning = codec_meaning("battery_voltage" if is_volts else name, unit, value)
    is_number = type(value) is JsonNumber
    words = truth_words(meaning, value)
    return _Value(name, meaning, unit if is_number and not any(words) else None, False, words)


def _as_number(value: Json) -> Json:
    """A number in quotes is one, as in decoding."""
    result = json_result(value) if type(value) is str else None
    if isinstance(result, Result) and result.datatype in NUMERIC:
        return JsonNumber(result.lexical)
    return value


def _read(uplink: Uplink) -> Iterator[_Value]:
    table = uplink.table()
    reading = read_frame(uplink, table)
    if table is not None and isinstance(reading, Reading):
        for name, found in reading.found.items():
            value = _as_json(found.result)
            meaning = codec_meaning(name, found.unit or None, value)
            words, unit = truth_words(meaning, value), found.unit or None
            yield _Value(f"{table.name}:{name}", meaning, unit, True, words)


def _as_json(result: Result | Fault) -> Json:
    if isinstance(result, Fault):
        return JsonNumber("2")
    if result.datatype == BOOLEAN:
        return result == TRUE
    return JsonNumber(result.lexical) if result.datatype in NUMERIC else result.lexical


def _proposal(family: str, uplink: Uplink, topic: str, value: _Value, names: Names) -> Proposal:
    plain = value.selector.rpartition(":")[2].removeprefix("$.")
    true_value, false_value = value.words
    mapping = Mapping(
        names.mapping(family, uplink.device, plain),
        topic,
        family,
        names.sensor(family, uplink.device, plain),
        names.observed_property(value.meaning),
        names.feature(family, uplink.device),
        value.selector,
        value.unit,
        true_value=true_value,
        false_value=false_value,
    )
    question = "" if value.is_certain else "Is this a measured value, and is the unit right?"
    label = f"{plain} of {uplink.label or uplink.device}"
    return Proposal(mapping, family, uplink.device, label, value.meaning, question=question)
