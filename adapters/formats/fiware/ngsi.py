"""Format "ngsi": entities as FIWARE's context broker notifies them by MQTT (NGSI-v2).

Whoever subscribes names the topic, so any topic filter may be a mapping's. The selector is an
attribute, `{name}` in the IRIs is the id of the entity. Entities come in `data` of a notification
or, in the simplified forms, by themselves; normalized, with `value` and `metadata` of each
attribute, or as keyValues. In the form `values` nothing has a name: that is a fault that says so.

The time is `TimeInstant`, in the attribute's metadata or of the entity, else `dateObserved`: the
device's. `dateModified` is the context broker's. A unit stands as `unitCode` in the metadata. A
point of GeoJSON is a position, a geo:wktLiteral.

Sources: Orion Context Broker, "Notification Messages", "JSON Attribute Representation" and
"Geospatial properties of entities" of its API specification, and "MQTT notifications"; UN/CEFACT
Recommendation 20 (unit codes); RFC 7946, section 3.1.2.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, missing
from adapters.documents.point import position
from adapters.formats.fiware.measures import MOST_ATTRIBUTES, QUESTION, TIME, shape
from adapters.values.device_time import read_time
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Told
from adapters.values.memory import Memory
from adapters.values.observation import USUAL, Circumstances, TimeSource
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.result import Result, json_result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

MAX_ENTITIES = 1000
NETWORK = Circumstances(TimeSource.NETWORK)

_OBSERVED, _MODIFIED = "dateObserved", "dateModified"
_NO_ATTRIBUTES = frozenset({"id", "type", TIME, _OBSERVED, _MODIFIED, "dateCreated"})
_SYMBOLS = {
    "CEL": "Cel",
    "FAH": "°F",
    "KEL": "K",
    "P1": "%",
    "59": "ppm",
    "A97": "hPa",
    "PAL": "Pa",
    "KPA": "kPa",
    "BAR": "bar",
    "MBR": "mbar",
    "LUX": "lx",
    "MTS": "m/s",
    "KMH": "km/h",
    "DD": "deg",
    "MMT": "mm",
    "CMT": "cm",
    "MTR": "m",
    "KMT": "km",
    "KGM": "kg",
    "GRM": "g",
    "LTR": "L",
    "MTQ": "m3",
    "WTT": "W",
    "KWT": "kW",
    "WHR": "Wh",
    "KWH": "kWh",
    "VLT": "V",
    "2Z": "mV",
    "AMP": "A",
    "4K": "mA",
    "HTZ": "Hz",
    "GQ": "ug/m3",
    "GP": "mg/m3",
    "2N": "dB",
}
"""Symbols of the crosswalk by the codes of UN/CEFACT."""

Entity = dict[str, Json]
When = tuple[datetime | Fault | None, Circumstances]


class NgsiAdapter:
    """All attributes of a topic filter, over one notification."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        for mapping in mappings:
            _refuse_defects(mapping)
        self._names = tuple(mapping.selector for mapping in mappings)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The attributes of each entity that the notification has."""
        entities = payload.once(_entities)
        if isinstance(entities, Fault):
            return Findings.of_fault(entities)
        findings = Findings()
        for entity in entities:
            whose = _id(entity)
            for name, stream in zip(self._names, streams, strict=True):
                if name in entity:
                    _add(entity, entity[name], stream.named(whose), findings)
        if not findings:
            findings.faults.append(missing(streams))
        return findings


def _add(entity: Entity, attribute: Json, stream: Stream, findings: Findings) -> None:
    metadata = _metadata(attribute)
    code = _plain(metadata.get("unitCode"))
    symbol = _SYMBOLS.get(code, code) if isinstance(code, str) else None
    time, how = _when(metadata, entity)
    unit = unit_iri(symbol) if symbol else None
    findings.add(stream, _result(_plain(attribute)), time, unit=unit, circumstances=how)


def _entities(payload: Payload) -> Sequence[Entity] | Fault:
    document = payload.document()
    if isinstance(document, Fault):
        return document
    told = document.get("data") if isinstance(document, dict) else document
    if isinstance(document, dict) and "id" in document:
        told = [document]
    if not isinstance(told, list):
        return Fault(None, FaultReason.MALFORMED, "neither a notification with data nor an entity")
    if len(told) > MAX_ENTITIES:
        detail = f"{len(told)} entities, at most {MAX_ENTITIES} are read"
        return Fault(None, FaultReason.TOO_LARGE, detail)
    entities = [each for each in told if isinstance(each, dict) and _id(each)]
    if len(entities) < len(told):
        detail = "an entity is an object with an id; subscribe with attrsFormat normalized"
        return Fault(None, FaultReason.MALFORMED, detail)
    return entities


def _id(entity: Entity) -> str:
    told = entity.get("id")
    return str(told) if isinstance(told, str) and len(told) <= 256 else ""


def _metadata(attribute: Json) -> Entity:
    told = attribute.get("metadata") if isinstance(attribute, dict) else None
    return told if isinstance(told, dict) else {}


def _plain(attribute: Json) -> Json:
    is_told = isinstance(attribute, dict) and "value" in attribute
    return attribute["value"] if is_told and isinstance(attribute, dict) else attribute


def _when(metadata: Entity, entity: Entity) -> When:
    """The nearest time of the device; the context broker's where there is none."""
    for place, member in ((metadata, TIME), (entity, TIME), (entity, _OBSERVED)):
        if member in place:
            return _time(_plain(place[member]), member), USUAL
    for place in (metadata, entity):
        if _MODIFIED in place:
            return _time(_plain(place[_MODIFIED]), _MODIFIED), NETWORK
    return None, USUAL


