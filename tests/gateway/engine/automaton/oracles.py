"""Two ways that know nothing of automata: nested loops, and a store that has the window."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyoxigraph import (
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolutions,
    Store,
    Triple,
)

from gateway.engine.automaton import AutomatonQuery, automaton_query
from gateway.engine.automaton.query import Slot
from gateway.engine.incremental.expressions import expression
from gateway.rdf.solutions import Row, SolutionBag
from gateway.rdf.terms import Term
from gateway.sparql.parser import parse_query

WINDOW = NamedNode("urn:w")
Solution = Mapping[str, Term]


def query(text: str) -> AutomatonQuery:
    """A text over the window `<urn:w>`."""
    return automaton_query(parse_query(text), WINDOW, None)


def by_requery(text: str, triples: Iterable[Triple]) -> SolutionBag:
    """The answer that the pinned store gives."""
    store = Store()
    store.extend(Quad(t.subject, t.predicate, t.object, WINDOW) for t in triples)
    results = store.query(text)
    if isinstance(results, QuerySolutions):
        return Counter(tuple(row) for row in results)
    if isinstance(results, QueryBoolean):
        return Counter([()] if results else [])
    return Counter({(t.subject, t.predicate, t.object) for t in results})


def by_nested_loops(asked: AutomatonQuery, triples: Iterable[Triple]) -> SolutionBag:
    """The answer by trying every triple for every pattern."""
    window = [*dict.fromkeys(triples)]
    found: Counter[Row] = Counter()
    for solution in _solutions(asked.patterns, {}, window):
        if all(expression(tree, asked.base).truths([solution])[0] for tree in asked.conditions):
            found.update(_rows(asked, solution))
    return Counter(dict.fromkeys(found, 1)) if asked.is_set else found


def _solutions(
    left: Sequence[tuple[Slot, Slot, Slot]], bound: Solution, window: Sequence[Triple]
) -> Iterator[Solution]:
    if not left:
        yield bound
        return
    for triple in window:
        extended = dict(bound)
        if all(_fits(slot, term, extended) for slot, term in zip(left[0], triple, strict=True)):
            yield from _solutions(left[1:], extended, window)


def _fits(slot: Slot, term: Term, bound: dict[str, Term]) -> bool:
    if isinstance(slot, str):
        return bound.setdefault(slot, term) == term
    return slot == term


def _rows(asked: AutomatonQuery, solution: Solution) -> Iterator[Row]:
    for row in asked.rows:
        cells = tuple(solution.get(slot) if isinstance(slot, str) else slot for slot in row)
        if not asked.is_triples or _is_triple(cells):
            yield cells


def _is_triple(cells: Row) -> bool:
    try:
        Triple(*cells)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True
