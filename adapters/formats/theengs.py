"""Format "theengs": Bluetooth sensors as Theengs Gateway and OpenMQTTGateway publish them.

Topics are `home/GATEWAY/BTtoMQTT/MAC`, payloads flat objects without a time. The selector is a key:
tempc, hum, batt ... Its unit is that of the decoder, below, or told beside it (`unit` of a weight);
the value in the other scale (tempf) is there too and needs no mapping. `seq`, or `packet` of BTHome
devices, is the sequence: what several gateways heard of one advertisement is one observation.

Source: Theengs decoder, properties of the devices.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.values.device_time import read_sequence
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Meaning, Told, WordTable, named, own
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.properties import Shape
from adapters.values.proposal import Names, Proposal
from adapters.values.result import TRUE, JsonNumber, Result, json_result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

_TABLE = WordTable.of(
    """
    temperature         Cel     tempc tempc1 tempc2 tempc3 tempc4 tempc5 tempc6
    temperature         [degF]  tempf
    own                 Cel     tempc_min tempc_max
    dew_point           Cel     tempc2_dp
    humidity            %RH     hum
    atmospheric_pressure hPa    pres
    illuminance         lx      lux
    own                 lx      darkness
    moisture            %       moi
    conductivity        uS/cm   fer
    carbon_dioxide      ppm     co2
    formaldehyde        mg/m3   for
    pm25                ug/m3   pm25
    pm10                ug/m3   pm10
    acceleration        m/s2    accx accy accz x_axis y_axis z_axis
    battery             %       batt
    battery_voltage     V       volt
    battery_low         -       lowbatt
    voltage             V       voltage
    current             A       current
    power               W       power
    energy              kWh     energy
    power               avgu    avg
    energy|volume       sumu    sum
    weight              unit    weight
    resistance          Ohm     impedance
    liquid_level        cm      lvl_cm
    water               L       litres
    heart_rate          bpm     bpm act_bpm
    opening             -       open contact
    motion              -       motion
    moving              -       moving
    problem             -       alarm
    own                 %       position level
    own                 -       gravity steps mov shake button button1 button2 button3 button4
    own-diagnostic      -       calibrated extprobe lightlevel
    duration            s       duration seconds
    distance            m       distance
    own-diagnostic      dBm     tx txpower
    signal_strength     dBm     rssi
    """
)
"""The decoder's keys with its units; `avgu`, `sumu` and `unit` are members that tell the unit.

`volt` is that of the sensor's battery. `position` is not that of a cover: 0 is open with some."""

_TELLERS = frozenset({"avgu", "sumu", "unit"})
_BY_TYPE = {
    ("PLANT", "moi"): ("soil_moisture", "%"),
    ("TIRE", "pres"): ("pressure", "bar"),
    ("WCVR", "open"): ("own", "%"),
    ("WCVR", "motion"): ("moving", None),
}
"""What a key is with devices of one type, where that is something else."""

_TOLD = "told"
_CONTACT = "contact"
_LEFT_OPEN = "timeout not closed"
"""A contact says so of what has been open for long."""

_SEQUENCES = ("seq", "packet")
_NOT_PROPOSED = frozenset({"rssi", "tx", "txpower", "distance", "tempf", *_SEQUENCES})
_NOT_MEASURED = frozenset({"lvl_in", "serial", "modeltype", "major", "minor", "device", "session"})
_DESCRIPTION = frozenset({"cidc", "acts", "cont", "ctrl", "track", "encr", "prmac"})
_FAHRENHEIT = "tempf"


class TheengsAdapter:
    """All keys of a topic filter, over one flat object."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        for mapping in mappings:
            _refuse_selectors(mapping)
        self._keys = tuple(mapping.selector for mapping in mappings)
        self._units = tuple(map(_fixed_unit, self._keys))

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The selected members of one advertisement, in the units of their keys."""
        document = payload.document()
        if isinstance(document, Fault):
            return Findings.of_fault(document)
        if not isinstance(document, dict):
            fault = Fault(None, FaultReason.MALFORMED, "an advertisement is an object")
            return Findings.of_fault(fault)
        findings = Findings()
        sequence = _sequence(document)
        for key, fixed, stream in zip(self._keys, self._units, streams, strict=True):
            if key in document:
                unit = _told_unit(key, document) if fixed is _TOLD else fixed
                result = _contact(document) if key == _CONTACT else json_result(document[key])
                findings.add(stream, result, None, sequence, unit=unit)
        if not findings:
            findings.faults.append(missing(streams))
        return findings


