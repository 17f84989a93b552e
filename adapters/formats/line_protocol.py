"""Format "influx": InfluxDB line protocol, as Telegraf and many firmwares publish it.

The selector is written as a line begins: `weather,location=us-midwest temperature` is the field
`temperature` of points of that measurement which have this tag; `weather temperature` of all of
them, `temperature` of every measurement. `{$.host}` in the IRIs stands for the tag `host`.

Each line is a point with a time of its own, in nanoseconds unless its size says otherwise. A line
that is none costs only itself.

Source: InfluxDB v2 documentation, "Line protocol" (elements, data types, special characters).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.documents.json_path import ABSENT, JsonPath
from adapters.values.device_time import read_time
from adapters.values.fault import excerpt
from adapters.values.iri_template import members_of
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Told
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.properties import Shape
from adapters.values.proposal import Names, Proposal
from adapters.values.result import (
    FALSE,
    NUMERIC,
    STRING,
    TRUE,
    Result,
    bare_result,
    forced_string_result,
)
from adapters.values.stream import Stream
from adapters.values.usual_words import usual

MAX_POINTS = 1000
MAX_PROPOSED = 200

_NAME = r"(?:[^,=\s\\]|\\.)++"
_MEASUREMENT = r"(?:[^,\s\\#]|\\.)(?:[^,\s\\]|\\.)*+"
_VALUE = r'(?:"(?:[^"\\]|\\.)*+"|[^,\s"]++)'
_LINE = re.compile(
    rf"(?P<measurement>{_MEASUREMENT})(?P<tags>(?:,{_NAME}={_NAME})*+) ++"
    rf"(?P<fields>{_NAME}={_VALUE}(?:,{_NAME}={_VALUE})*+)(?: ++(?P<time>-?[0-9]++))?+ *+\r?"
)
_SELECTOR = re.compile(
    rf"(?:(?P<measurement>{_MEASUREMENT})(?P<tags>(?:,{_NAME}={_NAME})*+) ++)?"
    rf"(?P<field>{_NAME})"
)
_TAG = re.compile(rf",({_NAME})=({_NAME})")
_FIELD = re.compile(rf"({_NAME})=({_VALUE}),?")
_ESCAPED_NAME = re.compile(r"\\([,= \\])")
_ESCAPED_TEXT = re.compile(r'\\(["\\])')
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+|-?[0-9]++i|[0-9]++u"
)
_TRUTHS = {
    **dict.fromkeys(("t", "T", "true", "True", "TRUE"), TRUE),
    **dict.fromkeys(("f", "F", "false", "False", "FALSE"), FALSE),
}


@dataclass(frozen=True, slots=True)
class Point:
    """A line: values as they are written by the names of their fields, tags by their names."""

    measurement: str
    tags: dict[str, str]
    fields: dict[str, str]
    time: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """Which points and which field of them; `whose` are the tags that stand in the IRIs."""

    measurement: str
    tags: tuple[tuple[str, str], ...]
    field: str
    whose: tuple[tuple[str, JsonPath], ...]

    def concerns(self, point: Point) -> bool:
        """Whether the point is of the measurement and has the tags."""
        if self.measurement and self.measurement != point.measurement:
            return False
        return all(point.tags.get(key) == value for key, value in self.tags)


class LineProtocolAdapter:
    """All fields of a topic filter, over the points of one payload."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._rules = tuple(map(_rule, mappings))

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The selected fields of each point."""
        points = payload.once(read_points)
        if isinstance(points, Fault):
            return Findings.of_fault(points)
        findings = Findings()
        for point in points:
            if isinstance(point, Fault):
                findings.faults.append(point)
                continue
            time = read_time(point.time) if point.time else None
            for rule, stream in zip(self._rules, streams, strict=True):
                told = point.fields.get(rule.field) if rule.concerns(point) else None
                if told is None:
                    continue
                own = _own(rule, point, stream)
                if isinstance(own, Fault):
                    findings.faults.append(own)
                else:
                    findings.add(own, _result(told), time)
        if not findings:
            findings.faults.append(missing(streams))
        return findings


def _own(rule: _Rule, point: Point, stream: Stream) -> Stream | Fault:
    if not rule.whose:
        return stream
    values = []
    for text, path in rule.whose:
        value = path.find({**point.tags})
        if value is ABSENT or not isinstance(value, str):
            detail = f"no tag {excerpt(text)}, which says whose value it is"
            return Fault(stream.mapping, FaultReason.MISSING, detail)
        values.append((text, value))
    return stream.with_members(values)


def read_points(payload: Payload) -> Sequence[Point | Fault] | Fault:
    """The points of a payload, with one Fault for all lines that are none."""
    text = payload.text()
    if isinstance(text, Fault):
        return text
    lines = [line for line in text.strip("\0\r\n ").split("\n") if line.strip() and line[0] != "#"]
    if not lines:
        return Fault(None, FaultReason.EMPTY, "the payload is empty")
    if len(lines) > MAX_POINTS:
        detail = f"{len(lines)} points, at most {MAX_POINTS} are read"
        return Fault(None, FaultReason.TOO_LARGE, detail)
    read = [(line, _point(line)) for line in lines]
    points: list[Point | Fault] = [point for _, point in read if point is not None]
    bad = [line for line, point in read if point is None]
    if bad:
        detail = f"{len(bad)} lines are no line protocol, as {excerpt(bad[0])}"
        points.append(Fault(None, FaultReason.MALFORMED, detail))
    return points


def _point(line: str) -> Point | None:
    """None where a line is none, or names a field or a tag twice."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    tags = [(_name(key), _name(value)) for key, value in _TAG.findall(found["tags"])]
    fields = [(_name(key), value) for key, value in _FIELD.findall(found["fields"])]
    told = Point(_name(found["measurement"]), dict(tags), dict(fields), found["time"] or "")
    is_good = len(told.tags) == len(tags) and len(told.fields) == len(fields)
    return told if is_good and all(map(_is_value, told.fields.values())) else None


