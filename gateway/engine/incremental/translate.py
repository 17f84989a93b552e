"""From the syntax tree of a group to plans, or a refusal where the tier is not surely exact.

Place: once per subscription. Source: SPARQL 1.1 Query Language, section 18.2.2, as the pinned store
evaluates it: the variable of `GRAPH ?g` is seen within its group, FROM of several graphs keeps
duplicates.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from pyoxigraph import Literal, NamedNode, Variable

from gateway.engine.incremental.draft import Draft, NotIncrementalError, product
from gateway.engine.incremental.expressions import CALLED, expression
from gateway.engine.incremental.expressions import Expression as CompiledExpression
from gateway.engine.incremental.grouping_of import grouping_of, is_grouped
from gateway.engine.incremental.plan import (
    Body,
    Condition,
    CorePattern,
    Existence,
    Extend,
    Filter,
    GraphScope,
    GroupedJoin,
    Join,
    LeftJoin,
    Minus,
    Table,
)
from gateway.engine.incremental.syntax import Expression, Replacement, is_known, replaced
from gateway.engine.join.join_pattern import Slot
from gateway.rdf.canonical import canonical
from gateway.rdf.dataset import Dataset
from gateway.rdf.terms import GraphName, Term
from gateway.sparql import algebra, paths
from gateway.sparql.algebra import Element, Exists, Group, Query
from gateway.sparql.constants import iri_equality
from gateway.sparql.scope import walk

MOST_PLANS = 16
"""Combinations of UNION branches that one group may have."""

Drafts = list[Draft]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a group stands: the graph of its patterns, whether within an EXISTS."""

    scope: GraphScope
    in_exists: bool = False


