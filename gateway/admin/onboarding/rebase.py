"""What a device announces anew, put upon what a person had set of its mapping.

Place on the way of the data: beside `announcements` and `confirmation`. Three states of the nodes
of a proposal: as it was announced when its mapping was made, as the mapping is now, as it is
announced now. What somebody changed stays, all else follows the device.
"""

from collections.abc import Mapping
from enum import Enum, unique

from pyoxigraph import NamedNode, Quad

from gateway.rdf.namespaces import GW

Wanted = Mapping[NamedNode, frozenset[Quad]]

_MEANING = frozenset(
    NamedNode(GW + term)
    for term in ("observedProperty", "unit", "deviceUnit", "trueValue", "falseValue")
)
_ADDRESS = frozenset(
    NamedNode(GW + term)
    for term in ("topicFilter", "selector", "availabilityTopic", "commandTopic", "commandPayload")
)


@unique
class Difference(Enum):
    """How an announcement differs from that by which a mapping was made.

    MEANING: the values are of another property, or their words or unit mean something else.
    ADDRESS: the device is another's name away, after a renaming.
    """

    NONE = "none"
    ADDRESS = "address"
    MEANING = "meaning"


def difference(before: frozenset[Quad], now: frozenset[Quad]) -> Difference:
    """What of a proposal has changed that its mapping depends on."""
    changed = {quad.predicate for quad in before ^ now}
    if changed & _MEANING:
        return Difference.MEANING
    return Difference.ADDRESS if changed & _ADDRESS else Difference.NONE


def rebased(base: Wanted, now: Wanted, target: Wanted) -> dict[NamedNode, frozenset[Quad]]:
    """The target, but with what `now` says where it differs from `base`.

    Each node and predicate by itself. A node that somebody took away does not come back.
    """
    nodes = {node for node in target if node not in base or node in now}
    states = (base, now, target)
    return {node: _merged(*(state.get(node, _NONE) for state in states)) for node in nodes}


def _merged(
    base: frozenset[Quad], now: frozenset[Quad], target: frozenset[Quad]
) -> frozenset[Quad]:
    kept: set[Quad] = set()
    for predicate in {quad.predicate for quad in base | now | target}:
        was, has, wants = (_of(quads, predicate) for quads in (base, now, target))
        kept |= wants if was == has or not now else has
    return frozenset(kept)


def _of(quads: frozenset[Quad], predicate: NamedNode) -> frozenset[Quad]:
    return frozenset(quad for quad in quads if quad.predicate == predicate)


_NONE: frozenset[Quad] = frozenset()
