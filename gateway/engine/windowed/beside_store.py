"""`WindowCopies`: what a query looks at in its windows, beside a store that has no windows.

Place: written in the gateway (`window_copies`), read in the process where a first answer is tried
apart, which starts without the engine.
"""

from dataclasses import dataclass

from pyoxigraph import NamedNode, RdfFormat, Store, parse

from gateway.engine.lutt import LuttEntry, matches
from gateway.store.quad_store import QuadStore


@dataclass(frozen=True, slots=True)
class WindowCopies:
    """`text` is what to evaluate: its `GRAPH ?g` is about the store alone.

    `wanted` are the patterns of all quads that can change the answer, `quads` is N-Quads, in parts,
    with those of the windows among them.
    """

    text: str
    windows: tuple[NamedNode, ...]
    wanted: tuple[LuttEntry, ...]
    quads: tuple[bytes, ...]

    def beside(self, store: QuadStore) -> QuadStore:
        """A store in memory of what the query wants of windows and of a store.

        Linear in that. It has the other's clock and may reach the same hosts.
        """
        both = QuadStore(Store())
        both.clock, both.remote = store.clock, store.remote
        for entry in self.wanted:
            if entry.graph not in self.windows:
                both.load(matches(store, entry), ())
        for part in self.quads:
            both.load(parse(part, format=RdfFormat.N_QUADS), ())
        both.load((), (*store.named_graphs(), *self.windows))
        return both
