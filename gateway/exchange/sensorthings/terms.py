"""What the properties of entities are as SPARQL: an expression, its kind, what it needs.

Place: looked up by `translation` for each path. The same rules make the entities that are told
(`entities`): what is shown is what is filtered by.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.exchange.sensorthings.model import PHENOMENON_TIME, RESULT_TIME, Set
from gateway.exchange.sensorthings.shapes import OBSERVATIONS
from gateway.exchange.sensorthings.url.syntax import Kind
from gateway.rdf.namespaces import GW

OM = "http://www.opengis.net/def/observationType/OGC-OM/2.0/"
MEASUREMENT, TRUTH, OTHER = (
    f"{OM}OM_{name}" for name in ("Measurement", "TruthObservation", "Observation")
)
GEO_JSON = "application/geo+json"
HTML = "text/html"

ID_DIGITS = 24


@dataclass(frozen=True, slots=True)
class Term:
    """An expression of SPARQL with names, and `needs`; a time has its `end` too."""

    kind: Kind
    text: str
    needs: tuple[str, ...] = ()
    end: str = ""


def _digest(text: str) -> str:
    return f"SUBSTR(SHA256({text}), 1, {ID_DIGITS})"


def _name_of(name: str) -> str:
    last = f'REPLACE(STR(?{name}), "^.*[/#:]([^/#:]+)[/#:]*$", "$1")'
    return f"COALESCE(STR(?{name}Label), {last})"


def _iri(name: str) -> Term:
    return Term(Kind.STRING, f"STR(?{name})", (name,))


def _named(name: str) -> dict[str, Term]:
    """What everything has that has an IRI."""
    return {
        "id": Term(Kind.STRING, _digest(f"STR(?{name})"), (name,)),
        "name": Term(Kind.STRING, _name_of(name), (f"{name}Label",)),
        "description": Term(
            Kind.STRING, f"COALESCE(STR(?{name}Comment), STR(?{name}))", (f"{name}Comment",)
        ),
        "properties/iri": _iri(name),
    }


def _observed(name: str) -> Term:
    """The id of an observation: its place in the journal where it has one."""
    begins = f"STRSTARTS(STR(?{name}), {OBSERVATIONS})"
    place = f"STRAFTER(STR(?{name}), {OBSERVATIONS})"
    return Term(Kind.STRING, f"IF({begins}, {place}, {_digest(f'STR(?{name})')})", (name,))


def _constant(text: str) -> Term:
    return Term(Kind.STRING, f'"{text}"')


_KEY = 'CONCAT(STR(?sensor), "\\n", STR(?property), "\\n", STR(?feature))'
_TIME = Term(Kind.TIME, "?time", (), "?time")
_SUMMED = Term(Kind.TIME, "?first", ("summary",), "?last")
_NOTHING = Term(Kind.NULL, "")

TERMS: Mapping[Set, Mapping[str, Term]] = {
    Set.THINGS: _named("thing"),
    Set.SENSORS: {
        **_named("sensor"),
        "encodingType": _constant(HTML),
        "metadata": _iri("sensor"),
    },
    Set.OBSERVED_PROPERTIES: {**_named("property"), "definition": _iri("property")},
    Set.FEATURES_OF_INTEREST: {
        **_named("feature"),
        "encodingType": _constant(GEO_JSON),
        "feature": Term(Kind.GEOMETRY, "?featureWkt", ("featureWkt",)),
    },
    Set.LOCATIONS: {
        **_named("location"),
        "id": _observed("location"),
        "encodingType": _constant(GEO_JSON),
        "location": Term(Kind.GEOMETRY, "?wkt", ("wkt",)),
    },
    Set.HISTORICAL_LOCATIONS: {"id": _observed("observation"), "time": _TIME},
    Set.OBSERVATIONS: {
        "id": _observed("observation"),
        "result": Term(Kind.ANY, "?result"),
        PHENOMENON_TIME: _TIME,
        RESULT_TIME: _TIME,
        "resultQuality": _NOTHING,
        "validTime": _NOTHING,
        "parameters": _NOTHING,
    },
    Set.DATASTREAMS: {
        "id": Term(Kind.STRING, _digest(_KEY)),
        "name": Term(
            Kind.STRING,
            f'COALESCE(STR(?nodeLabel), CONCAT({_name_of("property")}, " of ", '
            f"{_name_of('feature')}))",
            ("nodeLabel", "propertyLabel", "featureLabel"),
        ),
        "description": Term(
            Kind.STRING,
            'COALESCE(STR(?nodeComment), CONCAT(STR(?property), " of ", STR(?feature), " by ", '
            "STR(?sensor)))",
            ("nodeComment",),
        ),
        "observationType": Term(
            Kind.STRING,
            f'IF(BOUND(?unit), "{MEASUREMENT}", IF(COALESCE(?truths = 1, false), "{TRUTH}", '
            f'"{OTHER}"))',
            ("unit", "summary"),
        ),
        "unitOfMeasurement/definition": Term(Kind.STRING, "?unit", ("unit",)),
        "unitOfMeasurement/name": Term(Kind.STRING, 'REPLACE(?unit, "^.*/", "")', ("unit",)),
        "unitOfMeasurement/symbol": Term(
            Kind.STRING,
            'COALESCE(?symbol, REPLACE(?unit, "^.*/", ""))',
            ("unit", "symbol"),
        ),
        PHENOMENON_TIME: _SUMMED,
        RESULT_TIME: _SUMMED,
        "properties/sensor": _iri("sensor"),
        "properties/property": _iri("property"),
        "properties/feature": _iri("feature"),
    },
}
"""The properties that can be asked about, by set and path."""

PROPERTIES = GW + "sensorThingsProperties"
"""What a client said of an entity beyond the standard's properties: a JSON object, as a text."""