class Translator:
    """Translates the groups of one query."""

    def __init__(self, base: str, dataset: Dataset | None) -> None:
        self._base = base
        self._dataset = dataset
        self._numbers = count()
        self.has_groups_within = False
        self._around = Surroundings(self._default_scope())

    def query(self, query: Query) -> Drafts:
        """WHERE and the VALUES behind it. Raises NotIncrementalError."""
        drafts = self.group(query.where, self._around)
        if query.values is not None:
            drafts = product(drafts, self._joinable(query.values, self._around), MOST_PLANS)
        return drafts

    def extended(
        self,
        drafts: Drafts,
        columns: Iterable[tuple[str, Expression]],
        around: Surroundings | None = None,
    ) -> Drafts:
        """With columns that are computed, in this order."""
        for name, tree in columns:
            extend = Extend(self.condition(tree, around or self._around), name)
            drafts = [draft.step(extend) for draft in drafts]
        return drafts

    def _default_scope(self) -> GraphScope:
        if self._dataset is None:
            return GraphScope()
        graphs: tuple[GraphName, ...] = self._dataset.default_graphs
        if len(graphs) == 1:
            return GraphScope(graphs[0])
        return GraphScope("", graphs)

    def hidden(self, kind: str) -> str:
        """A variable that no text has."""
        return f"{algebra.HIDDEN_PREFIX}{kind}{next(self._numbers)}"

    def _local(self, name: str) -> str:
        """A hidden variable that still tells what it was called."""
        called = name.partition(CALLED)[2] if name.startswith(algebra.HIDDEN_PREFIX) else name
        return f"{self.hidden('local')}{CALLED}{called}" if called else self.hidden("local")

    # groups -----------------------------------------------------------------------------

    def group(self, group: Group, around: Surroundings) -> Drafts:
        """A group with its FILTERs, which see all of it."""
        drafts = self._unfiltered(group, around)
        for condition in self._conditions(group, around):
            drafts = [_filtered(draft, condition) for draft in drafts]
        return drafts

    def _body(self, group: Group, around: Surroundings) -> Body:
        return Body(tuple(draft.plan() for draft in self.group(group, around)))

    def _conditions(self, group: Group, around: Surroundings) -> list[Condition]:
        return [
            self.condition(element.expression, around)
            for element in group.elements
            if isinstance(element, algebra.Filter)
        ]

    def _unfiltered(self, group: Group, around: Surroundings) -> Drafts:
        drafts = [Draft()]
        for element in group.elements:
            if not isinstance(element, algebra.Filter):
                drafts = self._with_element(drafts, element, around)
        return drafts

    def _with_element(self, drafts: Drafts, element: Element, around: Surroundings) -> Drafts:
        match element:
            case algebra.Optional() | algebra.Minus() | algebra.Bind():
                if around.in_exists:
                    raise NotIncrementalError(f"{type(element).__name__} in an EXISTS")
                return self._with_step(drafts, element, around)
            case _:
                joined = product(drafts, self._joinable(element, around), MOST_PLANS)
                if around.in_exists and not all(map(_sees_only_itself, joined)):
                    raise NotIncrementalError("a group in an EXISTS reads what is bound outside")
                return joined

    def _with_step(
        self,
        drafts: Drafts,
        element: algebra.Optional | algebra.Minus | algebra.Bind,
        around: Surroundings,
    ) -> Drafts:
        match element:
            case algebra.Optional(group=group):
                step = self._left_join(group, around)
                return [draft.step(step) for draft in drafts]
            case algebra.Minus(group=group):
                body = self._body(group, around)
                return [draft.step(Minus(body)) for draft in drafts]
            case algebra.Bind(expression=tree, variable=variable):
                extend = Extend(self.condition(tree, around), variable.value)
                return [draft.step(extend) for draft in drafts]

    def _left_join(self, group: Group, around: Surroundings) -> LeftJoin:
        body = Body(tuple(draft.plan() for draft in self._unfiltered(group, around)))
        conditions = tuple(self._conditions(group, around))
        if any(condition.existences for condition in conditions):
            raise NotIncrementalError("EXISTS in a FILTER of an OPTIONAL")
        return LeftJoin(body, conditions)

    def _joinable(self, element: Element, around: Surroundings) -> Drafts:
        match element:
            case algebra.BasicPattern(patterns=patterns):
                return [Draft(tuple(self._patterns(patterns, around.scope)))]
            case algebra.Values(variables=variables, rows=rows):
                names = tuple(variable.value for variable in variables)
                return [Draft(tables=(Table(names, _canonical(rows)),))]
            case Group():
                return self.group(element, around)
            case algebra.Union(branches=branches):
                return [draft for each in branches for draft in self.group(each, around)]
            case algebra.Graph(name=name, group=group):
                return self._graph(name, group, around)
            case algebra.SubSelect(query=query):
                return self._sub_select(query, around)
            case _:
                raise NotIncrementalError(type(element).__name__)

    def _graph(self, name: algebra.VarOrIri, group: Group, around: Surroundings) -> Drafts:
        inner = replace(around, scope=self._named_scope(name))
        drafts = self.group(group, inner)
        for draft in drafts:
            if not any(_is_in(pattern.scope, inner.scope) for pattern in draft.patterns):
                raise NotIncrementalError(
                    "a GRAPH without a pattern depends on which graphs there are"
                )
        return drafts

    def _named_scope(self, name: algebra.VarOrIri) -> GraphScope:
        graphs = None if self._dataset is None else self._dataset.named_graphs
        if isinstance(name, Variable):
            return GraphScope(name.value, graphs)
        if graphs is None or name in graphs:
            return GraphScope(name)
        return GraphScope("", ())

    # patterns ---------------------------------------------------------------------------

    def _patterns(
        self, patterns: Sequence[algebra.TriplePattern], scope: GraphScope
    ) -> Iterator[CorePattern]:
        for pattern in patterns:
            yield from self._pattern(
                _slot(pattern.subject), pattern.predicate, _slot(pattern.object), scope
            )

    def _pattern(
        self, start: Slot, path: algebra.VarOrIri | paths.Path, end: Slot, scope: GraphScope
    ) -> Iterator[CorePattern]:
        """A triple pattern; a path of fixed length as the patterns it stands for (18.2.2.3)."""
        match path:
            case NamedNode() | Variable():
                yield CorePattern(start, _slot(path), end, self._own(scope))
            case paths.Link(iri=iri):
                yield CorePattern(start, iri, end, self._own(scope))
            case paths.Inverse(path=inner):
                yield from self._pattern(end, inner, start, scope)
            case paths.Sequence(steps=steps):
                middles = [self.hidden("path") for _ in steps[1:]]
                ends = zip([start, *middles], steps, [*middles, end], strict=True)
                for first, step, last in ends:
                    yield from self._pattern(first, step, last, scope)
            case paths.NegatedPropertySet(forward=forward, inverse=()):
                if scope.name == "" and len(scope.graphs or ()) > 1:
                    raise NotIncrementalError(
                        "its order of joins decides how often it finds what "
                        "is in several default graphs"
                    )
                name = self.hidden("predicate")
                yield CorePattern(start, name, end, self._own(scope), frozenset(forward))
            case _:
                raise NotIncrementalError(f"the path {type(path).__name__}")

    def _own(self, scope: GraphScope) -> GraphScope:
        """A pattern over several default graphs may match in another one than the next pattern."""
        return replace(scope, name=self.hidden("graph")) if scope.name == "" else scope

    # sub-queries ------------------------------------------------------------------------

    def _sub_select(self, query: Query, around: Surroundings) -> Drafts:
        """A sub-query that projects, or groups: its other variables are hidden."""
        if around.in_exists or (isinstance(around.scope.name, str) and around.scope.name):
            raise NotIncrementalError("a sub-query in GRAPH ?g or EXISTS")
        shown = frozenset(query.variables)
        parts = (query.where, query.projection, query.group_by, query.having)
        names = {node.value for node in walk(parts) if isinstance(node, Variable)}
        inner = replaced(query, {name: self._local(name) for name in names - shown})
        if is_grouped(inner):
            return [Draft(steps=(self._grouped_join(inner, around),))]
        if not only_projects(query) or query.distinct or query.values:
            raise NotIncrementalError("a sub-query that does more than project or group")
        return self.extended(self.group(inner.where, around), computed(inner), around)

    def _grouped_join(self, query: Query, around: Surroundings) -> GroupedJoin:
        grouping, keys, arguments = grouping_of(query, self)
        drafts = self.extended(self.group(query.where, around), (*keys, *arguments), around)
        self.has_groups_within = True
        return GroupedJoin(Body(tuple(draft.plan() for draft in drafts)), grouping)

    # expressions ------------------------------------------------------------------------

    def condition(self, tree: Expression, around: Surroundings) -> Condition:
        """An expression; each EXISTS in it is a variable of its own."""
        existences: list[Existence] = []

        def name_of(exists: Exists) -> Variable:
            body = self._body(exists.group, replace(around, in_exists=True))
            name = self.hidden("exists")
            existences.append(Existence(name, body, exists.negated))
            return Variable(name)

        plain = Replacement(Exists, name_of).expression(tree)
        return Condition(self.plain(plain), tuple(existences))

    def plain(self, tree: Expression) -> CompiledExpression:
        """An expression without EXISTS and aggregates."""
        if not is_known(tree):
            raise NotIncrementalError("a function that is not of SPARQL 1.1, or reads the clock")
        return expression(tree, self._base)


