"""An RDF term as columns: one facet for each kind of term, null where the term is not of it.

Place on the way of the data: what variables and expressions are in Spark. A facet that a term never
has is not there, so a filter on a sensor or a time is one comparison that Parquet can be asked.
Numbers are exact: xsd:integer and xsd:decimal are decimal(38,18), as in the gateway's store; what
that cannot hold, or what the store would compare in a way that is not built here, raises when a row
has it, and the query fails with the reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import Final

from pyoxigraph import NamedNode
from pyspark.sql import Column
from pyspark.sql import functions as F

from jsap.shapes.nodes import DATE_TIME, Constant, instant
from jsap.shapes.refusal import refused
from spark_batch.schema import BOOLEAN, NUMERIC, XSD
from spark_batch.transforms.lines import lexical_form
from spark_batch.transforms.terms import stamp

EXACT: Final = "decimal(38,18)"
INTEGER, DECIMAL, DOUBLE = XSD + "integer", XSD + "decimal", XSD + "double"
STRING = XSD + "string"
KINDS: Final = ("iri", "exact", "floating", "boolean", "time", "text", "opaque")
"""The facets; literals of exact, floating and opaque also have `datatype`."""

_INTEGERS = tuple(each for each in NUMERIC if each not in (DECIMAL, DOUBLE, XSD + "float"))
_NOT_COMPARED = tuple(
    XSD + name
    for name in (
        *("float", "dateTime", "dateTimeStamp", "date", "time", "duration", "dayTimeDuration"),
        *("yearMonthDuration", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"),
    )
)
"""Datatypes that the store compares by value and the archive does not."""

Comparison = Callable[[Column, Column], Column]


@dataclass(frozen=True, slots=True)
class Term:
    """Facets by name: a term is of the kind whose facet is not null, unbound where all are."""

    facets: Mapping[str, Column]

    @property
    def kinds(self) -> list[str]:
        """The kinds that the term can be of."""
        return [kind for kind in KINDS if kind in self.facets]

    def __getitem__(self, facet: str) -> Column:
        return self.facets[facet]

    def where(self, condition: Column) -> "Term":
        """The term where a condition is true, else unbound."""
        return Term({name: F.when(condition, each) for name, each in self.facets.items()})

    def is_bound(self) -> Column:
        """Whether there is a term."""
        return reduce(Column.__or__, [self[kind].isNotNull() for kind in self.kinds], F.lit(False))

    def is_number(self) -> Column:
        """Whether it is a number, false where unbound."""
        numbers = [self[kind].isNotNull() for kind in ("exact", "floating") if kind in self.facets]
        return reduce(Column.__or__, numbers, F.lit(False))

    def double(self) -> Column:
        """A number as a double."""
        parts = []
        if "floating" in self.facets:
            parts.append(self["floating"])
        if "exact" in self.facets:
            parts.append(self["exact"].cast("double"))
        return F.coalesce(*parts) if parts else F.lit(None).cast("double")

    def compared(self) -> Column:
        """The opaque facet; raises for a row whose literal the store compares by value."""
        message = F.concat(
            F.lit("a result of the datatype "),
            self["datatype"],
            F.lit(" cannot be compared or grouped in the archive: filter it out by its property"),
        )
        is_special = self["datatype"].isin(*_NOT_COMPARED)
        failed = F.raise_error(message).cast("string")
        return F.when(is_special & self["opaque"].isNotNull(), failed).otherwise(self["opaque"])


NOTHING = Term({})
"""A term that is unbound everywhere."""


def iri(column: Column) -> Term:
    """An IRI."""
    return Term({"iri": column})


def text(column: Column) -> Term:
    """An xsd:string."""
    return Term({"text": column})


def boolean(column: Column) -> Term:
    """An xsd:boolean."""
    return Term({"boolean": column})


def time(column: Column) -> Term:
    """An xsd:dateTime in UTC."""
    return Term({"time": column})


def integer(column: Column) -> Term:
    """An xsd:integer."""
    exact = column.cast(EXACT)
    return Term({"exact": exact, "datatype": F.when(exact.isNotNull(), F.lit(INTEGER))})


def result() -> Term:
    """The result of a row of the archive, as the store would have it."""
    datatype, lexical = F.col("datatype"), F.col("lexical")
    is_integer, is_decimal = datatype.isin(*_INTEGERS), datatype == DECIMAL
    exact = F.when(
        is_integer | is_decimal,
        F.when(lexical.isNull(), F.col("number").cast(EXACT)).otherwise(
            F.when(is_integer, _integer_of(lexical)).otherwise(_decimal_of(lexical))
        ),
    )
    floating = F.when(datatype == DOUBLE, F.col("number"))
    truth = F.when(datatype == BOOLEAN, F.col("boolean"))
    plain = F.when(datatype == STRING, F.col("text"))
    known = reduce(Column.__or__, [each.isNotNull() for each in (exact, floating, truth, plain)])
    told = F.when(exact.isNotNull() & is_integer, F.lit(INTEGER)).otherwise(datatype)
    return Term(
        {
            "exact": exact,
            "floating": floating,
            "boolean": truth,
            "text": plain,
            "opaque": F.when(~known, lexical_form()),
            "datatype": told,
        }
    )


def _integer_of(lexical: Column) -> Column:
    """As the store reads it: 64 bits, else no number."""
    return F.when(lexical.rlike("^[+-]?[0-9]+$"), lexical.try_cast("bigint").cast(EXACT))


def _decimal_of(lexical: Column) -> Column:
    """As the store reads it: 18 digits behind the point, else no number."""
    fits = lexical.rlike(r"^[+-]?([0-9]+(\.[0-9]{0,18}0*)?|\.[0-9]{1,18}0*)$")
    exact = lexical.try_cast(EXACT)
    beyond = F.raise_error(F.concat(F.lit("a decimal beyond 10^20: "), lexical)).cast(EXACT)
    return F.when(fits, F.coalesce(exact, beyond))


def constant(term: Constant) -> Term:
    """A constant of the query; raises QueryError where comparisons would not be exact."""
    if isinstance(term, NamedNode):
        return iri(F.lit(term.value))
    datatype, value = term.datatype.value, term.value
    if datatype == STRING:
        return text(F.lit(value))
    if datatype == BOOLEAN and value in ("true", "false"):
        return boolean(F.lit(value == "true"))
    if datatype == DATE_TIME:
        return time(F.lit(instant(term)))
    if datatype in (INTEGER, DECIMAL) and (number := _exactly(value)) is not None:
        exact = F.lit(number).cast(EXACT)
        return Term({"exact": exact, "datatype": F.lit(datatype)})
    if datatype == DOUBLE:
        return Term({"floating": F.lit(float(value)), "datatype": F.lit(datatype)})
    if datatype in _NOT_COMPARED:
        raise refused(
            f"the constant {term}", "times are compared as xsd:dateTime, numbers as xsd:decimal"
        )
    return Term({"opaque": F.lit(value), "datatype": F.lit(datatype)})


def _exactly(value: str) -> Decimal | None:
    """The number of a canonical literal, None for one that is no number in the store."""
    bare = value.lstrip("-").replace(".", "", 1)
    number = Decimal(value) if bare.isdecimal() else None
    if number is None or abs(number) >= 10**20 or -int(number.as_tuple().exponent) > 18:
        return None
    return number


def same(left: Term, right: Term) -> Column:
    """sameTerm of two bound terms: a join's condition; true, false, or null where unbound."""
    shared = [kind for kind in left.kinds if kind in right.facets]
    conditions = [_identical(left, right, kind) for kind in shared]
    if len(shared) == 1 and left.kinds == right.kinds:
        return conditions[0]
    if not conditions:
        return F.lit(False)
    return F.coalesce(*conditions, F.lit(False))


