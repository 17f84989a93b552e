"""From SPARQL's algebra to solutions in Spark, operator by operator.

Place on the way of the data: the middle of `query`. Filters go down with the translation as bounds,
which say what files a pattern need not read; an OPTIONAL goes down to the row that it looks at.
Source: SPARQL 1.1 Query, section 18; what has no place here is refused by its name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Variable as RdflibVariable

from jsap.shapes.bounds import Bound, Needed, narrowed, needed
from jsap.shapes.nodes import Pattern, Variable, constant, patterns
from jsap.shapes.patterns import Mapping as ShapeMapping
from jsap.shapes.patterns import attach, scans
from jsap.shapes.refusal import refused
from jsap.shapes.shape import Shapes
from jsap.shapes.subset import require_operator
from spark_batch.sparql.aggregates import aggregate
from spark_batch.sparql.expressions import Scope, condition, evaluate
from spark_batch.sparql.rows import solutions
from spark_batch.sparql.solutions import Solutions
from spark_batch.sparql.term import Term, identity
from spark_batch.sparql.term import constant as constant_term

Source = Callable[[Needed], DataFrame]
"""The rows of `observations` that a scan needs, or more."""


@dataclass(frozen=True, slots=True)
class Optional:
    """An OPTIONAL on its way down; its new variables have other names until it is there."""

    number: int
    patterns: Sequence[Pattern]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Context:
    """What an operator hears from those above it."""

    bounds: Mapping[str, Bound] = field(default_factory=dict)
    optionals: tuple[Optional, ...] = ()


class Translation:
    """One query; `source` is asked once for each scan."""

    def __init__(self, shapes: Shapes, source: Source) -> None:
        self._mapping = ShapeMapping(shapes)
        self._source = source
        self._attached: set[int] = set()
        self._numbers = 0

    def solutions(self, node: Any, context: Context = Context()) -> Solutions:
        """The solutions of an operator; raises QueryError outside of the subset."""
        require_operator(node.name)
        operators: Mapping[str, Callable[[Any, Context], Solutions]] = {
            "BGP": self._basic,
            "Join": self._join,
            "LeftJoin": self._left_join,
            "Union": self._union,
            "Filter": self._filter,
            "Extend": self._extend,
            "AggregateJoin": self._aggregate,
            "ToMultiSet": self._multiset,
            "Project": self._project,
            "Distinct": self._distinct,
            "OrderBy": self._order,
            "Slice": self._slice,
        }
        return operators[node.name](node, context)

    def _basic(self, node: Any, context: Context) -> Solutions:
        triples = patterns(node.triples)
        if not triples:
            raise refused("a group without a pattern", "begin with a pattern of an observation")
        found = scans(self._mapping, triples)
        for optional in context.optionals:
            if attach(self._mapping, optional.number, optional.patterns, found):
                self._attached.add(optional.number)
        waiting = [solutions(scan, self._source(needed(scan, context.bounds))) for scan in found]
        answer = waiting.pop(0)
        while waiting:
            near = [each for each in waiting if each.variables.keys() & answer.variables.keys()]
            each = (near or waiting)[0]
            waiting = [other for other in waiting if other is not each]
            answer = answer.join(each)
        return answer

    def _join(self, node: Any, context: Context) -> Solutions:
        if _is_empty(node.p1) or _is_empty(node.p2):
            return self.solutions(node.p2 if _is_empty(node.p1) else node.p1, context)
        left = self.solutions(node.p1, context)
        return left.join(self.solutions(node.p2, context))

    def _left_join(self, node: Any, context: Context) -> Solutions:
        """Only where the right side looks at a row of the left one, once or not at all."""
        if node.p2.name != "BGP":
            raise refused("OPTIONAL with more than patterns and FILTER", "take its parts apart")
        self._numbers += 1
        number = self._numbers
        optional = _optional(number, node)
        inner = replace(context, optionals=(*context.optionals, optional))
        left = self.solutions(node.p1, inner)
        if number not in self._attached:
            raise refused(
                "OPTIONAL about something else than an observation that is there",
                "begin it with a variable that is an observation, a result or an instant",
            )
        scope = left.scope
        moved = {new: scope[old] for new, old in optional.names.items() if old in scope}
        others = {name: term for name, term in scope.items() if name not in optional.names.values()}
        if getattr(node.expr, "name", "") != "TrueFilter":
            holds = F.coalesce(condition(node.expr, others | moved), F.lit(False))
            moved = {name: term.where(holds) for name, term in moved.items()}
        partial = (left.partial & others.keys()) | moved.keys()
        return Solutions.of(left.rows, others | moved, partial)

    def _union(self, node: Any, context: Context) -> Solutions:
        below = Context(context.bounds)
        return self.solutions(node.p1, below).union(self.solutions(node.p2, below))

    def _filter(self, node: Any, context: Context) -> Solutions:
        below = replace(context, bounds=narrowed(context.bounds, node.expr))
        found = self.solutions(node.p, below)
        return found.where(condition(node.expr, _visible(found)))

    def _extend(self, node: Any, context: Context) -> Solutions:
        name = str(node.var)
        bounds = {key: bound for key, bound in context.bounds.items() if key != name}
        found = self.solutions(node.p, replace(context, bounds=bounds))
        scope = _visible(found)
        is_name = isinstance(node.expr, RdflibVariable) and str(node.expr) in scope
        surely = is_name and str(node.expr) not in found.partial
        return found.extend({name: evaluate(node.expr, scope)}, partial=not surely)

    def _aggregate(self, node: Any, context: Context) -> Solutions:
        del context  # filters above look at groups
        group = node.p
        found = self.solutions(group.p)
        scope = found.scope
        keys = _keys(group.expr or [], scope)
        computed = {
            str(call.res): aggregate(call, scope) for call in node.A if not _is_key(call, keys)
        }
        terms = {
            name: Term({facet: F.any_value(column) for facet, column in term.facets.items()})
            for name, term in keys.items()
        } | computed
        columns = [
            column.alias(f"{number} {facet}")
            for number, term in enumerate(terms.values())
            for facet, column in term.facets.items()
        ]
        by = [identity(term).alias(f"key {number}") for number, term in enumerate(keys.values())]
        rows = (
            found.rows.groupBy(*by).agg(*columns) if columns else found.rows.select(*by).distinct()
        )
        grouped = {
            name: Term({facet: F.col(f"`{number} {facet}`") for facet in term.facets})
            for number, (name, term) in enumerate(terms.items())
        }
        grouped |= {
            str(call.res): grouped[str(call.vars)] for call in node.A if _is_key(call, keys)
        }
        surely = {name for name in grouped if name not in computed}
        surely -= found.partial
        return Solutions.of(rows, grouped, grouped.keys() - surely)

    def _multiset(self, node: Any, context: Context) -> Solutions:
        """A subselect, or VALUES."""
        del context  # a subselect may be cut or grouped before a filter is asked
        return self.solutions(node.p) if node.p.name != "values" else self._values(node.p.res)

    def _values(self, rows: Sequence[Mapping[Any, Any]]) -> Solutions:
        if not rows:
            raise refused("VALUES without a row", "name what you look for")
        one = SparkSession.active().range(1)
        return reduce(Solutions.union, [Solutions.of(one, _row_terms(row)) for row in rows])

    def _project(self, node: Any, context: Context) -> Solutions:
        return self.solutions(node.p, context).project([str(each) for each in node.PV])

    def _distinct(self, node: Any, context: Context) -> Solutions:
        """Distinct first and sorted then, since making distinct loses the order."""
        project = node.p
        if project.name != "Project" or project.p.name != "OrderBy":
            return self.solutions(project, context).distinct()
        names = [str(each) for each in project.PV]
        found = self.solutions(project.p.p, context).project(names).distinct()
        for key in project.p.expr:
            lacking = _variables(key.expr) - set(names)
            if lacking:
                raise refused(
                    f"ORDER BY ?{min(lacking)} of SELECT DISTINCT without it", "select it as well"
                )
        return _ordered(found, project.p.expr)

    def _order(self, node: Any, context: Context) -> Solutions:
        return _ordered(self.solutions(node.p, context), node.expr)

    def _slice(self, node: Any, context: Context) -> Solutions:
        return self.solutions(node.p, context).slice(node.start or 0, node.length)


def _ordered(found: Solutions, conditions: Sequence[Any]) -> Solutions:
    scope = _visible(found)
    return found.ordered([(evaluate(key.expr, scope), key.order == "DESC") for key in conditions])


def _visible(found: Solutions) -> Scope:
    """Without the variables of an OPTIONAL that is on its way."""
    return {name: term for name, term in found.scope.items() if "*" not in name}


def _optional(number: int, node: Any) -> Optional:
    known = {str(each) for each in node.p1._vars}
    triples = patterns(node.p2.triples)
    names = {
        each.name: f"{each.name}*{number}"
        for pattern in triples
        for each in (pattern.subject, pattern.object)
        if isinstance(each, Variable) and each.name not in known
    }

    def renamed(each: Any) -> Any:
        return Variable(names.get(each.name, each.name)) if isinstance(each, Variable) else each

    moved = [
        Pattern(renamed(each.subject), each.predicate, renamed(each.object)) for each in triples
    ]
    return Optional(number, moved, names)


def _keys(expressions: Sequence[Any], scope: Scope) -> dict[str, Term]:
    keys: dict[str, Term] = {}
    for expression in expressions:
        if not isinstance(expression, RdflibVariable):
            raise refused("GROUP BY an expression without a name", "GROUP BY (… AS ?x), SELECT ?x")
        name = str(expression)
        if name not in scope:
            raise refused(f"GROUP BY ?{name}, which no pattern binds,", "group by another variable")
        keys[name] = scope[name]
    return keys


def _is_key(call: Any, keys: Mapping[str, Term]) -> bool:
    """Whether rdflib's SAMPLE stands for a variable that the groups have one value of."""
    if call.name != "Aggregate_Sample":
        return False
    if str(call.vars) not in keys:
        raise refused(
            f"?{call.vars} beside aggregates", "put it into GROUP BY or into an aggregate"
        )
    return True


def _row_terms(row: Mapping[Any, Any]) -> dict[str, Term]:
    """A row of VALUES; UNDEF is not in it."""
    return {
        str(name): constant_term(constant(value)) for name, value in row.items() if value != "UNDEF"
    }


def _is_empty(node: Any) -> bool:
    return node.name == "BGP" and not node.triples


def _variables(expression: Any) -> set[str]:
    if isinstance(expression, RdflibVariable):
        return {str(expression)}
    if isinstance(expression, CompValue):
        return set().union(*(_variables(each) for each in expression.values()))
    if isinstance(expression, list):
        return set().union(*map(_variables, expression))
    return set()
