"""Format "senml": Sensor Measurement Lists in JSON and CBOR (RFC 8428; RFC 8798; RFC 9100).

Which of the two a payload is its first byte tells: arrays in CBOR begin beyond ASCII.

The selector is the resolved name of a record, `*` and the end of names, or empty for every
record; with `#sum` behind it (no name has a `#`) it takes the record's sum instead of its value.
`{name}` in the IRIs of sensor and feature is the resolved name. The record's unit, through the
crosswalk, is converted to the mapping's; a sum is in units times seconds and has the mapping's.
Only numbers get a unit: the base unit of a pack also reaches booleans and texts (RFC 8428, 4.1).

A record that no mapping selects is not taken. A mapping's observations are in chronological
order. Times below 2**28 are relative to the gateway's clock at reception; zero is "about now",
which leaves phenomenon_time None. An update time (`ut`) is how long at most the stream is silent.
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Lookup
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.documents.cbor import parse_cbor
from adapters.documents.senml import CBOR_LABELS, NAME, Record, resolve
from adapters.values.device_time import EPOCH, from_unix
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Meaning, Told, named, own
from adapters.values.memory import Memory
from adapters.values.notice import Liveness
from adapters.values.payload import Payload
from adapters.values.properties import Shape
from adapters.values.proposal import Names, Proposal
from adapters.values.result import BOOLEAN, NUMERIC, Result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

ABSOLUTE_FROM_S = 2**28
SUM = "#sum"
CBOR_ARRAY = b"\x80"
MAX_PROPOSALS = 200

_SUMS = {
    "W": ("energy", "J"),
    "A": ("charge", "C"),
    "m3/s": ("volume", "m3"),
    "l/s": ("volume", "l"),
    "m/s": ("", "m"),
}
"""What a sum over seconds is, by the unit of the values (RFC 8428, 4.2), and its unit."""

Dated = tuple[datetime | Fault | None, Record]


@dataclass(frozen=True, slots=True)
class _Selector:
    """Which records (`exact` name, else every name that ends in `suffix`), and which number."""

    exact: str
    suffix: str
    takes_sum: bool

    @classmethod
    def compile(cls, text: str) -> "_Selector":
        """Raises ValueError, with the reason."""
        name = text.removesuffix(SUM)
        takes_sum = name != text
        if not name or name.startswith("*"):
            suffix = name[1:]
            if suffix and not NAME.fullmatch("x" + suffix):
                raise ValueError("after * stands the end of a SenML name")
            return cls("", suffix, takes_sum)
        if not NAME.fullmatch(name):
            raise ValueError("neither a SenML name, nor * and the end of one, nor empty")
        return cls(name, "", takes_sum)

    def select(self, records: Sequence[Dated], named: Lookup[str, list[Dated]]) -> Iterable[Dated]:
        """The records that are selected, in their order."""
        if self.exact:
            return named.get(self.exact, ())
        return (dated for dated in records if dated[1].name.endswith(self.suffix))


class SenmlAdapter:
    """All names of a topic filter, over one resolved pack."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._selectors = tuple(_selector(mapping) for mapping in mappings)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The records that each selector takes of the resolved pack, in the order of time."""
        records = payload.once(read_records)
        if isinstance(records, Fault):
            return Findings.of_fault(records)
        dated = _chronological(records, payload.message.received_at)
        named: dict[str, list[Dated]] = {}
        for each in dated:
            named.setdefault(each[1].name, []).append(each)
        findings = Findings()
        for selector, stream in zip(self._selectors, streams, strict=True):
            for time, record in selector.select(dated, named):
                _observe(record, time, selector.takes_sum, stream, findings)
        if not findings:
            findings.faults.append(missing(streams))
        return findings


def read_records(payload: Payload) -> list[Record] | Fault:
    """The resolved pack in `payload`."""
    is_cbor = payload.raw[:1] >= CBOR_ARRAY
    document = parse_cbor(payload.raw, CBOR_LABELS) if is_cbor else payload.document()
    return document if isinstance(document, Fault) else resolve(document)


