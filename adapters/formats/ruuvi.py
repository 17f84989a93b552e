"""Format "ruuvi": what a Ruuvi Gateway forwards of Ruuvi's sensors, on `ruuvi/GATEWAY/TAG`.

Data formats 3, 5, 6 and E1 are read, raw or decoded by the gateway; raw counts where both are told.
The selector is temperature, humidity, pressure, of a tag acceleration_x (y, z), voltage, tx_power,
movement_counter, of an air monitor pm1, pm25, pm4, pm10, co2, voc, nox, luminosity, sound_instant,
sound_average, sound_peak, calibrating; sequence, mac, or the gateway's rssi. A value that a sensor
does not have is a fault of reason sentinel; another data format is one fault.

The time is the gateway's (`ts`, else `gwts`, Unix seconds), so it is the network's and no part of
the identity: several gateways hear one advertisement, and its copies have one sequence. Format 6
counts to 255 only, which identifies nothing, and a monitor that was heard in E1 says the same in 6
with less: that is passed over.

Sources: Ruuvi Gateway's MQTT time-stamped data; the tests of ruuvi/ruuvi.gateway_esp.c (decoded
names); Bluetooth Core, advertising data structures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.adapter import Fault, FaultReason, Findings, Format, missing
from adapters.lorawan.byte_table import Found
from adapters.lorawan.codecs.ruuvi import RUUVI_AIR, RUUVI_AIR_EXTENDED, UNITS, ruuvi_values
from adapters.values.device_time import read_time
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Told, WordTable
from adapters.values.memory import Memory, Recent
from adapters.values.observation import Circumstances, TimeSource
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.result import JsonNumber, Result, json_result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri

MANUFACTURER_DATA = 0xFF
COMPANY = b"\x99\x04"
NETWORK = Circumstances(time_source=TimeSource.NETWORK)
MAX_MONITORS = 4096

_UNITS = {**UNITS, "rssi": "dBm"}
_OF_THE_RADIO = {"mac", "sequence", "tx_power", "rssi"}
_MEANT = WordTable.of(
    """
    temperature          Cel   temperature
    humidity             %RH   humidity
    atmospheric_pressure Pa    pressure
    acceleration         gn    acceleration_x acceleration_y acceleration_z
    battery_voltage      V     voltage
    pm1                  ug/m3 pm1
    pm25                 ug/m3 pm25
    pm4                  ug/m3 pm4
    pm10                 ug/m3 pm10
    carbon_dioxide       ppm   co2
    voc_index            -     voc
    nox_index            -     nox
    illuminance          lx    luminosity
    sound_pressure       dB    sound_instant sound_average sound_peak
    own-diagnostic       -     calibrating
    own                  -     movement_counter
    """
)
"""A tag has no voltage but that of its battery."""

_DECODED = {
    **{name: name for name in ("temperature", "humidity", "pressure", "voltage", "luminosity")},
    **{f"accel{axis.upper()}": f"acceleration_{axis}" for axis in "xyz"},
    "txPower": "tx_power",
    "movementCounter": "movement_counter",
    "id": "mac",
    "measurementSequenceNumber": "sequence",
    "CO2": "co2",
    "VOC": "voc",
    "NOx": "nox",
    "PM1.0": "pm1",
    "PM2.5": "pm25",
    "PM4.0": "pm4",
    "PM10.0": "pm10",
    "sound_inst_dba": "sound_instant",
    "sound_avg_dba": "sound_average",
    "sound_peak_spl_db": "sound_peak",
    "flag_calibration_in_progress": "calibrating",
}
"""Our names by those of the gateway."""


@dataclass(frozen=True, slots=True)
class Advertisement:
    """What a gateway heard of a tag: values by name, when, and which advertisement it was."""

    found: dict[str, Found]
    time: str
    sequence: str | None
    data_format: int = 0


class Monitors:
    """Which air monitors were heard in the extended format, by the last level of their topics."""

    def __init__(self) -> None:
        self._extended = Recent[str, bool](MAX_MONITORS)

    def heard(self, payload: Payload) -> Advertisement | Fault | None:
        """The advertisement in a message, None where its monitor says it in another format."""
        told = read(payload)
        if isinstance(told, Fault):
            return told
        monitor = payload.message.topic.rpartition("/")[2]
        if told.data_format == RUUVI_AIR_EXTENDED:
            self._extended.put(monitor, True)
        is_known = told.data_format == RUUVI_AIR and self._extended.get(monitor)
        return None if is_known else told


class RuuviAdapter:
    """All values of a topic filter, over one advertisement."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        for mapping in mappings:
            _refuse_selectors(mapping)
        self._names = tuple(mapping.selector for mapping in mappings)
        self._monitors = memory.of(Monitors)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The selected values of one advertisement."""
        heard = payload.once(self._monitors.heard)
        if heard is None:
            return Findings()
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
    if not isinstance(document, dict):
        return _malformed("no object with a text `data`")
    told = _raw(document["data"]) if "data" in document else _decoded(document)
    if isinstance(told, Fault):
        return told
    data_format, found = told
    if isinstance(document.get("rssi"), JsonNumber):
        found["rssi"] = Found(json_result(document["rssi"]), _UNITS["rssi"])
    counter = found["sequence"].result if "sequence" in found else None
    is_counted = isinstance(counter, Result) and data_format != RUUVI_AIR
    return Advertisement(
        found,
        _text(document.get("ts")) or _text(document.get("gwts")),
        counter.lexical if isinstance(counter, Result) and is_counted else None,
        data_format,
    )


def _decoded(document: dict[str, Json]) -> tuple[int, dict[str, Found]] | Fault:
    """What a gateway has made of the bytes itself."""
    told = document.get("dataFormat")
    if not isinstance(told, JsonNumber) or len(told) > 3 or not told.isdigit():
        return _malformed("neither a text `data` nor a number `dataFormat`")
    known = {_DECODED[key]: document[key] for key in document if key in _DECODED}
    if isinstance(address := known.get("mac"), str):
        known["mac"] = address.replace(":", "").lower()
    found = {name: Found(json_result(value), _UNITS[name]) for name, value in known.items()}
    return int(told), found


def _raw(text: Json) -> tuple[int, dict[str, Found]] | Fault:
    """What stands behind Ruuvi's company number in an advertisement, or in that part of one."""
    if not isinstance(text, str):
        return _malformed("no object with a text `data`")
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        return _malformed(f"{excerpt(text)} is no hex")
    parts = [raw] if raw.startswith(COMPANY) else list(_structures(raw))
    ours = next((part[2:] for part in parts if part.startswith(COMPANY)), b"")
    if not ours:
        return _malformed("no manufacturer data of Ruuvi")
    found = ruuvi_values(ours)
    if found is None:
        return _malformed(f"data format {ours[0]:x} is not known, only 3, 5, 6 and e1 are")
    return ours[0], found


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


FORMAT = Format(RuuviAdapter, propose=_propose, alone=("ruuvi/+/+",))
