"""Which queries slide, and what becomes of their clauses.

    WHERE = star of a window ⋈ rest → groups → HAVING → columns ⋈ outer rest, outer FILTERs → rows

Place: asked once per subscription; whatever is refused here the other tiers serve. Source: SPARQL
1.1 Query Language, section 18.2.4.1 (grouping) and 18.2.2 (groups), by the translation of
gateway/engine/incremental.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pyoxigraph import NamedNode

from gateway.engine.incremental.draft import Draft, NotIncrementalError
from gateway.engine.incremental.expressions import Expression, expression
from gateway.engine.incremental.grouping import Grouping
from gateway.engine.incremental.grouping_of import grouping_of, is_grouped
from gateway.engine.incremental.plan import (
    NO_NAMES,
    Body,
    CorePattern,
    Extend,
    Filter,
    GraphScope,
    GroupedJoin,
    Plan,
    Step,
)
from gateway.engine.incremental.translate import Translator, computed, only_projects
from gateway.engine.sliding.aggregates import Recipes, recipes_of
from gateway.engine.sliding.rest import Rest, inputs
from gateway.rdf.dataset import Dataset
from gateway.rdf.terms import Term
from gateway.sparql import algebra
from gateway.sparql.algebra import Query, QueryForm

Names = frozenset[str]
Constants = tuple[Term, ...]
Part = TypeVar("Part", Plan, Draft)


class NotSlidingError(Exception):
    """The query is of another kind, or not surely exact here."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What is grouped: rows of a star in the window `node`, and what the store makes of them.

    The constants of the patterns, and those that FILTERs make of names, are `parameters`: names in
    whose values subscriptions differ. `steps` are FILTERs and BINDs of these rows alone. `names`
    are read further on: first off the star, then those that `steps` bind, then the rest's.
    """

    node: NamedNode
    patterns: tuple[CorePattern, ...]
    parameters: tuple[str, ...]
    steps: tuple[Step, ...]
    names: tuple[str, ...]
    rest: Rest | None


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a group must meet: `having` sees keys and aggregates, `outer` the columns."""

    having: tuple[Expression, ...]
    outer: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class SlidingQuery:
    """The parts of a query. Those of one shape differ in `conditions` and `constants` alone.

    `constants` are the values of the parameters.
    """

    rows: Rows
    constants: Constants
    grouping: Grouping
    recipes: Recipes
    outer: Rest | None
    conditions: Conditions
    variables: tuple[str, ...]


def sliding_query(
    query: Query, windows: Collection[NamedNode], dataset: Dataset | None = None
) -> SlidingQuery:
    """The query for this tier. Raises NotSlidingError.

    The dataset of a protocol request replaces the text's.
    """
    dataset = dataset or query.dataset
    if dataset is not None and any(len(set(each)) < len(each) for each in dataset.parts):
        raise NotSlidingError("a graph that the dataset names twice")
    if query.form is not QueryForm.SELECT:
        raise NotSlidingError("it is no SELECT")
    translator = Translator(query.base or "", dataset)
    try:
        if is_grouped(query):
            return _grouped(query, translator, windows)
        return _around_groups(query, translator, windows)
    except NotIncrementalError as error:
        raise NotSlidingError(str(error)) from error


def _grouped(query: Query, translator: Translator, windows: Collection[NamedNode]) -> SlidingQuery:
    grouping, keys, arguments = grouping_of(query, translator)
    drafts = translator.extended(translator.query(query), (*keys, *arguments))
    if translator.has_groups_within:
        raise NotSlidingError("groups of groups")
    plan = _only([draft.plan() for draft in drafts])
    conditions = Conditions(tuple(_each(grouping.having, query.base or "")), ())
    parts = _rows(plan, grouping, windows)
    return SlidingQuery(*parts, grouping, _recipes(grouping), None, conditions, query.variables)


