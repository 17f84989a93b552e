"""Solutions as frames of Spark: a column for each facet of each variable, and their algebra.

Place on the way of the data: between terms and the translation. SPARQL 1.1 Query, section 18.5;
bags are bags: nothing is made distinct that the query does not ask to be.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jsap.shapes.refusal import refused
from spark_batch.sparql.term import Term, identity, same

_RIGHT = "right "


def column_name(variable: str, facet: str) -> str:
    """The column of a facet; Spark tells no case of letters apart, SPARQL does."""
    told = "".join(f"^{each}" if each.isupper() else each for each in variable)
    return f"{told} {facet}"


@dataclass(frozen=True, slots=True)
class Solutions:
    """Rows and the facets of their variables; those in `partial` may be unbound."""

    rows: DataFrame
    variables: Mapping[str, tuple[str, ...]]
    partial: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, rows: DataFrame, terms: Mapping[str, Term], partial: Iterable[str] = ()
    ) -> "Solutions":
        """The terms of each row and nothing else."""
        columns = [
            column.alias(column_name(name, facet))
            for name, term in terms.items()
            for facet, column in term.facets.items()
        ]
        variables = {name: tuple(term.facets) for name, term in terms.items()}
        return cls(rows.select(*columns), variables, frozenset(partial))

    @property
    def scope(self) -> dict[str, Term]:
        """The term of each variable."""
        return {name: _term(name, facets) for name, facets in self.variables.items()}

    def where(self, condition: Column) -> "Solutions":
        """The solutions for which a condition is true."""
        return Solutions(self.rows.where(condition), self.variables, self.partial)

    def extend(self, terms: Mapping[str, Term], *, partial: bool = True) -> "Solutions":
        """The solutions with further variables."""
        further = terms if partial else ()
        return Solutions.of(self.rows, {**self.scope, **terms}, {*self.partial, *further})

    def project(self, names: Sequence[str]) -> "Solutions":
        """With these variables alone; those that are never bound stay so."""
        scope = self.scope
        kept = {name: scope[name] for name in names if name in scope}
        return Solutions.of(self.rows, kept, self.partial & kept.keys())

    def join(self, other: "Solutions") -> "Solutions":
        """Compatible solutions, on the variables that both have."""
        shared = sorted(self.variables.keys() & other.variables.keys())
        for name in shared:
            if name in self.partial or name in other.partial:
                raise refused(
                    f"?{name} in two patterns, which may be unbound in one,",
                    "give it another name in OPTIONAL, BIND or UNION",
                )
        right = {_RIGHT + name: term for name, term in other.scope.items()}
        moved = Solutions.of(other.rows, right)
        both = self.scope | moved.scope
        conditions = [same(both[name], both[_RIGHT + name]) for name in shared]
        if conditions:
            rows = self.rows.join(moved.rows, reduce(Column.__and__, conditions))
        else:
            rows = self.rows.crossJoin(moved.rows)
        added = {name: both[_RIGHT + name] for name in other.variables if name not in shared}
        return Solutions.of(rows, self.scope | added, self.partial | other.partial)

    def union(self, other: "Solutions") -> "Solutions":
        """The solutions of both."""
        names = {**self.variables, **other.variables}
        lacking = {
            name for name in names if name not in self.variables or name not in other.variables
        }
        variables = {
            name: tuple(
                dict.fromkeys((*self.variables.get(name, ()), *other.variables.get(name, ())))
            )
            for name in names
        }
        rows = self.rows.unionByName(other.rows, allowMissingColumns=True)
        return Solutions(rows, variables, self.partial | other.partial | lacking)

    def distinct(self) -> "Solutions":
        """Each solution once."""
        keys = {f"key {number}": identity(term) for number, term in enumerate(self.scope.values())}
        if not keys:
            return Solutions(self.rows.limit(1), self.variables, self.partial)
        rows = self.rows.withColumns(keys).dropDuplicates(list(keys)).drop(*keys)
        return Solutions(rows, self.variables, self.partial)

    def ordered(self, keys: Sequence[tuple[Term, bool]]) -> "Solutions":
        """By terms, each ascending or (True) descending: unbound, IRIs, literals."""
        columns = [
            column.desc() if descending else column.asc()
            for term, descending in keys
            for column in _order(term)
        ]
        return Solutions(self.rows.orderBy(*columns), self.variables, self.partial)

    def slice(self, start: int, length: int | None) -> "Solutions":
        """OFFSET and LIMIT."""
        rows = self.rows.offset(start) if start else self.rows
        rows = rows if length is None else rows.limit(length)
        return Solutions(rows, self.variables, self.partial)


def _term(name: str, facets: Iterable[str]) -> Term:
    return Term({facet: F.col(f"`{column_name(name, facet)}`") for facet in facets})


def _order(term: Term) -> list[Column]:
    """What to sort by; SPARQL leaves the order of literals of two kinds open."""
    rank = reduce(
        lambda otherwise, kind: F.when(term[kind].isNotNull(), _RANKS[kind]).otherwise(otherwise),
        term.kinds,
        F.lit(0),
    )
    columns = [rank] if term.kinds else []
    if any(kind in ("exact", "floating") for kind in term.kinds):
        columns.append(term.double())
    return columns + [term.compared() if kind == "opaque" else term[kind] for kind in term.kinds]


_RANKS = {"iri": 1, "exact": 2, "floating": 2, "time": 3, "text": 4, "boolean": 5, "opaque": 6}
