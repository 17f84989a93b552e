"""Format "ruuvi": what a Ruuvi Gateway forwards of RuuviTags, raw, on `ruuvi/GATEWAY/TAG`.

The selector is temperature, humidity, pressure, acceleration_x (y, z), voltage, tx_power,
movement_counter, sequence, mac, or the gateway's rssi. A value that the tag does not have is a
fault of reason sentinel; another data format than 5 is one fault.

The time is the gateway's (`ts`, else `gwts`, Unix seconds as text), so it is the network's and no
part of the identity: several gateways hear one advertisement, and its copies have one sequence.

Sources: Ruuvi Gateway's MQTT time-stamped data; Bluetooth Core, advertising data structures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.lorawan.byte_table import Found
from adapters.lorawan.codecs.ruuvi import RUUVI_5
from adapters.values.device_time import read_time
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Told, WordTable
from adapters.values.memory import Memory
from adapters.values.observation import Circumstances, TimeSource
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.result import JsonNumber, Result, json_result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri

MANUFACTURER_DATA = 0xFF
COMPANY = b"\x99\x04"
NETWORK = Circumstances(time_source=TimeSource.NETWORK)

_UNITS = {name: found.unit for name, found in RUUVI_5.read(None, bytes(24)).found.items()}
_UNITS["rssi"] = "dBm"
_OF_THE_RADIO = {"mac", "sequence", "tx_power", "rssi"}
_MEANT = WordTable.of(
    """
    temperature          Cel temperature
    humidity             %RH humidity
    atmospheric_pressure Pa  pressure
    acceleration         gn  acceleration_x acceleration_y acceleration_z
    battery_voltage      V   voltage
    own                  -   movement_counter
    """
)
"""A tag has no voltage but that of its battery."""


@dataclass(frozen=True, slots=True)
class Advertisement:
    """What a gateway heard of a tag: values by name, when, and which advertisement it was."""

    found: dict[str, Found]
    time: str
    sequence: str | None


class RuuviAdapter:
    """All values of a topic filter, over one advertisement."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        for mapping in mappings:
            _refuse_selectors(mapping)
        self._names = tuple(mapping.selector for mapping in mappings)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The selected values of one advertisement."""
        heard = payload.once(read)
        if isinstance(heard, Fault):
            return Findings.of_fault(heard)
        time = read_time(heard.time) if heard.time else None
        findings = Findings()
        for name, stream in zip(self._names, streams, strict=True):
            found = heard.found.get(name)
            if found is not None:
                unit = unit_iri(found.unit) if found.unit else None
                findings.add(
                    stream, found.result, time, heard.sequence, unit=unit, circumstances=NETWORK
                )
        if not findings:
            findings.faults.append(missing(streams))
        return findings


def read(payload: Payload) -> Advertisement | Fault:
    """The advertisement in `payload`."""
    document = payload.document()
    if isinstance(document, Fault):
        return document
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(data, str):
        return _malformed("no object with a text `data`")
    manufacturer_data = _manufacturer_data(data)
    if isinstance(manufacturer_data, Fault):
        return manufacturer_data
    found = RUUVI_5.read(None, manufacturer_data).found
    if isinstance(document.get("rssi"), JsonNumber):
        found["rssi"] = Found(json_result(document["rssi"]), _UNITS["rssi"])
    counter = found["sequence"].result
    return Advertisement(
        found,
        _text(document.get("ts")) or _text(document.get("gwts")),
        counter.lexical if isinstance(counter, Result) else None,
    )


def _manufacturer_data(text: str) -> bytes | Fault:
    """What stands behind Ruuvi's company number in an advertisement, or in that part of one."""
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        return _malformed(f"{excerpt(text)} is no hex")
    parts = [raw] if raw.startswith(COMPANY) else list(_structures(raw))
    ours = next((part[2:] for part in parts if part.startswith(COMPANY)), b"")
    if not ours:
        return _malformed("no manufacturer data of Ruuvi")
    if ours[0] != 5:
        return _malformed(f"data format {ours[0]} is not known, only 5 is")
    return ours


def _structures(raw: bytes) -> Iterator[bytes]:
    """The manufacturer data among the structures (length, type, data) of an advertisement."""
    at = 0
    while at + 1 < len(raw) and raw[at]:
        if raw[at + 1] == MANUFACTURER_DATA:
            yield raw[at + 2 : at + 1 + raw[at]]
        at += 1 + raw[at]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _malformed(detail: str) -> Fault:
    return Fault(None, FaultReason.MALFORMED, detail)


def _refuse_selectors(mapping: Mapping) -> None:
    if mapping.selector not in _UNITS:
        raise MappingError(mapping.iri, "selector", f"is none of {', '.join(_UNITS)}")
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "the gateway and the tag say where it stands")


def _propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """The values that a tag has, heard by any gateway."""
    del memory
    levels = payload.message.topic.split("/")
    if len(levels) != 3 or levels[0] != "ruuvi":
        return ()
    heard = read(payload)
    if isinstance(heard, Fault):
        return ()
    here = (name for name, found in heard.found.items() if isinstance(found.result, Result))
    return [_proposal(levels[2], name, names) for name in here if name not in _OF_THE_RADIO]


def _proposal(tag: str, name: str, names: Names) -> Proposal:
    meaning = _MEANT.meaning(name, Told(_UNITS[name] or None))
    mapping = Mapping(
        names.mapping("ruuvi", tag, name),
        f"ruuvi/+/{tag}",
        "ruuvi",
        names.sensor("ruuvi", tag, name),
        names.observed_property(meaning),
        names.feature("ruuvi", tag),
        name,
        _UNITS[name] or None,
    )
    return Proposal(mapping, "ruuvi", tag, f"{name} of {tag}", meaning)


FORMAT = Format(stateless(RuuviAdapter), propose=_propose, alone=("ruuvi/+/+",))
