"""Which queries an automaton answers: a basic graph pattern over one window, and FILTERs.

Place: asked by `compile` once for each subscription with windows, before every other tier. Source:
Y. Qin, Q. Z. Sheng, N. J. G. Falkner, A. Shemshadi, E. Curry, Batch Matching of Conjunctive Triple
Patterns over Linked Data Streams in the Internet of Things, 2015, section 2.1; SPARQL 1.1 Query
Language, sections 5.1, 16 and 18.2. Variables may stand anywhere, repeated ones too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from pyoxigraph import BlankNode, NamedNode, Variable

from gateway.engine.incremental.syntax import is_known
from gateway.rdf.canonical import canonical
from gateway.rdf.dataset import Dataset
from gateway.rdf.terms import Term
from gateway.sparql import algebra, paths
from gateway.sparql.algebra import HIDDEN_PREFIX, Element, Expression, Group, Query, QueryForm
from gateway.sparql.constants import iri_equality
from gateway.sparql.scope import free_variables
from gateway.windows.parted import ANY_SUBJECT, Ask

Slot: TypeAlias = Term | str
"""A constant, or the name of a variable."""

Pattern: TypeAlias = tuple[Slot, Slot, Slot]
"""Subject, predicate, object."""

MOST_PATTERNS = 32
"""Patterns of one query: each has a plan as long as all of them."""


class NotAnAutomatonError(Exception):
    """Says why a query is more than patterns and FILTERs over one window, or is too long."""


@dataclass(frozen=True, slots=True)
class AutomatonQuery:
    """Patterns of one window, conditions on their solutions, and the rows that a solution gives.

    Constants of patterns are as the store gives them; hidden variables are named as in the syntax
    tree. A row has None where a column has no value. SELECT and ASK have one row a solution,
    CONSTRUCT one for each triple of its template. With `is_set` equal rows are one (DISTINCT, ASK,
    CONSTRUCT); with `is_triples` a row that is no triple is none (16.2). `base` is for IRI() in
    conditions.
    """

    patterns: tuple[Pattern, ...]
    conditions: tuple[Expression, ...]
    rows: tuple[tuple[Slot | None, ...], ...]
    is_set: bool = False
    is_triples: bool = False
    base: str = ""

    @property
    def variables(self) -> frozenset[str]:
        """The names in the patterns: each solution has them all."""
        return frozenset(slot for each in self.patterns for slot in each if isinstance(slot, str))

    @property
    def asks(self) -> frozenset[Ask]:
        """What it looks for, subject by subject: what is said of no such subject is in no match."""
        of: dict[Slot, list[Pattern]] = {}
        for pattern in self.patterns:
            of.setdefault(pattern[0], []).append(pattern)
        return frozenset(map(_ask, of.values()))


def _ask(patterns: Sequence[Pattern]) -> Ask:
    """What patterns of one subject ask of it."""
    predicates = frozenset(each for _, each, _ in patterns if not isinstance(each, str))
    if any(isinstance(each, str) for _, each, _ in patterns):
        return ANY_SUBJECT
    says = [(p, o) for _, p, o in patterns if not (isinstance(p, str) or isinstance(o, str))]
    return Ask(predicates, frozenset(says))


def automaton_query(query: Query, window: NamedNode, dataset: Dataset | None) -> AutomatonQuery:
    """The query for the automaton of `window`. Raises NotAnAutomatonError with the reason.

    `dataset` is that of the protocol request; it replaces the text's. The window is named by FROM
    or by GRAPH; every pattern must look at it alone.
    """
    _expect_plain(query)
    reader = _Reader(window, dataset or query.dataset)
    scope = reader.group(query.where, reader.default_is_window)
    if not reader.patterns:
        raise NotAnAutomatonError("no pattern")
    if len(reader.patterns) > MOST_PATTERNS:
        raise NotAnAutomatonError(f"more than {MOST_PATTERNS} patterns")
    reader.expect_own_variables(scope)
    constants, conditions = _constants(reader.conditions, scope)

    def put(slot: Slot) -> Slot:
        return constants.get(slot, slot) if isinstance(slot, str) else slot

    return AutomatonQuery(
        tuple(dict.fromkeys((put(s), put(p), put(o)) for s, p, o in reader.patterns)),
        tuple(dict.fromkeys(conditions)),
        tuple(
            dict.fromkeys(
                tuple([None if slot is None else put(slot) for slot in row])
                for row in _rows(query, scope)
            )
        ),
        is_set=query.distinct or query.form is not QueryForm.SELECT,
        is_triples=query.form is QueryForm.CONSTRUCT,
        base=(query.base or "") if conditions else "",
    )


def _expect_plain(query: Query) -> None:
    """That its rows are the solutions of its group, projected or put into a template."""
    reasons = {
        f"the form {query.form.name}": query.form is QueryForm.DESCRIBE,
        "VALUES": query.values is not None,
        "LIMIT or OFFSET": query.limit is not None or query.offset is not None,
        "REDUCED": query.reduced,
        "GROUP BY or HAVING": bool(query.group_by or query.having),
        "ORDER BY": bool(query.order_by),
        "computed columns": any(column.expression for column in query.projection or ()),
        "blank nodes in a template": any(
            isinstance(node, BlankNode)
            for each in query.template
            for node in (each.subject, each.object)
        ),
    }
    for reason, holds in reasons.items():
        if holds:
            raise NotAnAutomatonError(reason)


@dataclass(slots=True)
class _Reader:
    """Collects the patterns and FILTERs of nested groups."""

    window: NamedNode
    dataset: Dataset | None
    patterns: list[Pattern] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)
    _scopes: list[tuple[Expression, frozenset[str]]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def default_is_window(self) -> bool:
        """Whether the default graph is the window and nothing else."""
        return self.dataset is not None and self.dataset.default_graphs == (self.window,)

    def group(self, group: Group, in_window: bool) -> frozenset[str]:
        """Read a group; returns the variables that its solutions have."""
        filters: list[Expression] = []
        scope = frozenset[str]()
        for element in group.elements:
            if isinstance(element, algebra.Filter):
                filters.append(self._condition(element.expression))
            else:
                scope |= self._element(element, in_window)
        self._scopes += [(each, scope) for each in filters]
        self.conditions += filters
        return scope

    def expect_own_variables(self, whole: frozenset[str]) -> None:
        """That no FILTER names a variable of a group beside its own: it must not see it."""
        for tree, scope in self._scopes:
            if {variable.value for variable in free_variables(tree)} & (whole - scope):
                raise NotAnAutomatonError("a FILTER reads a variable of a group beside its own")

    def _element(self, element: Element, in_window: bool) -> frozenset[str]:
        match element:
            case algebra.BasicPattern(patterns=patterns):
                if not in_window:
                    raise NotAnAutomatonError("patterns that look at more than the window")
                return frozenset[str]().union(*map(self._pattern, patterns))
            case Group():
                return self.group(element, in_window)
            case algebra.Graph(name=name, group=group):
                self._expect_window(name)
                if not group.elements:
                    raise NotAnAutomatonError("a GRAPH without patterns")
                return self.group(group, True)
            case _:
                raise NotAnAutomatonError(type(element).__name__.upper())

    def _expect_window(self, name: algebra.VarOrIri) -> None:
        if name != self.window:
            raise NotAnAutomatonError("GRAPH that does not name the window")
        if self.dataset is not None and not self.dataset.names_once(self.window):
            raise NotAnAutomatonError("FROM NAMED that does not name the window once")

    def _pattern(self, pattern: algebra.TriplePattern) -> frozenset[str]:
        before = len(self.patterns)
        ends = _slot(pattern.subject), _slot(pattern.object)
        self.patterns += self._edges(ends[0], pattern.predicate, ends[1])
        found = self.patterns[before:]
        return frozenset(slot for each in found for slot in each if isinstance(slot, str))

    def _edges(
        self, start: Slot, path: algebra.VarOrIri | paths.Path, end: Slot
    ) -> Iterator[Pattern]:
        """A triple pattern; a path of sequences as the patterns that it stands for (18.2.2.3)."""
        match path:
            case NamedNode() | Variable():
                yield start, _slot(path), end
            case paths.Link(iri=iri):
                yield start, iri, end
            case paths.Inverse(path=inner):
                yield from self._edges(end, inner, start)
            case paths.Sequence(steps=steps):
                nodes = [f"{HIDDEN_PREFIX}step{next(self._numbers)}" for _ in steps[1:]]
                ends = zip([start, *nodes], steps, [*nodes, end], strict=True)
                for first, step, last in ends:
                    yield from self._edges(first, step, last)
            case _:
                raise NotAnAutomatonError(f"the path {type(path).__name__}")

    def _condition(self, tree: Expression) -> Expression:
        if not is_known(tree):
            raise NotAnAutomatonError("a FILTER with EXISTS, the clock or an unknown function")
        return tree


def _constants(
    conditions: Sequence[Expression], scope: frozenset[str]
) -> tuple[dict[str, Term], list[Expression]]:
    """`FILTER(?v = <iri>)` makes ?v that constant; the rest stays a condition."""
    constants: dict[str, Term] = {}
    left: list[Expression] = []
    named = [name for each in conditions for name in _names(each)]
    for tree in conditions:
        equality = iri_equality(tree)
        if equality is not None:
            name, iri = equality[0].value, equality[1]
            # Another condition would have to be told the constant.
            if name in scope and named.count(name) == 1:
                constants[name] = iri
                continue
        left.append(tree)
    return constants, left


def _names(tree: Expression) -> set[str]:
    return {variable.value for variable in free_variables(tree)}


def _rows(query: Query, scope: frozenset[str]) -> list[tuple[Slot | None, ...]]:
    if query.form is QueryForm.CONSTRUCT:
        nodes = [(each.subject, each.predicate, each.object) for each in query.template]
    else:
        nodes = [query.projected if query.form is QueryForm.SELECT else ()]  # type: ignore[list-item]
    return [tuple(_column(node, scope) for node in each) for each in nodes]


def _column(node: algebra.PatternTerm | paths.Path, scope: frozenset[str]) -> Slot | None:
    """A constant of a template stays as it is written, as in the store."""
    if isinstance(node, Variable):
        return node.value if node.value in scope else None
    return node  # type: ignore[return-value]


def _slot(node: algebra.PatternTerm) -> Slot:
    return node.value if isinstance(node, Variable) else canonical(node)