def _identical(left: Term, right: Term, kind: str) -> Column:
    if kind == "floating":  # -0 and 0, NaN and NaN: by their texts
        equal = left[kind].cast("string") == right[kind].cast("string")
    elif kind == "opaque":
        equal = left.compared() == right.compared()
    else:
        equal = left[kind] == right[kind]
    if kind in ("exact", "floating", "opaque"):
        return equal & (left["datatype"] == right["datatype"])
    return equal


def identity(term: Term) -> Column:
    """A value that is the same for the same terms, null where unbound: to group by."""
    if len(term.kinds) == 1 and term.kinds[0] in ("iri", "text", "boolean", "time"):
        return term[term.kinds[0]]
    parts = []
    for kind in term.kinds:
        column = term.compared() if kind == "opaque" else term[kind]
        pieces = [F.lit(f"{kind} "), column.cast("string")]
        if kind in ("exact", "floating", "opaque"):
            pieces += [F.lit(" "), term["datatype"]]
        parts.append(F.concat(*pieces))
    return F.coalesce(*parts) if parts else F.lit(None).cast("string")


def compare(left: Term, right: Term, operation: Comparison, *, of_equality: bool) -> Column:
    """`=` (of_equality) or an order of two terms: true, false, or null for SPARQL's error.

    The store also orders terms without an order that are the same: they are equal.
    """
    cases = _numbers(left, right, operation, of_equality=of_equality)
    for kind in ("boolean", "time", "text", "iri"):
        if kind in left.facets and kind in right.facets:
            here, there = left[kind], right[kind]
            value = operation(here, there)
            if not of_equality and kind in ("boolean", "iri"):
                value = F.when(here == there, _of_equals(operation))
            cases.append((_both(here, there), value))
    if len(cases) == 1 and left.kinds == right.kinds and len(left.kinds) == 1:
        return cases[0][1]
    cases += _opaque(left, right, operation, of_equality=of_equality)
    if of_equality:
        cases.append((left.is_bound() & right.is_bound(), F.lit(False)))
    chosen = F.lit(None).cast("boolean")
    for condition, value in reversed(cases):
        chosen = F.when(condition, value).otherwise(chosen)
    return chosen


