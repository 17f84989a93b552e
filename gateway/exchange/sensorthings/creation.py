"""What a POST of an entity says, as quads for the graph and as a mapping.

Place: between the gate and the scheduler: a Datastream is a mapping and a node of its stream, all
else are statements of the default graph. Related entities come by their `@iot.id` or written out.
Source: OGC SensorThings API Part 1: Sensing, version 1.1, sections 10.2 and 13.2 (dataArray).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from pyoxigraph import Literal, NamedNode, Quad

from adapters.values.observation import StreamKey
from adapters.values.units import UNIT, unit_iri
from gateway.errors import BadRequestError, ConflictError, NotFoundError
from gateway.exchange.sensorthings.index import WKT, Index, digest
from gateway.exchange.sensorthings.model import ID, Set
from gateway.exchange.sensorthings.patterns import GEO
from gateway.exchange.sensorthings.terms import PROPERTIES
from gateway.ingest.sosa import Identity
from gateway.rdf.namespaces import GW, RDF, RDFS, SOSA
from gateway.rdf.wkt import wkt

Json = Mapping[str, object]

_MOST_ENTITIES = 200
_LONGEST = 10_000
_TYPE = NamedNode(RDF + "type")
_CLASSES = {
    Set.THINGS: SOSA + "Platform",
    Set.SENSORS: SOSA + "Sensor",
    Set.OBSERVED_PROPERTIES: SOSA + "ObservableProperty",
    Set.FEATURES_OF_INTEREST: SOSA + "FeatureOfInterest",
    Set.LOCATIONS: GEO + "Geometry",
}
_WORDS = {
    Set.THINGS: "thing",
    Set.SENSORS: "sensor",
    Set.OBSERVED_PROPERTIES: "property",
    Set.FEATURES_OF_INTEREST: "feature",
    Set.LOCATIONS: "location",
}
_GEOMETRIES = {Set.LOCATIONS: "location", Set.FEATURES_OF_INTEREST: "feature"}

OBSERVATION_FORMAT = "sensorthings"


def observations_topic(id_: str) -> str:
    """Where the Observations of a Datastream that was made here come in, by MQTT too."""
    return f"v1.1/Datastreams('{id_}')/Observations"


@dataclass(slots=True)
class Creation:
    """What one request creates: quads, and mappings as members of a JSAP profile."""

    index: Index
    identity: Identity
    quads: list[Quad] = field(default_factory=list)
    mappings: list[dict[str, object]] = field(default_factory=list)
    _made: int = 0

    def entity(self, of: Set, body: Json) -> str:
        """An entity with an IRI, and what is written out in it; the IRI. Raises a ClientError."""
        _refuse_unknown(of, body)
        iri = self._iri(of, body)
        node = NamedNode(iri)
        self._say(node, _TYPE, NamedNode(_CLASSES[of]))
        self._describe(node, body)
        if of in _GEOMETRIES:
            self._place(node, of, body)
        if of is Set.THINGS:
            for each in _several(body, "Locations"):
                self.at(iri, self._linked(Set.LOCATIONS, each))
            for each in _several(body, "Datastreams"):
                self.datastream({**each, "Thing": None}, iri)
        elif of is Set.LOCATIONS:
            for each in _several(body, "Things"):
                self.at(self._linked(Set.THINGS, each), iri)
        return iri

    def at(self, thing: str, location: str) -> None:
        """A Thing is at a Location."""
        self._say(NamedNode(thing), NamedNode(GEO + "hasGeometry"), NamedNode(location))

    def datastream(self, body: Json, thing: str | None = None) -> StreamKey:
        """A mapping of its own topic, and the node of its stream. Raises a ClientError."""
        _refuse_unknown(Set.DATASTREAMS, body)
        at = thing or self._linked(Set.THINGS, _one(body, "Thing"))
        sensor = self._linked(Set.SENSORS, _one(body, "Sensor"))
        observed = self._linked(Set.OBSERVED_PROPERTIES, _one(body, "ObservedProperty"))
        key = (sensor, observed, at)
        id_ = digest("\n".join(key))
        if self.index.stream(key) is not None:
            raise ConflictError(
                f"there is Datastreams('{id_}') of this Thing, Sensor and ObservedProperty",
                "POST Observations to it, or name another Sensor",
            )
        host = self.index.said["host"].first(sensor)
        if host != at:
            if host is not None:
                raise ConflictError(f"the Sensor is at another Thing, {host}", "name that one")
            self._say(NamedNode(sensor), NamedNode(SOSA + "isHostedBy"), NamedNode(at))
        self._say(NamedNode(sensor), _TYPE, NamedNode(SOSA + "Sensor"))
        self._say(NamedNode(at), _TYPE, NamedNode(SOSA + "Platform"))
        self._declare(key, body)
        self.mappings.append(self._mapping(key, id_, body))
        return key

    def _mapping(self, key: StreamKey, id_: str, body: Json) -> dict[str, object]:
        sensor, observed, at = key
        members: dict[str, object] = {
            "id": f"{self.identity.node.value}/mapping/sensorthings/{id_}",
            "topic": observations_topic(id_),
            "format": OBSERVATION_FORMAT,
            "sensor": sensor,
            "property": observed,
            "feature": at,
        }
        unit = _unit(body)
        return members if unit is None else {**members, "unit": unit}

    def _declare(self, key: StreamKey, body: Json) -> None:
        node = self.identity.stream(key)
        self._say(node, _TYPE, NamedNode(GW + "Stream"))
        for name, iri in zip(("ofSensor", "ofProperty", "ofFeature"), key, strict=True):
            self._say(node, NamedNode(GW + name), NamedNode(iri))
        self._describe(node, body)

    def _linked(self, of: Set, body: Json) -> str:
        """The IRI of a related entity, which is there or is made."""
        id_ = body.get(ID)
        if id_ is None:
            return self.entity(of, body)
        found = self.index.find(of, str(id_))
        if not isinstance(found, str):
            raise NotFoundError(f"there is no {of.value}({str(id_)[:80]!r})", f"GET {of.value}")
        return found

    def _iri(self, of: Set, body: Json) -> str:
        """The IRI that the client names, as definition or in the properties, else a new one."""
        self._made += 1
        if self._made > _MOST_ENTITIES:
            raise BadRequestError(f"more than {_MOST_ENTITIES} entities", "POST them one by one")
        properties = body.get("properties")
        named = properties.get("iri") if isinstance(properties, dict) else None
        if of is Set.OBSERVED_PROPERTIES and named is None:
            definition = body.get("definition")
            named = definition if isinstance(definition, str) and ":" in definition else None
        if named is None:
            return f"{self.identity.node.value}/{_WORDS[of]}/{uuid4()}"
        try:
            return NamedNode(str(named)).value
        except ValueError as error:
            raise BadRequestError(f"{str(named)[:80]!r} is no IRI", "name one as urn:…") from error

    def _describe(self, node: NamedNode, body: Json) -> None:
        for name, term in (("name", "label"), ("description", "comment")):
            text = body.get(name)
            if text is not None and not isinstance(text, str):
                raise BadRequestError(f"{name} is no text", "give a text")
            if text:
                self._say(node, NamedNode(RDFS + term), Literal(_bounded(text, name)))
        properties = body.get("properties")
        if properties:
            if not isinstance(properties, dict):
                raise BadRequestError("properties are an object", "give an object")
            text = json.dumps(properties, ensure_ascii=False, sort_keys=True)
            self._say(node, NamedNode(PROPERTIES), Literal(_bounded(text, "properties")))

    def _place(self, node: NamedNode, of: Set, body: Json) -> None:
        name = _GEOMETRIES[of]
        if body.get(name) is None and of is Set.FEATURES_OF_INTEREST:
            return
        try:
            text = wkt(body.get(name))
        except (ValueError, RecursionError) as error:
            raise BadRequestError(f"{name}: {error}", "give a GeoJSON geometry") from error
        place = node
        if of is Set.FEATURES_OF_INTEREST:
            place = NamedNode(f"{node.value}/geometry")
            self._say(node, NamedNode(GEO + "hasGeometry"), place)
            self._say(place, _TYPE, NamedNode(GEO + "Geometry"))
        self._say(place, NamedNode(GEO + "asWKT"), Literal(text, datatype=NamedNode(WKT)))

    def _say(self, subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal) -> None:
        self.quads.append(Quad(subject, predicate, value))


def insertion(quads: Sequence[Quad]) -> str:
    """The UPDATE that writes quads of the default graph."""
    lines = [f"{each.subject} {each.predicate} {each.object} ." for each in quads]
    return f"INSERT DATA {{ {' '.join(lines)} }}"


def observations_of(body: object) -> list[tuple[str, dict[str, object]]]:
    """The ids of Datastreams and Observations of a dataArray. Raises BadRequestError."""
    if not isinstance(body, list):
        raise BadRequestError("CreateObservations takes an array", "docs/sensorthings.md shows it")
    found: list[tuple[str, dict[str, object]]] = []
    for group in body:
        components = group.get("components") if isinstance(group, dict) else None
        rows = group.get("dataArray") if isinstance(group, dict) else None
        if not isinstance(components, list) or not isinstance(rows, list):
            raise BadRequestError("a group has components and dataArray", "give both")
        id_ = linked_id(group, "Datastream")
        for row in rows:
            if not isinstance(row, list) or len(row) != len(components):
                raise BadRequestError("a row has as many values as components", "correct it")
            found.append((id_, dict(zip(map(str, components), row, strict=True))))
    return found


def linked_id(body: Json, name: str) -> str:
    """The id of the entity that a member refers to. Raises BadRequestError."""
    told = body.get(name)
    id_ = told.get(ID) if isinstance(told, dict) else None
    if not isinstance(id_, str | int):
        raise BadRequestError(f"{name} is not named", f'say {{"{name}": {{"{ID}": …}}}}')
    return str(id_)


def _unit(body: Json) -> str | None:
    """The unit of a Datastream, by its symbol, definition or name. Raises BadRequestError."""
    told = body.get("unitOfMeasurement")
    if not isinstance(told, dict):
        return None
    given = [each for name in _UNIT_PARTS if isinstance(each := told.get(name), str) and each]
    found = next((unit for each in given if (unit := unit_iri(each)) is not None), None)
    if given and found is None:
        raise BadRequestError(
            f"unitOfMeasurement: {given[0][:40]!r} is no unit that is known",
            f"name a symbol such as °C, or a definition such as {UNIT}DEG_C; null for none",
        )
    return found


_UNIT_PARTS = ("symbol", "definition", "name")


def _several(body: Json, name: str) -> list[Json]:
    told = body.get(name)
    if told is None:
        return []
    if not isinstance(told, list) or not all(isinstance(each, dict) for each in told):
        raise BadRequestError(f"{name} is an array of objects", "give an array")
    return told


def _one(body: Json, name: str) -> Json:
    told = body.get(name)
    if not isinstance(told, dict):
        raise BadRequestError(f"{name} is missing", f"name it by @iot.id, or write {name} out")
    return told


def _bounded(text: str, name: str) -> str:
    if len(text) > _LONGEST:
        raise BadRequestError(f"{name} has more than {_LONGEST} characters", "shorten it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequestError(f"{name} has half of a surrogate pair", "correct it") from error
    return text


_MEMBERS: Mapping[Set, frozenset[str]] = {
    Set.THINGS: frozenset({"Locations", "Datastreams"}),
    Set.LOCATIONS: frozenset({"encodingType", "location", "Things"}),
    Set.SENSORS: frozenset({"encodingType", "metadata"}),
    Set.OBSERVED_PROPERTIES: frozenset({"definition"}),
    Set.FEATURES_OF_INTEREST: frozenset({"encodingType", "feature"}),
    Set.DATASTREAMS: frozenset(
        {
            *("observationType", "unitOfMeasurement", "observedArea", "phenomenonTime"),
            *("resultTime", "Thing", "Sensor", "ObservedProperty"),
        }
    ),
}
_USUAL = frozenset({"name", "description", "properties"})


def _refuse_unknown(of: Set, body: Json) -> None:
    for name in body:
        if name not in _USUAL and name not in _MEMBERS[of]:
            known = ", ".join(sorted(_USUAL | _MEMBERS[of]))
            raise BadRequestError(f"{of.value} take no {name[:80]!r}", f"they take {known}")
