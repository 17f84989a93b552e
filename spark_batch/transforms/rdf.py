"""Observations as RDF, in the shape that the profile's templates give them in a gateway's store.

What a template inserts, with columns in place of its marks, is a text for each row; no row passes
through Python. Source: N-Triples and N-Quads, section 2.
"""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jsap.shapes.shape import Mark, Part, Shape, Shapes
from spark_batch.schema import WKT, XSD
from spark_batch.transforms.lines import lexical_form
from spark_batch.transforms.ntriples import escaped, iri, is_foreign, literal
from spark_batch.transforms.terms import terms

IRI_COLUMNS = ("base", "sensor", "property", "feature", "unit", "datatype")
QUANTITIES = tuple(XSD + name for name in ("integer", "decimal", "double", "float"))
"""The datatypes that have a unit; the gateway's rule."""


def with_statements(rows: DataFrame, shapes: Shapes, graph: Column | None = None) -> DataFrame:
    """Rows with `statements`, one a line; null where a name is missing.

    Terms become columns first, because one stands in many statements: measured, a third less time.
    """
    columns = terms()
    written = {mark: _written(mark, columns) for mark in _marks(shapes)}
    names = {mark: f"_term_{number}" for number, mark in enumerate(written)}
    prepared = rows.withColumns({names[mark]: column for mark, column in written.items()})
    ending: list[str | Column] = [" ."]
    if graph is not None:
        prepared = prepared.withColumn("_graph", graph)
        ending = [" ", F.col("_graph"), " ."]
    quantity, position, value, suspect = (
        _text(shape, names, ending)
        for shape in (shapes.quantity, shapes.position, shapes.value, shapes.suspect)
    )
    text = F.when(is_quantity(), quantity).when(is_position(), position).otherwise(value)
    if shapes.suspect:
        more = F.when(is_suspect(), F.concat(F.lit("\n"), suspect)).otherwise("")
        text = F.concat(text, more)
    return prepared.select(*rows.columns, text.alias("statements"))


def is_named() -> Column:
    """Whether every name of a row can be written as an IRI: others are in no export."""
    return ~reduce(Column.__or__, map(is_foreign, IRI_COLUMNS))


def foreign_iris(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Distinct rows of columns in which something cannot be written as an IRI."""
    return rows.select(*columns).distinct().where(reduce(Column.__or__, map(is_foreign, columns)))


def without_foreign(rows: DataFrame, wrong: Sequence[Mapping[str, object]]) -> DataFrame:
    """Rows without those that have one of these `foreign_iris`."""
    for row in wrong:
        same = [F.col(name).eqNullSafe(F.lit(value)) for name, value in row.items()]
        rows = rows.where(~reduce(Column.__and__, same))
    return rows


def size(shapes: Shapes) -> Column:
    """How many statements an observation becomes."""
    count = F.when(is_quantity(), len(shapes.quantity)).when(is_position(), len(shapes.position))
    count = count.otherwise(len(shapes.value))
    return count + F.when(is_suspect(), len(shapes.suspect)).otherwise(0)


def is_quantity() -> Column:
    """The result is a number that has a unit."""
    return F.col("datatype").isin(*QUANTITIES)


def is_position() -> Column:
    """The result is a geometry."""
    return F.col("datatype") == WKT


def is_suspect() -> Column:
    """The device told a time that the gateway did not believe."""
    return F.col("suspect_time").isNotNull()


def _marks(shapes: Shapes) -> list[Mark]:
    """The marks of all shapes, each once, in their order."""
    parts = (
        part
        for shape in (shapes.quantity, shapes.position, shapes.value, shapes.suspect)
        for statement in shape
        for part in statement.parts
    )
    return list(dict.fromkeys(part for part in parts if isinstance(part, Mark)))


def _written(mark: Mark, columns: Mapping[str, Column]) -> Column:
    """The term that a mark stands for, as N-Triples has it."""
    column = columns[mark.name]
    if mark.is_iri:
        return iri(column)
    if mark.name == "result":
        own = F.col("datatype") if mark.datatype is None else F.lit(mark.datatype)
        return literal(_result(), own)
    return literal(column, F.lit(mark.datatype or XSD + "string"))


def _text(shape: Shape, names: Mapping[Mark, str], ending: Sequence[str | Column]) -> Column:
    """All statements as one concatenation, in which constants in a row are one."""
    pieces: list[str | Column] = []
    for index, statement in enumerate(shape):
        subject, predicate, told = (_piece(part, names) for part in statement.parts)
        pieces += ["\n" if index else "", subject, " ", predicate, " ", told, *ending]
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


def _piece(part: Part, names: Mapping[Mark, str]) -> str | Column:
    """A constant as N-Triples has it, or the column that a mark stands for."""
    return F.col(names[part]) if isinstance(part, Mark) else str(part)


def _result() -> Column:
    """The result, with escapes where it is a text."""
    has_text = F.coalesce("text", "geometry", "lexical").isNotNull()
    return F.when(has_text, escaped(lexical_form())).otherwise(lexical_form())
