"""How the graph says each kind of entity, as SPARQL, with a name for each thing that it says.

Place: what `translation` puts together; a variable is written `?name` and made one of its group
(`groups`). Sources: Haller et al., "Semantic Sensor Network Ontology",
W3C Recommendation, 2017; OGC GeoSPARQL 1.1, section 8; OGC SensorThings API Part 1, version 1.1,
section 8.2.

A Datastream is a stream: what one sensor tells of one property of one feature. Its Thing is the
platform that hosts the sensor, or the feature where none does. A Thing is where its geometry says,
and where a position was last observed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyoxigraph import Literal

from adapters.values.units import symbols
from gateway.exchange.sensorthings.model import Set
from gateway.rdf.namespaces import GW, QUDT, RDFS, SOSA, XSD

GEO = "http://www.opengis.net/ont/geosparql#"
GEOF = "http://www.opengis.net/def/function/geosparql/"
PROLOGUE = (
    f"PREFIX sosa: <{SOSA}> PREFIX gw: <{GW}> PREFIX qudt: <{QUDT}> PREFIX rdfs: <{RDFS}> "
    f"PREFIX xsd: <{XSD}> PREFIX geo: <{GEO}> PREFIX geof: <{GEOF}> "
)

_OBSERVED = (
    "?observation a sosa:Observation ; sosa:madeBySensor ?sensor ; sosa:observedProperty ?property "
    "; sosa:hasFeatureOfInterest ?feature ; sosa:hasSimpleResult ?result ; sosa:resultTime ?time ."
)
_DECLARED = "?stream gw:ofSensor ?sensor ; gw:ofProperty ?property ; gw:ofFeature ?feature ."
_POSITION = f"{_OBSERVED} FILTER(DATATYPE(?result) = geo:wktLiteral)"
_LAST = (
    "FILTER NOT EXISTS { ?later sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ; "
    "sosa:hasFeatureOfInterest ?feature ; sosa:resultTime ?laterTime FILTER(?laterTime > ?time) }"
)
_PLACED = "?thing geo:hasGeometry ?location . ?location geo:asWKT ?wkt ."
_PLACE = (
    "?location geo:asWKT ?wkt . FILTER NOT EXISTS { ?location geo:asWKT ?otherWkt "
    "FILTER(STR(?otherWkt) < STR(?wkt)) } FILTER EXISTS { ?anyThing geo:hasGeometry ?location }"
)
_HOSTED = (
    "?sensor sosa:isHostedBy ?thing . FILTER NOT EXISTS { ?sensor sosa:isHostedBy ?otherHost "
    "FILTER(STR(?otherHost) < STR(?thing)) }"
)
_NOT_HOSTED = "FILTER NOT EXISTS { ?sensor sosa:isHostedBy ?anyHost }"


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way in which the graph says an entity.

    `is_named` are the names that stand for another one: `thing` for `feature` where the feature is
    the Thing. `given` need no definition.
    """

    text: str
    given: frozenset[str] = frozenset()
    is_named: Mapping[str, str] = field(default_factory=dict)


def _hosted(text: str) -> Alternative:
    return Alternative(f"{text} {_HOSTED}", frozenset({"thing"}))


def _featured(text: str) -> Alternative:
    return Alternative(f"{text} {_NOT_HOSTED}", frozenset({"thing"}), {"thing": "feature"})


_STREAMS = (Alternative(_OBSERVED), Alternative(_DECLARED))
_STREAMS_OF_THINGS = tuple(
    make(text) for text in (_OBSERVED, _DECLARED) for make in (_hosted, _featured)
)
_POSITIONS_OF_THINGS = tuple(make(_POSITION) for make in (_hosted, _featured))
_WHERE = frozenset({"thing", "wkt"})
_PLACES = Alternative(_PLACED, _WHERE)


def _located(text: str, more: str = "") -> tuple[Alternative, ...]:
    """Positions as Locations: the observation is the Location, and its result the geometry."""
    named = {"location": "observation", "wkt": "result"}
    return (
        Alternative(f"{text} {_HOSTED} {more}", _WHERE, named),
        Alternative(f"{text} {_NOT_HOSTED} {more}", _WHERE, {**named, "thing": "feature"}),
    )


ROOTS: Mapping[Set, tuple[Alternative, ...]] = {
    Set.OBSERVATIONS: (Alternative(_OBSERVED),),
    Set.DATASTREAMS: _STREAMS,
    Set.SENSORS: (*_STREAMS, Alternative("?sensor a sosa:Sensor .")),
    Set.OBSERVED_PROPERTIES: (*_STREAMS, Alternative("?property a sosa:ObservableProperty .")),
    Set.FEATURES_OF_INTEREST: (*_STREAMS, Alternative("?feature a sosa:FeatureOfInterest .")),
    Set.THINGS: (
        *_STREAMS_OF_THINGS,
        Alternative("?thing a sosa:Platform .", frozenset({"thing"})),
        Alternative(_PLACED, frozenset({"thing"})),
    ),
    Set.LOCATIONS: (Alternative(_PLACE, frozenset({"wkt"})), *_located(_POSITION)),
    Set.HISTORICAL_LOCATIONS: _POSITIONS_OF_THINGS,
}
"""Where an entity may stand; each is asked by itself."""

