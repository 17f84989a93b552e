r"""Format "text": regular expressions over a payload of any layout, `T=21.5;H=44` for one.

The selector is an RE2 expression (linear in the payload, so no payload can stall the gateway)
that is searched for; its result is the group `value`, or its only group. Groups `time` and `seq`
are the device's time and counter; time_selector and sequence_selector may name other groups.
A mapping that matches nothing is silent as long as another mapping of the message matches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import re2

from adapters.adapter import Fault, FaultReason, Findings, missing
from adapters.values.device_time import read_sequence, read_time
from adapters.values.mapping import Mapping, MappingError
from adapters.values.numbers.quantity import read_captured
from adapters.values.payload import Payload, utf8_text
from adapters.values.stream import Stream

MAX_EXPRESSION_CHARS = 1024


@dataclass(frozen=True, slots=True)
class _Rule:
    """`value`, `time` and `sequence` are numbers of groups; 0 where there is none."""

    expression: Any
    value: int
    time: int
    sequence: int
    decimal_sign: str


class TextAdapter:
    """All expressions of a topic filter, each over the whole payload."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._rules = tuple(_rule(mapping) for mapping in mappings)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """What the named groups of each expression capture."""
        text = payload.text()
        if isinstance(text, Fault):
            return Findings.of_fault(text)
        findings = Findings()
        for rule, stream in zip(self._rules, streams, strict=True):
            match = rule.expression.search(payload.raw)
            if match is not None and match.group(rule.value) is not None:
                _observe(rule, match, stream, findings)
        if not findings:
            findings.faults.append(missing(streams))
        return findings


def _observe(rule: _Rule, match: Any, stream: Stream, findings: Findings) -> None:
    text = utf8_text(match.group(rule.value))
    result = text if isinstance(text, Fault) else read_captured(text, rule.decimal_sign)
    time = _time(match.group(rule.time)) if rule.time else None
    sequence = _sequence(match.group(rule.sequence)) if rule.sequence else None
    findings.add(stream, result, time, sequence)


def _time(group: bytes | None) -> datetime | Fault | None:
    if group is None:
        return None
    text = utf8_text(group)
    if isinstance(text, Fault):
        return Fault(None, FaultReason.TIME_UNUSABLE, text.detail)
    return read_time(text)


def _sequence(group: bytes | None) -> str | Fault | None:
    if group is None:
        return None
    text = utf8_text(group)
    if isinstance(text, Fault):
        return Fault(None, FaultReason.SEQUENCE_UNUSABLE, text.detail)
    return read_sequence(text)


def _rule(mapping: Mapping) -> _Rule:
    expression = _expression(mapping)
    named = {name.decode(): number for name, number in expression.groupindex.items()}
    return _Rule(
        expression,
        _value_group(mapping, expression.groups, named),
        _named_group(mapping, "time_selector", mapping.time_selector, named, "time"),
        _named_group(mapping, "sequence_selector", mapping.sequence_selector, named, "seq"),
        mapping.decimal_sign,
    )


def _expression(mapping: Mapping) -> Any:
    if not mapping.selector or len(mapping.selector) > MAX_EXPRESSION_CHARS:
        reason = f"an expression has 1 to {MAX_EXPRESSION_CHARS} characters"
        raise MappingError(mapping.iri, "selector", reason)
    options = re2.Options()
    options.log_errors = False
    try:
        # Bytes, because offsets in texts would cost RE2's Python layer a pass over the payload.
        return re2.compile(mapping.selector.encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        raise MappingError(mapping.iri, "selector", f"no RE2 expression: {error}") from error


def _value_group(mapping: Mapping, groups: int, named: dict[str, int]) -> int:
    if "value" in named:
        return named["value"]
    if groups == 1 and not named:
        return 1
    raise MappingError(mapping.iri, "selector", "needs one group, or a group named value")


def _named_group(
    mapping: Mapping, member: str, name: str, named: dict[str, int], default: str
) -> int:
    if not name:
        return named.get(default, 0)
    if name not in named:
        raise MappingError(mapping.iri, member, f"the selector has no group named {name}")
    return named[name]
