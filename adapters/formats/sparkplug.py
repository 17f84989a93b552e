"""Format "sparkplug": metrics of Sparkplug B edge nodes and devices, as a host application.

The topic filter names group, node and device, with `+` where any will do, and one of the message
types: `spBv1.0/plant1/DDATA/edge7/press3`, `spBv1.0/plant1/NDATA/edge7`. Births and deaths are
heard for it, and all else that the node sends, for `seq` counts over all of it.

The selector is the name of a metric; `name[2]` an element of an array; empty is every metric, then
`{name}` stands in the IRIs. A message has what changed, so a metric that is not in it is no fault.

- Time: the metric's own, else the message's, by the device's clock.
- Quality (property `Quality`): 0 is bad, 500 stale, 192 good; others are believed where their
  upper bits say good (OPC UA), and bad otherwise. Bad and stale give a fault.
- A birth that tells the value of before, with the time of before, is a heartbeat.
- Is_historical marks the observation as historical; is_null is a fault.
- A DataSet, a Template, and a property set as a value are refused.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from adapters.adapter import Fault, FaultReason, Findings, Format
from adapters.sparkplug import command
from adapters.sparkplug.host import NAMESPACE, Address, Declared, Heard, SparkplugHost, Update
from adapters.sparkplug.payload import Metric, decode_payload, rebirth_command
from adapters.sparkplug.value import DATATYPES, INTEGERS, Value, array_text, value_of
from adapters.values.device_time import EARLIEST, from_unix
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Meaning, Told
from adapters.values.memory import Memory
from adapters.values.notice import DeviceRequest, Heartbeat, Liveness, UnitChange
from adapters.values.observation import USUAL, Circumstances
from adapters.values.payload import Payload
from adapters.values.properties import Kind, Shape
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.result import NUMERIC, Result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

MAX_PROPOSALS = 500
MAX_BIRTH_BYTES = 1024 * 1024
"""A birth names every metric of a plant's node; thousands are usual."""

ANY = "+"
HISTORICAL = Circumstances(historical=True)

_ELEMENT = re.compile(r"(.+)\[([0-9]{1,4})\]")
_GOOD, _STALE, _BAD = 192, 500, 0
_MEASURED = frozenset({"inputs", "sensors", "measurements", "readings", "analog inputs"})
_SHAPES = {
    **dict.fromkeys((DATATYPES[code] for code in INTEGERS), Shape.NUMBER),
    **dict.fromkeys(("Float", "Double"), Shape.NUMBER),
    **dict.fromkeys(("String", "Text", "UUID", "DateTime"), Shape.WORD),
    "Boolean": Shape.TRUTH,
}
_CONTROL = ("Node Control/", "Device Control/", "Node Info/", "Device Info/")


@dataclass(frozen=True, slots=True)
class _Rule:
    """Metrics by `name`, or all of them; or the element of the array `array`."""

    name: str
    array: str = ""
    index: int = 0

    @classmethod
    def compile(cls, selector: str) -> "_Rule":
        element = _ELEMENT.fullmatch(selector)
        return cls(selector, element[1], int(element[2])) if element else cls(selector)

    def select(self, update: Update) -> Iterator["_Taken"]:
        """The metrics in `update` that the selector names."""
        if not self.name:
            for heard in update.heard.values():
                yield from (_Taken(*each, None) for each in enumerate(heard))
        elif self.name in update.heard:
            yield from (_Taken(*each, None) for each in enumerate(update.heard[self.name]))
        elif self.array:
            heard = update.heard.get(self.array, ())
            yield from (_Taken(*each, self.index) for each in enumerate(heard))


class _Taken(NamedTuple):
    """A metric, how many of its name came before it in the message, and the element to take."""

    number: int
    heard: Heard
    element: int | None


