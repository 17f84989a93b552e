"""Format "json": values at paths of a JSON document, as most device families send them.

Paths are the singular ones of RFC 9535 in a friendlier spelling: `$` the document, `.name` or
`['any name']` a member, `[0]` an element, `[-1]` the last one. After a dot a name may have every
character but white space and .[]'"*?@,() so `$.switch:0` and `$.DS18B20-1` need no brackets.

A path that is absent gives no observation and no fault as long as another mapping of the message
finds its value: partial updates are usual (Shelly NotifyStatus). null is a fault, for the device
says that it has no value. time_selector and sequence_selector are paths too; where they lead
nowhere the payload simply has no time or sequence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from adapters.adapter import Fault, FaultReason, Findings, missing
from adapters.device_time import read_sequence, read_time
from adapters.mapping import Mapping, MappingError
from adapters.memory import Memory
from adapters.payload import Json, Payload
from adapters.proposal import Names, Proposal
from adapters.quantity import usual_quantity
from adapters.result import json_result
from adapters.stream import Stream


class _Absent:
    """The type of ABSENT: there is nothing at a path."""


ABSENT: Final = _Absent()

_STEP = re.compile(
    r"\.(?P<name>[^\s.\[\]'\"*?@,()]+)"
    r"|\[(?P<index>0|-?[1-9][0-9]{0,8})\]"
    r"|\['(?P<single>(?:[^'\\]|\\.)*)'\]"
    r'|\["(?P<double>(?:[^"\\]|\\.)*)"\]'
)
_ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path to one place of a document: member names and element indices.

    >>> JsonPath.compile("$.a[0]['c d']").steps
    ('a', 0, 'c d')
    """

    steps: tuple[str | int, ...]

    @classmethod
    def compile(cls, text: str) -> "JsonPath":
        """Raises ValueError, with the place and reason."""
        if not text.startswith("$"):
            raise ValueError("a path begins with $")
        steps, position = [], 1
        while position < len(text):
            step = _STEP.match(text, position)
            if step is None:
                raise ValueError(_syntax_defect(text, position))
            steps.append(_step_value(step))
            position = step.end()
        return cls(tuple(steps))

    def find(self, document: Json) -> Json | _Absent:
        """What stands at the path, or ABSENT; a step into the wrong kind of value leads nowhere."""
        node = document
        for step in self.steps:
            if type(step) is str:
                if type(node) is not dict or step not in node:
                    return ABSENT
                node = node[step]
            elif type(step) is int:
                if type(node) is not list or not -len(node) <= step < len(node):
                    return ABSENT
                node = node[step]
        return node


def _step_value(step: re.Match[str]) -> str | int:
    kind, text = step.lastgroup, step.group(step.lastgroup or 0)
    if kind == "index":
        return int(text)
    return text if kind == "name" else _ESCAPE.sub(r"\1", text)


def _syntax_defect(text: str, position: int) -> str:
    rest = text[position:]
    if rest.startswith(("..", ".*", "[*", "[?", ".[")) or re.match(r"\[[^'\"\]]*[:,]", rest):
        return f"character {position}: wildcards, slices and filters are not supported"
    return f"character {position}: a path goes on with .name, ['name'] or [number]"


@dataclass(frozen=True, slots=True)
class _Rule:
    path: JsonPath
    time: str
    sequence: str


class JsonAdapter:
    """All paths of a topic filter, over one document."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._rules = tuple(
            _Rule(_path(m, "selector", m.selector), m.time_selector, m.sequence_selector)
            for m in mappings
        )
        self._times = {
            m.time_selector: _path(m, "time_selector", m.time_selector)
            for m in mappings
            if m.time_selector
        }
        self._sequences = {
            m.sequence_selector: _path(m, "sequence_selector", m.sequence_selector)
            for m in mappings
            if m.sequence_selector
        }

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """See Adapter."""
        document = payload.document()
        if isinstance(document, Fault):
            return Findings.of_fault(document)
        findings = self._findings(document, streams)
        if not findings:
            findings.faults.append(missing(streams))
        return findings

    def _findings(self, document: Json, streams: Sequence[Stream]) -> Findings:
        times = {key: _time(path.find(document)) for key, path in self._times.items()}
        sequences = {key: _sequence(path.find(document)) for key, path in self._sequences.items()}
        findings = Findings()
        for rule, stream in zip(self._rules, streams, strict=True):
            value = rule.path.find(document)
            if value is not ABSENT:
                time, sequence = times.get(rule.time), sequences.get(rule.sequence)
                findings.add(stream, json_result(value), time, sequence)
        return findings


def _path(mapping: Mapping, member: str, text: str) -> JsonPath:
    try:
        return JsonPath.compile(text)
    except ValueError as error:
        raise MappingError(mapping.iri, member, str(error)) from error


def _time(value: Json | _Absent) -> datetime | Fault | None:
    if isinstance(value, _Absent):
        return None
    if isinstance(value, str):
        return read_time(value)
    return Fault(None, FaultReason.TIME_UNUSABLE, "the time is no number and no text")


def _sequence(value: Json | _Absent) -> str | Fault | None:
    if isinstance(value, _Absent):
        return None
    if isinstance(value, str):
        return read_sequence(value)
    return Fault(None, FaultReason.SEQUENCE_UNUSABLE, "the sequence is no number and no text")


MAX_LEAVES = 200

_PLAIN_NAME = re.compile(r"[^\s.\[\]'\"*?@,()]+")


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A mapping for each value of a JSON object or array; what it measures is a person's to say."""
    del memory
    document = payload.document()
    if isinstance(document, Fault) or not isinstance(document, dict | list):
        return ()
    topic = payload.message.topic
    leaves = islice(_leaves(document, "$"), MAX_LEAVES)
    return [_proposal(topic, path, name, names) for path, name in leaves]


def _leaves(node: Json, path: str, name: str = "") -> Iterator[tuple[str, str]]:
    """Path and last member name of each value that is no object, array or null."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, path + _member(key), key)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _leaves(value, f"{path}[{index}]", name)
    elif node is not None:
        yield path, name


def _member(key: str) -> str:
    if _PLAIN_NAME.fullmatch(key):
        return f".{key}"
    return "['" + key.replace("\\", "\\\\").replace("'", "\\'") + "']"


def _proposal(topic: str, path: str, name: str, names: Names) -> Proposal:
    quantity = usual_quantity(name)
    mapping = Mapping(
        names.mapping("json", topic, path),
        topic,
        "json",
        names.sensor("json", topic, path),
        names.observed_property(quantity.name or name or "value"),
        names.feature("json", topic),
        path,
        quantity.unit,
    )
    question = "Is this a measured value, in this unit, and of what?"
    return Proposal(mapping, "json", topic, f"{topic} {path}", quantity.name, question=question)
