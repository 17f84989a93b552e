"""What the name beside a value may mean, and the words by which a value is true or false.

Place on the way: proposals for messages that nobody has announced, documents and bare values. A
meaning is only one where shape and unit of the value do not contradict it.
"""

from collections.abc import Iterator
from dataclasses import replace

from adapters.values.meaning import Meaning, Told
from adapters.values.payload import Json
from adapters.values.properties import VOCABULARY, Shape
from adapters.values.result import STRING, JsonNumber, Result, json_result
from adapters.values.usual_words import Usual, plain_word, usual

_MOST_LEVELS = 3

VALUES = frozenset({"value", "val", "v", "reading", "result", "data", "measure", "measurement"})
STATES = frozenset({"state", "status"})
"""Names that say only that something is a value."""


def readings(name: str, told: Told, value: Json) -> Iterator[Usual]:
    """What a name may mean: `C` is a degree where that fits, 0 and 1 are truth values."""
    if told.unit in {"C", "F"}:
        degrees = usual(name, replace(told, unit=f"°{told.unit}"))
        yield Usual(degrees.meaning, f"°{told.unit}") if degrees.meaning.is_known else degrees
    yield usual(name, told)
    if _is_bit(value) or _opposites(name, value):
        yield usual(name, replace(told, shape=Shape.TRUTH))


def _is_bit(value: Json) -> bool:
    return type(value) is JsonNumber and value in {"0", "1"}


def topic_names(topic: str) -> Iterator[str]:
    """The last level that is no number and no word for a value, and one that is before it."""
    levels = [each for each in reversed(topic.split("/")) if each and not each.isdigit()]
    said = [each for each in levels if plain_word(each) not in VALUES | STATES]
    for place, level in enumerate(said[:_MOST_LEVELS]):
        if place == 0 or plain_word(level) not in _THINGS:
            yield level
        if plain_word(level) in _BLOCKING:
            return


_THINGS = frozenset({"light", "power", "energy", "water", "sound", "speed", "current"})
"""Levels before the last one that are rather what is measured than what of it."""

_BLOCKING = frozenset({"level", "set", "mode", "target", "min", "max", "limit", "threshold"})
"""A level after which the one before it is no property any more: light/level is no illuminance."""


def truth_words(meaning: Meaning, value: Json) -> tuple[str, str]:
    """The words for true and false, where they do not read so by themselves."""
    if not meaning.is_known or VOCABULARY[meaning.name].shape is not Shape.TRUTH:
        return "", ""
    return ("1", "0") if _is_bit(value) else _opposites(meaning.name, value) or ("", "")


def _opposites(name: str, value: Json) -> tuple[str, str] | None:
    """The pair of words that a text is one of, by the property; None where it is of none."""
    result = json_result(value) if type(value) is str else None
    if not isinstance(result, Result) or result.datatype != STRING:
        return None
    term = name if name in _OPPOSITES else usual(name, Told(shape=Shape.TRUTH)).meaning.quantity
    for pair in _OPPOSITES.get(term, ()):
        for spelled in (str.lower, str.upper, str.capitalize):
            if value in (spelled(pair[0]), spelled(pair[1])):
                return spelled(pair[0]), spelled(pair[1])
    return None


_OPPOSITES = {
    "opening": (("opened", "closed"), ("open", "close"), ("open", "shut")),
    "water_leak": (("leak", "normal"), ("wet", "dry"), ("leak", "no leak"), ("detected", "clear")),
    "occupancy": (("occupied", "vacant"), ("occupied", "unoccupied"), ("occupied", "clear")),
    "motion": (("motion", "clear"), ("detected", "clear"), ("motion", "no motion")),
    "presence": (("home", "away"), ("present", "absent"), ("home", "not_home")),
    "smoke": (("smoke", "clear"), ("detected", "clear"), ("alarm", "normal")),
    "locked": (("locked", "unlocked"),),
    "tamper": (("tampered", "ok"), ("tamper", "clear")),
    "battery_low": (("low", "ok"), ("low", "normal")),
    "rain": (("wet", "dry"), ("raining", "dry")),
}
