"""`MappedStreams`: of which mappings' streams the observations of a sensor are.

A mapping's IRI names the stream of what it makes: observations of the sensors, the property and
the features that it names, `{1}` and `{name}` standing for one piece of an IRI. That is told by an
observation itself, whoever made it, so the journal tells it as well after a restart.
"""

import re
from collections.abc import Sequence

from adapters.values.earlier_streams import stream_expression
from adapters.values.mapping import Mapping, MappingError
from adapters.values.observation import StreamKey
from adapters.values.stream import StreamTemplate
from adapters.values.topic_filter import TopicFilter
from gateway.rdf.namespaces import OBSERVATIONS

_REMEMBERED = 50_000


class MappedStreams:
    """Names of streams by key; never changes, but for what it remembers. In any thread."""

    def __init__(self, mappings: Sequence[Mapping] = ()) -> None:
        self.names = frozenset(mapping.iri for mapping in mappings)
        self._by_property: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
        for mapping in mappings:
            expression = _expression(mapping)
            if expression is not None:
                known = self._by_property.setdefault(mapping.observed_property, [])
                known.append((mapping.iri, expression))
        self._of: dict[StreamKey, tuple[str, ...]] = {}

    def __contains__(self, stream: str) -> bool:
        """Whether it is a stream of observations."""
        return stream == OBSERVATIONS or stream in self.names

    def of(self, key: StreamKey) -> tuple[str, ...]:
        """The streams that the observations of a key enter: all of them first, then mappings'.

        Linear in the mappings of its property, once for each key.
        """
        found = self._of.get(key)
        if found is None:
            sensor, observed_property, feature = key
            mapped = self._by_property.get(observed_property, ())
            text = f"{sensor}\n{feature}"
            found = (OBSERVATIONS, *[iri for iri, each in mapped if each.fullmatch(text)])
            if len(self._of) < _REMEMBERED:
                self._of[key] = found
        return found


def _expression(mapping: Mapping) -> re.Pattern[str] | None:
    """None for a mapping that does not compile, which the registry has refused."""
    try:
        wildcards = TopicFilter.parse(mapping.topic_filter).wildcards
        template = StreamTemplate.compile(0, mapping, wildcards, names=True)
    except (MappingError, ValueError):
        return None
    return re.compile(stream_expression(template))
