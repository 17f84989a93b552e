"""Answers as JSON: entities, collections, dataArray and GeoJSON; errors as OData has them.

Place: last step before the gate. Sources: OGC SensorThings API Part 1: Sensing, version 1.1,
sections 9.3.3 and 12; RFC 7946; OData JSON Format Version 4.0, section 19.
"""

import json
from collections.abc import Iterable, Sequence

from gateway.exchange.sensorthings.entities import Document, Entities, json_text
from gateway.exchange.sensorthings.index import Key
from gateway.exchange.sensorthings.model import ID, PHENOMENON_TIME, RESULT_TIME, SELF_LINK, Set
from gateway.exchange.sensorthings.url.bounds import wrong
from gateway.exchange.sensorthings.url.syntax import Options

JSON = "application/json"
GEO_JSON = "application/geo+json"

_COMPONENTS = ("id", PHENOMENON_TIME, "result", RESULT_TIME)
_PLACES = frozenset(
    {
        *(Set.THINGS, Set.LOCATIONS, Set.HISTORICAL_LOCATIONS, Set.DATASTREAMS),
        *(Set.OBSERVATIONS, Set.FEATURES_OF_INTEREST),
    }
)
_GEOMETRIES = frozenset({"location", "feature", "observedArea"})


def encoded(value: object) -> bytes:
    """A value as JSON in UTF-8."""
    return json_text(value).encode()


def collection(
    texts: Iterable[str], total: int | None, next_page: str | None, more: str = ""
) -> bytes:
    """A page of a collection, of entities that are JSON already; `more` are further members."""
    members = [] if total is None else [f'"@iot.count":{total}']
    if next_page is not None:
        members.append(f'"@iot.nextLink":{json_text(next_page)}')
    members.append(f'"value":[{",".join(texts)}]')
    if more:
        members.append(more)
    return f"{{{','.join(members)}}}".encode()


def require_format(of: Set, options: Options) -> None:
    """Raise BadRequestError where a set cannot be told in the form that is asked for."""
    told = options.result_format
    if told == "dataArray" and (of is not Set.OBSERVATIONS or options.expand):
        raise wrong("$resultFormat", "dataArray is for Observations, without $expand")
    if told == "GeoJSON" and of not in _PLACES:
        raise wrong("$resultFormat", f"{of.value} are nowhere, so they cannot be GeoJSON")


def data_arrays(documents: Iterable[tuple[str, Document]], select: Sequence[str]) -> list[Document]:
    """Observations by the address of their Datastream, each an array of its components."""
    components = tuple(each.removeprefix("@iot.") for each in select) or _COMPONENTS
    names = [ID if each == "id" else each for each in components]
    groups: dict[str, list[list[object]]] = {}
    for address, document in documents:
        groups.setdefault(address, []).append([document.get(name) for name in names])
    return [
        {
            "Datastream@iot.navigationLink": address,
            "components": list(components),
            "dataArray@iot.count": len(rows),
            "dataArray": rows,
        }
        for address, rows in groups.items()
    ]


def features(
    entities: Entities, of: Set, told: Iterable[tuple[Key, str]], next_page: str | None
) -> Document:
    """Entities, which are JSON, as GeoJSON; all but their geometry are properties."""
    found: Document = {
        "type": "FeatureCollection",
        "features": [feature(entities, of, key, text) for key, text in told],
    }
    if next_page is not None:
        found["@iot.nextLink"] = next_page
    return found


def feature(entities: Entities, of: Set, key: Key, text: str) -> Document:
    """One of them."""
    document = json.loads(text)
    properties = {
        name: value
        for name, value in document.items()
        if name not in _GEOMETRIES and name not in {SELF_LINK}
    }
    geometry = entities.geometry(of, key)
    return {
        "type": "Feature",
        "id": document.get(ID),
        "geometry": geometry,
        "properties": properties,
    }


def error(code: str, message: str) -> Document:
    """An error."""
    return {"error": {"code": code, "message": message}}
