"""`document_proposals`: a mapping for each value of a document that no family knows.

Place on the way: discovery, of the formats "json", "cbor" and "msgpack". What a value is of is read
from its name, from the unit behind it or beside it, from its neighbours (`{"type": "temperature",
"value": 21.5}`) and, where it is only called a value, from the level of the topic. Nothing is
certain: each proposal has a question, and what contradicts itself keeps its own name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from adapters.adapter import Fault
from adapters.documents.json_path import member_step
from adapters.documents.leaves import (
    IDENTITIES,
    KINDS,
    Leaf,
    Place,
    document_leaves,
    member_called,
)
from adapters.documents.naming import STATES, VALUES, readings, topic_names, truth_words
from adapters.documents.shared_topics import SharedTopics, is_short
from adapters.values.device_time import read_time
from adapters.values.mapping import Mapping
from adapters.values.meaning import Told
from adapters.values.memory import Memory
from adapters.values.numbers.quantity import Quantity, quantity
from adapters.values.payload import Json
from adapters.values.properties import Shape
from adapters.values.proposal import Names, Proposal
from adapters.values.result import BOOLEAN, NUMERIC, json_result
from adapters.values.units import unit_iri
from adapters.values.usual_words import Usual, plain_word, usual

MAX_LEAVES = 200
_WHAT = "Is this a measured value, in this unit, and of what?"

_TIMES = (
    *("timestamp", "time", "datetime", "ts", "at", "date", "measuredat", "observedat", "sampledat"),
    *("timestampms", "timems", "unixtime", "epoch", "utc", "lastseen", "eventtime"),
)
_UNITS = ("unit", "units", "uom", "unitofmeasurement", "unitofmeasure", "unitcode")
_NOT_MEASURED = frozenset(
    {
        *IDENTITIES,
        *KINDS,
        *_UNITS,
        *("model", "modelid", "brand", "manufacturer", "vendor", "firmware", "firmwareversion"),
        *("version", "fw", "sw", "hw", "ip", "ipaddress", "ssid", "hostname", "host", "protocol"),
    }
)
"""Words for what describes a device or a value, where it is a text."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A value as it may be measured: its shape, and the unit that stands in it or beside it."""

    shape: Shape
    unit: str | None = None
    question: str = ""


def document_proposals(
    family: str, topic: str, document: Json, names: Names, memory: Memory
) -> Sequence[Proposal]:
    """A mapping for each value of an object or array; what it measures is a person's to say."""
    if not isinstance(document, dict | list):
        return ()
    whose = memory.of(SharedTopics).members(topic, document)
    found = islice(document_leaves(document), MAX_LEAVES)
    proposals = (_proposal(family, topic, leaf, whose, names) for leaf in found)
    return [each for each in proposals if each is not None]


def _proposal(
    family: str, topic: str, leaf: Leaf, whose: Sequence[str], names: Names
) -> Proposal | None:
    read = _read(leaf)
    if read is None:
        return None
    found, kind = _meaning(leaf, topic, Told(read.unit, read.shape))
    condition = _condition(kind, _text_at(leaf, kind)) if kind else ""
    member = f"{leaf.path} {condition}" if condition else leaf.path
    meaning, words = found.meaning, truth_words(found.meaning, leaf.value)
    is_number = read.shape is Shape.NUMBER and not any(words)
    sensor, feature = names.sensor(family, topic, member), names.feature(family, topic)
    behind = "".join(f"/{{{each}}}" for each in whose)
    mapping = Mapping(
        names.mapping(family, topic, member),
        topic,
        family,
        sensor + behind,
        names.observed_property(meaning),
        feature + behind,
        leaf.path,
        (found.unit or read.unit) if is_number else None,
        time_selector=_time_path(leaf),
        true_value=words[0],
        false_value=words[1],
        condition=condition,
    )
    question = " ".join(filter(None, (_WHAT, read.question, _whose_question(leaf, whose))))
    return Proposal(mapping, family, topic, f"{topic} {leaf.path}", meaning, question=question)


