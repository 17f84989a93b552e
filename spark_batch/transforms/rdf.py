"""Observations as RDF, in the shape that the profile's templates give them in a gateway's store.

What a template inserts, with columns in place of its marks, is a text for each row; no row passes
through Python. Source: N-Triples and N-Quads, section 2.
"""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_batch.schema import XSD
from spark_batch.transforms.lines import lexical_form
from spark_batch.transforms.shape import Mark, Part, Shape, Shapes
from spark_batch.transforms.terms import graph_iri, terms

IRI_COLUMNS = ("base", "sensor", "property", "feature", "unit", "datatype")
QUANTITIES = tuple(XSD + name for name in ("integer", "decimal", "double", "float"))
"""The datatypes that have a unit; the gateway's rule."""

_NOT_IN_IRI = r'[\x00-\x20<>"{}|^`\\]'


def documents(rows: DataFrame, shapes: Shapes, *, quads: bool) -> DataFrame:
    """One row of text, a statement a line, for each observation whose names are all there."""
    text = statements(shapes, quads=quads).alias("value")
    return rows.where("kind = 'observation'").select(text).where("value IS NOT NULL")


def statements(shapes: Shapes, *, quads: bool = False) -> Column:
    """The statements of an observation, one a line; null where a name is missing."""
    graph = _iri(graph_iri()) if quads else None
    quantity, value, suspect = (
        _text(shape, graph) for shape in (shapes.quantity, shapes.value, shapes.suspect)
    )
    text = F.when(is_quantity(), quantity).otherwise(value)
    if not shapes.suspect:
        return text
    more = F.when(is_suspect(), F.concat(F.lit("\n"), suspect)).otherwise("")
    return F.concat(text, more)


def is_named() -> Column:
    """Whether every name of a row can be written as an IRI: others are in no export."""
    return ~reduce(Column.__or__, [_is_foreign(name) for name in IRI_COLUMNS])


def foreign_iris(rows: DataFrame) -> DataFrame:
    """Distinct rows of `IRI_COLUMNS` in which something cannot be written as an IRI."""
    named = rows.where("kind = 'observation'").select(*IRI_COLUMNS).distinct()
    return named.where(~is_named())


def _is_foreign(name: str) -> Column:
    wrong = F.col(name).rlike(_NOT_IN_IRI) | ~F.col(name).rlike("^[A-Za-z][A-Za-z0-9+.-]*:")
    return F.coalesce(wrong, F.lit(False))


def without_foreign(rows: DataFrame, wrong: Sequence[Mapping[str, object]]) -> DataFrame:
    """Rows without those that have one of these `foreign_iris`."""
    for row in wrong:
        same = [F.col(name).eqNullSafe(F.lit(row[name])) for name in IRI_COLUMNS]
        rows = rows.where(~reduce(Column.__and__, same))
    return rows


def counts(shapes: Shapes) -> list[Column]:
    """What an export counts of observations: them, and the statements they become."""
    size = F.when(is_quantity(), len(shapes.quantity)).otherwise(len(shapes.value))
    size += F.when(is_suspect(), len(shapes.suspect)).otherwise(0)
    total = F.coalesce(F.sum(size), F.lit(0))
    return [F.count(F.lit(1)).alias("observations"), total.alias("statements")]


def is_quantity() -> Column:
    """The result is a number that has a unit."""
    return F.col("datatype").isin(*QUANTITIES)


def is_suspect() -> Column:
    """The device told a time that the gateway did not believe."""
    return F.col("suspect_time").isNotNull()


def _text(shape: Shape, graph: Column | None) -> Column:
    """All statements as one concatenation, in which constants in a row are one."""
    columns = terms()
    pieces: list[str | Column] = []
    for index, statement in enumerate(shape):
        pieces.append("\n" if index else "")
        for part in (statement.subject, statement.predicate, statement.object):
            pieces += [_piece(part, columns), " "]
        pieces += ["."] if graph is None else [graph, " ."]
    return F.concat(*map(_column, _merged(pieces)))


def _merged(pieces: Sequence[str | Column]) -> list[str | Column]:
    merged: list[str | Column] = []
    for piece in pieces:
        if merged and isinstance(piece, str) and isinstance(merged[-1], str):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def _column(piece: str | Column) -> Column:
    return F.lit(piece) if isinstance(piece, str) else piece


def _piece(part: Part, columns: Mapping[str, Column]) -> str | Column:
    """A constant as N-Triples has it, or the column that a mark stands for."""
    if not isinstance(part, Mark):
        return str(part)
    column = columns[part.name]
    if part.is_iri:
        return _iri(column)
    if part.name == "result":
        column = _escaped()
    if part.datatype is not None:
        return F.concat(F.lit('"'), column, F.lit(f'"^^<{part.datatype}>'))
    datatype = F.col("datatype") if part.name == "result" else F.lit(XSD + "string")
    return F.concat(F.lit('"'), column, F.lit('"^^<'), datatype, F.lit(">"))


def _iri(text: Column) -> Column:
    return F.concat(F.lit("<"), text, F.lit(">"))


def _escaped() -> Column:
    """The result with the escapes of N-Triples where it is a text."""
    escaped = lexical_form()
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        escaped = F.replace(escaped, F.lit(plain), F.lit(written))
    has_text = F.coalesce("text", "geometry", "lexical").isNotNull()
    return F.when(has_text, escaped).otherwise(lexical_form())
