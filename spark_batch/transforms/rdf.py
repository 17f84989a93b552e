"""Observations as RDF, in the shape that the profile's templates give them in a gateway's store.

A template is executed once, with marks for its values, by the SPARQL engine of the gateway; what
it inserts, with columns in place of the marks, is a text for each row. So another profile gives
another shape, and no row passes through Python. Source: N-Triples and N-Quads, section 2.
"""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyoxigraph import Literal, NamedNode, Quad, Store
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jsap.template import Template
from spark_batch.schema import XSD
from spark_batch.transforms.lines import lexical_form

GW = "https://sosa-gateway.example/ns#"
UNITLESS = "http://qudt.org/vocab/unit/UNITLESS"
IRI_COLUMNS = ("base", "sensor", "property", "feature", "unit", "datatype")
QUANTITIES = tuple(XSD + name for name in ("integer", "decimal", "double", "float"))
"""The datatypes that have a unit; the gateway's rule."""

_MARK = "urn:x-spark-batch:column:"
_NOT_IN_IRI = r'[\x00-\x20<>"{}|^`\\]'


def shape(template: Template) -> list[Quad]:
    """What a template inserts, with an IRI or a literal `_MARK<name>` for each variable."""
    marks: dict[str, NamedNode | Literal] = {}
    for name, binding in template.forced_bindings.items():
        mark = _MARK + name
        if binding.binding_type.value == "uri":
            marks[name] = NamedNode(mark)
        else:
            marks[name] = Literal(mark, datatype=binding.datatype)
    store = Store()
    store.update(template.render(template.bind(marks)))
    return sorted(store, key=str)


def documents(rows: DataFrame, quantity: Template, other: Template, *, quads: bool) -> DataFrame:
    """One row of text, a statement a line, for each observation whose names are all there."""
    terms = _terms()
    graph = _graph() if quads else None
    texts = [_text(shape(template), terms, graph) for template in (quantity, other)]
    text = F.when(_is_quantity(), texts[0]).otherwise(texts[1])
    return rows.where("kind = 'observation'").select(text.alias("value")).where("value IS NOT NULL")


def foreign_iris(rows: DataFrame) -> DataFrame:
    """Distinct rows of `IRI_COLUMNS` in which something cannot be written as an IRI."""
    named = rows.where("kind = 'observation'").select(*IRI_COLUMNS).distinct()
    wrong = [
        F.col(name).rlike(_NOT_IN_IRI) | ~F.col(name).rlike("^[A-Za-z][A-Za-z0-9+.-]*:")
        for name in IRI_COLUMNS
    ]
    return named.where(reduce(Column.__or__, [F.coalesce(each, F.lit(False)) for each in wrong]))


def without_foreign(rows: DataFrame, wrong: Sequence[Mapping[str, object]]) -> DataFrame:
    """Rows without those that have one of these `foreign_iris`."""
    for row in wrong:
        same = [F.col(name).eqNullSafe(F.lit(row[name])) for name in IRI_COLUMNS]
        rows = rows.where(~reduce(Column.__and__, same))
    return rows


def counts(quantity: Template, other: Template) -> list[Column]:
    """What an export counts of observations: them, and the statements they become."""
    sizes = [len(shape(template)) for template in (quantity, other)]
    size = F.when(_is_quantity(), sizes[0]).otherwise(sizes[1])
    total = F.coalesce(F.sum(size), F.lit(0))
    return [F.count(F.lit(1)).alias("observations"), total.alias("statements")]


def _is_quantity() -> Column:
    return F.col("datatype").isin(*QUANTITIES)


def _text(quads: Sequence[Quad], terms: Mapping[str, Column], graph: Column | None) -> Column:
    """All statements as one concatenation, in which constants in a row are one."""
    pieces: list[str | Column] = []
    for index, quad in enumerate(quads):
        pieces.append("\n" if index else "")
        for term in (quad.subject, quad.predicate, quad.object):
            pieces += [_piece(term, terms), " "]
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


def _piece(term: object, terms: Mapping[str, Column]) -> str | Column:
    """A constant as N-Triples has it, or the column that a mark stands for."""
    value = getattr(term, "value", "")
    if not value.startswith(_MARK):
        return str(term)
    column = terms[value.removeprefix(_MARK)]
    if isinstance(term, Literal) and term.datatype.value != XSD + "string":
        return F.concat(F.lit('"'), column, F.lit(f'"^^<{term.datatype.value}>'))
    return column


def _terms() -> dict[str, Column]:
    """Each forced binding of the templates, by name: IRIs in brackets, bare texts for times."""
    epoch, sequence = F.col("epoch").cast("string"), F.col("sequence")
    home = F.concat(F.col("base"), F.col("gateway"))
    own = F.concat(home, F.lit("/observation/"), epoch, F.lit("-"), sequence.cast("string"))
    first = (sequence - F.coalesce("message_lag", F.lit(0))).cast("string")
    time = _stamp(F.col("result_time"))
    ingested = _stamp(F.timestamp_micros(F.unix_micros("result_time") + F.col("delay_us")))
    clock = F.when(F.col("device_clock"), f"<{GW}DeviceClock>").otherwise(f"<{GW}GatewayClock>")
    return {
        "observation": _iri(own),
        "message": _iri(F.concat(home, F.lit("/message/"), epoch, F.lit("-"), first)),
        "sensor": _iri(F.col("sensor")),
        "property": _iri(F.col("property")),
        "feature": _iri(F.col("feature")),
        "result": _result(),
        "resultNode": _iri(F.concat(own, F.lit("/result"))),
        "unit": _iri(F.coalesce("unit", F.lit(UNITLESS))),
        "instant": _iri(F.concat(own, F.lit("/time"))),
        "phenomenonStamp": time,
        "resultTime": time,
        "ingestedAt": ingested,
        "timeSource": clock,
    }


def _graph() -> Column:
    """One graph for each gateway and day."""
    day = F.col("day").cast("string")
    return _iri(F.concat(F.col("base"), F.col("gateway"), F.lit("/archive/"), day))


def _iri(text: Column) -> Column:
    return F.concat(F.lit("<"), text, F.lit(">"))


def _result() -> Column:
    """The result as a literal, with the escapes of N-Triples where it is a text."""
    escaped = lexical_form()
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        escaped = F.replace(escaped, F.lit(plain), F.lit(written))
    has_text = F.coalesce("text", "geometry", "lexical").isNotNull()
    value = F.when(has_text, escaped).otherwise(lexical_form())
    return F.concat(F.lit('"'), value, F.lit('"^^<'), F.col("datatype"), F.lit(">"))


def _stamp(time: Column) -> Column:
    """UTC, with Z and no trailing zeros: the canonical form of xsd:dateTime."""
    return F.concat(F.replace(time.cast("string"), F.lit(" "), F.lit("T")), F.lit("Z"))
