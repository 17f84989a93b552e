"""Format "shelly_gen1": the bare values of Shelly devices of the first generation.

Topic filter: the value's, `shellies/shellyplug-s-1A2B3C/relay/0/power`, `shellies/+/relay/+/power`.
Selector: empty, or the member of a JSON value (`event` of `input_event/0`). The unit is told by the
topic; `energy` comes in watt-minutes and becomes Wh. `open` and `close` of a door are true and
false of its opening, of a roller they are words. `shellies/<device>/online` says whether the device
is there: with wildcards, for the streams that were heard.

Source: Shelly API documentation (Gen1), MQTT of each device.
"""

from collections.abc import Sequence
from functools import lru_cache

from adapters.adapter import Fault, FaultReason, Findings, Format
from adapters.availability import KnownStreams, availability_findings
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import WordTable
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.result import (
    FALSE,
    NUMERIC,
    TRUE,
    Result,
    captured_result,
    forced_string_result,
    json_result,
)
from adapters.values.stream import Stream
from adapters.values.units import unit_iri

FAMILY = "shelly_gen1"
ROOT = "shellies"

_TABLE = WordTable.of(
    """
    power_state         -    relay light white color
    power               W    *.power
    own-setting         W    *.overpower_value
    reactive_power      var  *.reactive_power
    power_factor        1    *.pf
    voltage             V    *.voltage adc
    current             A    *.current
    energy              Wmin *.energy
    exported_energy     Wmin *.returned_energy
    energy              Wh   *.total
    exported_energy     Wh   *.total_returned
    device_temperature  °C   temperature
    device_temperature  °F   temperature_f
    own-diagnostic      -    temperature_status
    overheated          -    overtemperature
    own-diagnostic      -    loaderror overload
    temperature         °C   sensor.temperature ext_temperature
    temperature         °F   ext_temperature_f
    humidity            %RH  sensor.humidity ext_humidity
    illuminance         lx   sensor.lux status.lux
    own                 -    sensor.illumination
    opening             -    sensor.state
    angle               °    sensor.tilt
    vibration           -    sensor.vibration status.vibration
    motion              -    sensor.motion status.motion
    own-setting         -    status.active
    water_leak          -    sensor.flood
    smoke               -    sensor.smoke
    gas_detected        -    sensor.gas
    gas_concentration   ppm  sensor.concentration
    own-diagnostic      -    sensor.act_reasons sensor.error sensor.operation sensor.self_test
    battery             %    sensor.battery status.bat
    external_power      -    sensor.charger
    input_state         -    input
    own                 -    longpush
    action              -    input_event.event
    cover_state         -    roller
    position            %    roller.pos
    own                 -    roller.stop_reason
    brightness          %    light.status.brightness white.status.brightness
    color_temperature   K    light.status.temp
    own                 -    color.status.gain color.status.red color.status.green
    own                 -    color.status.blue color.status.white
    """
)
"""Names are topics behind the device, without numbers, and the member of a JSON value; `*` stands
for any level before the last."""

_SWITCHED = frozenset({"relay", "light", "white", "color"})
_BITS = frozenset({"input", "longpush", "overtemperature", "flood", "motion", "vibration", "smoke"})
_BITWISE = {"0": "false", "1": "true"}
_TEXTS = frozenset(
    {"roller", "roller.stop_reason", "sensor.illumination", "sensor.operation"}
    | {"sensor.self_test", "sensor.act_reasons", "temperature_status"}
)
"""A roller says `open` and `close`, words of its movement and no truth values."""

_WORDS = {
    "sensor.state": {"open": TRUE, "close": FALSE},
    "sensor.gas": {"none": FALSE, "mild": TRUE, "heavy": TRUE},
}
_TEST = "test"
_COMMANDED = "command"
_LONGEST_VALUE = 128
"""A longer topic behind the device is nobody's, and is not remembered."""

_RANGES = {
    "roller.pos": (0, 100),
    "sensor.tilt": (0, 180),
    "sensor.lux": (0, None),
    "sensor.concentration": (0, None),
    "sensor.battery": (0, 100),
}
"""What lies outside, -1 mostly, says that the device does not know."""

_UNANNOUNCED = frozenset({"online", "announce", "info", "settings", "source"})


class ShellyGen1Adapter:
    """All mappings see the same value."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        for mapping in mappings:
            _refuse_selectors(mapping)
        self._selectors = tuple(mapping.selector for mapping in mappings)
        self._known = memory.of(KnownStreams)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The topic's value, or from `online` the liveness of all streams of the device."""
        device, _, value = payload.message.topic.removeprefix(f"{ROOT}/").partition("/")
        if value == "online":
            bound = [stream.key for stream in streams]
            return availability_findings(payload, [*bound, *self._known.of(device)])
        findings = Findings()
        for selector, stream in zip(self._selectors, streams, strict=True):
            name, unit = _remembered(value, selector)
            if name == _COMMANDED:
                return Findings()
            findings.add(stream, _result(payload, selector, name), unit=unit)
            self._known.hear(device, stream.key)
        return findings


