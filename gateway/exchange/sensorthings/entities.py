"""The entities of the standard, as JSON objects, made of the index.

Place: below `answering`; what `terms` says in SPARQL is said here in Python. Source: OGC
SensorThings API Part 1: Sensing, version 1.1, sections 8.2 and 9.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from urllib.parse import quote

from adapters.values.observation import StreamKey
from adapters.values.result import BOOLEAN
from adapters.values.units import unit_symbol
from gateway.exchange.sensorthings.index import Index, Key, Stream, digest, text_of
from gateway.exchange.sensorthings.model import (
    ID,
    PHENOMENON_TIME,
    RESULT_TIME,
    SELF_LINK,
    TYPES,
    Set,
)
from gateway.exchange.sensorthings.seen import Seen, json_value, micros_of
from gateway.exchange.sensorthings.terms import GEO_JSON, HTML, MEASUREMENT, OTHER, TRUTH
from gateway.rdf.wkt import geojson

Document = dict[str, object]

_MOST_TOLD = 50_000
"""Texts that are remembered, of 0.5 to 2 KB."""

_LAST_PART = re.compile(r"^.*[/#:]([^/#:]+)[/#:]*$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_UNIT: Document = {"name": None, "symbol": None, "definition": None}


class Entities:
    """Entities by set and key; `root` is the address of the service, without a slash behind it."""

    def __init__(self, index: Index, root: str) -> None:
        self._index = index
        self.root = root

    def address(self, of: Set, key: Key) -> str:
        """The selfLink of an entity."""
        return f"{self.root}/{of.value}('{quote(self._index.id_of(of, key), safe='')}')"

    def properties(self, of: Set, key: Key) -> Document:
        """The properties of one alone."""
        return _MAKERS[of](self._index, key)

    def document(self, of: Set, key: Key, select: tuple[str, ...] = ()) -> Document:
        """The entity, or what is selected of it."""
        address = self.address(of, key)
        found: Document = {ID: self._index.id_of(of, key), SELF_LINK: address}
        found |= self.properties(of, key)
        for name in TYPES[of].related:
            found[f"{name}@iot.navigationLink"] = f"{address}/{name}"
        return selected(found, select)

    def text(self, of: Set, key: Key, select: tuple[str, ...] = ()) -> str:
        """The entity as JSON; all of it is remembered by the index until something changes."""
        if select:
            return json_text(self.document(of, key, select))
        told = self._index.told
        version = self._index.version(of, key)
        known = told.get((self.root, of, key))
        if known is None or known[0] != version:
            known = version, json_text(self.document(of, key))
            if len(told) >= _MOST_TOLD:
                told.clear()
            told[self.root, of, key] = known
        return known[1]

    def observation(self, stream: StreamKey, seen: Seen) -> Document:
        """An observation that the store may not have any more."""
        return past_observation(self.root, self._index.observations, stream, seen)

    def geometry(self, of: Set, key: Key) -> Document | None:
        """Where an entity is, as GeoJSON; None where nothing says."""
        index = self._index
        match of:
            case Set.LOCATIONS:
                return _location_of(index, str(key))
            case Set.HISTORICAL_LOCATIONS:
                return _location_of(index, str(key))
            case Set.FEATURES_OF_INTEREST:
                return _feature_of(index, str(key))
            case Set.THINGS:
                return _where(index, str(key))
            case Set.DATASTREAMS:
                assert isinstance(key, tuple)  # noqa: S101
                return _where(index, index.thing_of(key))
            case Set.OBSERVATIONS:
                found = index.seen(str(key))
                return None if found is None else _feature_of(index, found[0][2])
            case _:
                return None


def past_observation(root: str, observations: str, stream: StreamKey, seen: Seen) -> Document:
    """An observation as it is told, by itself; `observations` begin the IRIs of ours."""
    iri = seen.iri
    id_ = iri.removeprefix(observations) if iri.startswith(observations) else digest(iri)
    return {
        ID: id_,
        SELF_LINK: f"{root}/Observations('{id_}')",
        **_observation_of(seen),
        "Datastream@iot.navigationLink": f"{root}/Datastreams('{digest(chr(10).join(stream))}')",
        "FeatureOfInterest@iot.navigationLink": f"{root}/FeaturesOfInterest('{digest(stream[2])}')",
    }


def json_text(value: object) -> str:
    """JSON, in which half of a surrogate pair is an escape."""
    text = _ENCODE(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def selected(document: Document, select: tuple[str, ...]) -> Document:
    """What is selected of an entity; all of it where nothing is."""
    if not select:
        return document
    wanted = {ID if each == "id" else each for each in select}
    wanted |= {f"{each}@iot.navigationLink" for each in wanted}
    return {name: value for name, value in document.items() if name in wanted}


def stamp_of(micros: int) -> str:
    """µs since the epoch as the standard writes times."""
    text = (_EPOCH + timedelta(microseconds=micros)).isoformat().removesuffix("+00:00")
    return (text.rstrip("0") if "." in text else text) + "Z"


@lru_cache(maxsize=4096)
def told_time(time: str) -> str:
    """A time of the graph in UTC; as it is where it is none."""
    if time.endswith("Z"):
        return time
    micros = micros_of(time)
    return stamp_of(micros) if micros > -(1 << 62) else time


def name_of(index: Index, iri: str) -> str:
    """The least label of a resource, else the last part of its IRI."""
    label = index.said["label"].first(iri)
    return _LAST_PART.sub(r"\1", iri) if label is None else label


def _described(index: Index, iri: str) -> Document:
    comment = index.said["comment"].first(iri)
    return {"name": name_of(index, iri), "description": iri if comment is None else comment}


def told_properties(index: Index, iri: str, more: Mapping[str, object]) -> Document:
    """What a client said beyond the standard's properties, and what the graph knows it by."""
    text = index.said["properties"].first(iri)
    try:
        said = {} if text is None else json.loads(text)
    except (ValueError, RecursionError):
        said = {}
    return {**(said if isinstance(said, dict) else {}), **more}