class SparkplugAdapter:
    """All mappings of one topic filter, over what the host's state makes of a message."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        self._host = memory.of(SparkplugHost)
        self._rules = tuple(_Rule.compile(mapping.selector) for mapping in mappings)
        self._group, self._node, self._device = _wanted(mappings[0])
        for mapping in mappings:
            _refuse_selectors(mapping)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The selected metrics as the host's state has them, deaths, requests for a rebirth."""
        update = payload.once(self._host.take)
        findings = Findings()
        if update.address is None:
            return findings
        if update.wanted:
            findings.notices.append(_rebirth(update.address, update.wanted, payload))
        findings.notices += [Liveness(stream, is_online=False) for stream in update.gone]
        if self._is_concerned(update.address):
            findings.faults += update.faults
            for rule, stream in zip(self._rules, streams, strict=True):
                for taken in rule.select(update):
                    self._tell(update.address, update, taken, stream, findings)
        return findings

    def _is_concerned(self, address: Address) -> bool:
        wanted = zip(address[:3], (self._group, self._node, self._device), strict=True)
        return all(want in {ANY, level} for level, want in wanted) and (
            bool(self._device) == bool(address.device)
        )

    def _tell(
        self, address: Address, update: Update, taken: _Taken, stream: Stream, findings: Findings
    ) -> None:
        heard, stream = taken.heard, stream.named(taken.heard.declared.name)
        self._host.observed(address, stream.key)
        if address.kind == "BIRTH":
            findings.notices.append(Liveness(stream.key, is_online=True))
        if heard.repeated:
            findings.notices.append(Heartbeat(stream.key))
            return
        result, time = _result(heard, taken.element), _time(heard.metric, update)
        unit = unit_iri(heard.declared.unit) if heard.declared.unit else None
        if isinstance(result, Result) and result.datatype in NUMERIC:
            _tell_unit(heard.declared, unit, stream, findings)
        findings.add(
            stream,
            result,
            time,
            _sequence(heard, update, taken.number, is_timed=isinstance(time, datetime)),
            unit=unit,
            circumstances=HISTORICAL if heard.metric.is_historical else USUAL,
        )


def _result(heard: Heard, index: int | None) -> Result | Fault:
    metric = heard.metric
    quality = metric.property("Quality")
    if metric.is_null or not metric.field:
        return Fault(None, FaultReason.NULL, "the metric is null")
    if quality == _STALE:
        return Fault(None, FaultReason.STALE, "the quality is 500, stale")
    if isinstance(quality, int) and not _is_good(quality):
        return Fault(None, FaultReason.BAD_QUALITY, f"the quality is {quality}")
    return _scalar(value_of(metric, metric.datatype or heard.declared.datatype), index)


def _is_good(quality: int) -> bool:
    """192 and its sub-codes, as OPC has them."""
    return quality & 0xFF >= _GOOD if quality < 256 else quality == _GOOD


def _scalar(value: Value, index: int | None) -> Result | Fault:
    if isinstance(value, Fault | Result):
        if index is None or isinstance(value, Fault):
            return value
        return Fault(None, FaultReason.NOT_A_VALUE, "the metric is no array")
    if index is None:
        return array_text(value)
    if index < len(value):
        return value[index]
    return Fault(None, FaultReason.MISSING, f"the array has {len(value)} elements")


def _time(metric: Metric, update: Update) -> datetime | Fault | None:
    milliseconds = update.timestamp_ms if metric.timestamp_ms is None else metric.timestamp_ms
    if milliseconds is None:
        return None
    moment = from_unix(Decimal(milliseconds).scaleb(-3))
    if moment is None or moment < EARLIEST:
        detail = f"{milliseconds} ms is the time of an unset clock"
        return Fault(None, FaultReason.TIME_UNUSABLE, detail)
    return moment


def _sequence(heard: Heard, update: Update, number: int, *, is_timed: bool) -> str | None:
    """Message and place in it, where the time of the metric alone does not tell it from others.

    Births, also those after a restart of ours, repeat what has a time of its own under other `seq`.
    """
    metric = heard.metric
    is_birth = update.address is not None and update.address.kind == "BIRTH"
    own_time = is_timed and metric.timestamp_ms is not None and not metric.is_historical
    if update.sequence is None or (own_time and (is_birth or not heard.crowded)):
        return str(number) if number and not own_time else None
    return f"{update.sequence}.{number}" if number else str(update.sequence)


def _tell_unit(declared: Declared, unit: str | None, stream: Stream, findings: Findings) -> None:
    if declared.unit and unit is None:
        detail = f"{excerpt(declared.unit)} of metric {excerpt(declared.name)}"
        findings.faults.append(Fault(stream.mapping, FaultReason.UNIT_UNKNOWN, detail))
    before = unit_iri(declared.before) if declared.before else None
    if unit and before and before != unit and stream.unit is None:
        change = UnitChange(stream.key, before, unit)
        if change not in findings.notices:
            findings.notices.append(change)


def _rebirth(address: Address, reason: str, payload: Payload) -> DeviceRequest:
    now_ms = int(payload.message.received_at.timestamp() * 1000)
    return DeviceRequest(address.command_topic, rebirth_command(now_ms), reason)


