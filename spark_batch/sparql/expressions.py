"""Expressions of a query as columns; an error of SPARQL is null, and AND, OR and NOT are SQL's.

Place on the way of the data: under FILTER, BIND, SELECT, HAVING and ORDER BY. SPARQL's logic with
errors (17.2) and SQL's with null are the same tables.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Identifier
from rdflib.term import Variable as RdflibVariable

from jsap.shapes.nodes import constant
from jsap.shapes.refusal import refused
from jsap.shapes.subset import require_function
from spark_batch.sparql import arithmetic
from spark_batch.sparql.term import (
    EXACT,
    KINDS,
    NOTHING,
    Comparison,
    Term,
    as_text,
    boolean,
    compare,
    datatype_of,
    integer,
    same,
    text,
    truth,
)
from spark_batch.sparql.term import constant as constant_term

Scope = Mapping[str, Term]
_Arguments = Sequence[Term]

_ORDERS: dict[str, Comparison] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_STEPS = {"+": arithmetic.add, "-": arithmetic.subtract}
_FACTORS = {"*": arithmetic.multiply, "/": arithmetic.divide}


def evaluate(expression: Any, scope: Scope) -> Term:
    """The term of an expression; raises QueryError for what is not in the subset."""
    if isinstance(expression, RdflibVariable):
        return scope.get(str(expression), NOTHING)
    if isinstance(expression, Identifier) and not isinstance(expression, BNode):
        return constant_term(constant(expression))
    name = expression.name if isinstance(expression, CompValue) else type(expression).__name__
    known = _FORMS.get(name)
    if known is not None:
        return known(expression, scope)
    if name.startswith("Builtin_"):
        return _builtin(name.removeprefix("Builtin_"), expression, scope)
    raise refused(
        f"the expression {name}", "FILTER, BIND and SELECT have what docs/archive.md lists"
    )


def condition(expression: Any, scope: Scope) -> Column:
    """The effective boolean value of an expression: true, false, or null for an error."""
    return truth(evaluate(expression, scope))


def _logic(combine: Callable[[Column, Column], Column]) -> Callable[[Any, Scope], Term]:
    def combined(expression: Any, scope: Scope) -> Term:
        parts = [expression.expr, *expression.other]
        return boolean(reduce(combine, [condition(part, scope) for part in parts]))

    return combined


def _not(expression: Any, scope: Scope) -> Term:
    return boolean(~condition(expression.expr, scope))


def _relation(expression: Any, scope: Scope) -> Term:
    left, name = evaluate(expression.expr, scope), str(expression.op)
    if name in ("IN", "NOT IN"):
        listed = expression.other if isinstance(expression.other, list) else []
        cases = [_equal(left, evaluate(each, scope)) for each in listed]
        found = reduce(Column.__or__, cases, F.lit(False))
        return boolean(found if name == "IN" else ~found)
    right = evaluate(expression.other, scope)
    if name in ("=", "!="):
        equal = _equal(left, right)
        return boolean(equal if name == "=" else ~equal)
    return boolean(compare(left, right, _ORDERS[name], of_equality=False))


def _equal(left: Term, right: Term) -> Column:
    return compare(left, right, operator.eq, of_equality=True)


def _chain(steps: Mapping[str, Callable[[Term, Term], Term]]) -> Callable[[Any, Scope], Term]:
    def computed(expression: Any, scope: Scope) -> Term:
        value = evaluate(expression.expr, scope)
        for name, other in zip(expression.op, expression.other, strict=True):
            operand = evaluate(other, scope)
            if "time" in value.facets or "time" in operand.facets:
                raise refused(f"{name} with a time", "compute with the times of the answer")
            value = steps[str(name)](value, operand)
        return value

    return computed


def _function(expression: Any, scope: Scope) -> Term:
    name = str(expression.iri)
    arguments = [evaluate(each, scope) for each in expression.expr]
    if name.endswith("#string") and len(arguments) == 1:
        return text(as_text(arguments[0]))
    if name.endswith("#double") and len(arguments) == 1 and "text" not in arguments[0].facets:
        number = arguments[0].double()
        return Term({"floating": number, "datatype": F.when(number.isNotNull(), F.lit(name))})
    raise refused(
        f"the function <{name}>", "of casts there are xsd:string, and xsd:double of a number"
    )


_FORMS: dict[str, Callable[[Any, Scope], Term]] = {
    "ConditionalAndExpression": _logic(Column.__and__),
    "ConditionalOrExpression": _logic(Column.__or__),
    "UnaryNot": _not,
    "RelationalExpression": _relation,
    "AdditiveExpression": _chain(_STEPS),
    "MultiplicativeExpression": _chain(_FACTORS),
    "UnaryMinus": lambda each, scope: arithmetic.negate(evaluate(each.expr, scope)),
    "UnaryPlus": lambda each, scope: arithmetic.negate(
        arithmetic.negate(evaluate(each.expr, scope))
    ),
    "Function": _function,
}


def _builtin(name: str, expression: Any, scope: Scope) -> Term:
    if name == "BOUND":
        return boolean(evaluate(expression.arg, scope).is_bound())
    arguments = [evaluate(each, scope) for each in _arguments(expression)]
    require_function(name)
    return _BUILTINS[name.upper()](arguments)


def _arguments(expression: Any) -> list[Any]:
    if "arg" in expression:
        given = expression.arg
        return list(given) if isinstance(given, list) else [given]
    return [expression[name] for name in ("arg1", "arg2", "arg3") if name in expression]


def _plain(term: Term) -> Column:
    """The text of an xsd:string; other literals are an error."""
    return term.facets.get("text", F.lit(None).cast("string"))


def _texts(combine: Callable[[Column, Column], Column]) -> Callable[[_Arguments], Term]:
    return lambda given: boolean(combine(_plain(given[0]), _plain(given[1])))


def _around(given: _Arguments, *, before: bool) -> Term:
    """STRBEFORE and STRAFTER: empty where there is no such part, all of it after nothing."""
    whole, part = _plain(given[0]), _plain(given[1])
    place = F.instr(whole, part)
    if before:
        found = F.substring(whole, F.lit(1), place - 1)
    else:
        found = F.substring(whole, place + F.length(part), F.length(whole))
    nothing = F.when(whole.isNotNull() & part.isNotNull(), F.lit(""))
    empty = nothing if before else F.when(part.isNotNull(), whole)
    return text(F.when(F.length(part) == 0, empty).when(place > 0, found).otherwise(nothing))


def _moment(part: Callable[[Column], Column]) -> Callable[[_Arguments], Term]:
    def taken(given: _Arguments) -> Term:
        if "opaque" in given[0].facets:
            raise refused("a part of a result's time", "ask for that of sosa:resultTime")
        return integer(part(given[0].facets.get("time", F.lit(None).cast("timestamp"))))

    return taken


def _seconds(given: _Arguments) -> Term:
    exact = F.extract(F.lit("SECOND"), given[0].facets.get("time", F.lit(None).cast("timestamp")))
    return Term(
        {
            "exact": exact.cast(EXACT),
            "datatype": F.when(
                exact.isNotNull(), F.lit("http://www.w3.org/2001/XMLSchema#decimal")
            ),
        }
    )


def _is(*kinds: str) -> Callable[[_Arguments], Term]:
    def judged(given: _Arguments) -> Term:
        term = given[0]
        found = [term[kind].isNotNull() for kind in kinds if kind in term.facets]
        is_one = reduce(Column.__or__, found, F.lit(False))
        return boolean(F.when(term.is_bound(), is_one))

    return judged


def coalesce(terms: Sequence[Term]) -> Term:
    """The first that is bound."""
    chosen = terms[-1]
    for term in reversed(terms[:-1]):
        chosen = choose(term.is_bound(), term, chosen)
    return chosen


def choose(decision: Column, yes: Term, no: Term) -> Term:
    """`yes` where a decision is true, `no` where it is false or null."""
    names = [name for name in (*KINDS, "datatype") if name in yes.facets or name in no.facets]
    return Term(
        {
            name: F.when(decision, _facet(yes, name, no)).otherwise(_facet(no, name, yes))
            for name in names
        }
    )


def _facet(term: Term, name: str, other: Term) -> Column:
    """A facet, or null of the type that the other one's has."""
    found = term.facets.get(name)
    return F.when(F.lit(False), other[name]) if found is None else found


