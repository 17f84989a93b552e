"""Which queries the incremental tier answers, and how solutions become rows.

Place: asked by `compile` once per subscription. Source: SPARQL 1.1 Query Language, section 16.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pyoxigraph import BlankNode, NamedNode, Variable

from gateway.engine.incremental.affected import changed_solutions
from gateway.engine.incremental.core import Solutions
from gateway.engine.incremental.draft import NotIncrementalError
from gateway.engine.incremental.expressions import Solution
from gateway.engine.incremental.grouping import Grouping
from gateway.engine.incremental.grouping_of import grouping_of, is_grouped
from gateway.engine.incremental.plan import NO_NAMES, Plan
from gateway.engine.incremental.solve import solve
from gateway.engine.incremental.states import Now, States
from gateway.engine.incremental.translate import Translator, computed, only_projects
from gateway.engine.join.join_pattern import Slot
from gateway.rdf.canonical import canonical
from gateway.rdf.dataset import Dataset
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term
from gateway.sparql import algebra
from gateway.sparql.algebra import Query, QueryForm

Rows = Callable[[Solutions], list[Row]]


@dataclass(frozen=True, slots=True)
class IncrementalQuery:
    """The plans whose solutions, together, are those of the WHERE; each gives some rows."""

    plans: tuple[Plan, ...]
    rows: Rows
    is_set: bool
    has_groups_within: bool = False
    grouping: Grouping | None = None

    def changed(self, states: States) -> tuple[list[Row], list[Row]]:
        """Rows before and after, of the solutions that may have changed; not netted.

        Raises UnsureError where a group in a sub-query has a value that only the store can say.
        """
        before: Solutions = []
        after: Solutions = []
        for plan in self.plans:
            lost, won = changed_solutions(plan, states)
            before += lost
            after += won
        return self.rows(before) if before else [], self.rows(after) if after else []

    def everything(self, now: Now) -> list[Row]:
        """The rows of all solutions."""
        solutions = [each for plan in self.plans for each in solve(plan, now, [{}], NO_NAMES)]
        return self.rows(solutions)


def incremental_query(query: Query, dataset: Dataset | None = None) -> IncrementalQuery:
    """The query for this tier. Raises NotIncrementalError where it is not exact, or dearer.

    The dataset of a protocol request replaces the text's.
    """
    dataset = dataset or query.dataset
    if dataset is not None and _repeats(dataset):
        raise NotIncrementalError("a graph that the dataset names twice")
    translator = Translator(query.base or "", dataset)
    if is_grouped(query):
        return _grouped(query, translator)
    if not only_projects(query):
        raise NotIncrementalError("LIMIT, OFFSET, REDUCED, or an aggregate out of place")
    return _ungrouped(query, translator)


def _repeats(dataset: Dataset) -> bool:
    """Whether it names a graph twice: the store has the rows of that graph twice, then."""
    return any(len(set(graphs)) < len(graphs) for graphs in dataset.parts)


def _ungrouped(query: Query, translator: Translator) -> IncrementalQuery:
    drafts = translator.extended(translator.query(query), computed(query))
    plans = tuple(draft.plan() for draft in drafts)
    within = translator.has_groups_within
    if within and (query.distinct or query.form is not QueryForm.SELECT):
        raise NotIncrementalError("groups in a sub-query of ASK, CONSTRUCT or DISTINCT")
    match query.form:
        case QueryForm.CONSTRUCT:
            return IncrementalQuery(plans, _triples_of(query.template), is_set=True)
        case QueryForm.SELECT | QueryForm.ASK:
            return IncrementalQuery(plans, _projection(query.variables), query.distinct, within)
        case _:
            raise NotIncrementalError(f"the form {query.form.name}")


def _grouped(query: Query, translator: Translator) -> IncrementalQuery:
    """Rows have the keys, then the argument of each aggregate."""
    grouping, keys, arguments = grouping_of(query, translator)
    drafts = translator.extended(translator.query(query), (*keys, *arguments))
    if translator.has_groups_within:
        raise NotIncrementalError("groups of groups")
    plans = tuple(draft.plan() for draft in drafts)
    names = (*grouping.keys, *grouping.arguments)
    return IncrementalQuery(plans, _projection(names), is_set=False, grouping=grouping)


def _projection(names: Sequence[str]) -> Rows:
    return lambda solutions: [
        tuple([solution.get(name) for name in names]) for solution in solutions
    ]


def _triples_of(template: Sequence[algebra.TriplePattern]) -> Rows:
    """The template's triples for a solution; none where a term is missing or misplaced (16.2)."""
    slots = [(_slot(each.subject), _slot(each.predicate), _slot(each.object)) for each in template]  # type: ignore[arg-type]

    def triples(solution: Solution) -> Iterable[Row]:
        made = [
            tuple(solution.get(slot) if isinstance(slot, str) else slot for slot in triple)
            for triple in slots
        ]
        return dict.fromkeys(row for row in made if _is_triple(row))

    return lambda solutions: [row for solution in solutions for row in triples(solution)]


def _slot(node: Term | Variable) -> Slot:
    return node.value if isinstance(node, Variable) else canonical(node)


def _is_triple(row: Row) -> bool:
    subject, predicate, object_ = row
    return (
        isinstance(subject, NamedNode | BlankNode)
        and isinstance(predicate, NamedNode)
        and object_ is not None
    )