def _time(told: Json, member: str) -> datetime | Fault | None:
    if told is None:
        return None
    if not isinstance(told, str):
        return Fault(None, FaultReason.TIME_UNUSABLE, f"{member} is no text")
    return read_time(told.rpartition("/")[2])


def _result(value: Json) -> Result | Fault:
    if not isinstance(value, dict) or "coordinates" not in value:
        return json_result(value)
    kind, told = value.get("type"), value["coordinates"]
    if kind != "Point" or not isinstance(told, list) or len(told) < 2:
        named = excerpt(kind) if isinstance(kind, str) else "this"
        return Fault(None, FaultReason.NOT_A_VALUE, f"{named} of GeoJSON is no position")
    return position(told[1], told[0])


def _refuse_defects(mapping: Mapping) -> None:
    if not mapping.selector:
        raise MappingError(mapping.iri, "selector", "name an attribute")
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, f"NGSI says itself where it stands: {TIME}")


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A mapping for each attribute, for all entities of the topic alike.

    What is neither a notification nor normalized may be anybody's JSON.
    """
    del memory
    entities = payload.once(_entities)
    if isinstance(entities, Fault) or not entities or not _is_certain(payload, entities[0]):
        return ()
    attributes = {name: value for entity in entities for name, value in _measured(entity)}
    topic = payload.message.topic
    first = list(attributes.items())[:MOST_ATTRIBUTES]
    return [_proposal(topic, name, value, names) for name, value in first]


def _is_certain(payload: Payload, entity: Entity) -> bool:
    document = payload.document()
    if isinstance(document, dict) and isinstance(document.get("subscriptionId"), str):
        return True
    told = [value for name, value in entity.items() if name not in {"id", "type"}]
    return bool(told) and "type" in entity and all(map(_is_normalized, told))


def _is_normalized(attribute: Json) -> bool:
    return isinstance(attribute, dict) and attribute.keys() >= {"type", "value", "metadata"}


def _measured(entity: Entity) -> Iterator[tuple[str, Json]]:
    for name, attribute in entity.items():
        if name not in _NO_ATTRIBUTES and not isinstance(_result(_plain(attribute)), Fault):
            yield name, attribute


def _proposal(topic: str, name: str, attribute: Json, names: Names) -> Proposal:
    code = _plain(_metadata(attribute).get("unitCode"))
    symbol = _SYMBOLS.get(code, code) if isinstance(code, str) else None
    symbol = symbol if symbol and unit_iri(symbol) else None
    value = _plain(attribute)
    found = usual(name, Told(symbol, None if isinstance(value, dict) else shape(value)))
    mapping = Mapping(
        names.mapping("ngsi", topic, name),
        topic,
        "ngsi",
        names.sensor("ngsi", topic, name) + "/{name}",
        names.observed_property(found.meaning),
        names.feature("ngsi", topic) + "/{name}",
        name,
        found.unit or symbol,
    )
    label = f"{name} of {topic}"
    return Proposal(mapping, "ngsi", topic, label, found.meaning, question=QUESTION)