def _if(given: _Arguments) -> Term:
    decision = truth(given[0])
    return choose(decision, given[1], given[2]).where(decision.isNotNull())


_BUILTINS: dict[str, Callable[[_Arguments], Term]] = {
    "STR": lambda given: text(as_text(given[0])),
    "DATATYPE": lambda given: datatype_of(given[0]),
    "STRLEN": lambda given: integer(F.length(_plain(given[0]))),
    "STRSTARTS": _texts(F.startswith),
    "STRENDS": _texts(F.endswith),
    "CONTAINS": _texts(F.contains),
    "STRBEFORE": lambda given: _around(given, before=True),
    "STRAFTER": lambda given: _around(given, before=False),
    "CONCAT": lambda given: text(F.concat(*map(_plain, given)) if given else F.lit("")),
    "ISIRI": _is("iri"),
    "ISURI": _is("iri"),
    "ISBLANK": _is(),
    "ISLITERAL": _is("exact", "floating", "boolean", "time", "text", "opaque"),
    "ISNUMERIC": _is("exact", "floating"),
    "SAMETERM": lambda given: boolean(
        F.when(given[0].is_bound() & given[1].is_bound(), same(given[0], given[1]))
    ),
    "COALESCE": coalesce,
    "IF": _if,
    "YEAR": _moment(F.year),
    "MONTH": _moment(F.month),
    "DAY": _moment(F.dayofmonth),
    "HOURS": _moment(F.hour),
    "MINUTES": _moment(F.minute),
    "SECONDS": _seconds,
    **{
        name: (lambda given, name=name: arithmetic.whole(given[0], name))  # type: ignore[misc]
        for name in ("ABS", "CEIL", "FLOOR", "ROUND")
    },
}
