"""`Declared`: the windows and the clients' streams that have names of their own.

    graph of mappings -> Declared -> subscribing (windows by name), UPDATE and /elements (streams)

Place: beside `WindowedView`, which knows it; whoever reads the graph of mappings sets it whole.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pyoxigraph import NamedNode

from gateway.rdf.terms import GraphName
from gateway.windows.window import Window

Written = Callable[[str], Iterable[GraphName]]
"""The graphs whose readers may read a stream."""


def itself(stream: str) -> Iterable[GraphName]:
    """The graph of a client's stream, which has its IRI."""
    return (NamedNode(stream),)


@dataclass(frozen=True, slots=True)
class Declared:
    """`windows` by their IRIs; `streams`, IRIs of what clients let elements into."""

    windows: Mapping[str, Window] = field(default_factory=dict)
    streams: frozenset[str] = frozenset()
