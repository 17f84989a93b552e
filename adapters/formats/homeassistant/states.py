"""Decoding of what was announced by Home Assistant's discovery.

Topic filter: the announced `state_topic`. Selector: the announced value template, as far as
`ValueTemplate` has it, empty for a bare value. Unit, words and `expires_after` are the mapping's;
whether the device is there is told on the mapping's availability topic.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Findings
from adapters.formats.homeassistant.template import Read, ValueTemplate
from adapters.formats.homeassistant.tokens import TemplateError
from adapters.values.mapping import Mapping, MappingError
from adapters.values.payload import Payload
from adapters.values.result import Result, captured_result
from adapters.values.stream import Stream


class HomeAssistantAdapter:
    """All templates of a topic filter.

    A template that finds nothing is silent as long as another one of the message finds its value.
    """

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._templates = tuple(map(_template, mappings))

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """What each announced template makes of the state."""
        findings = Findings()
        absent: Fault | None = None
        for evaluate, stream in zip(self._templates, streams, strict=True):
            result = evaluate(payload)
            if isinstance(result, Fault) and result.reason is FaultReason.MISSING:
                absent = result.of(stream.mapping)
            else:
                findings.add(stream, result)
        if not findings and absent is not None:
            findings.faults.append(absent)
        return findings


def _bare(payload: Payload) -> Result | Fault:
    text = payload.text()
    return text if isinstance(text, Fault) else captured_result(text)


def _template(mapping: Mapping) -> Read:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Home Assistant's discovery has none")
    if not mapping.selector:
        return _bare
    try:
        return ValueTemplate.compile(mapping.selector).evaluate
    except (TemplateError, ValueError) as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error