def _thing(index: Index, key: Key) -> Document:
    iri = str(key)
    return {**_described(index, iri), "properties": told_properties(index, iri, {"iri": iri})}


def _sensor(index: Index, key: Key) -> Document:
    iri = str(key)
    return {
        **_described(index, iri),
        "encodingType": HTML,
        "metadata": iri,
        "properties": told_properties(index, iri, {"iri": iri}),
    }


def _observed_property(index: Index, key: Key) -> Document:
    iri = str(key)
    told = _described(index, iri)
    return {
        "name": told["name"],
        "definition": iri,
        "description": told["description"],
        "properties": told_properties(index, iri, {"iri": iri}),
    }


def _feature(index: Index, key: Key) -> Document:
    iri = str(key)
    geometry = _feature_of(index, iri)
    return {
        **_described(index, iri),
        "encodingType": GEO_JSON,
        "feature": geometry or {"type": "Feature", "geometry": None, "properties": {"iri": iri}},
        "properties": told_properties(index, iri, {"iri": iri}),
    }


def _location(index: Index, key: Key) -> Document:
    iri = str(key)
    return {
        **_described(index, iri),
        "encodingType": GEO_JSON,
        "location": _location_of(index, iri),
        "properties": told_properties(index, iri, {"iri": iri}),
    }


def _moment(index: Index, key: Key) -> Document:
    found = index.seen(str(key))
    return {"time": "" if found is None else told_time(found[1].time)}


def _observation(index: Index, key: Key) -> Document:
    found = index.seen(str(key))
    return {} if found is None else _observation_of(found[1])


def _observation_of(seen: Seen) -> Document:
    time = told_time(seen.time)
    return {PHENOMENON_TIME: time, "result": json_value(seen), RESULT_TIME: time}


def _datastream(index: Index, key: Key) -> Document:
    assert isinstance(key, tuple)  # noqa: S101
    sensor, observed, feature = key
    stream = index.stream(key) or Stream(key, "")
    label, comment = (_of_nodes(index, name, stream) for name in ("label", "comment"))
    usual = f"{name_of(index, observed)} of {name_of(index, feature)}"
    found: Document = {
        "name": usual if label is None else label,
        "description": f"{observed} of {feature} by {sensor}" if comment is None else comment,
        **_measured(index, stream),
    }
    if stream.seen:
        first, last = told_time(stream.seen[-1].time), told_time(stream.seen[0].time)
        found[PHENOMENON_TIME] = found[RESULT_TIME] = f"{first}/{last}"
    node = stream.nodes[0] if stream.nodes else ""
    told = {"sensor": sensor, "property": observed, "feature": feature}
    found["properties"] = told_properties(index, node, told)
    return found


def _of_nodes(index: Index, name: str, stream: Stream) -> str | None:
    """The least of what is said of the nodes of a stream."""
    found = [text for node in stream.nodes if (text := index.said[name].first(node)) is not None]
    return min(found, default=None)


def _measured(index: Index, stream: Stream) -> Document:
    """What kind of results a stream has, and in which unit."""
    units = [unit for each in stream.seen for unit in index.units.of(each.iri)]
    if units:
        return {"observationType": MEASUREMENT, "unitOfMeasurement": dict(_unit(min(units)))}
    is_truth = any(each.datatype == BOOLEAN for each in stream.seen)
    return {"observationType": TRUTH if is_truth else OTHER, "unitOfMeasurement": dict(_NO_UNIT)}


@lru_cache(maxsize=512)
def _unit(iri: str) -> Mapping[str, object]:
    return {"name": iri.rpartition("/")[2], "symbol": unit_symbol(iri), "definition": iri}


def _where(index: Index, thing: str) -> Document | None:
    """The place that a Thing is said to have, else where it was last observed."""
    for node in index.places(thing):
        return _location_of(index, node)
    latest = max(index.positions(thing), key=lambda each: micros_of(each[1].time), default=None)
    return None if latest is None else _read(latest[1].lexical)


def _feature_of(index: Index, feature: str) -> Document | None:
    """The first of the geometries of a feature, by its text."""
    wkt = index.said["wkt"]
    texts = [text_of(each) for node in index.places(feature) for each in wkt.of(node)]
    return _read(min(texts)) if texts else None


def _location_of(index: Index, iri: str) -> Document | None:
    found = index.seen(iri)
    text = index.said["wkt"].first(iri) if found is None else found[1].lexical
    return None if text is None else _read(text)


def _read(text: str) -> Document | None:
    try:
        return geojson(text)
    except ValueError:
        return None


_MAKERS: Mapping[Set, Callable[[Index, Key], Document]] = {
    Set.THINGS: _thing,
    Set.LOCATIONS: _location,
    Set.HISTORICAL_LOCATIONS: _moment,
    Set.DATASTREAMS: _datastream,
    Set.SENSORS: _sensor,
    Set.OBSERVED_PROPERTIES: _observed_property,
    Set.OBSERVATIONS: _observation,
    Set.FEATURES_OF_INTEREST: _feature,
}
