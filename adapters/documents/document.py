"""`DocumentAdapter`: values at paths of a document, whatever its encoding.

Place on the way: what the formats "json", "cbor" and "msgpack" have in common; they differ in how
bytes become the document.

A path that is absent gives no observation and no fault as long as another mapping of the message
finds its value: partial updates are usual. null is a fault, for the device says that it has no
value. time_selector and sequence_selector are paths too; where they lead nowhere the payload simply
has no time or sequence. With the wildcards of the selector in them, each value has its own; so it
is with the paths in the IRIs of sensor and feature, but a value without one of those is a fault,
for nobody knows whose it is. A mapping whose condition does not hold is silent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, missing
from adapters.documents.json_path import Absent, JsonPath
from adapters.documents.json_query import Condition
from adapters.documents.selection import Looked, Path, Value, compile_path
from adapters.values.device_time import read_sequence, read_time
from adapters.values.fault import excerpt
from adapters.values.iri_template import NAME, members_of
from adapters.values.mapping import Mapping, MappingError
from adapters.values.numbers.quantity import quantity
from adapters.values.payload import Json, Payload
from adapters.values.result import Result, json_result
from adapters.values.stream import Stream

Read = Callable[[Payload], Json | Fault]
"""How the bytes of a payload become a document."""

Times = dict[str, datetime | Fault]
Sequences = dict[str, str | Fault]
Found = list[tuple[str, Value]]

MAX_MEMBER_CHARS = 256
"""A longer text is nobody's name."""


@dataclass(frozen=True, slots=True)
class _Rule:
    path: Path
    is_singular: bool
    time: str
    sequence: str
    where: Condition | None
    members: tuple[tuple[str, Path], ...]
    decimal_sign: str

    @property
    def find(self) -> Callable[[Json], Json | Absent] | None:
        """What finds its value, where one path leads there and nothing else matters to it."""
        if self.where or self.members or self.decimal_sign or not self.is_singular:
            return None
        return self.path.find if isinstance(self.path, JsonPath) else None


class DocumentAdapter:
    """All paths of a topic filter, over one document."""

    def __init__(self, mappings: Sequence[Mapping], read: Read) -> None:
        self._read = read
        self._rules = tuple(map(_rule, mappings))
        self._finds = tuple(rule.find for rule in self._rules)
        self._times = {m.time_selector: _path(m, "time_selector") for m in mappings}
        self._sequences = {m.sequence_selector: _path(m, "sequence_selector") for m in mappings}
        self._times.pop("", None)
        self._sequences.pop("", None)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """Each value that a selector's path leads to, with the time and sequence beside it."""
        document = self._read(payload)
        if isinstance(document, Fault):
            return Findings.of_fault(document)
        return self._findings(document, streams)

    def _findings(self, document: Json, streams: Sequence[Stream]) -> Findings:
        looked, findings = Looked(document), Findings()
        times = {key: _times(_beside(looked, path)) for key, path in self._times.items()}
        sequences = {
            key: _sequences(_beside(looked, path)) for key, path in self._sequences.items()
        }
        is_heard = False
        for rule, find, stream in zip(self._rules, self._finds, streams, strict=True):
            time, sequence = times.get(rule.time, {}), sequences.get(rule.sequence, {})
            if find is not None:
                value = find(document)
                if not isinstance(value, Absent):
                    findings.add(stream, json_result(value), time.get(""), sequence.get(""))
            elif rule.where is None or _holds(rule.where, looked, stream, findings):
                _add_all(looked, rule, stream, (time, sequence), findings)
            else:
                continue
            is_heard = True
        if is_heard and not findings:
            findings.faults.append(missing(self._asked(looked, streams)))
        return findings

    def _asked(self, looked: Looked, streams: Sequence[Stream]) -> list[Stream]:
        """The streams that the message concerns."""
        paired = zip(self._rules, streams, strict=True)
        return [each for rule, each in paired if not rule.where or looked.holds(rule.where) is True]


def _beside(looked: Looked, path: Path) -> Found | Fault:
    """What a path finds; of one that leads to one value it is everybody's, under no name."""
    if not path.is_singular:
        return looked.all(path)
    value = looked.one(path)
    return [] if isinstance(value, Absent) else [("", value)]


def _holds(where: Condition, looked: Looked, stream: Stream, findings: Findings) -> bool:
    held = looked.holds(where)
    if isinstance(held, Fault):
        findings.faults.append(held.of(stream.mapping))
        return False
    return held


