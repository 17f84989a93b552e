"""The settings of what is told to Home Assistant.

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pyoxigraph import NamedNode

from gateway.config.discovery import Family
from gateway.config.values import ONE_AS_LIST, Count, Section, TopicPrefix, is_iri
from gateway.rdf.rights import Graphs
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName

_ANNOUNCED_THERE: tuple[Family, ...] = ("homeassistant", "zigbee2mqtt")
"""Formats whose devices announce themselves on the same broker."""
_DEFAULT, _ALL = "default", "all"


def _graph(text: str) -> str:
    if text not in {_DEFAULT, _ALL} and not is_iri(text):
        raise ValueError("use 'default', 'all' or the IRI of a graph")
    return text


class HomeAssistantSettings(Section):
    """Streams, actuators and virtual sensors as entities of Home Assistant (docs/homeassistant.md).

    `prefix` is Home Assistant's discovery prefix, `topic` what ours begin with. Of what mappings of
    the formats `not_from` make nothing is told. `graphs` are those that are read for it. At most
    `entities` are announced, and of each at most one state is told in `interval_s`.
    """

    publish: bool = False
    prefix: TopicPrefix = "homeassistant"
    topic: TopicPrefix = "sosa-gateway"
    not_from: Annotated[tuple[Family, ...], ONE_AS_LIST] = _ANNOUNCED_THERE
    graphs: Annotated[tuple[Annotated[str, AfterValidator(_graph)], ...], ONE_AS_LIST] = (_DEFAULT,)
    entities: Count = 2_000
    interval_s: Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)] = 1.0

    @model_validator(mode="after")
    def _apart(self) -> Self:
        prefix, topic = f"{self.prefix}/", f"{self.topic}/"
        if prefix.startswith(topic) or topic.startswith(prefix):
            raise ValueError("topic and prefix lie in each other: name another topic")
        return self

    @property
    def read(self) -> Graphs:
        """The graphs that are read; None: all."""
        if _ALL in self.graphs:
            return None
        found = frozenset[GraphName](NamedNode(each) for each in self.graphs if each != _DEFAULT)
        return found | {DEFAULT_GRAPH} if _DEFAULT in self.graphs else found
