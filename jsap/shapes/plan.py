"""What a SELECT must read to be answered over time: rows by scans, and patterns of everything else.

    algebra -> basic graph patterns -> scans of rows | patterns that no row states

Place on the way of the data: for an engine that loads what a query may touch and lets a SPARQL
engine answer it. More than needed may be loaded, never less. The subset is that of `subset`.
Source: SPARQL 1.1 Query, section 18.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue

from jsap.shapes.bounds import Bound, Needed, narrowed, needed
from jsap.shapes.nodes import Pattern, Variable, constant, patterns
from jsap.shapes.patterns import KEYS, Scan, attach, grouped, scans
from jsap.shapes.patterns import Mapping as ShapeMapping
from jsap.shapes.refusal import refused
from jsap.shapes.shape import Mark, Shapes
from jsap.shapes.subset import require_expression, require_operator


@dataclass(frozen=True, slots=True)
class Need:
    """Rows that a scan may find, and how what stands beside it in its group may leave some out.

    `marks` has the scan's variables that `beside` binds too, each with its mark. With `distinct`
    one row of each set of these marks is enough.
    """

    scan: Scan
    needed: Needed
    distinct: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[Pattern, ...] = ()

    def within(self, values: Mapping[str, frozenset[str]]) -> Needed:
        """What is needed where the marks have these values."""
        both = dict(self.needed.values)
        for mark, found in values.items():
            both[mark] = both.get(mark, found) & found
        return replace(self.needed, values=both)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a query reads: rows, and the matches of all its patterns in a store."""

    needs: tuple[Need, ...]
    patterns: tuple[Pattern, ...]

    @property
    def predicates(self) -> frozenset[str]:
        """The predicates of its patterns."""
        return frozenset(each.predicate for each in self.patterns)


def plan(algebra: Any, shapes: Shapes) -> Plan:
    """The plan of a SELECT; raises QueryError outside of the subset."""
    planner = _Planner(ShapeMapping(shapes))
    planner.visit(algebra, _Context())
    return Plan(tuple(planner.needs), tuple(dict.fromkeys(planner.patterns)))


@dataclass(frozen=True, slots=True)
class _Context:
    """What an operator hears from those above it: bounds, and OPTIONALs on their way down."""

    bounds: Mapping[str, Bound] = field(default_factory=dict)
    optionals: tuple[tuple[int, tuple[Pattern, ...]], ...] = ()


