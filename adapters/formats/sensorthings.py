"""Format "sensorthings": observations created by MQTT as OGC SensorThings has it.

Topics are `v1.1/Datastreams(42)/Observations`, or `v1.1/Observations` with the Datastream in the
payload; `{name}` in the IRIs is the Datastream's id. The selector is a path, `$.result` where it is
left out: `$.result[1]` of a MultiDatastream, `$.parameters.tilt`.

The time is phenomenonTime, of an interval its end, else resultTime: the device's clock. What a
server publishes of the same observation has its `@iot.id`, which is then the sequence.

Source: OGC SensorThings API Part 1: Sensing, version 1.1, section 14.2 (MQTT).
"""

import re
from collections.abc import Sequence
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.documents.json_path import ABSENT, JsonPath
from adapters.values.device_time import read_sequence, read_time
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Told, own
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.result import json_result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri
from adapters.values.usual_words import Usual, usual

RESULT = "$.result"
MAX_RESULTS = 100

_TOPIC = re.compile(
    r"v1\.[0-9]/(?:(?:Multi)?Datastreams\((?P<id>'[^']*'|[^()/']+)\)/)?Observations"
)


class SensorThingsAdapter:
    """All paths of a topic filter, over one observation."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._paths = tuple(map(_path, mappings))

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The selected values of one Observation, with its time and id."""
        document = payload.document()
        if isinstance(document, Fault):
            return Findings.of_fault(document)
        if not isinstance(document, dict):
            fault = Fault(None, FaultReason.MALFORMED, "an Observation is an object")
            return Findings.of_fault(fault)
        name = datastream(payload.message.topic, document)
        time, sequence = _time(document), _sequence(document)
        findings = Findings()
        for path, stream in zip(self._paths, streams, strict=True):
            value = path.find(document)
            if value is not ABSENT:
                findings.add(stream.named(name), json_result(value), time, sequence)
        if not findings:
            findings.faults.append(missing(streams))
        return findings


def datastream(topic: str, document: dict[str, Json]) -> str:
    """The id of the Datastream, from the topic or the payload; "unknown" where neither tells.

    >>> datastream("v1.1/Datastreams('a')/Observations", {})
    'a'
    """
    match = _TOPIC.fullmatch(topic)
    if match and match["id"]:
        return match["id"].strip("'")
    for member in ("Datastream", "MultiDatastream"):
        told = document.get(member)
        told = told.get("@iot.id") if isinstance(told, dict) else None
        if isinstance(told, str) and told:
            return str(told)
    return "unknown"


def _time(document: dict[str, Json]) -> datetime | Fault | None:
    for member in ("phenomenonTime", "resultTime"):
        told = document.get(member)
        if isinstance(told, str):
            return read_time(told.rpartition("/")[2])
        if told is not None:
            return Fault(None, FaultReason.TIME_UNUSABLE, f"{member} is no text")
    return None


def _sequence(document: dict[str, Json]) -> str | Fault | None:
    told = document.get("@iot.id")
    return read_sequence(told) if isinstance(told, str) else None


def _path(mapping: Mapping) -> JsonPath:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "SensorThings says itself where it stands")
    try:
        path = JsonPath.compile(mapping.selector or RESULT)
    except ValueError as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error
    if not path.is_singular:
        raise MappingError(mapping.iri, "selector", "one mapping takes one value")
    return path


def _propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A mapping for the result, or for each result of a MultiDatastream."""
    del memory
    topic = payload.message.topic
    document = payload.document() if _TOPIC.fullmatch(topic) else None
    if not isinstance(document, dict) or "result" not in document:
        return ()
    name, told = datastream(topic, document), document["result"]
    if not isinstance(told, list):
        return [_proposal(topic, name, "", _described(document, 0), names)]
    count = range(min(len(told), MAX_RESULTS))
    return [
        _proposal(topic, name, f"{RESULT}[{at}]", _described(document, at), names) for at in count
    ]


def _described(document: dict[str, Json], at: int) -> tuple[str, str | None]:
    """Name and unit of a result where the Datastream is written out beside it."""
    one, several = document.get("Datastream"), document.get("MultiDatastream")
    whole = several if isinstance(several, dict) else one if isinstance(one, dict) else {}
    many = "MultiDatastream" in document
    kind = _one_of(whole, "ObservedProperties" if many else "ObservedProperty", at)
    unit = _one_of(whole, "unitOfMeasurements" if many else "unitOfMeasurement", at)
    called, symbol = kind.get("name"), unit.get("symbol")
    known = symbol if isinstance(symbol, str) and unit_iri(symbol) else None
    return called if isinstance(called, str) else "", known


def _one_of(whole: dict[str, Json], member: str, at: int) -> dict[str, Json]:
    told = whole.get(member)
    if isinstance(told, list):
        told = told[at] if at < len(told) else None
    return told if isinstance(told, dict) else {}


def _proposal(
    topic: str, name: str, selector: str, described: tuple[str, str | None], names: Names
) -> Proposal:
    called, symbol = described
    member = selector.removeprefix("$.") or "result"
    found = usual(called, Told(symbol)) if called else Usual(own(f"datastream-{name}"))
    mapping = Mapping(
        names.mapping("sensorthings", name, member),
        topic,
        "sensorthings",
        names.sensor("sensorthings", name, member),
        names.observed_property(found.meaning),
        names.feature("sensorthings", name),
        selector,
        symbol or found.unit,
    )
    behind = f", {called or member}" if selector else ""
    question = f"What does Datastream {name}{behind} measure, of what, and in which unit?"
    label = f"Datastream {name}{behind}"
    return Proposal(mapping, "sensorthings", name, label, found.meaning, question=question)


FORMAT = Format(stateless(SensorThingsAdapter), names=True, propose=_propose)
