"""What is told to Home Assistant, as the configuration gives it."""

from dataclasses import dataclass

from gateway.rdf.rights import Graphs
from gateway.rdf.terms import DEFAULT_GRAPH


@dataclass(frozen=True, slots=True)
class PublishSettings:
    """`publish` says whether anything is told; `prefix` is Home Assistant's, `topic` ours.

    Of streams that mappings of the formats `left_out` make nothing is told. The publisher reads the
    graphs `graphs` and no other (None: all). At most `entities` are announced; of each at most one
    state is told in `interval_s`, the newest.
    """

    publish: bool = False
    prefix: str = "homeassistant"
    topic: str = "sosa-gateway"
    left_out: frozenset[str] = frozenset()
    graphs: Graphs = frozenset({DEFAULT_GRAPH})
    entities: int = 2_000
    interval_s: float = 1.0
