"""The WHERE of an UPDATE, evaluated on a `Working` view; the cheapest exact way is chosen once.

- no pattern at all: one empty solution;
- one triple pattern: look-ups in the store and in the changes over it;
- anything else: a SELECT on the store, when no earlier operation of the request changed anything;
- anything else after a change: the changes and the WHERE run in one transaction that is rolled
  back, and a function in it writes the solutions down.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Protocol

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, QuerySolutions, Variable

from gateway.errors import UnsupportedQueryError, UpdateFailedError
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.sparql import algebra
from gateway.sparql.patterns import contains_service
from gateway.store.clock import with_clock
from gateway.store.templates import Bindings
from gateway.store.working import Working
from jsap.lexer import substitute, tokenize

Dataset = tuple[tuple[NamedNode, ...], tuple[NamedNode, ...]]

_CAPTURE = NamedNode("https://sosa-gateway.example/ns#internal-capture")
_UNBOUND = NamedNode("https://sosa-gateway.example/ns#internal-unbound")


class Where(Protocol):
    """A compiled WHERE."""

    def solutions(self, working: Working, bindings: Bindings) -> Iterable[Bindings]:
        """Its solutions, the forced bindings among them."""


def compile_where(
    text: str, modify: algebra.Modify, variables: Sequence[str], using: Dataset
) -> Where:
    """Choose the way; `variables` are those that the templates need."""
    if contains_service(modify.where):
        raise UnsupportedQueryError(
            "SERVICE is not allowed in an UPDATE", "query the other endpoint first"
        )
    elements = modify.where.elements
    if not elements:
        return OneSolution()
    if not any(using):
        pattern = _single(elements, modify.with_graph)
        if pattern is not None:
            return PatternWhere(*pattern)
    return QueryWhere(text, modify, variables, using)


class OneSolution:
    """The empty group: one solution without variables of its own."""

    def solutions(self, working: Working, bindings: Bindings) -> Iterable[Bindings]:
        """Just the forced bindings."""
        del working
        return (bindings,)


Node = Term | Variable


def _single(
    elements: Sequence[algebra.Element], graph: NamedNode | Variable | None
) -> tuple[algebra.TriplePattern, NamedNode | Variable | None] | None:
    """The only triple pattern of a group, with its graph, if it is one without a path."""
    if len(elements) != 1:
        return None
    match elements[0]:
        case algebra.BasicPattern(patterns=(pattern,)) if not pattern.is_path:
            return pattern, graph
        case algebra.Graph(name=name, group=group):
            inner = group.elements
            if inner and isinstance(inner[0], algebra.BasicPattern):
                return _single(inner, name)
        case _:
            pass
    return None


class PatternWhere:
    """One triple pattern in one graph, or in every named one."""

    __slots__ = ("_graph", "_nodes")

    def __init__(self, pattern: algebra.TriplePattern, graph: NamedNode | Variable | None) -> None:
        self._nodes = tuple(
            node.value if isinstance(node, Variable) else node
            for node in (pattern.subject, pattern.predicate, pattern.object)
        )
        self._graph: GraphName | str = (
            DEFAULT_GRAPH
            if graph is None
            else (graph.value if isinstance(graph, Variable) else graph)
        )

    def solutions(self, working: Working, bindings: Bindings) -> Iterator[Bindings]:
        """One solution for each quad that matches."""
        names = self._names(bindings)
        for quad in self._matches(working, bindings):
            solution = _bind(quad, names, bindings)
            if solution is not None:
                yield solution

    def quads(self, working: Working, bindings: Bindings) -> list[Quad]:
        """The quads that match, a list: the caller may change `working`."""
        names = self._names(bindings)
        found = self._matches(working, bindings)
        if len({name for _, name in names}) == len(names):
            return list(found)
        return [quad for quad in found if _bind(quad, names, bindings) is not None]

    def equals(self, quad: algebra.QuadPattern, with_graph: NamedNode | None) -> bool:
        """Whether a quad template asks for the same quads."""
        graph = with_graph if quad.graph is None else quad.graph
        nodes = (quad.subject, quad.predicate, quad.object, graph or DEFAULT_GRAPH)
        return (*self._nodes, self._graph) == tuple(
            node.value if isinstance(node, Variable) else node for node in nodes
        )

    def _names(self, bindings: Bindings) -> list[tuple[int, str]]:
        """The positions that a quad binds."""
        return [
            (index, node)
            for index, node in enumerate((*self._nodes, self._graph))
            if isinstance(node, str) and node not in bindings
        ]

    def _matches(self, working: Working, bindings: Bindings) -> Iterator[Quad]:
        wanted = [
            bindings.get(node) if isinstance(node, str) else node
            for node in (*self._nodes, self._graph)
        ]
        found = working.match(*wanted)  # type: ignore[arg-type]
        if wanted[3] is not None:
            return found
        return (quad for quad in found if not isinstance(quad.graph_name, DefaultGraph))


def _bind(quad: Quad, names: Sequence[tuple[int, str]], bindings: Bindings) -> Bindings | None:
    solution = dict(bindings)
    terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)
    for index, name in names:
        term = terms[index]
        if solution.setdefault(name, term) != term:  # type: ignore[arg-type]
            return None
    return solution


class QueryWhere:
    """A WHERE that the store's own SPARQL evaluates."""

    __slots__ = ("_dataset", "_prologue", "_tokens", "_using", "_variables", "_where", "_with")

    def __init__(
        self,
        text: str,
        modify: algebra.Modify,
        variables: Sequence[str],
        using: Dataset,
    ) -> None:
        self._prologue = algebra.prologue_text(modify)
        self._where = with_clock(text[modify.where.start : modify.where.end])
        self._tokens = tokenize(self._where)
        self._variables = tuple(variables)
        self._using = using
        self._with = modify.with_graph

    def solutions(self, working: Working, bindings: Bindings) -> Iterable[Bindings]:
        """Evaluate on the store alone, or within the changes made so far."""
        where = self._where
        if bindings:
            where = substitute(where, self._tokens, {k: _rendered(v) for k, v in bindings.items()})
        wanted = [name for name in self._variables if name not in bindings]
        evaluate = self._select if working.is_unchanged else self._capture
        found = evaluate(working, where, wanted)
        return [{**bindings, **solution} for solution in found]

    def _select(
        self, working: Working, where: str, wanted: Sequence[str]
    ) -> Iterable[Mapping[str, Term]]:
        projection = " ".join(f"?{name}" for name in wanted) or "(1 AS ?one)"
        default: Sequence[GraphName] | None = None
        named: Sequence[NamedNode] | None = None
        if any(self._using):
            default, named = self._using
        elif self._with is not None:
            default = [self._with]
        results = working.store.query(
            f"{self._prologue}SELECT {projection} WHERE {where}", default, named
        )
        if not isinstance(results, QuerySolutions):
            raise UpdateFailedError("the WHERE of the update gave no solutions")
        for row in results:
            yield {name: row[name] for name in wanted if row[name] is not None}

    def _capture(
        self, working: Working, where: str, wanted: Sequence[str]
    ) -> Iterable[Mapping[str, Term]]:
        rows: list[Mapping[str, Term]] = []

        def write_down(*terms: Term) -> Term:
            rows.append({n: t for n, t in zip(wanted, terms, strict=True) if t != _UNBOUND})
            return Literal("")

        fresh = next(name for name in _names() if name not in self._where)
        arguments = ", ".join(f"COALESCE(?{name}, {_UNBOUND})" for name in wanted)
        changes, functions = working.store.update_text(working.delta())
        using = "".join(f" USING {graph}" for graph in self._using[0]) + "".join(
            f" USING NAMED {graph}" for graph in self._using[1]
        )
        with_graph = f"WITH {self._with} " if self._with is not None else ""
        first = f"{changes} ; " if changes else ""
        working.store.rehearse(
            # A prologue may stand at the beginning only: the store takes none after a `;`.
            f"{self._prologue} {first}{with_graph}INSERT {{}}{using} "
            f"WHERE {{ {where} BIND({_CAPTURE}({arguments}) AS ?{fresh}) }}",
            {**functions, _CAPTURE: write_down},
        )
        return rows


def _names() -> Iterator[str]:
    return (f"captured{number}" for number in count())


def _rendered(term: Term) -> str:
    if isinstance(term, BlankNode):
        raise UpdateFailedError(
            "a blank node cannot be bound in a WHERE", "name the node by an IRI"
        )
    return str(term)