def _wanted(mapping: Mapping) -> tuple[str, str, str]:
    """Group, node and device of the topic filter, device empty for a node's own metrics."""
    levels = mapping.topic_filter.split("/")
    kinds = {4: {ANY, "NBIRTH", "NDATA"}, 5: {ANY, "DBIRTH", "DDATA"}}.get(len(levels), set())
    if levels[0] != NAMESPACE or "#" in levels or len(levels) < 4 or levels[2] not in kinds:
        reason = f"is neither {NAMESPACE}/GROUP/NDATA/NODE nor {NAMESPACE}/GROUP/DDATA/NODE/DEVICE"
        raise MappingError(mapping.iri, "topic_filter", reason)
    return levels[1], levels[3], levels[4] if len(levels) == 5 else ""


def _refuse_selectors(mapping: Mapping) -> None:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Sparkplug says itself where it stands")


def companions(topic_filter: str) -> Sequence[str]:
    """All that the nodes of `topic_filter` send: births, deaths, and what `seq` counts."""
    namespace, group, _, node = topic_filter.split("/")[:4]
    return (f"{namespace}/{group}/+/{node}/#",)


def subject(topic: str) -> str:
    """The topic of the data of who sent `topic`, with an empty device for a node."""
    levels = topic.split("/")
    if len(levels) < 4:
        return topic
    return "/".join((*levels[:2], f"{levels[2][:1]}DATA", *levels[3:], "")[:5])


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A mapping for each metric of a birth, with its datatype, its unit and whether it is set."""
    del memory
    address = Address.of(payload.message.topic)
    if address is None or address.kind != "BIRTH":
        return ()
    birth = decode_payload(payload.raw)
    if isinstance(birth, Fault):
        return ()
    metrics = (each for each in birth.metrics if each.name and _is_measured(each))
    return [_proposal(address, each, names) for each in islice(metrics, MAX_PROPOSALS)]


def _is_measured(metric: Metric) -> bool:
    return metric.name != "bdSeq" and not metric.name.startswith(_CONTROL)


def _proposal(address: Address, metric: Metric, names: Names) -> Proposal:
    device = "/".join(filter(None, address[:3]))
    declared = Declared.of(address.device, metric)
    known = unit_iri(declared.unit) if declared.unit else None
    datatype = DATATYPES.get(metric.datatype, "Unknown")
    meaning = _meaning(metric, datatype, declared.unit if known else None)
    mapping = Mapping(
        names.mapping("sparkplug", device, metric.name),
        _topic(address, "DATA"),
        "sparkplug",
        names.sensor("sparkplug", device, metric.name),
        names.observed_property(meaning),
        names.feature("sparkplug", device),
        metric.name,
        known and declared.unit,
    )
    return Proposal(
        mapping,
        "sparkplug",
        device,
        f"{metric.name} ({datatype}) of {device}",
        meaning,
        _command(address, metric, datatype),
        _question(datatype, declared.unit if known is None else ""),
    )


def _meaning(metric: Metric, datatype: str, unit: str | None) -> Meaning:
    """By the whole name, behind a folder of measured values at most; what is set is no reading."""
    folder, _, last = metric.name.rpartition("/")
    name = last if folder.lower() in _MEASURED else metric.name
    kind = Kind.SETTING if metric.property("readOnly") is False else None
    found = usual(name, Told(unit, _SHAPES.get(datatype), kind)).meaning
    return found if found.is_known else replace(found, name=metric.name)


def _question(datatype: str, unknown_unit: str) -> str:
    if datatype in {"DataSet", "Template"}:
        return f"A {datatype} is not taken: can its members be published as metrics of their own?"
    return f"Which unit is {unknown_unit!a}?" if unknown_unit else ""


def _command(address: Address, metric: Metric, datatype: str) -> Command | None:
    """Metrics say that they are not read-only; nothing else tells what can be set."""
    if metric.property("readOnly") is not False:
        return None
    payload = f'{{"metric":{json.dumps(metric.name)},"datatype":"{datatype}","value":{{value}}}}'
    return Command(_topic(address, "CMD"), payload)


def _topic(address: Address, kind: str) -> str:
    letter, device = ("D", f"/{address.device}") if address.device else ("N", "")
    return f"{NAMESPACE}/{address.group}/{letter}{kind}/{address.node}{device}"


FORMAT = Format(
    SparkplugAdapter,
    names=True,
    companions=companions,
    subject=subject,
    propose=propose,
    announcements=(f"{NAMESPACE}/+/NBIRTH/+", f"{NAMESPACE}/+/DBIRTH/+/+"),
    max_bytes=MAX_BIRTH_BYTES,
    alone=(f"{NAMESPACE}/#",),
    encode_command=command.encode,
)