def _sees_only_itself(draft: Draft) -> bool:
    """Whether no joined group reads a variable that it may leave unbound.

    Within an EXISTS the store binds those from the outside (18.6: substitute).
    """
    joins = (step for step in draft.steps if isinstance(step, Join))
    return all(plan.variables <= plan.certain for step in joins for plan in step.body.plans)


def _is_in(scope: GraphScope, wanted: GraphScope) -> bool:
    return scope.graphs == wanted.graphs if wanted.name == "" else scope == wanted


def computed(query: Query) -> list[tuple[str, Expression]]:
    """The columns of a SELECT that are expressions."""
    return [
        (column.variable.value, column.expression)
        for column in query.projection or ()
        if column.expression is not None
    ]


def only_projects(query: Query) -> bool:
    """Whether the rows are the solutions of the group, with some columns, some computed."""
    return (
        query.limit is None
        and query.offset is None
        and not (query.reduced or query.group_by or query.having)
        and not any(
            isinstance(node, algebra.Aggregate) for node in walk((query.projection, query.order_by))
        )
    )


def _filtered(draft: Draft, condition: Condition) -> Draft:
    equality = iri_equality(condition.expression.tree)
    known = {name for name, _ in draft.constants}
    if equality is not None and equality[0].value in draft.certain - known:
        return draft.constant(equality[0].value, equality[1])
    return draft.filter(Filter(condition))


def _slot(node: algebra.PatternTerm) -> Slot:
    return node.value if isinstance(node, Variable) else canonical(node)


def _canonical(
    rows: Sequence[Sequence[NamedNode | Literal | None]],
) -> tuple[tuple[Term | None, ...], ...]:
    return tuple(tuple(None if cell is None else canonical(cell) for cell in row) for row in rows)
