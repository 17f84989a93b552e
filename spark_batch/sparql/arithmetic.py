"""Arithmetic as the store does it: exact for integers and decimals, IEEE for doubles.

Place on the way of the data: under expressions and aggregates. Where a result would not be exact in
38 digits, Spark raises and the query fails; nothing is rounded that the store does not round.
"""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_batch.sparql.term import DECIMAL, DOUBLE, EXACT, INTEGER, Term

_LARGEST = 9_223_372_036_854_775_807


def add(left: Term, right: Term) -> Term:
    """The sum; unbound where one is no number."""
    exact = _wide(left) + _wide(right) if _exact(left, right) else None
    return _number(left, right, exact, left.double() + right.double())


def subtract(left: Term, right: Term) -> Term:
    """The difference; unbound where one is no number."""
    exact = _wide(left) - _wide(right) if _exact(left, right) else None
    return _number(left, right, exact, left.double() - right.double())


def multiply(left: Term, right: Term) -> Term:
    """The product; of exact factors one is whole, or both have nine digits behind the point."""
    exact = _product(left["exact"], right["exact"]) if _exact(left, right) else None
    return _number(left, right, exact, left.double() * right.double())


def _product(left: Column, right: Column) -> Column:
    """18 digits behind the point hold it in each of three ways, else it raises."""
    product = _lossless(left, "decimal(18,9)") * _lossless(right, "decimal(19,9)")
    for one, other in ((left, right), (right, left)):
        wide, whole_number = one.try_cast("decimal(27,18)"), other.try_cast("decimal(10,0)")
        fits = F.coalesce(wide.isNotNull() & (whole_number == other), F.lit(False))
        product = F.when(fits, wide * whole_number).otherwise(product)
    return product


def divide(left: Term, right: Term) -> Term:
    """The quotient; an exact divisor is whole and has at most ten digits."""
    exact = None
    if _exact(left, right):
        divisor = _lossless(right["exact"], "decimal(10,0)")
        exact = quotient(left["exact"], divisor)
    zero = F.raise_error(F.lit("an xsd:double divided by zero")).cast("double")
    floating = F.when(right.double() == 0, zero).otherwise(left.double() / right.double())
    return _number(left, right, exact, floating, datatype=F.lit(DECIMAL))


def quotient(dividend: Column, divisor: Column) -> Column:
    """Cut after 18 digits as the store does, null for a division by zero.

    The whole part is exact; of the rest 28 digits are computed, and with a divisor below 2 * 10^10
    rounding cannot reach the 18th.
    """
    nonzero = F.when(divisor != 0, divisor)
    rest = dividend % nonzero
    wholes = ((dividend - rest) / nonzero).cast("decimal(19,0)")
    fraction = rest.cast("decimal(28,18)") / nonzero
    cut = F.when(fraction >= 0, F.floor(fraction, F.lit(18))).otherwise(F.ceil(fraction, F.lit(18)))
    return (wholes + cut.cast("decimal(19,18)")).cast(EXACT)


def negate(term: Term) -> Term:
    """The number with the other sign."""
    facets: dict[str, Column] = {}
    if "exact" in term.facets:
        facets["exact"] = (-term["exact"]).cast(EXACT)
    if "floating" in term.facets:
        facets["floating"] = -term["floating"]
    return _with_datatype(facets, term)


def whole(term: Term, name: str) -> Term:
    """ABS, CEIL, FLOOR and ROUND, which keep the datatype; ROUND goes up at a half."""
    functions: dict[str, Callable[[Column], Column]] = {
        "ABS": F.abs,
        "CEIL": F.ceil,
        "FLOOR": F.floor,
        "ROUND": lambda number: F.floor(number + F.lit(0.5).cast("decimal(2,1)")),
    }
    facets: dict[str, Column] = {}
    if "exact" in term.facets:
        facets["exact"] = functions[name](term["exact"].cast("decimal(37,18)")).cast(EXACT)
    if "floating" in term.facets:
        beyond = F.raise_error(F.lit(f"{name} of an xsd:double is not built")).cast("double")
        facets["floating"] = F.when(term["floating"].isNotNull(), beyond)
    return _with_datatype(facets, term)


def checked(exact: Column, datatype: Column) -> Column:
    """The number; raises for an integer of more than 64 bits, which the store has not."""
    too_large = (datatype == INTEGER) & (F.abs(exact) > F.lit(_LARGEST).cast(EXACT))
    return F.when(too_large, F.raise_error(F.lit("an integer beyond 64 bits"))).otherwise(exact)


def _exact(left: Term, right: Term) -> bool:
    return "exact" in left.facets and "exact" in right.facets


def _wide(term: Term) -> Column:
    return term["exact"].cast("decimal(37,18)")


def _lossless(number: Column, kind: str) -> Column:
    """A narrower decimal; raises where that is another number."""
    told = F.concat(
        F.lit("exact only to fewer digits; write the other as a double (2e0): "),
        number.cast("string"),
    )
    narrow = number.try_cast(kind)
    fits = F.coalesce(narrow == number, number.isNull())
    return F.when(fits, narrow).otherwise(F.raise_error(told).cast(kind))


def _number(
    left: Term,
    right: Term,
    exact: Column | None,
    floating: Column,
    datatype: Column | None = None,
) -> Term:
    facets: dict[str, Column] = {}
    told = F.lit(DOUBLE)
    if exact is not None:
        both = (left["datatype"] == INTEGER) & (right["datatype"] == INTEGER)
        of_exact = F.when(both, F.lit(INTEGER)).otherwise(F.lit(DECIMAL))
        if datatype is not None:
            of_exact = datatype
        facets["exact"] = checked(exact.cast(EXACT), of_exact)
        told = F.when(exact.isNotNull(), of_exact).otherwise(told)
    if "floating" in left.facets or "floating" in right.facets:
        floats = [
            each["floating"].isNotNull() for each in (left, right) if "floating" in each.facets
        ]
        is_floating = floats[0] if len(floats) == 1 else floats[0] | floats[1]
        facets["floating"] = F.when(is_floating, floating)
    numbers = left.is_number() & right.is_number()
    return Term(facets | {"datatype": F.when(numbers, told)}) if facets else Term({})


def _with_datatype(facets: dict[str, Column], term: Term) -> Term:
    if not facets:
        return Term({})
    return Term(facets | {"datatype": F.when(term.is_number(), term["datatype"])})
