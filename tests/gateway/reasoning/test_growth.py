"""What transitive facts come to is counted, exactly but for circles, before it is derived."""

import random

import pytest
from pyoxigraph import NamedNode

from gateway.reasoning.incremental.facts import Individual, Relation
from gateway.reasoning.incremental.growth import come_to_more
from gateway.reasoning.incremental.program import Table

P = NamedNode("urn:p")


def relation(pairs: set[tuple[int, int]]) -> Relation:
    nodes = {at: Individual(NamedNode(f"urn:{at}")) for pair in pairs for at in pair}
    found = Relation(Table(P), is_shown=True)
    for one, other in sorted(pairs):
        found.out.setdefault(nodes[one], {})[nodes[other]] = 1
    return found


def closed(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    found = set(pairs)
    while more := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= more
    return found


@pytest.mark.property
@pytest.mark.parametrize("seed", range(40))
def test_pairs_are_counted(seed: int) -> None:
    chosen = random.Random(seed)
    pairs = {(chosen.randrange(12), chosen.randrange(12)) for _ in range(chosen.randrange(30))}
    forwards = {(one, other) for one, other in pairs if one < other}
    size = len(closed(forwards))
    assert not come_to_more(relation(forwards), size)
    assert size == 0 or come_to_more(relation(forwards), size - 1)
    assert not come_to_more(relation(pairs), len(closed(pairs)))  # never too many


def test_a_circle_of_many_comes_to_at_least_the_chain_in_it() -> None:
    circle = {(at, (at + 1) % 2000) for at in range(2000)}
    assert come_to_more(relation(circle), 1999 * 1000 - 1)


def test_a_withdrawn_fact_leads_nowhere() -> None:
    found = relation({(0, 1), (1, 2)})
    for row in found.out.values():
        for object_ in row:
            row[object_] = -1
    assert not come_to_more(found, 0)
