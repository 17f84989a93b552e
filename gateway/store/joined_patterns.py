"""Which WHEREs are joins of triple patterns alone: those that look-ups answer exactly.

Triple patterns without paths, in the default graph (or that of WITH), in `GRAPH <iri>` or in
`GRAPH ?g`. `FILTER(?v = <iri>)` and VALUES of one row make a variable a constant: the first means
the same for IRIs, the second for all terms, and it is worth orders of magnitude.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Variable

from gateway.rdf.terms import Term
from gateway.sparql import algebra
from gateway.sparql.algebra import QuadPattern, VarOrIri, is_hidden
from gateway.store.templates import variables


@dataclass(frozen=True, slots=True)
class JoinedPatterns:
    """Patterns with their graphs, and variables that have one value only.

    `constants` are terms by variable; `equalities` name, by variable, the parameter that it equals
    provided that this is bound to an IRI.
    """

    patterns: tuple[QuadPattern, ...]
    constants: dict[str, Term]
    equalities: dict[str, str]


def joined_patterns(modify: algebra.Modify) -> JoinedPatterns | None:
    """The patterns that the WHERE is a join of, or None where it is more than that."""
    reader = _Reader()
    if not reader.read(modify.where.elements, modify.with_graph) or not reader.patterns:
        return None
    return JoinedPatterns(tuple(reader.patterns), reader.constants, reader.equalities)


class _Reader:
    """Takes a group apart; `read` says whether that was possible."""

    def __init__(self) -> None:
        self.patterns: list[QuadPattern] = []
        self.constants: dict[str, Term] = {}
        self.equalities: dict[str, str] = {}

    def read(self, elements: Iterable[algebra.Element], graph: VarOrIri | None) -> bool:
        first = len(self.patterns)
        filters: list[algebra.Filter] = []
        for element in elements:
            match element:
                case algebra.BasicPattern(patterns=patterns):
                    if not self._read_patterns(patterns, graph):
                        return False
                case algebra.Filter():
                    filters.append(element)
                case algebra.Values():
                    if not self._read_values(element):
                        return False
                case algebra.Graph(name=name, group=group):
                    if not self._read_graph(name, group):
                        return False
                case _:
                    return False
        names = variables(self.patterns[first:])
        return all(self._read_filter(each.expression, names) for each in filters)

    def _read_patterns(
        self, patterns: Iterable[algebra.TriplePattern], graph: VarOrIri | None
    ) -> bool:
        for pattern in patterns:
            if not isinstance(pattern.predicate, NamedNode | Variable):
                return False
            self.patterns.append(
                QuadPattern(pattern.subject, pattern.predicate, pattern.object, graph)
            )
        return True

    def _read_graph(self, name: VarOrIri, group: algebra.Group) -> bool:
        """A GRAPH without a triple asks whether the graph exists."""
        before = len(self.patterns)
        is_flat = not any(isinstance(each, algebra.Graph) for each in group.elements)
        return is_flat and self.read(group.elements, name) and len(self.patterns) > before

    def _read_values(self, values: algebra.Values) -> bool:
        if len(values.rows) != 1:
            return False
        for variable, term in zip(values.variables, values.rows[0], strict=True):
            if term is None or self._is_known(variable):
                return False
            self.constants[variable.value] = term
        return True

    def _read_filter(self, expression: algebra.Expression, names: dict[str, None]) -> bool:
        """`?v = <iri>`, either way round; `?v` has a value in every solution of the group."""
        match expression:
            case algebra.Operation(name="=", args=(Variable() as variable, other)):
                pass
            case algebra.Operation(name="=", args=(NamedNode() as other, Variable() as variable)):
                pass
            case _:
                return False
        if is_hidden(variable) and isinstance(other, Variable):
            variable, other = other, variable
        if variable.value not in names or is_hidden(variable) or self._is_known(variable):
            return False
        if isinstance(other, NamedNode):
            self.constants[variable.value] = other
        elif isinstance(other, Variable) and is_hidden(other):
            self.equalities[variable.value] = other.value
        else:
            return False
        return True

    def _is_known(self, variable: Variable) -> bool:
        return variable.value in self.constants or variable.value in self.equalities


def in_graph(quad: QuadPattern, with_graph: NamedNode | None) -> QuadPattern:
    """A quad of a template with the graph that it is in."""
    return quad if quad.graph is not None else replace(quad, graph=with_graph)
