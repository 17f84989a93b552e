"""COUNT, SUM, AVG, MIN and MAX over groups, as the store computes them.

Place on the way of the data: between solutions and the translation. SPARQL 1.1 Query, 18.5.1: one
value that is unbound or no number makes SUM, AVG, MIN and MAX of its group unbound. Sums of
integers and decimals are exact and an average is cut after 18 digits; sums of xsd:double are added
in no fixed order, as in any store.
"""

from functools import reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from jsap.shapes.subset import require_aggregate
from spark_batch.sparql.arithmetic import checked, quotient
from spark_batch.sparql.expressions import Scope, evaluate
from spark_batch.sparql.term import DECIMAL, DOUBLE, EXACT, INTEGER, Term, identity, integer

_COMPARED = (("exact", "floating"), ("time",), ("text",), ("boolean",), ("iri",))


def aggregate(call: Any, scope: Scope) -> Term:
    """The term of an aggregate, to be computed for each group; raises QueryError."""
    name = call.name.removeprefix("Aggregate_")
    require_aggregate(name, call)
    if call.vars == "*":
        return integer(F.count(F.lit(1)))
    term = evaluate(call.vars, scope)
    if name == "Count":
        if call.distinct:
            return integer(F.count_distinct(identity(term)))
        return integer(F.count(F.when(term.is_bound(), F.lit(1))))
    if name in ("Sum", "Avg"):
        return _sum(term, is_mean=name == "Avg")
    return _extreme(term, name)


def _sum(term: Term, *, is_mean: bool) -> Term:
    nothing = F.lit(None)
    exact = F.sum(term.facets.get("exact", nothing).cast(EXACT))
    floating = F.sum(term.facets.get("floating", nothing).cast("double"))
    rows, floats = F.count(F.lit(1)), F.count(term.facets.get("floating", nothing))
    is_whole = F.coalesce(F.bool_and(_datatype(term) == INTEGER), F.lit(True))
    good = F.count_if(~term.is_number()) == 0
    datatype = F.when(is_whole, F.lit(INTEGER)).otherwise(F.lit(DECIMAL))
    total = F.coalesce(exact, F.lit(0).cast(EXACT))
    double = F.coalesce(floating, F.lit(0.0)) + total.cast("double")
    if is_mean:
        datatype = F.when(rows == 0, F.lit(INTEGER)).otherwise(F.lit(DECIMAL))
        mean = quotient(total, rows.cast("decimal(10,0)"))
        total = F.coalesce(mean, F.lit(0).cast(EXACT))
        double = double / F.when(rows != 0, rows)
    return Term(
        {
            "exact": F.when(good & (floats == 0), checked(total, datatype)),
            "floating": F.when(good & (floats > 0), double),
            "datatype": F.when(good, F.when(floats > 0, F.lit(DOUBLE)).otherwise(datatype)),
        }
    )


def _extreme(term: Term, name: str) -> Term:
    """The least or the greatest; raises for a group with values that have no order."""
    best = F.min if name == "Min" else F.max
    all_bound = F.count_if(~term.is_bound()) == 0
    facets: dict[str, Column] = {}
    for kind in term.kinds:
        if kind != "opaque":
            facets[kind] = best(term[kind])
    if "exact" in facets and "floating" in facets:
        facets |= _of_both(facets, name)
    if "exact" in facets:
        by = F.min_by if name == "Min" else F.max_by
        of_exact = by(_datatype(term), term["exact"])
        told = F.when(facets["exact"].isNotNull(), of_exact)
        facets["datatype"] = F.coalesce(told, F.lit(DOUBLE)) if "floating" in facets else told
    elif "floating" in facets:
        facets["datatype"] = F.lit(DOUBLE)
    usable = all_bound & _is_ordered(term, name)
    return Term({facet: F.when(usable, column) for facet, column in facets.items()})


def _of_both(facets: dict[str, Column], name: str) -> dict[str, Column]:
    """Only the better of the best exact number and the best double."""
    exact, floating = facets["exact"], facets["floating"]
    here = exact.cast("double")
    exact_wins = here <= floating if name == "Min" else here >= floating
    exact_wins = F.coalesce(exact_wins, exact.isNotNull())
    return {"exact": F.when(exact_wins, exact), "floating": F.when(~exact_wins, floating)}


def _is_ordered(term: Term, name: str) -> Column:
    """True; raises where values are of kinds without a common order, or NaN."""
    kinds = [
        reduce(Column.__or__, [F.count(term[kind]) > 0 for kind in group if kind in term.facets])
        for group in _COMPARED
        if any(kind in term.facets for kind in group)
    ]
    many = reduce(Column.__add__, [kind.cast("int") for kind in kinds], F.lit(0)) > 1
    wrong = many
    if "opaque" in term.facets:
        wrong |= F.count(term["opaque"]) > 0
    if "floating" in term.facets:
        wrong |= F.count_if(F.isnan(term["floating"])) > 0
    message = f"{name.upper()} of values without a common order: filter them by property"
    failed = F.raise_error(F.lit(message)).cast("boolean")
    return F.when(wrong, failed).otherwise(F.lit(True))


def _datatype(term: Term) -> Column:
    return term.facets.get("datatype", F.lit(None).cast("string"))
