"""`Meaning`: which property a member of a device's messages is, and how sure that is.

Place on the way: each family looks its whole names up in a table of its own; here what the device
says of unit, type and category is held against the property. A contradiction is never smoothed
over: the member keeps its own name, and a person is asked where a table named a property.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from adapters.values.properties import VOCABULARY, Kind, Shape
from adapters.values.units import unit_iri


@dataclass(frozen=True, slots=True)
class Told:
    """What a device says of a member; None and empty where it says nothing.

    `unit` is a symbol of the crosswalk, `kind` what its category or settability shows.
    """

    unit: str | None = None
    shape: Shape | None = None
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class Meaning:
    """`name` is a term of the vocabulary where `is_known`, otherwise the device's own word.

    `question` is what the device contradicts itself in, empty where it does not.
    """

    name: str
    kind: Kind
    is_known: bool
    question: str = ""

    @property
    def quantity(self) -> str:
        """The term, empty where none is known."""
        return self.name if self.is_known else ""


NOTHING = Told()


def own(word: str, told: Told = NOTHING, question: str = "") -> Meaning:
    """What stands in no table keeps its own name; nobody knows that it is measured."""
    return Meaning(word or "value", told.kind or Kind.STATE, False, question)


def meaning(table: Mapping[str, str], name: str, told: Told = NOTHING) -> Meaning:
    """What `table` says of the whole `name`, unless the device contradicts.

    `table` is from a family's words to terms of VOCABULARY; several terms, with `|` between them,
    where shape and unit decide.

    >>> meaning({"temp": "temperature"}, "temp", Told("°C")).name
    'temperature'
    >>> meaning({"temp": "temperature"}, "temp", Told("W")).question
    "Which property is temp? 'W' is no unit of temperature."
    >>> meaning({"rain": "precipitation|rain"}, "rain", Told(shape=Shape.TRUTH)).name
    'rain'
    >>> meaning({"temp": "temperature"}, "color_temp").is_known
    False
    """
    choice = table.get(name)
    return own(name, told) if choice is None else named(choice, name, told)


def named(choice: str, word: str, told: Told = NOTHING) -> Meaning:
    """The first of the terms that nothing contradicts, or the device's own word."""
    found = [_held(term, word, told) for term in choice.split("|")]
    return next((each for each in found if each.is_known), found[0])


def _held(term: str, word: str, told: Told) -> Meaning:
    known = VOCABULARY[term]
    if told.kind is Kind.SETTING and known.kind not in {Kind.SETTING, Kind.STATE}:
        return own(word, told)  # a limit or an offset, not what is measured
    if told.shape not in {None, known.shape}:
        return own(word, told)
    unit = unit_iri(told.unit) if told.unit else None
    if unit is not None and not known.may_have(unit):
        question = f"Which property is {word[:60]}? {told.unit!a} is no unit of {term}."
        return own(word, told, question)
    is_of_device = told.kind is Kind.DIAGNOSTIC and known.kind is not Kind.EVENT
    return Meaning(term, Kind.DIAGNOSTIC if is_of_device else known.kind, True)


_OWN = {"own": None, "own-diagnostic": Kind.DIAGNOSTIC, "own-setting": Kind.SETTING}
_NO_UNIT = "-"


class Word(NamedTuple):
    """Terms of the vocabulary with `|` between them, or how a name of its own is classed."""

    choice: str
    unit: str | None


@dataclass(frozen=True, slots=True)
class WordTable:
    """Lines `term unit name name ...`.

    `-` is no unit. The term `own` keeps the name of the device and has the unit,
    `own-diagnostic` and `own-setting` say what it is beside.

    >>> table = WordTable.of("power W apower\\nown-diagnostic B fs_free")
    >>> table.meaning("apower").name, table.unit("fs_free"), table.meaning("fs_free").kind.name
    ('power', 'B', 'DIAGNOSTIC')
    >>> table.meaning("Apower").is_known
    False
    """

    words: Mapping[str, Word]

    @classmethod
    def of(cls, text: str) -> "WordTable":
        """The first line that has a name counts."""
        words: dict[str, Word] = {}
        for line in filter(None, map(str.strip, text.splitlines())):
            choice, unit, *names = line.split()
            for name in names:
                words.setdefault(name, Word(choice, None if unit == _NO_UNIT else unit))
        return cls(words)

    def __contains__(self, name: str) -> bool:
        return name in self.words

    def unit(self, name: str) -> str | None:
        """The symbol of the unit that the name always has."""
        word = self.words.get(name)
        return word.unit if word else None

    def meaning(self, name: str, told: Told = NOTHING, word: str = "") -> Meaning:
        """What `name` means; `word` is what it is called where it keeps its own name.

        The unit of the table stands where the device tells none.
        """
        known = self.words.get(name)
        if known is None:
            return own(word or name, told)
        if known.choice in _OWN:
            return own(word or name, replace(told, kind=told.kind or _OWN[known.choice]))
        unit = told.unit or known.unit
        is_unit = unit is not None and unit_iri(unit) is not None
        return named(known.choice, word or name, replace(told, unit=unit if is_unit else None))
