"""SPU: SPARQL processing unit, one per distinct subscribed query and dataset (engine.md, 1).

An SPU answers one question: the store has changed by what is in my ARTQ; which rows did my answer
gain and lose? `RequerySpu` is the simple, always exact way and the oracle of every faster one;
`SinglePatternSpu` reads the answer off the changed quads.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pyoxigraph import DefaultGraph, NamedNode, Quad, QueryBoolean, QuerySolutions, Variable

from gateway.engine.lutt import Artq, LuttEntry
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, consolidate, difference
from gateway.rdf.terms import GraphName
from gateway.sparql.algebra import TriplePattern
from gateway.store.quad_store import QuadStore


@dataclass(frozen=True, slots=True)
class Subject:
    """What is subscribed: a query text and its dataset. Equal subjects share one SPU.

    Without graphs the text's own FROM clauses hold; otherwise the two replace them, as the
    SPARQL 1.1 Protocol says (2.1.4).
    """

    text: str
    default_graphs: tuple[NamedNode, ...] = ()
    named_graphs: tuple[NamedNode, ...] = ()

    @property
    def has_dataset(self) -> bool:
        """Whether the protocol's graphs replace those of the text."""
        return bool(self.default_graphs or self.named_graphs)


class Spu(Protocol):
    """A processing unit."""

    subject: Subject
    form: str
    variables: tuple[str, ...]
    lutt: tuple[LuttEntry, ...]
    tier: str

    def initial(self) -> ResultsDelta:
        """The whole answer now, as additions: sequence 0 of every subscriber."""

    def process(self, artq: Artq) -> ResultsDelta:
        """What changed since; the store already has the change."""


def evaluate(store: QuadStore, subject: Subject) -> SolutionBag:
    """The answer as a bag: ASK true is one empty row, CONSTRUCT a set of triples."""
    dataset = (
        (subject.default_graphs, subject.named_graphs) if subject.has_dataset else (None, None)
    )
    results = store.query(subject.text, *dataset)
    if isinstance(results, QuerySolutions):
        return Counter(tuple(row) for row in results)
    if isinstance(results, QueryBoolean):
        return Counter([()] if results else [])
    return Counter({(t.subject, t.predicate, t.object): 1 for t in results})


class RequerySpu:
    """Evaluate again and take the bag difference: exact for every query."""

    tier = "requery"

    def __init__(
        self,
        store: QuadStore,
        subject: Subject,
        form: str,
        variables: tuple[str, ...],
        lutt: tuple[LuttEntry, ...],
    ) -> None:
        self.subject = subject
        self.form = form
        self.variables = variables
        self.lutt = lutt
        self._store = store
        self._answer: SolutionBag | None = None

    def initial(self) -> ResultsDelta:
        """The whole answer, evaluated for the first subscriber and remembered."""
        if self._answer is None:
            self._answer = evaluate(self._store, self.subject)
        return difference(self.variables, Counter(), self._answer)

    def process(self, artq: Artq) -> ResultsDelta:
        """The difference between the answer now and the last one told."""
        del artq
        answer = evaluate(self._store, self.subject)
        results = difference(self.variables, self._answer or Counter(), answer)
        self._answer = answer
        return results


class SinglePatternSpu:
    """One triple pattern and plain variables: each changed quad that matches is a row.

    `graph` is the graph of the pattern, a Variable for `GRAPH ?g`.
    """

    tier = "single pattern"

    def __init__(
        self,
        store: QuadStore,
        subject: Subject,
        variables: tuple[str, ...],
        lutt: tuple[LuttEntry, ...],
        *,
        pattern: TriplePattern,
        graph: GraphName | Variable,
    ) -> None:
        self.subject = subject
        self.form = "SELECT"
        self.variables = variables
        self.lutt = lutt
        self._store = store
        nodes = (pattern.subject, pattern.predicate, pattern.object, graph)
        self._wants_named = isinstance(graph, Variable)
        places: dict[str, list[int]] = {}
        for place, node in enumerate(nodes):
            if isinstance(node, Variable):
                places.setdefault(node.value, []).append(place)
        self._columns = tuple(places.get(name, [None])[0] for name in variables)
        self._equal = tuple((where[0], other) for where in places.values() for other in where[1:])

    def initial(self) -> ResultsDelta:
        """The whole answer, from the store; nothing of it is kept."""
        answer = evaluate(self._store, self.subject)
        return difference(self.variables, Counter(), answer)

    def process(self, artq: Artq) -> ResultsDelta:
        """A row for each changed quad, netted after projection."""
        return consolidate(self.variables, self._rows(artq.added), self._rows(artq.removed))

    def _rows(self, quads: Sequence[Quad]) -> list[Row]:
        rows: list[Row] = []
        for quad in quads:
            if self._wants_named and isinstance(quad.graph_name, DefaultGraph):
                continue
            terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)
            if all(terms[first] == terms[second] for first, second in self._equal):
                rows.append(
                    tuple(None if place is None else terms[place] for place in self._columns)  # type: ignore[misc]
                )
        return rows