def companions(topic_filter: str) -> Sequence[str]:
    """Whether the device is online."""
    root, _, rest = topic_filter.partition("/")
    device = rest.partition("/")[0]
    return (f"{root}/{device}/online",) if root == ROOT and device not in {"", "#"} else ()


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """The value of one topic below `shellies`, or the members of a JSON value."""
    del memory
    root, _, rest = payload.message.topic.partition("/")
    device, _, value = rest.partition("/")
    levels = _levels(value)
    if root != ROOT or not levels or _UNANNOUNCED.intersection(levels) or "command" in levels:
        return ()
    found = [_proposal(payload, device, value, each, names) for each in _selectors(payload, levels)]
    return [each for each in found if each is not None]


def _selectors(payload: Payload, levels: Sequence[str]) -> Sequence[str]:
    """What of a value is proposed: all of a bare one; of a JSON object what is known."""
    if levels == ("input_event",):
        return ("event",)
    if levels[-1] != "status":
        return ("",)
    document = payload.document()
    if not isinstance(document, dict):
        return ()
    return [each for each in document if _name(levels, each) in _TABLE]


def _proposal(
    payload: Payload, device: str, value: str, selector: str, names: Names
) -> Proposal | None:
    topic = payload.message.topic
    name = _name(_levels(value), selector)
    if isinstance(_result(payload, selector, name), Fault):
        return None
    meaning = _TABLE.meaning(name, word=name.rpartition(".")[2])
    member = f"{value}/{selector}" if selector and selector != "event" else value
    symbol = _TABLE.unit(name)
    mapping = Mapping(
        names.mapping(FAMILY, device, member),
        topic,
        FAMILY,
        names.sensor(FAMILY, device, member),
        names.observed_property(meaning),
        names.feature(FAMILY, device),
        selector,
        "Wh" if symbol == "Wmin" else symbol,
    )
    label = f"{device} {member}"
    return Proposal(mapping, FAMILY, device, label, meaning, _command(topic, name))


def _command(topic: str, name: str) -> Command | None:
    if name in _SWITCHED:
        return Command(f"{topic}/command", values=("on", "off", "toggle"))
    if name == "roller":
        return Command(f"{topic}/command", values=("open", "close", "stop"))
    if name == "roller.pos":
        roller = topic.removesuffix("/pos")
        return Command(f"{roller}/command/pos", minimum="0", maximum="100")
    if name.endswith(".status.brightness"):
        return Command(
            topic.removesuffix("status") + "set",
            '{"brightness":{value}}',
            minimum="0",
            maximum="100",
        )
    return None


@lru_cache(maxsize=1024)
def _known_name(value: str, selector: str) -> tuple[str, str | None]:
    """The name in the table of a topic behind its device, and the unit as an IRI."""
    levels = _levels(value)
    if "command" in levels:
        return _COMMANDED, None
    name = _name(levels, selector)
    symbol = _TABLE.unit(name)
    return name, unit_iri(symbol) if symbol else None


def _remembered(value: str, selector: str) -> tuple[str, str | None]:
    known = _known_name if len(value) <= _LONGEST_VALUE else _known_name.__wrapped__
    return known(value, selector)


def _levels(value: str) -> tuple[str, ...]:
    """The levels that are no numbers: `relay`, `power` of `relay/0/power`."""
    return tuple(level for level in value.split("/") if level and not level.isdigit())


def _name(levels: Sequence[str], selector: str) -> str:
    """The name in the table, for itself or with any level before the last."""
    own = ".".join((*levels, selector) if selector else levels)
    if own in _TABLE:
        return own
    last = f"*.{selector or levels[-1]}" if levels else own
    return last if last in _TABLE else own


def _result(payload: Payload, selector: str, name: str) -> Result | Fault:
    if selector:
        document = payload.document()
        if isinstance(document, Fault):
            return document
        return json_result(document.get(selector) if isinstance(document, dict) else None)
    text = payload.text()
    if isinstance(text, Fault):
        return text
    text = text.strip()
    if name in _WORDS and (known := _WORDS[name].get(text)) is not None:
        return known
    if name in _WORDS and text == _TEST:
        return Fault(None, FaultReason.SENTINEL, "the device tests itself")
    if name.rpartition(".")[2] in _BITS:
        text = _BITWISE.get(text, text)
    return forced_string_result(text) if name in _TEXTS else _in_range(captured_result(text), name)


def _in_range(result: Result | Fault, name: str) -> Result | Fault:
    if name not in _RANGES or isinstance(result, Fault) or result.datatype not in NUMERIC:
        return result
    (least, most), number = _RANGES[name], float(result.lexical)
    if least <= number and (most is None or number <= most):
        return result
    return Fault(None, FaultReason.SENTINEL, f"{excerpt(result.lexical)} is no reading")


def _refuse_selectors(mapping: Mapping) -> None:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Shelly Gen1 sends none")
    if mapping.selector.startswith("$") or "." in mapping.selector:
        raise MappingError(mapping.iri, "selector", "name one member of the value, or none")


FORMAT = Format(ShellyGen1Adapter, companions=companions, propose=propose, alone=(f"{ROOT}/#",))
