"""Which queries are joins of triple patterns alone: the shape that the BOOSTER answers exactly.

SELECT [DISTINCT] of plain variables over triple patterns without paths, in one default graph, in
`GRAPH <iri>` or in `GRAPH ?g`, connected by shared variables. `FILTER(?v = <iri>)` is made a
constant, which means the same for IRIs and is worth orders of magnitude.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Variable

from gateway.engine.join.join_pattern import JoinPattern, Slot, put
from gateway.rdf.canonical import canonical
from gateway.rdf.dataset import Dataset
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.sparql import algebra
from gateway.sparql.algebra import Element, Group, Query, QueryForm
from gateway.sparql.constants import iri_equality
from gateway.sparql.paths import Path


class NotAJoinError(Exception):
    """Says why a query is more than a join."""


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Patterns and columns; a column is a variable or the constant that it was made."""

    patterns: tuple[JoinPattern, ...]
    columns: tuple[Slot, ...]
    distinct: bool

    def put(self, terms: Mapping[str, Term]) -> "Conjunction":
        """The same with these variables bound."""
        return Conjunction(
            tuple(each.put(terms) for each in self.patterns),
            tuple(put(column, terms) for column in self.columns),
            self.distinct,
        )

    def generalise(self, names: Mapping[Slot, Slot]) -> "Conjunction":
        """The same with names for these constants, where they are subject, object or column."""
        return Conjunction(
            tuple(
                replace(
                    p, subject=names.get(p.subject, p.subject), object=names.get(p.object, p.object)
                )
                for p in self.patterns
            ),
            tuple(names.get(column, column) for column in self.columns),
            self.distinct,
        )

    def constants(self) -> tuple[Term, ...]:
        """The constant subjects and objects, each once: what may be parameters."""
        ends = (end for each in self.patterns for end in (each.subject, each.object))
        return tuple(dict.fromkeys(end for end in ends if not isinstance(end, str)))


def conjunction(query: Query, dataset: Dataset | None) -> Conjunction:
    """The conjunction that a query is; `dataset` as the text or the protocol says.

    Raises NotAJoinError.
    """
    _expect_plain(query)
    patterns: list[JoinPattern] = []
    constants: dict[str, Term] = {}
    for element in _flat(query.where):
        if isinstance(element, algebra.Filter):
            equality = iri_equality(element.expression)
            if equality is None:
                raise NotAJoinError("a FILTER that is not ?variable = <IRI>")
            variable, iri = equality
            if variable.value in constants:
                raise NotAJoinError("two FILTERs on one variable")
            constants[variable.value] = iri
        else:
            patterns += _patterns(element, dataset)
    if not constants.keys() <= {name for pattern in patterns for name in pattern.variables}:
        raise NotAJoinError("a FILTER on a variable that no pattern binds")
    found = Conjunction(tuple(patterns), query.variables, query.distinct).put(constants)
    if not _is_connected(found.patterns):
        raise NotAJoinError("patterns that share no variable")
    return found


def _expect_plain(query: Query) -> None:
    """That it is a SELECT whose rows are the solutions of its group, projected."""
    reasons = {
        f"the form {query.form.name}": query.form is not QueryForm.SELECT,
        "VALUES": query.values is not None,
        "LIMIT or OFFSET": query.limit is not None or query.offset is not None,
        "REDUCED": query.reduced,
        "GROUP BY or HAVING": bool(query.group_by or query.having),
        "ORDER BY": bool(query.order_by),
        "computed columns": any(column.expression for column in query.projection or ()),
    }
    for reason, holds in reasons.items():
        if holds:
            raise NotAJoinError(reason)


def _flat(group: Group) -> Iterator[Element]:
    """The elements, those of groups within that only join included."""
    for element in group.elements:
        if isinstance(element, Group) and not any(
            isinstance(inner, algebra.Filter) for inner in element.elements
        ):
            yield from _flat(element)
        else:
            yield element


def _default_graph(dataset: Dataset | None) -> GraphName:
    if dataset is None:
        return DEFAULT_GRAPH
    if len(dataset.default_graphs) != 1:
        raise NotAJoinError("a default graph that is not one graph")
    return dataset.default_graphs[0]


def _patterns(element: Element, dataset: Dataset | None) -> Iterator[JoinPattern]:
    match element:
        case algebra.BasicPattern(patterns=patterns):
            graph = _default_graph(dataset)
            for each in patterns:
                yield _pattern(each, graph)
        case algebra.Graph(name=name, group=group):
            yield from _in_graph(group, _named_graph(name, dataset))
        case _:
            raise NotAJoinError(_name(element))


def _in_graph(group: Group, graph: GraphName | str) -> Iterator[JoinPattern]:
    elements = tuple(_flat(group))
    if not elements:
        raise NotAJoinError("a GRAPH without patterns")
    for element in elements:
        if not isinstance(element, algebra.BasicPattern):
            raise NotAJoinError(f"GRAPH with {_name(element)}")
        for each in element.patterns:
            yield _pattern(each, graph)


def _name(element: Element) -> str:
    return type(element).__name__.upper()


def _named_graph(name: algebra.VarOrIri, dataset: Dataset | None) -> GraphName | str:
    if isinstance(name, Variable) and dataset is None:
        return name.value
    if isinstance(name, NamedNode) and (dataset is None or dataset.names_once(name)):
        return name
    raise NotAJoinError("named graphs that FROM NAMED chooses")


def _pattern(pattern: algebra.TriplePattern, graph: GraphName | str) -> JoinPattern:
    if isinstance(pattern.predicate, Path):
        raise NotAJoinError("a property path")
    ends = _slot(pattern.subject), _slot(pattern.predicate), _slot(pattern.object)
    return JoinPattern(*ends, graph)


def _slot(node: algebra.PatternTerm) -> Slot:
    return node.value if isinstance(node, Variable) else canonical(node)


def _is_connected(patterns: Sequence[JoinPattern]) -> bool:
    """Whether shared variables lead from each pattern to every other: no cartesian product."""
    reached, left = set[str](), list(patterns)
    while left:
        beside = [p for p in left if p.variables & reached or not reached]
        if not beside:
            return False
        following = beside[0]
        left.remove(following)
        reached |= following.variables
    return bool(patterns)
