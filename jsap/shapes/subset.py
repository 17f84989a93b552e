"""The subset of SPARQL that is answered over time, by the names that rdflib's algebra has for it.

Both engines take what is here and refuse the rest: a query that one has answered the other answers.
"""

from collections.abc import Mapping
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Literal

from jsap.shapes.nodes import constant
from jsap.shapes.refusal import refused

OPERATORS = frozenset(
    {
        *("BGP", "Join", "LeftJoin", "Union", "Filter", "Extend", "AggregateJoin", "ToMultiSet"),
        *("Project", "Distinct", "OrderBy", "Slice"),
    }
)
AGGREGATES = ("Count", "Sum", "Avg", "Min", "Max")
FORMS = frozenset(
    {
        *("ConditionalAndExpression", "ConditionalOrExpression", "UnaryNot"),
        *("RelationalExpression", "AdditiveExpression", "MultiplicativeExpression"),
        *("UnaryMinus", "UnaryPlus", "Function"),
    }
)
FUNCTIONS = frozenset(
    {
        *("BOUND", "STR", "DATATYPE", "STRLEN", "STRSTARTS", "STRENDS", "CONTAINS", "STRBEFORE"),
        *("STRAFTER", "CONCAT", "ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC", "SAMETERM"),
        *("COALESCE", "IF", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS"),
        *("ABS", "CEIL", "FLOOR", "ROUND"),
    }
)
_CASTS = tuple(f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("string", "double"))
_HINTS: Mapping[str, str] = {
    "Graph": "the archive is one graph; leave GRAPH out",
    "Minus": "say with FILTER what must not be",
    "ServiceGraphPattern": "ask the other endpoint by itself",
}


def require_operator(name: str) -> None:
    """Raise QueryError for an operator that is not in the subset."""
    if name not in OPERATORS:
        hint = _HINTS.get(name, "docs/archive.md has what there is")
        raise refused(name.removesuffix("GraphPattern").upper(), hint)


def require_expression(expression: Any) -> None:
    """Raise QueryError for what is not in the subset, anywhere in an expression or a list."""
    if isinstance(expression, CompValue):
        _require_form(expression)
        for each in expression.values():
            require_expression(each)
    elif isinstance(expression, list):
        for each in expression:
            require_expression(each)
    elif isinstance(expression, Literal):
        constant(expression)


def _require_form(expression: CompValue) -> None:
    name = expression.name
    if name.startswith("Builtin_"):
        require_function(name.removeprefix("Builtin_"))
    elif name.startswith("Aggregate_"):
        require_aggregate(name.removeprefix("Aggregate_"), expression)
    elif name not in FORMS:
        raise refused(
            f"the expression {name}", "FILTER, BIND and SELECT have what docs/archive.md lists"
        )
    elif name == "Function" and str(expression.iri) not in _CASTS:
        raise refused(
            f"the function <{expression.iri}>",
            "of casts there are xsd:string, and xsd:double of a number",
        )


def require_function(name: str) -> None:
    """Raise QueryError for a function that is not in the subset."""
    if name.upper() not in FUNCTIONS:
        raise refused(f"{name}()", f"there are {', '.join(sorted(FUNCTIONS))}")


def require_aggregate(name: str, call: Any) -> None:
    """Raise QueryError for an aggregate that is not in the subset."""
    if name not in AGGREGATES:
        raise refused(f"the aggregate {name.upper()}", f"there are {', '.join(AGGREGATES).upper()}")
    if call.distinct and name not in ("Count", "Min", "Max"):
        raise refused(f"{name.upper()}(DISTINCT …)", "COUNT, MIN and MAX may be DISTINCT")
    if call.vars == "*" and call.distinct:
        raise refused("COUNT(DISTINCT *)", "count one variable")
