"""Measures as FIWARE's IoT Agents take them: what the agents for JSON and UltraLight share.

Topics are `/json/APIKEY/DEVICE/attrs` with the measures of a message, and below it `/attrs/NAME`
with the bare value of one attribute, which is heard for the same mapping. The selector is the
attribute. Each measure may have a `TimeInstant` of its own (ISO 8601), which is the device's time.
A value may stand in an object with `value`, as in NGSI.

Source: FIWARE IoT Agent for JSON, user manual, MQTT binding.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from adapters.adapter import Fault, FaultReason, Findings, missing
from adapters.values.device_time import read_time
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Told
from adapters.values.payload import Json, Payload
from adapters.values.properties import Shape
from adapters.values.proposal import Names, Proposal
from adapters.values.result import BOOLEAN, NUMERIC, captured_result, json_result
from adapters.values.stream import Stream
from adapters.values.usual_words import usual

ATTRIBUTES = "attrs"
TIME = "TimeInstant"
MOST_ATTRIBUTES = 100
QUESTION = "Is this a measured value, and is the unit right?"

Measure: TypeAlias = dict[str, Json]
"""Values by the names of their attributes, `TimeInstant` among them."""

Read: TypeAlias = Callable[[Payload], Sequence[Measure] | Fault]
"""How the bytes of a payload become measures."""


def json_measures(payload: Payload) -> Sequence[Measure] | Fault:
    """The measures of an object, or of an array of objects."""
    document = payload.document()
    if isinstance(document, Fault):
        return document
    measures: list[Measure] = []
    for measure in document if isinstance(document, list) else [document]:
        if not isinstance(measure, dict):
            return Fault(None, FaultReason.MALFORMED, "a measure is an object")
        measures.append(measure)
    return measures


class MeasuresAdapter:
    """All attributes of a topic filter, over one message with measures."""

    def __init__(self, mappings: Sequence[Mapping], read: Read) -> None:
        for mapping in mappings:
            _refuse_defects(mapping)
        self._read = read
        self._names = tuple(mapping.selector for mapping in mappings)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The attributes of each measure, or the one attribute that the topic names."""
        level, _, name = payload.message.topic.rpartition("/")
        if level.endswith(f"/{ATTRIBUTES}"):
            return self._attribute(name, payload, streams)
        measures = payload.once(self._read)
        if isinstance(measures, Fault):
            return Findings.of_fault(measures)
        findings = Findings()
        for measure in measures:
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

    def _measure(self, measure: Measure, streams: Sequence[Stream], findings: Findings) -> None:
        time = _time(measure)
        for name, stream in zip(self._names, streams, strict=True):
            if name in measure:
                findings.add(stream, json_result(_plain(measure[name])), time)


def _time(measure: Measure) -> datetime | Fault | None:
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


def companions(topic_filter: str) -> Sequence[str]:
    """The topics of single attributes."""
    return (f"{topic_filter}/+",)


def subject(topic: str) -> str:
    """The topic of a device's measures, for that of a single attribute too."""
    level, _, _ = topic.rpartition("/")
    return level if level.endswith(f"/{ATTRIBUTES}") else topic


def proposals(family: str, read: Read, payload: Payload, names: Names) -> Sequence[Proposal]:
    """A mapping for each attribute of a message's first measure."""
    levels = payload.message.topic.split("/")
    if len(levels) not in {4, 5} or levels[0] or levels[-1] != ATTRIBUTES:
        return ()
    measures = payload.once(read)
    if isinstance(measures, Fault) or not measures:
        return ()
    first = [(name, _plain(value)) for name, value in measures[0].items() if name != TIME]
    topic = payload.message.topic
    return [_proposal(family, topic, *each, names) for each in first[:MOST_ATTRIBUTES]]


def _proposal(family: str, topic: str, name: str, value: Json, names: Names) -> Proposal:
    device, found = topic.split("/")[-2], usual(name, Told(shape=shape(value)))
    mapping = Mapping(
        names.mapping(family, device, name),
        topic,
        family,
        names.sensor(family, device, name),
        names.observed_property(found.meaning),
        names.feature(family, device),
        name,
        found.unit,
    )
    return Proposal(
        mapping, family, device, f"{name} of {device}", found.meaning, question=QUESTION
    )


def shape(value: Json) -> Shape | None:
    """What a value is; None where there is none yet."""
    result = json_result(value)
    if isinstance(result, Fault):
        return None
    if result.datatype in NUMERIC:
        return Shape.NUMBER
    return Shape.TRUTH if result.datatype == BOOLEAN else Shape.WORD
