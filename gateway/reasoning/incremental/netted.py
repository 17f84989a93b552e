"""Changes of derived quads and of asserted ones, taken together.

Place: under `Reasoner`, which tells one Delta of the entailed view for each of the asserted one.
"""

from collections.abc import Iterable, Sequence

from pyoxigraph import Quad

from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import ONTOLOGY_GRAPH

_FEW = 32
"""Comparisons of quads that cost less than a set of them."""

Came = tuple[list[Quad], list[Quad]]
"""Derived quads that came, and that went."""


def apart(derived: list[Quad], asserted: Sequence[Quad]) -> tuple[list[Quad], Sequence[Quad]]:
    """Both without what is in both: it was in the entailed view and stays, or neither."""
    if len(derived) == 1:
        (quad,) = derived
        for at, other in enumerate(asserted):
            if other == quad:
                return [], (*asserted[:at], *asserted[at + 1 :])
        return derived, asserted
    among = asserted if len(derived) * len(asserted) < _FEW else frozenset(asserted)
    both = [quad for quad in derived if quad in among]
    if not both:
        return derived, asserted
    common = frozenset(both)
    left = [quad for quad in derived if quad not in common]
    return left, [quad for quad in asserted if quad not in common]


def net(changes: Iterable[Came]) -> Came:
    """What is left of several changes, one after the other."""
    counts: dict[Quad, int] = {}
    for came, went in changes:
        for quads, sign in ((came, 1), (went, -1)):
            for quad in quads:
                counts[quad] = counts.get(quad, 0) + sign
    return [quad for quad, sum_ in counts.items() if sum_ > 0], [
        quad for quad, sum_ in counts.items() if sum_ < 0
    ]


def of_ontology(delta: Delta) -> Came:
    """What comes to the ontology graph, and goes."""
    return [quad for quad in delta.added if quad.graph_name == ONTOLOGY_GRAPH], [
        quad for quad in delta.removed if quad.graph_name == ONTOLOGY_GRAPH
    ]
