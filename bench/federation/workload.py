"""The paper's workload: chains of five patterns, events of five quads, spread evenly over peers.

    seed, zones -> subscriptions with predicates of their own; events that answer one each, in turn

Place: what `baselines` gives every way. Terms have ten letters, each drawn in the zone of a peer
that is drawn before, graphs a counter besides; an event is about 670 bytes as N-Quads. Source:
Pellegrino et al. 2013, section 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from pyoxigraph import NamedNode, Quad, Store, Variable

from bench.federation.eventcloud.home import Query
from bench.federation.eventcloud.patterns import Pattern, row_text
from bench.federation.eventcloud.space import Zone, letters

_BASE = "https://a.example/"
_GRAPH = Variable("g")
_LIKELY = 26**10


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as EventCloud's peers have it, and as SPARQL."""

    query: Query
    text: str


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions, and the quads of each event with the number of the one that it answers."""

    asked: Sequence[Asked]
    events: Sequence[tuple[int, Sequence[Quad]]]

    def expected(self) -> list[str]:
        """The rows of all events, by a bare store with the quads of each; no way has a part in it.

        An event is asked the query that it was made for: predicates are those of one query alone.
        """
        found = []
        for number, quads in self.events:
            store = Store()
            store.extend(quads)
            for solution in store.query(self.asked[number].text):  # type: ignore[union-attr]
                names = self.asked[number].query.selected
                bindings = {Variable(name): solution[name] for name in names}
                found.append(row_text(number, bindings))
        return found


def workload(
    seed: str, zones: Sequence[Zone], patterns: int, subscriptions: int, events: int
) -> Workload:
    """As many of each; no `patterns` are one query that accepts all events, of five quads."""
    random = Random(seed)  # noqa: S311 - the same for everybody
    asked = [_chain(number, patterns, random) for number in range(subscriptions)]
    if patterns == 0:
        return Workload(
            [_everything()], [(0, _event(n, None, zones, random)) for n in range(events)]
        )
    return Workload(
        asked,
        [
            (n % subscriptions, _event(n, asked[n % subscriptions].query, zones, random))
            for n in range(events)
        ],
    )


def _chain(number: int, length: int, random: Random) -> Asked:
    """`(?g, ?s, p1, ?o1), (?g, ?o1, p2, ?o2) …`."""
    nodes = [Variable(f"n{place}") for place in range(length + 1)]
    predicates = [_iri(letters(random.randrange(_LIKELY))) for _ in range(length)]
    patterns: list[Pattern] = [
        (_GRAPH, nodes[place], predicates[place], nodes[place + 1]) for place in range(length)
    ]
    names = frozenset(("g", *(each.value for each in nodes)))
    inner = " . ".join(" ".join(map(str, pattern[1:])) for pattern in patterns)
    return Asked(Query(number, patterns, names), f"SELECT * {{ GRAPH ?g {{ {inner} }} }}")


def _everything() -> Asked:
    pattern = (_GRAPH, *map(Variable, "spo"))
    return Asked(Query(0, [pattern], frozenset("g")), "SELECT ?g WHERE { GRAPH ?g { ?s ?p ?o } }")


def _event(
    number: int, query: Query | None, zones: Sequence[Zone], random: Random, length: int = 5
) -> Sequence[Quad]:
    """The quads of an event that answers a query, in the order of its patterns, or any."""

    def drawn(dimension: int) -> str:
        return random.choice(zones).sides[dimension].draw(random)

    graph = NamedNode(f"{_BASE}{drawn(0)}{number:07}")
    predicates = [each[2] for each in query.patterns] if query else []
    nodes = [_iri(drawn(1)), *(_iri(drawn(3)) for _ in range(len(predicates) or length))]
    predicates = predicates or [_iri(drawn(2)) for _ in range(length)]
    return [
        Quad(nodes[place], predicate, nodes[place + 1], graph)  # type: ignore[arg-type]
        for place, predicate in enumerate(predicates)
    ]


def _iri(name: str) -> NamedNode:
    return NamedNode(_BASE + name)