def _around_groups(
    query: Query, translator: Translator, windows: Collection[NamedNode]
) -> SlidingQuery:
    if query.distinct or not only_projects(query):
        raise NotSlidingError("it has no groups, or more than groups")
    drafts = translator.extended(translator.query(query), computed(query))
    draft = _only(drafts)
    if not draft.steps or not isinstance(draft.steps[0], GroupedJoin):
        raise NotSlidingError("it has no groups, or something before them")
    joined, *others = draft.steps
    if not isinstance(joined, GroupedJoin):
        raise NotSlidingError("it has no groups")
    grouping = joined.grouping
    plan = _only(joined.body.plans)
    columns = tuple(dict.fromkeys(column.name for column in grouping.columns))
    certain = frozenset(
        column.name
        for column in grouping.columns
        if column.expression is None and column.name in plan.certain
    )
    conditions, others = _conditions(draft, others, columns, certain)
    rest = _outer_rest(replace(draft, steps=tuple(others)), columns, certain, query, windows)
    base = query.base or ""
    both = Conditions(tuple(_each(grouping.having, base)), tuple(_each(conditions, base)))
    parts = _rows(plan, grouping, windows)
    return SlidingQuery(*parts, grouping, _recipes(grouping), rest, both, query.variables)


def _only(found: Sequence[Part]) -> Part:
    if len(found) != 1:
        raise NotSlidingError("UNION")
    return found[0]


def _conditions(
    draft: Draft, steps: Iterable[Step], columns: tuple[str, ...], certain: Names
) -> tuple[list[Expression], list[Step]]:
    """FILTERs that see the columns alone, whatever else is joined, and the other steps."""
    conditions: list[Expression] = []
    others: list[Step] = []
    bound: Names = replace(draft, steps=()).variables - certain
    for step in steps:
        own = step.variables - certain
        if (
            isinstance(step, Filter)
            and not step.bodies
            and step.variables <= set(columns)
            and own.isdisjoint(bound)
        ):
            conditions.append(step.condition.expression)
            continue
        others.append(step)
        bound |= own
    return conditions, others


def _outer_rest(
    draft: Draft,
    columns: tuple[str, ...],
    certain: Names,
    query: Query,
    windows: Collection[NamedNode],
) -> Rest | None:
    if draft == Draft():
        return None
    _require_of_store(draft, windows)
    replace(draft, tables=(*draft.tables, inputs(columns, certain))).plan()
    plan = Plan(draft.patterns, draft.tables, draft.constants, draft.filters, draft.steps)
    names = tuple(name for name in columns if name in plan.variables)
    if any(name in columns for name, _ in draft.constants):
        raise NotSlidingError("a FILTER makes a column a constant")
    return Rest(plan, names, certain, query.variables)


def _each(conditions: Iterable[Expression], base: str) -> Iterator[Expression]:
    """Conditions one by one: of `a && b` both have to be true."""
    for each in conditions:
        match each.tree:
            case algebra.Operation(name="&&", args=args):
                yield from _each((expression(tree, base) for tree in args), base)
            case _:
                yield each


def _recipes(grouping: Grouping) -> Recipes:
    found = recipes_of([aggregate for _, aggregate in grouping.aggregates])
    if found is None:
        raise NotSlidingError("an aggregate that depends on the order of evaluation")
    return found


# what is grouped ----------------------------------------------------------------------------


def _rows(plan: Plan, grouping: Grouping, windows: Collection[NamedNode]) -> tuple[Rows, Constants]:
    own = [each for each in plan.patterns if each.scope.name in windows]
    node = _require_star(own)
    patterns, constants = _with_parameters(own)
    bound = NO_NAMES.union(*(each.variables for each in patterns))
    constants |= {name: term for name, term in plan.constants if name in bound}
    others = tuple(each for each in plan.patterns if each.scope.name not in windows)
    steps, around = _steps(plan, others, bound)
    names = dict.fromkeys(
        name for part in (bound, *(s.variables for s in steps)) for name in sorted(part)
    )
    wanted = dict.fromkeys(name for name in (*grouping.keys, *grouping.arguments) if name)
    rest = _rest(around, tuple(names), bound, tuple(n for n in wanted if n not in names), windows)
    read = {*wanted, *constants, *(rest.names if rest else ())}.union(*(s.variables for s in steps))
    shown = tuple(name for name in names if name in read)
    if not wanted.keys() <= {*shown, *(rest.shown if rest else ())}:
        raise NotSlidingError("a key or an argument that nothing binds")
    rows = Rows(node, patterns, tuple(constants), tuple(steps), shown, rest)
    return rows, tuple(constants.values())


