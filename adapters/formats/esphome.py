"""Format "esphome": the MQTT states of ESPHome nodes.

Topic filter: `<node>/<component>/<object_id>/state`, or `+/sensor/+/state`. Selector: empty, or
the path of a member where the state is JSON (lights). A `text_sensor` is text even where it looks
like a number; a sensor without a value says `nan`, which is a fault. ESPHome tells units in Home
Assistant's discovery only: the mapping declares them. `<node>/status` says whether the node is
there: with wildcards, for the streams that were heard.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Findings, Format
from adapters.availability import KnownStreams, availability_findings
from adapters.documents.json_path import ABSENT, JsonPath
from adapters.values.mapping import Mapping, MappingError
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.result import Result, captured_result, forced_string_result, json_result
from adapters.values.stream import Stream
from adapters.values.usual_words import usual

FAMILY = "esphome"
STATUS = "/status"
_TEXTS = frozenset(
    {"text_sensor", "text", "select", "datetime", "event", "update", "alarm_control_panel"}
)
_SETTABLE = {
    "switch": ("ON", "OFF"),
    "number": (),
    "select": (),
    "text": (),
    "lock": ("LOCK", "UNLOCK"),
}
COMPONENTS = (
    _TEXTS | _SETTABLE.keys() | {"sensor", "binary_sensor", "light", "cover", "fan", "valve"}
)


class EsphomeAdapter:
    """All mappings see the same state."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        self._paths = tuple(map(_path, mappings))
        self._known = memory.of(KnownStreams)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The entity's state, or from `status` the liveness of all streams of the node."""
        topic = payload.message.topic
        if topic.endswith(STATUS):
            bound = [stream.key for stream in streams]
            return availability_findings(
                payload, [*bound, *self._known.of(topic.removesuffix(STATUS))]
            )
        node, component = _parts(topic)
        findings = Findings()
        for path, stream in zip(self._paths, streams, strict=True):
            findings.add(stream, _result(payload, path, component))
            self._known.hear(node, stream.key)
        return findings


def companions(topic_filter: str) -> Sequence[str]:
    """The status of the node."""
    node = "/".join(topic_filter.split("/")[:-3])
    return (node + STATUS,) if node and "#" not in topic_filter else ()


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A state topic of a component that ESPHome has; the unit is a person's to say."""
    del memory
    topic = payload.message.topic
    levels = topic.split("/")
    if len(levels) < 4 or levels[-1] != "state" or levels[-3] not in COMPONENTS:
        return ()
    node, component, object_id = "/".join(levels[:-3]), levels[-3], levels[-2]
    if isinstance(_result(payload, None, component), Fault):
        return ()
    found = usual(object_id)
    member = f"{component}/{object_id}"
    mapping = Mapping(
        names.mapping(FAMILY, node, member),
        topic,
        FAMILY,
        names.sensor(FAMILY, node, member),
        names.observed_property(found.meaning),
        names.feature(FAMILY, node),
        unit=found.unit if component in {"sensor", "number"} else None,
    )
    command = None
    if component in _SETTABLE:
        set_topic = topic.removesuffix("state") + "command"
        command = Command(set_topic, values=_SETTABLE[component])
    question = "In which unit? ESPHome does not say." if component in {"sensor", "number"} else ""
    label = f"{node} {object_id}"
    return [Proposal(mapping, FAMILY, node, label, found.meaning, command, question)]


def _parts(topic: str) -> tuple[str, str]:
    """Node and component of a state topic."""
    levels = topic.split("/")
    return "/".join(levels[:-3]), levels[-3] if len(levels) > 2 else ""


def _result(payload: Payload, path: JsonPath | None, component: str) -> Result | Fault:
    if path is not None:
        document = payload.document()
        if isinstance(document, Fault):
            return document
        value = path.find(document)
        if value is ABSENT:
            return Fault(None, FaultReason.MISSING, "the state has no such member")
        return json_result(value)
    text = payload.text()
    if isinstance(text, Fault):
        return text
    return forced_string_result(text) if component in _TEXTS else captured_result(text)


def _path(mapping: Mapping) -> JsonPath | None:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "ESPHome sends none")
    text = mapping.selector
    if not text:
        return None
    try:
        path = JsonPath.compile(text if text.startswith("$") else f"$.{text}")
    except ValueError as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error
    if not path.is_singular:
        raise MappingError(mapping.iri, "selector", "name one value")
    return path


FORMAT = Format(EsphomeAdapter, companions=companions, propose=propose)
