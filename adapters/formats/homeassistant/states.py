"""Decoding of what was announced by Home Assistant's discovery.

Topic filter: the announced `state_topic`. Selector: the announced value template, as far as
`ValueTemplate` has it, empty for a bare value. Unit, words and `expires_after` are the mapping's;
whether the device is there is told on the mapping's availability topics.

Values are what the property has: the words of a mode stay words (`off` is no truth value), what is
neither of an entity's two words is not said of it, and a number is a number.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Findings
from adapters.formats.homeassistant.template import Read, ValueTemplate
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.payload import Payload
from adapters.values.properties import BASE, VOCABULARY, Shape
from adapters.values.result import BOOLEAN, NUMERIC, Result
from adapters.values.stream import Stream


class HomeAssistantAdapter:
    """All templates of a topic filter.

    A template that finds nothing is silent as long as another one of the message finds its value.
    """

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._templates = tuple((_template(each), _shape(each)) for each in mappings)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """What each announced template makes of the state."""
        findings = Findings()
        absent: Fault | None = None
        for (evaluate, shape), stream in zip(self._templates, streams, strict=True):
            result = evaluate(payload)
            if shape is not None and isinstance(result, Result):
                result = _shaped(result, shape, stream)
            if isinstance(result, Fault) and result.reason is FaultReason.MISSING:
                absent = result.of(stream.mapping)
            else:
                findings.add(stream, result)
        if not findings and absent is not None:
            findings.faults.append(absent)
        return findings


def _shape(mapping: Mapping) -> Shape | None:
    """What the property's values are, None where nobody knows."""
    known = VOCABULARY.get(mapping.observed_property.removeprefix(BASE))
    if known is not None and known.iri == mapping.observed_property:
        return known.shape
    return Shape.TRUTH if mapping.true_value and mapping.false_value else None


def _shaped(result: Result, shape: Shape, stream: Stream) -> Result | Fault:
    """The result, or why it is none of the property."""
    if shape is Shape.TRUTH and result.datatype != BOOLEAN:
        if all(result != word for word, _ in stream.words):
            return Fault(None, FaultReason.MISSING, f"{excerpt(result.lexical)} is another word")
    elif shape is Shape.NUMBER and result.datatype not in NUMERIC:
        return Fault(None, FaultReason.NOT_A_VALUE, f"{excerpt(result.lexical)} is no number")
    return result


def _template(mapping: Mapping) -> Read:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Home Assistant's discovery has none")
    as_word = _shape(mapping) is Shape.WORD
    try:
        return ValueTemplate.compile(mapping.selector or "{{ value }}", as_word=as_word).evaluate
    except ValueError as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error