def _numbers(
    left: Term, right: Term, operation: Comparison, *, of_equality: bool
) -> list[tuple[Column, Column]]:
    cases: list[tuple[Column, Column]] = []
    if "exact" in left.facets and "exact" in right.facets:
        both = _both(left["exact"], right["exact"])
        cases.append((both, operation(left["exact"], right["exact"])))
    if not ("floating" in left.facets or "floating" in right.facets):
        return cases
    if _has_number(left) and _has_number(right):
        here, there = left.double(), right.double()
        both_nan = F.when(F.isnan(here) & F.isnan(there), _of_equals(operation))
        undefined = F.lit(False) if of_equality else both_nan
        value = F.when(F.isnan(here) | F.isnan(there), undefined).otherwise(operation(here, there))
        cases.append((_both(here, there), value))
    return cases


def _has_number(term: Term) -> bool:
    return "exact" in term.facets or "floating" in term.facets


def _of_equals(operation: Comparison) -> Column:
    """What an operator says of equal things."""
    return operation(F.lit(0), F.lit(0))


def _opaque(
    left: Term, right: Term, operation: Comparison, *, of_equality: bool
) -> list[tuple[Column, Column]]:
    """Literals that nobody understands are equal or nobody knows; IRIs are none of them."""
    cases: list[tuple[Column, Column]] = []
    null = F.lit(None).cast("boolean")
    if "opaque" in left.facets and "opaque" in right.facets:
        same_datatype = left["datatype"] == right["datatype"]
        equal = (left.compared() == right.compared()) & same_datatype
        cases.append((_both(left["opaque"], right["opaque"]), F.when(equal, _of_equals(operation))))
    for one, other in ((left, right), (right, left)):
        if "opaque" in one.facets:
            is_literal = other.is_bound()
            if "iri" in other.facets and of_equality:
                is_literal &= other["iri"].isNull()
            cases.append((one.compared().isNotNull() & is_literal, null))
    return cases


def _both(left: Column, right: Column) -> Column:
    return left.isNotNull() & right.isNotNull()


def truth(term: Term) -> Column:
    """The effective boolean value: true, false, or null for an error."""
    values: dict[str, Callable[[], Column]] = {
        "boolean": lambda: term["boolean"],
        "exact": lambda: term["exact"] != 0,
        "floating": lambda: (term["floating"] != 0) & ~F.isnan(term["floating"]),
        "text": lambda: F.length(term["text"]) > 0,
    }
    found = [value() for kind, value in values.items() if kind in term.facets]
    if term.kinds == ["boolean"]:
        return term["boolean"]
    return F.coalesce(*found) if found else F.lit(None).cast("boolean")


def as_text(term: Term) -> Column:
    """STR: what is between the quotes of the canonical literal, or the IRI."""
    forms: dict[str, Callable[[], Column]] = {
        "iri": lambda: term["iri"],
        "text": lambda: term["text"],
        "exact": lambda: F.regexp_replace(term["exact"].cast("string"), r"\.?0+$", ""),
        "boolean": lambda: term["boolean"].cast("string"),
        "time": lambda: stamp(term["time"]),
        "floating": lambda: F.when(
            term["floating"].isNotNull(),
            F.raise_error(F.lit("STR of an xsd:double is not built")).cast("string"),
        ),
        "opaque": term.compared,
    }
    found = [form() for kind, form in forms.items() if kind in term.facets]
    return F.coalesce(*found) if found else F.lit(None).cast("string")


def datatype_of(term: Term) -> Term:
    """DATATYPE: an IRI, unbound for what is no literal."""
    kinds = {"boolean": BOOLEAN, "time": DATE_TIME, "text": STRING}
    cases = [
        F.when(term[kind].isNotNull(), F.lit(datatype))
        for kind, datatype in kinds.items()
        if kind in term.facets
    ]
    if "datatype" in term.facets:
        stamps = term["datatype"] == XSD + "dateTimeStamp"
        cases.append(F.when(stamps, F.lit(DATE_TIME)).otherwise(term["datatype"]))
    return iri(F.coalesce(*cases)) if cases else NOTHING
