"""The queries, and the terms and triples of readings.

Place on the way of the data: between `readings` and the ways. The worked example is README's: rooms
where the mean is high and nobody is.
"""

from pyoxigraph import Literal, NamedNode, Triple

from bench.windows.readings import SENSORS_A_ROOM, Reading
from gateway.rdf.namespaces import SOSA, XSD

BASE = "https://sosa-gateway.example/building/"
WINDOW = "urn:w"
STREAM = "urn:building"

_SENSOR = NamedNode(SOSA + "madeBySensor")
_ROOM = NamedNode(SOSA + "hasFeatureOfInterest")
_RESULT = NamedNode(SOSA + "hasSimpleResult")
_DECIMAL = NamedNode(XSD + "decimal")

_PREFIXES = f"PREFIX sosa: <{SOSA}> PREFIX : <{BASE}> "
_EMPTY = (
    "FILTER NOT EXISTS { ?p sosa:hasFeatureOfInterest ?room ; sosa:observedProperty :occupancy ; "
    "sosa:hasSimpleResult true }"
)
_OF_ROOMS = "?o sosa:hasFeatureOfInterest ?room ; sosa:hasSimpleResult ?value"

_TEXTS = {
    "aggregates": (
        "SELECT ?sensor (AVG(?value) AS ?mean) (MIN(?value) AS ?least) (MAX(?value) AS ?most) "
        "(COUNT(*) AS ?count) { GRAPH <urn:w> { ?o sosa:madeBySensor ?sensor ; "
        "sosa:hasSimpleResult ?value } } GROUP BY ?sensor"
    ),
    "mean": (
        "SELECT ?sensor (AVG(?value) AS ?mean) { GRAPH <urn:w> { ?o sosa:madeBySensor ?sensor ; "
        "sosa:hasSimpleResult ?value } } GROUP BY ?sensor"
    ),
    "example": (
        f"SELECT ?room (AVG(?value) AS ?mean) {{ GRAPH <urn:w> {{ {_OF_ROOMS} }} {_EMPTY} }} "
        "GROUP BY ?room HAVING (AVG(?value) > THRESHOLD)"
    ),
    "sub-select": (
        f"SELECT ?room ?mean {{ {{ SELECT ?room (AVG(?value) AS ?mean) {{ GRAPH <urn:w> "
        f"{{ {_OF_ROOMS} }} }} GROUP BY ?room }} FILTER(?mean > THRESHOLD) {_EMPTY} }}"
    ),
}

_FIRST, _BETWEEN = 211, 5
"""Thresholds: the first in tenths, and how far each next one is above it, in hundredths."""


def text(query: str, subscription: int) -> str:
    """The text of a subscription."""
    hundredths = _FIRST * 10 + subscription * _BETWEEN
    return _PREFIXES + _TEXTS[query].replace("THRESHOLD", f"{hundredths / 100:.2f}")


def looks_at_rooms(query: str) -> bool:
    """Whether occupancy counts."""
    return query in {"example", "sub-select"}


TRIPLES = 3
"""What a reading has."""


def triples(reading: Reading) -> tuple[Triple, ...]:
    """A reading as an element."""
    node = NamedNode(f"{BASE}reading/{reading.number}")
    whole, tenth = divmod(reading.tenths, 10)
    form = f"{whole}.{tenth}" if tenth else str(whole)
    return (
        Triple(node, _SENSOR, NamedNode(f"{BASE}sensor/{reading.sensor}")),
        Triple(node, _ROOM, NamedNode(f"{BASE}room/{reading.sensor // SENSORS_A_ROOM}")),
        Triple(node, _RESULT, Literal(form, datatype=_DECIMAL)),
    )


def occupancy(room: int, *, is_occupied: bool) -> str:
    """The UPDATE that says whether somebody is in a room."""
    node, of = f":occupancy-{room}", f"<{BASE}room/{room}>"
    now, before = ("true", "false") if is_occupied else ("false", "true")
    return _PREFIXES + (
        f"DELETE DATA {{ {node} sosa:hasSimpleResult {before} }} ; INSERT DATA {{ "
        f"{node} sosa:hasFeatureOfInterest {of} ; sosa:observedProperty :occupancy ; "
        f"sosa:hasSimpleResult {now} }}"
    )
