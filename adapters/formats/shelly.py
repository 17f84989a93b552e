"""Format "shelly": Shelly devices of the second generation and later (Plus, Pro, Gen3, Gen4).

Topic filter: `<prefix>/events/rpc` for notifications, or `<prefix>/status/<component>` where
`status_ntf` is on. Selector: the path of a value, `switch:0.apower`, `temperature:0.tC`,
`switch:0.aenergy.total`; `event.input:0` for the events of a component.

NotifyStatus is a delta: what it does not mention has not changed and is no fault. `ts` is the time.
A device that wakes with its clock unset says so by a null `sys.unixtime`: its times are suspect
until it tells another one. `<prefix>/online` says whether the device is there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, Format
from adapters.availability import availability_findings
from adapters.documents.json_path import Absent, JsonPath, leaves
from adapters.values.device_time import read_time
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Meaning, Told, named
from adapters.values.memory import Memory, Recent
from adapters.values.observation import USUAL, Circumstances, TimeSource
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.result import JsonNumber, json_result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

FAMILY = "shelly"
EVENTS = "/events/rpc"
EVENT = "event."
MAX_DEVICES = 4096
_STATUSES = frozenset({"NotifyStatus", "NotifyFullStatus"})
_SUSPECT = Circumstances(TimeSource.DEVICE, clock_suspect=True)

_UNITS = {
    "apower": "W",
    "voltage": "V",
    "current": "A",
    "freq": "Hz",
    "act_power": "W",
    "aprt_power": "VA",
    "total_act_power": "W",
    "total_aprt_power": "VA",
    "total_current": "A",
    "total_act": "Wh",
    "total_act_ret": "Wh",
    "total_act_energy": "Wh",
    "total_act_ret_energy": "Wh",
    "aenergy.total": "Wh",
    "aenergy.by_minute": "mWh",
    "ret_aenergy.total": "Wh",
    "ret_aenergy.by_minute": "mWh",
    "tC": "°C",
    "tF": "°F",
    "rh": "%RH",
    "lux": "lx",
    "battery.V": "V",
    "battery.percent": "%",
    "brightness": "%",
    "current_pos": "%",
    "rssi": "dBm",
    "uptime": "s",
    "pf": "1",
}
_PHASES = ("a_", "b_", "c_", "n_")
_NOT_MEASURED = frozenset({"id", "ts", "unixtime", "minute_ts", "cfg_rev", "kvs_rev", "tF"})


@dataclass(frozen=True, slots=True)
class Frame:
    """A notification: `components` by key, `events`, its time and whether its clock is set."""

    components: dict[str, Json]
    events: tuple[dict[str, Json], ...] = ()
    time: datetime | Fault | None = None
    circumstances: Circumstances = USUAL


class Clocks:
    """Which devices have told that their clock is not set, or is again."""

    def __init__(self) -> None:
        self._unset = Recent[str, bool](MAX_DEVICES)

    def frame(self, payload: Payload) -> Frame | Fault:
        """The notification in a message; call it once a message (Payload.once)."""
        document = payload.document()
        if isinstance(document, Fault):
            return document
        if not isinstance(document, dict):
            return Fault(None, FaultReason.NOT_A_VALUE, "a Shelly message is an object")
        prefix, status, component = payload.message.topic.partition("/status/")
        if status:
            return Frame({component: document}, circumstances=self._clock(prefix, document))
        return self._notified(payload.message.topic, document)

    def _notified(self, topic: str, document: dict[str, Json]) -> Frame | Fault:
        method, params = document.get("method"), document.get("params")
        if not isinstance(params, dict) or not isinstance(method, str):
            return Fault(None, FaultReason.MISSING, "neither method nor params of a notification")
        told = params.get("ts")
        time = read_time(told) if isinstance(told, str) else None
        circumstances = self._clock(topic, params.get("sys"))
        if method in _STATUSES:
            return Frame(params, (), time, circumstances)
        events = params.get("events") if method == "NotifyEvent" else None
        told_of = events if isinstance(events, list) else []
        found = [each for each in told_of if isinstance(each, dict)]
        return Frame({}, tuple(found), time, circumstances)

    def _clock(self, device: str, system: Json) -> Circumstances:
        if isinstance(system, dict) and "unixtime" in system:
            self._unset.put(device, system["unixtime"] is None)
        return _SUSPECT if self._unset.get(device) else USUAL


@dataclass(frozen=True, slots=True)
class _Rule:
    """A path in the components with the unit of its values, or a component whose events count."""

    path: JsonPath | None
    unit: str | None
    component: str = ""


class ShellyAdapter:
    """All values of a topic filter."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        self._rules = tuple(map(_rule, mappings))
        self._clocks = memory.of(Clocks)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The values and events that a frame mentions, or from `online` the liveness."""
        if payload.message.topic.endswith("/online"):
            return availability_findings(payload, [stream.key for stream in streams])
        frame = payload.once(self._clocks.frame)
        if isinstance(frame, Fault):
            return Findings.of_fault(frame)
        findings = Findings()
        for rule, stream in zip(self._rules, streams, strict=True):
            for value, time in _values(rule, frame):
                how = frame.circumstances
                findings.add(stream, json_result(value), time, unit=rule.unit, circumstances=how)
        return findings


def _values(rule: _Rule, frame: Frame) -> Iterator[tuple[Json, datetime | Fault | None]]:
    if rule.path is not None:
        value = rule.path.find(frame.components)
        if not isinstance(value, Absent):
            yield value, frame.time
        return
    for event in frame.events:
        if event.get("component") == rule.component:
            told = event.get("ts")
            yield event.get("event"), read_time(told) if isinstance(told, str) else frame.time


def companions(topic_filter: str) -> Sequence[str]:
    """Whether the device is online."""
    for end in (EVENTS, "/status/"):
        prefix, found, _ = topic_filter.partition(end)
        if found:
            return (f"{prefix}/online",)
    return ()


def unit_symbol(path: Sequence[str]) -> str | None:
    """The symbol of the unit of the value at `path`, phases of a meter included."""
    last = path[-1] if path else ""
    for known in (".".join(path[-2:]), last, last[2:] if last.startswith(_PHASES) else ""):
        if known in _UNITS:
            return _UNITS[known]
    return None


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """What a status mentions; a switch can be set."""
    topic = payload.message.topic
    if not topic.endswith(EVENTS):
        return ()
    frame = payload.once(memory.of(Clocks).frame)
    if isinstance(frame, Fault):
        return ()
    prefix = topic.removesuffix(EVENTS)
    found = leaves(frame.components)
    return [
        _proposal(prefix, path.removeprefix("$."), names)
        for path, name, value in found
        if "." in path.removeprefix("$.") and name not in _NOT_MEASURED
        if isinstance(value, bool) or type(value) is JsonNumber
    ]


def _proposal(prefix: str, selector: str, names: Names) -> Proposal:
    component, _, member = selector.partition(".")
    steps = [step.partition("[")[0] for step in selector.split(".")]
    meaning = _meaning(steps)
    mapping = Mapping(
        names.mapping(FAMILY, prefix, selector),
        prefix + EVENTS,
        FAMILY,
        names.sensor(FAMILY, prefix, selector),
        names.observed_property(meaning),
        names.feature(FAMILY, prefix),
        selector,
        "Wh" if unit_symbol(steps) == "mWh" else unit_symbol(steps),
    )
    command = _switch(prefix, component) if member == "output" else None
    return Proposal(mapping, FAMILY, prefix, f"{prefix} {selector}", meaning, command)


def _meaning(steps: Sequence[str]) -> Meaning:
    if steps[-1] == "output":
        return named("power_state", "output")
    return usual(steps[-1], Told(unit_symbol(steps))).meaning


def _switch(prefix: str, component: str) -> Command | None:
    kind, _, number = component.partition(":")
    if kind not in {"switch", "light"} or not number.isdigit():
        return None
    payload = (
        f'{{"id":1,"src":"{prefix}","method":"{kind.capitalize()}.Set",'
        f'"params":{{"id":{number},"on":{{value}}}}}}'
    )
    return Command(f"{prefix}/rpc", payload, ("true", "false"))


def _rule(mapping: Mapping) -> _Rule:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Shelly says itself: ts")
    text = mapping.selector
    if text.startswith(EVENT):
        return _Rule(None, None, text.removeprefix(EVENT))
    try:
        path = JsonPath.compile(text if text.startswith("$") else f"$.{text}")
    except ValueError as error:
        reason = f"{error}; {excerpt('switch:0.apower')} is one"
        raise MappingError(mapping.iri, "selector", reason) from error
    if not path.is_singular:
        raise MappingError(mapping.iri, "selector", "name one value")
    symbol = unit_symbol([step for step in path.steps if isinstance(step, str)])
    return _Rule(path, unit_iri(symbol) if symbol else None)


FORMAT = Format(ShellyAdapter, companions=companions, propose=propose)