class _Planner:
    """One query."""

    def __init__(self, mapping: ShapeMapping) -> None:
        self._mapping = mapping
        self._attached: set[int] = set()
        self._numbers = 0
        self.needs: list[Need] = []
        self.patterns: list[Pattern] = []

    def visit(self, node: Any, context: _Context) -> None:
        """Collect what an operator and those below it read."""
        require_operator(node.name)
        rules: Mapping[str, Callable[[Any, _Context], None]] = {
            "BGP": self._basic,
            "Join": self._join,
            "LeftJoin": self._left_join,
            "Union": self._union,
            "Filter": self._filter,
            "Extend": self._extend,
            "AggregateJoin": self._aggregate,
            "ToMultiSet": self._multiset,
            "OrderBy": self._order,
        }
        rules.get(node.name, self._whole)(node, context)

    def _whole(self, node: Any, context: _Context) -> None:
        self.visit(node.p, context)

    def _join(self, node: Any, context: _Context) -> None:
        for each in (node.p1, node.p2):
            if not _is_empty(each):
                self.visit(each, context)

    def _union(self, node: Any, context: _Context) -> None:
        for each in (node.p1, node.p2):
            self.visit(each, _Context(context.bounds))

    def _filter(self, node: Any, context: _Context) -> None:
        require_expression(node.expr)
        self.visit(node.p, replace(context, bounds=narrowed(context.bounds, node.expr)))

    def _extend(self, node: Any, context: _Context) -> None:
        require_expression(node.expr)
        bounds = {key: each for key, each in context.bounds.items() if key != str(node.var)}
        self.visit(node.p, replace(context, bounds=bounds))

    def _order(self, node: Any, context: _Context) -> None:
        require_expression([each.expr for each in node.expr])
        self.visit(node.p, context)

    def _basic(self, node: Any, context: _Context) -> None:
        triples = patterns(node.triples)
        if not triples:
            raise refused("a group without a pattern", "begin with a pattern of an observation")
        observed, beside = parted(self._mapping, triples)
        found = scans(self._mapping, observed)
        for number, wanted in context.optionals:
            if attach(self._mapping, number, wanted, found):
                self._attached.add(number)
        self.patterns += triples
        self.needs += [_need(scan, context.bounds, beside) for scan in found]

    def _left_join(self, node: Any, context: _Context) -> None:
        """What an OPTIONAL says of a row is read with the row."""
        if node.p2.name != "BGP":
            raise refused("OPTIONAL with more than patterns and FILTER", "take its parts apart")
        if getattr(node.expr, "name", "") != "TrueFilter":
            require_expression(node.expr)
        triples = patterns(node.p2.triples)
        observed, _ = parted(self._mapping, triples)
        self.patterns += triples
        if not observed:
            self.visit(node.p1, context)
            return
        self._numbers += 1
        number = self._numbers
        optionals = (*context.optionals, (number, tuple(observed)))
        self.visit(node.p1, replace(context, optionals=optionals))
        if number not in self._attached:
            raise refused(
                "OPTIONAL about something else than an observation that is there",
                "begin it with a variable that is an observation, a result or an instant",
            )

    def _aggregate(self, node: Any, context: _Context) -> None:
        """Filters above look at groups, so none of their bounds goes down."""
        del context
        keys = set(map(str, node.p.expr or []))
        for call in node.A:
            if call.name != "Aggregate_Sample":
                require_expression(call)
            elif str(call.vars) not in keys:
                raise refused(
                    f"?{call.vars} beside aggregates", "put it into GROUP BY or into an aggregate"
                )
        self.visit(node.p.p, _Context())

    def _multiset(self, node: Any, context: _Context) -> None:
        """A subselect may be cut or grouped before a filter is asked; VALUES read nothing."""
        del context
        if node.p.name != "values":
            self.visit(node.p, _Context())
            return
        if not node.p.res:
            raise refused("VALUES without a row", "name what you look for")
        for row in node.p.res:
            for value in row.values():
                if value != "UNDEF":
                    constant(value)


def parted(
    mapping: ShapeMapping, triples: Iterable[Pattern]
) -> tuple[list[Pattern], list[Pattern]]:
    """The patterns that rows state, and those that none does: these are of everything else."""
    observed: list[Pattern] = []
    beside: list[Pattern] = []
    for group in grouped(triples).values():
        roles = [
            {role for role in mapping.roles if mapping.candidates(role, pattern)}
            for pattern in group
        ]
        fitting = [each for each in roles if each]
        keeps = set.intersection(*fitting) if fitting else set()
        if fitting and not keeps:
            # No row's subject has all of these; a sensor may have the rest in the store.
            keeps = set(mapping.roles) - KEYS
        for pattern, of in zip(group, roles, strict=True):
            (observed if of & keeps else beside).append(pattern)
    return observed, beside


def _need(scan: Scan, bounds: Mapping[str, Bound], beside: Sequence[Pattern]) -> Need:
    bound_beside = {
        each.name
        for pattern in beside
        for each in (pattern.subject, pattern.object)
        if isinstance(each, Variable)
    }
    marks = {
        use.node.name: use.part.name
        for use in scan.uses
        if isinstance(use.node, Variable)
        and isinstance(use.part, Mark)
        and use.part.is_iri
        and use.node.name in bound_beside
    }
    distinct = _marks_of(scan) if scan.distinct else ()
    return Need(scan, needed(scan, bounds), distinct, marks, tuple(beside) if marks else ())


def _marks_of(scan: Scan) -> tuple[str, ...]:
    marks = (use.part.name for use in scan.uses if isinstance(use.part, Mark))
    return tuple(dict.fromkeys(marks))


def _is_empty(node: CompValue) -> bool:
    return bool(node.name == "BGP" and not node.triples)
