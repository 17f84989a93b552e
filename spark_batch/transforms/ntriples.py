"""Terms of N-Triples as columns: IRIs in brackets, literals with their escapes, statements.

Place on the way of the data: under every export. Source: N-Triples, section 2.
"""

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from spark_batch.schema import XSD

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_NOT_IN_IRI = r'[\x00-\x20<>"{}|^`\\]'


def iri(text: Column) -> Column:
    """An IRI; null stays null."""
    return F.concat(F.lit("<"), text, F.lit(">"))


def literal(text: Column, datatype: Column | str) -> Column:
    """A literal of a text that is escaped already, or needs no escapes."""
    kind = F.lit(XSD + datatype) if isinstance(datatype, str) else datatype
    return F.concat(F.lit('"'), text, F.lit('"^^<'), kind, F.lit(">"))


def escaped(text: Column) -> Column:
    """What may stand between the quotes."""
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = F.replace(text, F.lit(plain), F.lit(written))
    return text


def about(
    subject: Column, facts: Iterable[tuple[str, Column]], graph: Column | None = None
) -> Column:
    """A statement a line for each fact (predicate with brackets, object) that is not null."""
    end = F.lit(" .") if graph is None else F.concat(F.lit(" "), graph, F.lit(" ."))
    lines = [F.concat(subject, F.lit(f" {name} "), value, end) for name, value in facts]
    return F.concat_ws("\n", *lines)


def lines(text: Column) -> Column:
    """How many statements a text has."""
    return F.length(text) - F.length(F.replace(text, F.lit("\n"), F.lit(""))) + 1


def is_foreign(name: str) -> Column:
    """Whether a column has something that cannot be written as an IRI; false for null."""
    wrong = F.col(name).rlike(_NOT_IN_IRI) | ~F.col(name).rlike("^[A-Za-z][A-Za-z0-9+.-]*:")
    return F.coalesce(wrong, F.lit(False))