def _add_all(
    looked: Looked,
    rule: _Rule,
    stream: Stream,
    beside: tuple[Times, Sequences],
    findings: Findings,
) -> None:
    """An observation of each value, in the stream of its name and of the members beside it."""
    found, (times, sequences) = looked.all(rule.path), beside
    if isinstance(found, Fault):
        findings.faults.append(found.of(stream.mapping))
        return
    members = [(path, _members(_beside(looked, each))) for path, each in rule.members if found]
    for name, value in found:
        own = stream if rule.is_singular else stream.named(name)
        if members:
            whose = _whose(members, name)
            if isinstance(whose, Fault):
                findings.faults.append(whose.of(stream.mapping))
                continue
            own = own.with_members(whose)
        time = times.get(name) or times.get("")
        sequence = sequences.get(name) or sequences.get("")
        findings.add(own, _result(value, rule.decimal_sign), time, sequence)


def _members(found: Found | Fault) -> dict[str, Value] | Fault:
    return found if isinstance(found, Fault) else dict(found)


def _whose(
    members: Sequence[tuple[str, dict[str, Value] | Fault]], name: str
) -> Sequence[tuple[str, str]] | Fault:
    """The text of each path of the IRIs, beside the value of this name or of the whole message."""
    told = []
    for path, values in members:
        if isinstance(values, Fault):
            return values
        value = values.get(name, values.get(""))
        if isinstance(value, bool):
            value = "true" if value else "false"
        if value is None or value == "":
            detail = f"nothing stands at {excerpt(path)}, which says whose value it is"
            return Fault(None, FaultReason.MISSING, detail)
        if not isinstance(value, str) or len(value) > MAX_MEMBER_CHARS:
            detail = f"at {excerpt(path)}, which says whose value it is, stands no short text"
            return Fault(None, FaultReason.NOT_A_VALUE, detail)
        told.append((path, str(value)))
    return told


_READ = (Result, Fault)


def _result(value: Value, decimal_sign: str) -> Result | Fault:
    """A value; of texts, and of these alone, the mapping may have told the decimal sign."""
    if isinstance(value, _READ):
        return value
    if decimal_sign and type(value) is str:
        written = quantity(value, decimal_sign)
        if written is None:
            return json_result(value)
        return written if isinstance(written, Fault) else written.result
    return json_result(value)


def _rule(mapping: Mapping) -> _Rule:
    path = _path(mapping, "selector")
    iris = mapping.sensor + "\n" + mapping.feature_of_interest
    if NAME in iris and path.is_singular:
        reason = "{name} needs a wildcard in the path, .* or [*] or [id=*]"
        raise MappingError(mapping.iri, "selector", reason)
    members = tuple((each, _member(mapping, each)) for each in members_of(iris))
    return _Rule(
        path,
        path.is_singular,
        mapping.time_selector,
        mapping.sequence_selector,
        _where(mapping),
        members,
        mapping.decimal_sign,
    )


def _where(mapping: Mapping) -> Condition | None:
    if not mapping.condition:
        return None
    try:
        return Condition.compile(mapping.condition)
    except ValueError as error:
        raise MappingError(mapping.iri, "condition", str(error)) from error


def _member(mapping: Mapping, path: str) -> Path:
    try:
        return compile_path(path)
    except ValueError as error:
        member = "sensor" if path in members_of(mapping.sensor) else "feature_of_interest"
        raise MappingError(mapping.iri, member, f"{{{path}}}: {error}") from error


def _path(mapping: Mapping, member: str) -> Path:
    text: str = getattr(mapping, member)
    try:
        return compile_path(text or ("" if member == "selector" else "$"))
    except ValueError as error:
        raise MappingError(mapping.iri, member, str(error)) from error


def _times(found: Found | Fault) -> Times:
    if isinstance(found, Fault):
        return {"": Fault(None, FaultReason.TIME_UNUSABLE, found.detail)}
    return {name: _time(value) for name, value in found}


def _sequences(found: Found | Fault) -> Sequences:
    if isinstance(found, Fault):
        return {"": Fault(None, FaultReason.SEQUENCE_UNUSABLE, found.detail)}
    return {name: _sequence(value) for name, value in found}


def _time(value: Value) -> datetime | Fault:
    if isinstance(value, str):
        return read_time(value)
    return Fault(None, FaultReason.TIME_UNUSABLE, "the time is no number and no text")


def _sequence(value: Value) -> str | Fault:
    if isinstance(value, str):
        return read_sequence(value)
    return Fault(None, FaultReason.SEQUENCE_UNUSABLE, "the sequence is no number and no text")
