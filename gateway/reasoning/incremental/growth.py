"""How much a transitive property comes to: counted before it is derived, where that will be much.

Place: under `Propagation`, so that a step which cannot stay within the bound is refused early. A
pair costs a hundredth here of what deriving it and taking it back would.
"""

from collections.abc import Iterator

from gateway.reasoning.incremental.facts import Individual, Relation


def come_to_more(edges: Relation, most: float) -> bool:
    """Whether these facts come to more than `most` pairs by transitivity, for certain.

    Facts that close a circle are left out, so a no is not certain. What is kept meanwhile is
    `most` pairs; each node's are put together from those of the nodes that it leads to.
    """
    reached: dict[Individual, set[Individual]] = {}
    count = 0
    for node in _ends_first(edges):
        found: set[Individual] = set()
        for each in edges.objects(node):
            if each in reached:
                found |= reached[each]
                found.add(each)
        reached[node] = found
        count += len(found)
        if count > most:
            return True
    return False


def _ends_first(edges: Relation) -> Iterator[Individual]:
    """Each node behind those that it leads to, circles apart: depth first."""
    seen: set[Individual] = set()
    for start in edges.out:
        if start in seen:
            continue
        seen.add(start)
        path = [(start, iter(edges.objects(start)))]
        while path:
            node, rest = path[-1]
            following = next((each for each in rest if each not in seen), None)
            if following is None:
                path.pop()
                yield node
            else:
                seen.add(following)
                path.append((following, iter(edges.objects(following))))
