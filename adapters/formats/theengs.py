"""Format "theengs": Bluetooth sensors as Theengs Gateway and OpenMQTTGateway publish them.

Topics are `home/GATEWAY/BTtoMQTT/MAC`, payloads flat objects without a time. The selector is a key:
tempc, hum, batt ... Its unit is that of the decoder, below; the value in the other scale (tempf) is
there too and needs no mapping. `seq`, or `packet` of BTHome devices, is the sequence: what several
gateways heard of one advertisement is one observation.

Source: Theengs decoder, properties of the devices.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.values.device_time import read_sequence
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Told
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.result import JsonNumber, json_result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

UNITS = {
    "tempc": "Cel",
    "tempc2": "Cel",
    "tempf": "[degF]",
    "hum": "%RH",
    "pres": "hPa",
    "batt": "%",
    "volt": "V",
    "voltage": "V",
    "current": "A",
    "power": "W",
    "energy": "kWh",
    "lux": "lx",
    "moi": "%",
    "fer": "uS/cm",
    "accx": "m/s2",
    "accy": "m/s2",
    "accz": "m/s2",
    "co2": "ppm",
    "pm25": "ug/m3",
    "pm10": "ug/m3",
    "distance": "m",
    "tx": "dBm",
    "txpower": "dBm",
    "rssi": "dBm",
}
"""The units of the decoder's keys; other keys have none."""

_SEQUENCES = ("seq", "packet")
_NOT_PROPOSED = frozenset({"rssi", "tx", "txpower", "distance", "tempf", *_SEQUENCES})
_DESCRIPTION = frozenset({"cidc", "acts", "cont", "track", "encr", "prmac"})


class TheengsAdapter:
    """All keys of a topic filter, over one flat object."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        for mapping in mappings:
            _refuse_selectors(mapping)
        self._keys = tuple(mapping.selector for mapping in mappings)
        self._units = tuple(_unit(key) for key in self._keys)

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
        for key, unit, stream in zip(self._keys, self._units, streams, strict=True):
            if key in document:
                findings.add(stream, json_result(document[key]), None, sequence, unit=unit)
        if not findings:
            findings.faults.append(missing(streams))
        return findings


def _unit(key: str) -> str | None:
    symbol = UNITS.get(key)
    return symbol and unit_iri(symbol)


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
    if key in _NOT_PROPOSED or key in _DESCRIPTION:
        return False
    return isinstance(value, JsonNumber | bool)


def _proposal(levels: Sequence[str], document: dict[str, Json], key: str, names: Names) -> Proposal:
    mac, meaning = levels[3], usual(key, Told(UNITS.get(key))).meaning
    mapping = Mapping(
        names.mapping("theengs", mac, key),
        f"{levels[0]}/+/{levels[2]}/{mac}",
        "theengs",
        names.sensor("theengs", mac, key),
        names.observed_property(meaning),
        names.feature("theengs", mac),
        key,
        UNITS.get(key),
    )
    model = document.get("model")
    label = f"{key} of {model if isinstance(model, str) else mac}"
    question = "" if key in UNITS else "Is this a measured value, and in which unit?"
    return Proposal(mapping, "theengs", mac, label, meaning, question=question)


FORMAT = Format(stateless(TheengsAdapter), propose=_propose)
