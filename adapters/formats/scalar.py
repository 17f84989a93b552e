"""Format "scalar": the payload is the value, as in ESPHome, Homie and Shelly Gen1 topics.

Selector empty: numbers, also with a decimal comma or a unit behind them
(adapters.values.numbers.quantity), the words of result.BOOLEAN_WORDS in any case, and timestamps
(which stay xsd:string); other text is a fault. Selector "string": the text as xsd:string, even
where it looks like a number or a boolean, so that the stream keeps one datatype.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Findings, Format, stateless
from adapters.values.mapping import Mapping, MappingError
from adapters.values.memory import Memory
from adapters.values.numbers.quantity import Quantity, quantity
from adapters.values.payload import Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.result import NUMERIC, STRING, Result, bare_result, forced_string_result
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
    """A number or a boolean word; the last level of the topic hints at what it measures."""
    del memory
    text = payload.text()
    result = text if isinstance(text, Fault) else bare_result(text)
    if isinstance(result, Fault) or result.datatype == STRING:
        return ()
    topic = payload.message.topic
    last = topic.rpartition("/")[2]
    found = usual(last)
    mapping = Mapping(
        names.mapping("scalar", topic, "value"),
        topic,
        "scalar",
        names.sensor("scalar", topic, "value"),
        names.observed_property(found.meaning),
        names.feature("scalar", topic),
        unit=found.unit if result.datatype in NUMERIC else None,
    )
    question = "Is this a measured value, in this unit, and of what?"
    return [Proposal(mapping, "scalar", topic, topic, found.meaning, question=question)]


FORMAT = Format(stateless(ScalarAdapter), written=True, propose=propose)
