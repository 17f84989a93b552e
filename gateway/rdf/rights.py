"""`Rights`: which graphs somebody may read and which write, a value that a request carries.

Place: made at a gate from who asks, or by whoever embeds the engine; kept by the store's views
(gateway/store/readable.py, working.py).
"""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.rdf.terms import GraphName

Graphs = frozenset[GraphName] | None
"""These graphs, the default graph among them where it is named; None is every graph."""


@dataclass(frozen=True, slots=True)
class Rights:
    """A graph that may not be read is as if empty; an UPDATE may not touch one it may not write.

    An UPDATE neither sees nor touches `reserved` graphs, whatever the other two say; that is how
    everything but some graphs is said. QUERY and SUBSCRIBE go by `read` alone.

    >>> from pyoxigraph import DefaultGraph, NamedNode
    >>> rights = Rights(read=frozenset({DefaultGraph(), NamedNode("urn:g")}), write=frozenset())
    >>> rights.may_read(NamedNode("urn:h")), Rights().may_write(NamedNode("urn:h"))
    (False, True)
    """

    read: Graphs = None
    write: Graphs = None
    reserved: frozenset[GraphName] = frozenset()

    def may_read(self, graph: GraphName) -> bool:
        """Whether what is in the graph may be seen."""
        return (self.read is None or graph in self.read) and graph not in self.reserved

    def may_write(self, graph: GraphName) -> bool:
        """Whether the graph may be changed, created or dropped."""
        return (self.write is None or graph in self.write) and graph not in self.reserved

    @property
    def sees_all(self) -> bool:
        """Whether no graph is hidden from an UPDATE."""
        return self.read is None and not self.reserved

    @property
    def writes_all(self) -> bool:
        """Whether an UPDATE may touch every graph."""
        return self.write is None and not self.reserved

    def within(self, other: "Rights") -> "Rights":
        """What both sets of rights allow.

        >>> Rights(read=frozenset()).within(Rights()) == Rights(read=frozenset())
        True
        """
        return Rights(
            _both(self.read, other.read),
            _both(self.write, other.write),
            self.reserved | other.reserved,
        )


def _both(some: Graphs, others: Graphs) -> Graphs:
    if some is None or others is None:
        return others if some is None else some
    return some & others


RightsOf = Callable[[str], Rights]
"""The rights that an identity has now; raises a GatewayError for one that is known no more."""

ALL_RIGHTS = Rights()
"""Everything may be read and written."""