def _is_value(text: str) -> bool:
    return text[0] == '"' or text in _TRUTHS or _NUMBER.fullmatch(text) is not None


def _name(text: str) -> str:
    return _ESCAPED_NAME.sub(r"\1", text) if "\\" in text else text


def _result(text: str) -> Result | Fault:
    if text[0] == '"':
        return forced_string_result(_ESCAPED_TEXT.sub(r"\1", text[1:-1]))
    truth = _TRUTHS.get(text)
    if truth is not None:
        return truth
    return bare_result(text[:-1] if text[-1] in "iu" else text)


def _rule(mapping: Mapping) -> _Rule:
    found = _SELECTOR.fullmatch(mapping.selector)
    if found is None:
        reason = "is a field, or a measurement with its tags before it: weather,place=a temperature"
        raise MappingError(mapping.iri, "selector", reason)
    for member in ("time_selector", "sequence_selector", "condition"):
        if getattr(mapping, member):
            reason = "a point says itself; tags stand in the selector"
            raise MappingError(mapping.iri, member, reason)
    tags = tuple((_name(key), _name(value)) for key, value in _TAG.findall(found["tags"] or ""))
    return _Rule(_name(found["measurement"] or ""), tags, _name(found["field"]), _whose(mapping))


def _whose(mapping: Mapping) -> tuple[tuple[str, JsonPath], ...]:
    texts = members_of(mapping.sensor + "\n" + mapping.feature_of_interest)
    try:
        paths = tuple((text, JsonPath.compile(text)) for text in texts)
    except ValueError as error:
        raise MappingError(mapping.iri, "sensor", str(error)) from error
    if any(len(path.steps) != 1 or not isinstance(path.steps[0], str) for _, path in paths):
        raise MappingError(mapping.iri, "sensor", "a tag is {$.name} or {$['any name']}")
    return paths


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A mapping for each field of each series, where every line is a point."""
    del memory
    points = payload.once(read_points)
    if isinstance(points, Fault):
        return ()
    series: dict[tuple[str, str], Point] = {}
    for point in points:
        if isinstance(point, Fault):
            return ()
        for name in point.fields:
            series.setdefault((_series(point), name), point)
    topic = payload.message.topic
    found = list(series.items())[:MAX_PROPOSED]
    return [_proposal(topic, point, name, names) for (_, name), point in found]


def _series(point: Point) -> str:
    """Measurement and tags as a line has them."""
    tags = (f",{_escaped(key)}={_escaped(value)}" for key, value in point.tags.items())
    return point.measurement.replace(",", "\\,").replace(" ", "\\ ") + "".join(tags)


def _escaped(name: str) -> str:
    return re.sub(r"([,= ])", r"\\\1", name)


def _proposal(topic: str, point: Point, name: str, names: Names) -> Proposal:
    told, series = Told(shape=_shape(point.fields[name])), _series(point)
    is_unnamed = name.lower() in _UNNAMED
    found = usual(point.measurement if is_unnamed else name, told)
    device, selector = f"{topic} {series}", f"{series} {_escaped(name)}"
    mapping = Mapping(
        names.mapping("influx", device, name),
        topic,
        "influx",
        names.sensor("influx", device, name),
        names.observed_property(found.meaning),
        names.feature("influx", device),
        selector,
        found.unit,
    )
    question = "Is this a measured value, in this unit, and of what?"
    return Proposal(mapping, "influx", device, f"{name} of {series}", found.meaning, None, question)


_UNNAMED = frozenset({"value", "val", "state"})
"""Fields that say nothing: what they are of is the measurement."""


def _shape(text: str) -> Shape | None:
    result = _result(text)
    if isinstance(result, Fault):
        return None
    if result.datatype in NUMERIC:
        return Shape.NUMBER
    return Shape.WORD if result.datatype == STRING else Shape.TRUTH


FORMAT = Format(stateless(LineProtocolAdapter), members=True, propose=propose)