def _with_parameters(
    patterns: Iterable[CorePattern],
) -> tuple[tuple[CorePattern, ...], dict[str, Term]]:
    """The patterns with names in place of constant objects, and these."""
    constants: dict[str, Term] = {}
    found: list[CorePattern] = []
    for each in patterns:
        object_ = each.object
        if not isinstance(object_, str):
            name = f"#{len(constants)}"
            constants[name] = object_
            found.append(replace(each, object=name))
        else:
            found.append(each)
    return tuple(found), constants


def _steps(plan: Plan, others: tuple[CorePattern, ...], bound: Names) -> tuple[list[Step], Draft]:
    """The FILTERs and BINDs of rows of the star alone, and what is beside them."""
    beyond = NO_NAMES.union(*(each.variables for each in others))
    beyond = beyond.union(*(each.variables for each in plan.tables))
    steps: list[Step] = [each for each in plan.filters if each.variables <= bound]
    late = tuple(each for each in plan.filters if not each.variables <= bound)
    left = list(plan.steps)
    names = set(bound)
    while left and _is_of_rows(left[0], names, beyond):
        steps.append(left.pop(0))
        names |= steps[-1].variables
    constants = tuple(each for each in plan.constants if each[0] not in bound)
    return steps, Draft(others, plan.tables, constants, late, tuple(left))


def _is_of_rows(step: Step, names: Collection[str], beyond: Names) -> bool:
    """Whether it reads the rows of the star alone, so that it may come before what joins them."""
    match step:
        case Filter():
            return not step.bodies and step.variables <= set(names)
        case Extend(condition=condition, name=name):
            new = name not in names and name not in beyond
            return new and not step.bodies and condition.variables <= set(names)
        case _:
            return False


def _rest(
    around: Draft,
    names: tuple[str, ...],
    certain: Names,
    shown: tuple[str, ...],
    windows: Collection[NamedNode],
) -> Rest | None:
    if around == Draft():
        return None
    _require_of_store(around, windows)
    plan = Plan(around.patterns, around.tables, around.constants, around.filters, around.steps)
    return Rest(plan, tuple(n for n in names if n in plan.variables), certain, shown)


def _require_star(patterns: list[CorePattern]) -> NamedNode:
    nodes = {each.scope.name for each in patterns}
    if len(nodes) != 1:
        raise NotSlidingError("not the triples of exactly one window are grouped")
    subject = patterns[0].subject
    for each in patterns:
        if each.subject != subject or not isinstance(subject, str) or each.object == subject:
            raise NotSlidingError("the patterns of the window share no subject")
        if isinstance(each.predicate, str):
            raise NotSlidingError("a predicate that is a variable")
    (node,) = nodes
    if not isinstance(node, NamedNode):
        raise NotSlidingError("no window")
    return node


def _require_of_store(draft: Draft | Plan, windows: Collection[NamedNode]) -> None:
    """Raise NotSlidingError where something beside the star looks at a window, or groups."""
    for pattern in draft.patterns:
        if not _is_of_store(pattern.scope, windows):
            raise NotSlidingError("a window beside the one that is grouped")
    for step in draft.steps:
        if isinstance(step, GroupedJoin):
            raise NotSlidingError("several groups")
        for body in step.bodies:
            _require_body_of_store(body, windows)


def _require_body_of_store(body: Body, windows: Collection[NamedNode]) -> None:
    for plan in body.plans:
        _require_of_store(plan, windows)


def _is_of_store(scope: GraphScope, windows: Collection[NamedNode]) -> bool:
    if not isinstance(scope.name, str):
        return scope.name not in windows
    return scope.graphs is not None and not any(graph in windows for graph in scope.graphs)
