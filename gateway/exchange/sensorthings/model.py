"""The eight sets of entities, their properties and how they are related, as the standard has them.

Place: what every other module of this room goes by. Source: OGC SensorThings API Part 1: Sensing,
version 1.1, section 8.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from gateway.exchange.sensorthings.url.bounds import wrong


class Set(Enum):
    """A set of entities, by the name that it has in a URL."""

    THINGS = "Things"
    LOCATIONS = "Locations"
    HISTORICAL_LOCATIONS = "HistoricalLocations"
    DATASTREAMS = "Datastreams"
    SENSORS = "Sensors"
    OBSERVED_PROPERTIES = "ObservedProperties"
    OBSERVATIONS = "Observations"
    FEATURES_OF_INTEREST = "FeaturesOfInterest"

    __hash__ = object.__hash__
    """Each is there once; that of Enum is made anew of the name each time."""


@dataclass(frozen=True, slots=True)
class Related:
    """Where a navigation leads; `is_many`: to a collection."""

    set: Set
    is_many: bool


@dataclass(frozen=True, slots=True)
class EntityType:
    """The properties of a kind of entities, in the order of the standard, and its navigations."""

    properties: tuple[str, ...]
    related: Mapping[str, Related] = field(default_factory=dict)


ID = "@iot.id"
SELF_LINK = "@iot.selfLink"
RESULT_TIME = "resultTime"
PHENOMENON_TIME = "phenomenonTime"

_DATASTREAMS = Related(Set.DATASTREAMS, is_many=True)
_OBSERVATIONS = Related(Set.OBSERVATIONS, is_many=True)
_LOCATIONS = Related(Set.LOCATIONS, is_many=True)
_HISTORICAL = Related(Set.HISTORICAL_LOCATIONS, is_many=True)
_THING = Related(Set.THINGS, is_many=False)

TYPES: Mapping[Set, EntityType] = {
    Set.THINGS: EntityType(
        ("name", "description", "properties"),
        {
            "Locations": _LOCATIONS,
            "HistoricalLocations": _HISTORICAL,
            "Datastreams": _DATASTREAMS,
        },
    ),
    Set.LOCATIONS: EntityType(
        ("name", "description", "encodingType", "location", "properties"),
        {"Things": Related(Set.THINGS, is_many=True), "HistoricalLocations": _HISTORICAL},
    ),
    Set.HISTORICAL_LOCATIONS: EntityType(("time",), {"Thing": _THING, "Locations": _LOCATIONS}),
    Set.DATASTREAMS: EntityType(
        (
            *("name", "description", "observationType", "unitOfMeasurement"),
            *(PHENOMENON_TIME, RESULT_TIME, "properties"),
        ),
        {
            "Thing": _THING,
            "Sensor": Related(Set.SENSORS, is_many=False),
            "ObservedProperty": Related(Set.OBSERVED_PROPERTIES, is_many=False),
            "Observations": _OBSERVATIONS,
        },
    ),
    Set.SENSORS: EntityType(
        ("name", "description", "encodingType", "metadata", "properties"),
        {"Datastreams": _DATASTREAMS},
    ),
    Set.OBSERVED_PROPERTIES: EntityType(
        ("name", "definition", "description", "properties"), {"Datastreams": _DATASTREAMS}
    ),
    Set.OBSERVATIONS: EntityType(
        (PHENOMENON_TIME, "result", RESULT_TIME, "resultQuality", "validTime", "parameters"),
        {
            "Datastream": Related(Set.DATASTREAMS, is_many=False),
            "FeatureOfInterest": Related(Set.FEATURES_OF_INTEREST, is_many=False),
        },
    ),
    Set.FEATURES_OF_INTEREST: EntityType(
        ("name", "description", "encodingType", "feature", "properties"),
        {"Observations": _OBSERVATIONS},
    ),
}

UNIT_PARTS = ("name", "symbol", "definition")
"""Of a Datastream's unitOfMeasurement."""


def set_named(name: str) -> Set:
    """The set of this name. Raises BadRequestError."""
    try:
        return Set(name)
    except ValueError as error:
        names = ", ".join(each.value for each in Set)
        raise wrong("the path", f"there is no {name[:80]!r}", f"those are {names}") from error


def related(of: Set, name: str) -> Related:
    """Where a navigation leads. Raises BadRequestError for one that is none."""
    found = TYPES[of].related.get(name)
    if found is None:
        names = ", ".join(TYPES[of].related)
        raise wrong(of.value, f"have no {name[:80]!r}", f"they have {names}")
    return found