def _read(leaf: Leaf) -> _Read | None:
    """None for what is no value of anything: a time, a name of the device, an empty text."""
    key = plain_word(leaf.keys[-1]) if leaf.keys else ""
    if leaf.path == _time_path(leaf) or (isinstance(leaf.value, bool) and key in _UNITS):
        return None
    if key in _NOT_MEASURED and type(leaf.value) is str:
        return None
    if key in _NOT_MEASURED and key in IDENTITIES:
        return None
    result = json_result(leaf.value)
    if isinstance(result, Fault):
        return None
    unit, question = _unit_beside(leaf)
    if result.datatype in NUMERIC:
        return _Read(Shape.NUMBER, unit, question)
    if result.datatype == BOOLEAN:
        return _Read(Shape.TRUTH)
    written = quantity(result.lexical, "", unit_iri(unit) if unit else None)
    if isinstance(written, Fault):
        return _Read(Shape.NUMBER, unit, f"{written.detail}.")
    if isinstance(written, Quantity):
        return _Read(Shape.NUMBER, written.unit or unit, question)
    return None if key in _TIMES else _Read(Shape.WORD)


def _unit_beside(leaf: Leaf) -> tuple[str | None, str]:
    """The unit that the object tells of this value, and what to ask where it is none."""
    if not leaf.keys or not leaf.within:
        return None, ""
    key, place = leaf.keys[-1], leaf.within[0]
    own = [plain_word(key) + word for word in _UNITS]
    is_the_value = plain_word(key) in VALUES | STATES
    told = member_called(place, [*own, *(_UNITS if is_the_value else ())])
    if told is None or type(told[1]) is not str or told[0] == key:
        return None, ""
    if unit_iri(told[1]) is None:
        return None, f"Which QUDT unit is {told[1][:40]!a}?"
    return told[1], ""


def _meaning(leaf: Leaf, topic: str, told: Told) -> tuple[Usual, str]:
    """By the first name that says something, and the path to it where it is a text beside it."""
    for path, name in _candidates(leaf, topic):
        for each in readings(name, told, leaf.value):
            if each.meaning.is_known:
                return each, path
    own = leaf.keys[-1] if leaf.keys else topic.rpartition("/")[2]
    return usual(own, told), ""


def _candidates(leaf: Leaf, topic: str) -> Iterator[tuple[str, str]]:
    """Names that may say what the value is of, the nearest first; with the path of a text."""
    if leaf.keys and plain_word(leaf.keys[-1]) not in VALUES | STATES:
        yield "", leaf.keys[-1]
        return
    if leaf.within:
        place = leaf.within[0]
        kind = member_called(place, (*KINDS, "name", "sensor", "label"))
        if kind is not None and type(kind[1]) is str:
            yield place.path + member_step(kind[0]), kind[1]
    above = [key for key in reversed(leaf.keys[:-1]) if plain_word(key) not in VALUES | STATES]
    yield from (("", key) for key in above[:1])
    if not above:
        yield from (("", level) for level in topic_names(topic))


def _condition(path: str, told: str) -> str:
    """That the text at `path` is this one; empty where the elements of the path are named so."""
    if not path or f"='{told}']" in path or "=" in path:
        return ""
    quoted = told.replace("\\", "\\\\").replace("'", "\\'")
    return f"@{path.removeprefix('$')} == '{quoted}'"


def _text_at(leaf: Leaf, path: str) -> str:
    """The text of a member beside the value, whose path this is."""
    place = leaf.within[0]
    return next(
        value
        for key, value in place.members.items()
        if isinstance(value, str) and place.path + member_step(key) == path
    )


def _time_path(leaf: Leaf) -> str:
    """Where the device's time stands: in the innermost object that has one which can be read."""
    for place in leaf.within:
        path = _time_of(place)
        if path:
            return path
    return ""


def _time_of(place: Place) -> str:
    for word in _TIMES:
        told = member_called(place, (word,))
        if told and isinstance(told[1], str) and not isinstance(read_time(told[1]), Fault):
            return place.path + member_step(told[0])
    return ""


def _whose_question(leaf: Leaf, whose: Sequence[str]) -> str:
    if whose or len(leaf.within) == 0:
        return ""
    told = member_called(leaf.within[-1], IDENTITIES)
    if told is None or not isinstance(told[1], str) or leaf.within[-1].path != "$":
        return ""
    if not is_short(told[0]):
        return ""
    return f"Do several devices share the topic? Then {{${member_step(told[0])}}} tells them apart."