def _contact(document: dict[str, Json]) -> Result | Fault:
    told = document[_CONTACT]
    return TRUE if told == _LEFT_OPEN else json_result(told)


def _fixed_unit(key: str) -> str | None:
    """The unit that a key has in every message, None for none; `_TOLD` where the message says."""
    symbol = _TABLE.unit(key)
    if symbol in _TELLERS or any(key == each for _, each in _BY_TYPE):
        return _TOLD
    return unit_iri(symbol) if symbol else None


def _told_unit(key: str, document: dict[str, Json]) -> str | None:
    symbol = _symbol(key, document)
    return unit_iri(symbol) if symbol else None


def _symbol(key: str, document: dict[str, Json]) -> str | None:
    """The unit of a key: told beside it, that of the device's type, or the decoder's."""
    symbol = _TABLE.unit(key)
    if symbol in _TELLERS:
        told = document.get(symbol or "")
        return told if isinstance(told, str) else None
    by_type = _BY_TYPE.get((_type(document), key))
    return by_type[1] if by_type else symbol


def _type(document: dict[str, Json]) -> str:
    told = document.get("type")
    return told if isinstance(told, str) else ""


def _sequence(document: dict[str, Json]) -> str | Fault | None:
    for key in _SEQUENCES:
        counter = document.get(key)
        if isinstance(counter, JsonNumber):
            return read_sequence(counter)
    return None


def _refuse_selectors(mapping: Mapping) -> None:
    if not mapping.selector:
        raise MappingError(mapping.iri, "selector", "name a key of the object, tempc for one")
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            reason = "there is no time, and the sequence is known"
            raise MappingError(mapping.iri, member, reason)


def _propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """The measured values of an advertisement, heard by any gateway."""
    del memory
    levels = payload.message.topic.split("/")
    document = payload.document()
    if len(levels) != 4 or levels[2] != "BTtoMQTT" or not isinstance(document, dict):
        return ()
    keys = (key for key, value in document.items() if _is_measured(key, value))
    return [_proposal(levels, document, key, names) for key in keys]


def _is_measured(key: str, value: Json) -> bool:
    if key in _NOT_PROPOSED | _NOT_MEASURED | _DESCRIPTION or key.startswith(_FAHRENHEIT):
        return False
    return isinstance(value, JsonNumber | bool) or (key == _CONTACT and isinstance(value, str))


def _proposal(levels: Sequence[str], document: dict[str, Json], key: str, names: Names) -> Proposal:
    mac, symbol = levels[3], _symbol(key, document)
    is_known = symbol is None or unit_iri(symbol) is not None
    meaning = _meaning(key, document, symbol if is_known else None)
    mapping = Mapping(
        names.mapping("theengs", mac, key),
        f"{levels[0]}/+/{levels[2]}/{mac}",
        "theengs",
        names.sensor("theengs", mac, key),
        names.observed_property(meaning),
        names.feature("theengs", mac),
        key,
        symbol if is_known else None,
    )
    model = document.get("model")
    label = f"{key} of {model if isinstance(model, str) else mac}"
    question = "" if is_known else f"Which QUDT unit is {symbol!a}?"
    if symbol is None and _TABLE.unit(key) in _TELLERS:
        question = "In which unit? The device does not say."
    if key not in _TABLE:
        question = "Is this a measured value, and in which unit?"
    return Proposal(mapping, "theengs", mac, label, meaning, question=question)


def _meaning(key: str, document: dict[str, Json], symbol: str | None) -> Meaning:
    told = Told(symbol, _shape(document[key]))
    choice = _BY_TYPE.get((_type(document), key), ("", ""))[0]
    if choice:
        return own(key, told) if choice == "own" else named(choice, key, told)
    if key in _TABLE:
        return _TABLE.meaning(key, told)
    return usual(key, told).meaning


def _shape(value: Json) -> Shape:
    if isinstance(value, bool) or value in ("open", "closed", _LEFT_OPEN):
        return Shape.TRUTH
    return Shape.NUMBER if isinstance(value, JsonNumber) else Shape.WORD


FORMAT = Format(stateless(TheengsAdapter), propose=_propose, alone=("+/+/BTtoMQTT/+",))
