"""Proposals from LoRaWAN uplinks, of any network server.

Place on the way: "chirpstack" and "ttn" propose with it. Where the network server's codec gave
names only, their usual units are guessed and a person is asked; a byte table, or the schema of
normalized payloads, is certain of its units.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from adapters.documents.json_path import leaves
from adapters.lorawan.byte_table import Reading
from adapters.lorawan.uplink import Uplink, read_frame
from adapters.values.mapping import Mapping
from adapters.values.meaning import Told
from adapters.values.payload import Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.usual_words import usual

MAX_PROPOSALS = 100


class _Value(NamedTuple):
    """A selector, the symbol of the unit, and whether that is certain."""

    selector: str
    unit: str | None
    is_certain: bool


def propose_uplink(
    family: str, uplink: Uplink, payload: Payload, names: Names
) -> Sequence[Proposal]:
    """A mapping for each decoded value, with the unit that is told or usual for its name."""
    if not uplink.device:
        return ()
    topic = payload.message.topic
    found = islice(_values(uplink), MAX_PROPOSALS)
    return [_proposal(family, uplink, topic, value, names) for value in found]


def _values(uplink: Uplink) -> Iterator[_Value]:
    return _decoded(uplink) if uplink.is_decoded else _read(uplink)


def _decoded(uplink: Uplink) -> Iterator[_Value]:
    told: dict[str, _Value] = {}
    for codec in next(filter(None, uplink.codecs)):
        for path, name, _ in leaves(codec.document):
            dotted = path.removeprefix("$.")
            if not dotted.startswith("$") and dotted != "time":
                unit = codec.units.get(dotted)
                guessed = usual(name).unit
                told[dotted] = _Value(dotted, unit or guessed, unit is not None)
    yield from told.values()


def _read(uplink: Uplink) -> Iterator[_Value]:
    table = uplink.table()
    reading = read_frame(uplink, table)
    if table is not None and isinstance(reading, Reading):
        for name, found in reading.found.items():
            yield _Value(f"{table.name}:{name}", found.unit or None, True)


def _proposal(family: str, uplink: Uplink, topic: str, value: _Value, names: Names) -> Proposal:
    plain = value.selector.rpartition(":")[2]
    meaning = usual(plain, Told(value.unit)).meaning
    mapping = Mapping(
        names.mapping(family, uplink.device, plain),
        topic,
        family,
        names.sensor(family, uplink.device, plain),
        names.observed_property(meaning),
        names.feature(family, uplink.device),
        value.selector,
        value.unit,
    )
    question = "" if value.is_certain else "Is this a measured value, and is the unit right?"
    label = f"{plain} of {uplink.label or uplink.device}"
    return Proposal(mapping, family, uplink.device, label, meaning, question=question)
