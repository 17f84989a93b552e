"""`Property`: what a reading is of, from the vocabulary that all families share.

Place on the way: families translate their own words by whole names into names of the vocabulary;
what stands in no table keeps its own name. Nothing is guessed from a part of a name.
Source: ontologies/properties.ttl.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, unique
from functools import lru_cache
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad, parse

import ontologies
from adapters.values.conversion import dimension

BASE = "https://sosa-gateway.example/property/"
"""What the IRIs of the vocabulary begin with, at every gateway."""

_GW = "https://sosa-gateway.example/ns#"
_UNIT = "http://qudt.org/schema/qudt/applicableUnit"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_TRUE = f"{_GW}meaningOfTrue"


@unique
class Kind(Enum):
    """Classes of properties; the values are terms of ontologies/gateway.ttl.

    A SETTING is told to a device and reported back, a DIAGNOSTIC is of the device itself and
    stays with it whatever room it is in, each EVENT counts, equal ones too.
    """

    MEASUREMENT = "Measurement"
    STATE = "State"
    SETTING = "Setting"
    DIAGNOSTIC = "Diagnostic"
    EVENT = "Event"


@unique
class Shape(Enum):
    """What the values of a property are."""

    NUMBER = "number"
    TRUTH = "truth"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Property:
    """A term: `name` ends its IRI, `units` are QUDT unit IRIs, the usual one first."""

    name: str
    kind: Kind
    label: str
    units: tuple[str, ...]
    shape: Shape

    @property
    def iri(self) -> str:
        """The same at every gateway."""
        return BASE + self.name

    def may_have(self, unit: str) -> bool:
        """Whether a QUDT unit IRI is of the property's quantity: one of its units, or convertible.

        >>> celsius = "http://qudt.org/vocab/unit/DEG_C"
        >>> VOCABULARY["dew_point"].may_have(celsius), VOCABULARY["power"].may_have(celsius)
        (True, False)
        """
        wanted = {_dimension(each) for each in self.units} - {_RATIO}
        return unit in self.units or _dimension(unit) in wanted


_RATIO = "ratio"
"""A ratio has its own units only: parts per million of a gas are no percent of a battery."""


@lru_cache(maxsize=512)
def _dimension(unit: str) -> str:
    """In words; a unit that converts to nothing is a dimension of its own."""
    return dimension(unit) or unit


def _read() -> Mapping[str, Property]:
    told: dict[str, list[Quad]] = {}
    for quad in parse(path=str(Path(ontologies.__path__[0]) / "properties.ttl")):
        if isinstance(quad.subject, NamedNode) and quad.subject.value != BASE:
            told.setdefault(quad.subject.value.removeprefix(BASE), []).append(quad)
    return {name: _property(name, quads) for name, quads in told.items()}


def _property(name: str, quads: list[Quad]) -> Property:
    said: dict[str, list[str]] = {}
    for quad in quads:
        if isinstance(quad.object, NamedNode | Literal):
            said.setdefault(quad.predicate.value, []).append(quad.object.value)
    units = tuple(said.get(_UNIT, ()))
    without = Shape.TRUTH if _TRUE in said else Shape.WORD
    kind = Kind(said[_TYPE][0].removeprefix(_GW))
    return Property(name, kind, said[_LABEL][0], units, Shape.NUMBER if units else without)


VOCABULARY = _read()
"""The terms by name."""