MANY: Mapping[tuple[Set, str], tuple[Mapping[str, str], tuple[Alternative, ...]]] = {
    (Set.THINGS, "Datastreams"): ({"thing": "thing"}, _STREAMS_OF_THINGS),
    (Set.THINGS, "Locations"): ({"thing": "thing"}, (_PLACES, *_located(_POSITION, _LAST))),
    (Set.THINGS, "HistoricalLocations"): ({"thing": "thing"}, _POSITIONS_OF_THINGS),
    (Set.SENSORS, "Datastreams"): ({"sensor": "sensor"}, _STREAMS),
    (Set.OBSERVED_PROPERTIES, "Datastreams"): ({"property": "property"}, _STREAMS),
    (Set.FEATURES_OF_INTEREST, "Observations"): ({"feature": "feature"}, ROOTS[Set.OBSERVATIONS]),
    (Set.DATASTREAMS, "Observations"): (
        {"sensor": "sensor", "property": "property", "feature": "feature"},
        ROOTS[Set.OBSERVATIONS],
    ),
    (Set.LOCATIONS, "Things"): ({"location": "location"}, (_PLACES, *_located(_POSITION))),
    (Set.LOCATIONS, "HistoricalLocations"): (
        {"observation": "location"},
        _POSITIONS_OF_THINGS,
    ),
    (Set.HISTORICAL_LOCATIONS, "Locations"): (
        {"observation": "observation"},
        _located(_POSITION),
    ),
}
"""Which name of a group of related entities is which of the group around, and where they stand."""

KEYS: Mapping[Set, tuple[str, ...]] = {
    Set.OBSERVATIONS: ("observation",),
    Set.DATASTREAMS: ("sensor", "property", "feature"),
    Set.SENSORS: ("sensor",),
    Set.OBSERVED_PROPERTIES: ("property",),
    Set.FEATURES_OF_INTEREST: ("feature",),
    Set.THINGS: ("thing",),
    Set.LOCATIONS: ("location",),
    Set.HISTORICAL_LOCATIONS: ("observation",),
}
"""The variables that name an entity."""


def _least(subject: str, predicate: str, found: str) -> str:
    """The first of what the graph says, by its text, where it says something."""
    other = f"{found}Other"
    return (
        f"OPTIONAL {{ {subject} {predicate} {found} FILTER NOT EXISTS {{ {subject} {predicate} "
        f"{other} FILTER(STR({other}) < STR({found})) }} }}"
    )


_SUMMED = (
    "?of a sosa:Observation ; sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ; "
    "sosa:hasFeatureOfInterest ?feature ; sosa:hasSimpleResult ?ofResult ; sosa:resultTime ?ofTime"
)
_BY_STREAM = ("sensor", "property", "feature")

TABLES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "summary": (
        _BY_STREAM,
        "SELECT ?sensor ?property ?feature (MIN(?ofTime) AS ?first) (MAX(?ofTime) AS ?last) "
        "(MAX(COALESCE(IF(DATATYPE(?ofResult) = xsd:boolean, 1, 0), 0)) AS ?truths) "
        f"{{ {_SUMMED} }} GROUP BY ?sensor ?property ?feature",
    ),
    "unit": (
        _BY_STREAM,
        "SELECT ?sensor ?property ?feature (MIN(STR(?ofUnit)) AS ?unit) "
        f"{{ {_SUMMED} . ?of sosa:hasResult ?ofNode . ?ofNode qudt:hasUnit ?ofUnit }} "
        "GROUP BY ?sensor ?property ?feature",
    ),
    "featureText": (
        ("feature",),
        "SELECT ?feature (MIN(?anyText) AS ?featureText) { ?feature geo:hasGeometry ?anyPlace . "
        "?anyPlace geo:asWKT ?anyWkt BIND(STR(?anyWkt) AS ?anyText) } GROUP BY ?feature",
    ),
}
"""What is told of many observations together, by what it is told of."""


def _said_of(name: str) -> dict[str, tuple[tuple[str, ...], str]]:
    return {
        f"{name}Label": ((name,), _least(f"?{name}", "rdfs:label", f"?{name}Label")),
        f"{name}Comment": ((name,), _least(f"?{name}", "rdfs:comment", f"?{name}Comment")),
    }


def _said_of_node(predicate: str, found: str) -> str:
    """What is said of the node of a stream, where there is one."""
    declared = _DECLARED.replace("?stream", "?node")
    other = declared.replace("?node", "?otherNode")
    return (
        f"OPTIONAL {{ {declared} ?node {predicate} {found} FILTER NOT EXISTS {{ {other} ?otherNode "
        f"{predicate} {found}Other FILTER(STR({found}Other) < STR({found})) }} }}"
    )


_SYMBOLS = " ".join(f"({Literal(unit)} {Literal(symbol)})" for unit, symbol in symbols().items())

DEFINITIONS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "platform": ((), _least("?sensor", "sosa:isHostedBy", "?platform")),
    "thing": (("platform",), "BIND(COALESCE(?platform, ?feature) AS ?thing)"),
    **_said_of("thing"),
    **_said_of("sensor"),
    **_said_of("property"),
    **_said_of("feature"),
    **_said_of("location"),
    "nodeLabel": ((), _said_of_node("rdfs:label", "?nodeLabel")),
    "nodeComment": ((), _said_of_node("rdfs:comment", "?nodeComment")),
    "symbol": (
        ("unit",),
        f"OPTIONAL {{ VALUES (?known ?symbol) {{ {_SYMBOLS} }} FILTER(?known = ?unit) }}",
    ),
    "featureWkt": (
        ("featureText",),
        "BIND(STRDT(?featureText, geo:wktLiteral) AS ?featureWkt)",
    ),
}
"""What a group may say besides, with the names that this needs; each once."""
