"""`Statements`: the triples of rows by the shapes of a profile, of wanted predicates alone.

    row -> shape of its kind -> statements of wanted predicates -> quads of the default graph

Place: between the rows of all times and the store that a query over them is asked. They are those
that the gateway's own templates write; a store brings literals into their canonical form.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from pyoxigraph import Literal, NamedNode, Quad

from gateway.journal.past.row import Row
from gateway.rdf.namespaces import GW, XSD
from jsap.shapes.shape import Mark, Part, Shape, Shapes

WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
QUANTITIES = frozenset(XSD + name for name in ("integer", "decimal", "double", "float"))
"""The datatypes that have a unit."""

_UNITLESS = "http://qudt.org/vocab/unit/UNITLESS"
_STRING = NamedNode(XSD + "string")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")
_node = lru_cache(4096)(NamedNode)
_Text = Callable[[Row], str]
_Make = Callable[[Row], NamedNode | Literal]


def _home(row: Row) -> str:
    return f"{row.base}{row.gateway}"


def _own(row: Row) -> str:
    return f"{row.base}{row.gateway}/observation/{row.epoch}-{row.sequence}"


def written(time_us: int) -> str:
    """A time as xsd:dateTime: UTC with Z, without trailing zeros.

    >>> written(1_500_000)
    '1970-01-01T00:00:01.5Z'
    """
    text = (_EPOCH + timedelta(microseconds=time_us)).isoformat().removesuffix("+00:00")
    return (text.rstrip("0") if "." in text else text) + "Z"


_TEXTS: Mapping[str, _Text] = {
    "observation": _own,
    "message": lambda row: f"{_home(row)}/message/{row.epoch}-{row.message}",
    "sensor": lambda row: row.sensor,
    "property": lambda row: row.observed_property,
    "feature": lambda row: row.feature,
    "result": lambda row: row.lexical,
    "resultNode": lambda row: _own(row) + "/result",
    "unit": lambda row: row.unit or _UNITLESS,
    "instant": lambda row: _own(row) + "/time",
    "phenomenonStamp": lambda row: written(row.time),
    "resultTime": lambda row: written(row.time),
    "ingestedAt": lambda row: written(row.ingested_at),
    "timeSource": lambda row: GW + row.clock,
}


@lru_cache(4096)
def _is_iri(name: str) -> bool:
    return _IRI.fullmatch(name) is not None


_SHARED = frozenset({"sensor", "property", "feature", "unit", "timeSource"})
"""Marks whose terms many rows have."""


class Statements:
    """What rows say with some predicates; a predicate that is a mark is always wanted."""

    def __init__(self, shapes: Shapes, predicates: Collection[str]) -> None:
        wanted = frozenset(predicates)
        self._quantity = _Recipe(shapes.quantity, wanted)
        self._position = _Recipe(shapes.position, wanted)
        self._value = _Recipe(shapes.value, wanted)
        self._suspect = _Recipe(shapes.suspect, wanted)

    def of(self, row: Row) -> Iterator[Quad]:
        """The quads of a row; one of which a name can be written as no IRI has none."""
        names = (row.base, row.sensor, row.observed_property, row.feature, row.unit, row.datatype)
        if not all(name is None or _is_iri(name) for name in names):
            return
        if row.datatype in QUANTITIES:
            yield from self._quantity.quads(row)
        elif row.datatype == WKT:
            yield from self._position.quads(row)
        else:
            yield from self._value.quads(row)
        if row.is_suspect:
            yield from self._suspect.quads(row)


class _Recipe:
    """The statements of one shape."""

    def __init__(self, shape: Shape, wanted: Collection[str]) -> None:
        kept = [
            statement.parts
            for statement in shape
            if not isinstance(statement.predicate, NamedNode) or statement.predicate.value in wanted
        ]
        marks = dict.fromkeys(part for parts in kept for part in parts if isinstance(part, Mark))
        self._makers = [_maker(mark) for mark in marks]
        places: dict[Part, int] = {mark: number for number, mark in enumerate(marks)}
        self._constants: list[Part] = []
        for parts in kept:
            for part in parts:
                if part not in places:
                    places[part] = len(marks) + len(self._constants)
                    self._constants.append(part)
        self._rows = [tuple(places[part] for part in parts) for parts in kept]

    def quads(self, row: Row) -> Iterator[Quad]:
        """All of them."""
        terms = [*(make(row) for make in self._makers), *self._constants]
        for subject, predicate, object_ in self._rows:
            yield Quad(terms[subject], terms[predicate], terms[object_])  # type: ignore[arg-type]


def _maker(mark: Mark) -> _Make:
    """How the term of a mark is made."""
    text = _TEXTS[mark.name]
    if mark.is_iri:
        node = _node if mark.name in _SHARED else NamedNode
        return lambda row: node(text(row))
    if mark.datatype is not None:
        datatype = NamedNode(mark.datatype)
        return lambda row: Literal(text(row), datatype=datatype)
    if mark.name == "result":
        return lambda row: Literal(row.lexical, datatype=_node(row.datatype))
    return lambda row: Literal(text(row), datatype=_STRING)
