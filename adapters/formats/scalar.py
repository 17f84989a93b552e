"""Format "scalar": the payload is the value, as in ESPHome, Homie and Shelly Gen1 topics.

Selector empty: numbers, also with a decimal comma or a unit behind them
(adapters.values.numbers.quantity), the words of result.BOOLEAN_WORDS in any case, and timestamps
(which stay xsd:string); other text is a fault. Selector "string": the text as xsd:string, even
where it looks like a number or a boolean, so that the stream keeps one datatype.
"""

import re
from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Findings, Format, stateless
from adapters.documents.naming import readings, topic_names, truth_words
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Told
from adapters.values.memory import Memory
from adapters.values.numbers.quantity import Quantity, quantity
from adapters.values.payload import Payload
from adapters.values.properties import Shape
from adapters.values.proposal import Names, Proposal
from adapters.values.result import (
    NUMERIC,
    PADDING,
    STRING,
    JsonNumber,
    Result,
    bare_result,
    forced_string_result,
)
from adapters.values.stream import Stream
from adapters.values.usual_words import usual

_SELECTORS = ("", "string")

Reading = tuple[Result | Fault, str | None]
"""A result, and the unit that stands behind it."""


class ScalarAdapter:
    """Every mapping observes the same text, each in its own way."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        for mapping in mappings:
            _refuse_selectors(mapping)
        self._rules = tuple((mapping.selector, mapping.decimal_sign) for mapping in mappings)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The whole payload, once for each mapping."""
        text = payload.text()
        if isinstance(text, Fault):
            return Findings.of_fault(text)
        findings = Findings()
        for (selector, sign), stream in zip(self._rules, streams, strict=True):
            if selector:
                findings.add(stream, forced_string_result(text))
            else:
                result, unit = read_scalar(text, sign, stream.device_unit or stream.unit)
                findings.add(stream, result, unit=unit)
        return findings


def read_scalar(text: str, decimal_sign: str = "", wanted: str | None = None) -> Reading:
    """What a bare text says, and in which QUDT unit if it tells one.

    `wanted` is the unit that its stream declares, None for none.

    >>> read_scalar("21,5")[0].lexical, read_scalar("warm")[0].reason.value
    ('21.5', 'not_a_value')
    """
    result: Result | Fault | None = None if decimal_sign else bare_result(text)
    if isinstance(result, Result) or (result and result.reason is not FaultReason.NOT_A_VALUE):
        return result, None
    written = quantity(text, decimal_sign, wanted)
    if isinstance(written, Quantity):
        return written
    return written or bare_result(text), None


def _refuse_selectors(mapping: Mapping) -> None:
    if mapping.selector not in _SELECTORS:
        raise MappingError(mapping.iri, "selector", 'a scalar has "" or "string"')
    if mapping.time_selector:
        raise MappingError(mapping.iri, "time_selector", "a scalar carries no time")
    if mapping.sequence_selector:
        raise MappingError(mapping.iri, "sequence_selector", "a scalar carries no sequence")


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A number, a truth value or a word; the topic hints at what it measures."""
    del memory
    text = payload.text()
    if isinstance(text, Fault):
        return ()
    topic, bare = payload.message.topic, text.strip(PADDING)
    result, unit = read_scalar(bare)
    question = _WHAT
    if isinstance(result, Fault):
        is_number = isinstance(quantity(bare), Fault)
        if not is_number and not _is_word(bare):
            return ()
        question = f"{_WHAT} {result.detail}." if is_number else _STATE
        told = Told(shape=Shape.NUMBER if is_number else Shape.WORD)
    elif result.datatype == STRING:
        return ()
    else:
        told = Told(unit, Shape.NUMBER if result.datatype in NUMERIC else Shape.TRUTH)
    return [_proposal(topic, bare, told, question, names)]


_WHAT = "Is this a measured value, in this unit, and of what?"
_STATE = "Is this a state, and of what?"
_WORD = re.compile(r"[^\W\d_][\w+/-]*(?: [\w+/-]+){0,3}")
_LONGEST_WORD = 40


def _is_word(text: str) -> bool:
    return len(text) <= _LONGEST_WORD and _WORD.fullmatch(text) is not None


def _proposal(topic: str, text: str, told: Told, question: str, names: Names) -> Proposal:
    value = JsonNumber(text) if told.shape is Shape.NUMBER else text
    every = (each for name in topic_names(topic) for each in readings(name, told, value))
    found = next((each for each in every if each.meaning.is_known), None)
    if found is None:
        found = usual(topic.rpartition("/")[2], told)
    words = truth_words(found.meaning, value)
    is_number = told.shape is Shape.NUMBER and not any(words)
    mapping = Mapping(
        names.mapping("scalar", topic, "value"),
        topic,
        "scalar",
        names.sensor("scalar", topic, "value"),
        names.observed_property(found.meaning),
        names.feature("scalar", topic),
        "string" if told.shape is Shape.WORD else "",
        (found.unit or told.unit) if is_number else None,
        true_value=words[0],
        false_value=words[1],
    )
    return Proposal(mapping, "scalar", topic, topic, found.meaning, question=question)


FORMAT = Format(stateless(ScalarAdapter), written=True, propose=propose)
