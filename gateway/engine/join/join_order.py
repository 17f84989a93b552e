"""`join_order`: in which order the patterns of a join are looked up, the best known first.

Place: when a BOOSTER's plan is made. Source: Roffia et al. 2016, section IV (docs/engine.md).
"""

from collections.abc import Sequence
from typing import Any

from pyoxigraph import NamedNode

from gateway.engine.join.join_pattern import JoinPattern
from gateway.rdf.namespaces import RDF

_TYPE = NamedNode(f"{RDF}type")


def join_order(patterns: Sequence[JoinPattern], seed: Sequence[int], bound: set[Any]) -> list[int]:
    """The order of the other patterns: always one with the most positions known."""
    known = {slot for slot in bound if isinstance(slot, str)}
    places = (place for place in range(len(patterns)) if place not in seed)
    left = {place: _known(patterns[place], known) for place in places}
    users: dict[str, list[int]] = {}
    for place in left:
        for name in patterns[place].variables:
            users.setdefault(name, []).append(place)
    order: list[int] = []
    while left:
        best = max(left, key=left.__getitem__)
        del left[best]
        order.append(best)
        new = patterns[best].variables - known
        known |= new
        for place in {place for name in new for place in users[name]} & left.keys():
            left[place] = _known(patterns[place], known)
    return order


def _known(pattern: JoinPattern, known: set[str]) -> tuple[int, int, bool, bool]:
    """Positions known; of equals, those from the changed quad select more than constants do.

    Of constants, a class selects least.
    """
    bound = [not isinstance(slot, str) or slot in known for slot in pattern.slots]
    joined = sum(slot in known for slot in pattern.slots if isinstance(slot, str))
    return sum(bound), joined, bound[0], pattern.predicate != _TYPE