def _observe(
    record: Record,
    time: datetime | Fault | None,
    takes_sum: bool,
    stream: Stream,
    findings: Findings,
) -> None:
    result, symbol = (record.sum, None) if takes_sum else (record.value, record.unit)
    if result is None:
        return
    unit = unit_iri(symbol) if symbol else None
    if symbol and unit is None and isinstance(result, Result) and result.datatype in NUMERIC:
        detail = f"{excerpt(symbol)} of record {excerpt(record.name)}"
        findings.faults.append(Fault(stream.mapping, FaultReason.UNIT_UNKNOWN, detail))
    named = stream.named(record.name)
    findings.add(named, result, time, unit=unit)
    if record.update_s is not None:
        findings.notices.append(Liveness(named.key, True, record.update_s))


def _chronological(records: Sequence[Record], now: datetime) -> list[Dated]:
    """The records with their times, sorted; where there is no time it is `now`."""
    dated = [(_moment(record.time_s, now), record) for record in records]
    return sorted(dated, key=lambda each: each[0] if isinstance(each[0], datetime) else now)


def _moment(time_s: Decimal, now: datetime) -> datetime | Fault | None:
    if time_s == 0:
        return None
    moment = from_unix(time_s)
    if moment is not None and time_s < ABSOLUTE_FROM_S:
        moment = _relative(moment, now)
    return moment or Fault(None, FaultReason.TIME_UNUSABLE, "beyond the years 1 to 9999")


def _relative(moment: datetime, now: datetime) -> datetime | None:
    try:
        return now + (moment - EPOCH)
    except OverflowError:
        return None


def _selector(mapping: Mapping) -> _Selector:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "SenML says itself where its time stands")
    try:
        return _Selector.compile(mapping.selector)
    except ValueError as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A mapping for each name of a pack, with the unit that it tells."""
    del memory
    if payload.raw.lstrip()[:1] == b"{":
        return ()
    records = read_records(payload)
    if isinstance(records, Fault):
        return ()
    by_name = {record.name: record for record in reversed(records)}
    firsts = islice(reversed(by_name.values()), MAX_PROPOSALS)
    return [_proposal(payload.message.topic, record, names) for record in firsts]


def _proposal(topic: str, record: Record, names: Names) -> Proposal:
    device, _, member = record.name.rpartition(":")
    is_sum = record.value is None
    unit, unknown = _told_unit(record)
    meaning = _meaning(record, unit)
    member += SUM if is_sum else ""
    mapping = Mapping(
        names.mapping("senml", device or topic, member),
        topic,
        "senml",
        names.sensor("senml", device or topic, member),
        names.observed_property(meaning),
        names.feature("senml", device or topic),
        record.name + (SUM if is_sum else ""),
        unit,
    )
    question = f"Which unit is {unknown!a}?" if unknown else ""
    if is_sum and unit is None:
        question = f"In which unit is the sum? {record.unit or 'No unit'!a} times seconds."
    return Proposal(mapping, "senml", device or topic, record.name, meaning, question=question)


def _told_unit(record: Record) -> tuple[str | None, str]:
    """The unit of what is proposed, and the one that nobody knows; only numbers have one."""
    if record.value is None:
        return _SUMS.get(record.unit or "", ("", None))[1], ""
    if record.unit is None or _shape(record) is not Shape.NUMBER:
        return None, ""
    return (record.unit, "") if unit_iri(record.unit) else (None, record.unit)


def _meaning(record: Record, unit: str | None) -> Meaning:
    name = re.split("[:/]", record.name)[-1]
    if record.value is not None:
        return usual(name, Told(unit, _shape(record))).meaning
    term = _SUMS.get(record.unit or "", ("", None))[0]
    return named(term, name) if term else own(f"{name}_sum")


def _shape(record: Record) -> Shape:
    if not isinstance(record.value, Result) or record.value.datatype in NUMERIC:
        return Shape.NUMBER
    return Shape.TRUTH if record.value.datatype == BOOLEAN else Shape.WORD


FORMAT = Format(stateless(SenmlAdapter), names=True, propose=propose)
