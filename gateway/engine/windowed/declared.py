"""`Declared`: the windows and the clients' streams that have names of their own.

    graph of mappings -> Declared -> subscribing (windows by name), UPDATE and /elements (streams)

Place: beside `WindowedView`, which knows it; whoever reads the graph of mappings sets it whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.windows.window import Window


@dataclass(frozen=True, slots=True)
class Declared:
    """`windows` by their IRIs; `streams`, IRIs of what clients let elements into."""

    windows: Mapping[str, Window] = field(default_factory=dict)
    streams: frozenset[str] = frozenset()
