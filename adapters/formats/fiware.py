"""Format "fiware": measures as FIWARE's IoT Agent for JSON takes them.

Topics are `/json/APIKEY/DEVICE/attrs` with an object or an array of objects, and below it
`/attrs/NAME` with the bare value of one attribute, which is heard for the same mapping. The
selector is the attribute. Each object may have a `TimeInstant` of its own (ISO 8601), which is the
device's time. A value may stand in an object with `value`, as in NGSI.

Source: FIWARE IoT Agent for JSON, user manual, MQTT binding.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.values.device_time import read_time
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Told
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.properties import Shape
from adapters.values.proposal import Names, Proposal
from adapters.values.result import BOOLEAN, NUMERIC, captured_result, json_result
from adapters.values.stream import Stream
from adapters.values.usual_words import usual

ATTRIBUTES = "attrs"
TIME = "TimeInstant"


class FiwareAdapter:
    """All attributes of a topic filter, over one message with measures."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        for mapping in mappings:
            _refuse_defects(mapping)
        self._names = tuple(mapping.selector for mapping in mappings)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The attributes of each measure, or the one attribute that the topic names."""
        level, _, name = payload.message.topic.rpartition("/")
        if level.endswith(f"/{ATTRIBUTES}"):
            return self._attribute(name, payload, streams)
        document = payload.document()
        if isinstance(document, Fault):
            return Findings.of_fault(document)
        findings = Findings()
        for measure in document if isinstance(document, list) else [document]:
            if not isinstance(measure, dict):
                fault = Fault(None, FaultReason.MALFORMED, "a measure is an object")
                return Findings.of_fault(fault)
            self._measure(measure, streams, findings)
        if not findings:
            findings.faults.append(missing(streams))
        return findings

    def _attribute(self, name: str, payload: Payload, streams: Sequence[Stream]) -> Findings:
        findings = Findings()
        text = payload.text()
        for wanted, stream in zip(self._names, streams, strict=True):
            if wanted == name:
                findings.add(stream, text if isinstance(text, Fault) else captured_result(text))
        return findings

    def _measure(
        self, measure: dict[str, Json], streams: Sequence[Stream], findings: Findings
    ) -> None:
        time = _time(measure)
        for name, stream in zip(self._names, streams, strict=True):
            if name in measure:
                findings.add(stream, json_result(_plain(measure[name])), time)


def _time(measure: dict[str, Json]) -> datetime | Fault | None:
    told = _plain(measure.get(TIME))
    if told is None:
        return None
    if isinstance(told, str):
        return read_time(told)
    return Fault(None, FaultReason.TIME_UNUSABLE, f"{TIME} is no text")


def _plain(value: Json) -> Json:
    return value["value"] if isinstance(value, dict) and "value" in value else value


def _refuse_defects(mapping: Mapping) -> None:
    if mapping.topic_filter.rpartition("/")[2] != ATTRIBUTES:
        reason = f"ends in /{ATTRIBUTES}, as /json/APIKEY/DEVICE/{ATTRIBUTES}"
        raise MappingError(mapping.iri, "topic_filter", reason)
    if not mapping.selector:
        raise MappingError(mapping.iri, "selector", "name an attribute")
    if mapping.time_selector:
        raise MappingError(mapping.iri, "time_selector", f"the time is that of {TIME}")
    if mapping.sequence_selector:
        raise MappingError(mapping.iri, "sequence_selector", "measures have no sequence")


def _companions(topic_filter: str) -> Sequence[str]:
    return (f"{topic_filter}/+",)


def _subject(topic: str) -> str:
    level, _, _ = topic.rpartition("/")
    return level if level.endswith(f"/{ATTRIBUTES}") else topic


def _propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    del memory
    levels = payload.message.topic.split("/")
    if len(levels) not in {4, 5} or levels[0] or levels[-1] != ATTRIBUTES:
        return ()
    topic = payload.message.topic
    return [_proposal(topic, name, value, names) for name, value in _attributes(payload)]


def _attributes(payload: Payload) -> Iterator[tuple[str, Json]]:
    document = payload.document()
    first = document[0] if isinstance(document, list) and document else document
    if isinstance(first, dict):
        for name, value in list(first.items())[:100]:
            if name != TIME:
                yield name, _plain(value)


def _proposal(topic: str, name: str, value: Json, names: Names) -> Proposal:
    device, found = topic.split("/")[-2], usual(name, Told(shape=_shape(value)))
    mapping = Mapping(
        names.mapping("fiware", device, name),
        topic,
        "fiware",
        names.sensor("fiware", device, name),
        names.observed_property(found.meaning),
        names.feature("fiware", device),
        name,
        found.unit,
    )
    question = "Is this a measured value, and is the unit right?"
    label = f"{name} of {device}"
    return Proposal(mapping, "fiware", device, label, found.meaning, question=question)


def _shape(value: Json) -> Shape | None:
    """None where there is no value yet."""
    result = json_result(value)
    if isinstance(result, Fault):
        return None
    if result.datatype in NUMERIC:
        return Shape.NUMBER
    return Shape.TRUTH if result.datatype == BOOLEAN else Shape.WORD


FORMAT = Format(
    stateless(FiwareAdapter), companions=_companions, subject=_subject, propose=_propose
)
