"""Solutions as RDF terms, and how they are written: SPARQL's JSON and CSV, or a table.

Place on the way of the data: the exit of `query`. Every literal leaves in the canonical form that
the gateway's store would give. Sources: SPARQL 1.1 Query Results JSON Format; CSV and TSV Formats.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import IO, TypeAlias

from pyoxigraph import Literal, NamedNode
from pyspark.sql import functions as F

from jsap.shapes.nodes import canonical
from spark_batch.schema import BOOLEAN, XSD
from spark_batch.sparql.solutions import Solutions

Answer: TypeAlias = tuple[NamedNode | Literal | None, ...]
"""A row; None is unbound."""
Writer: TypeAlias = Callable[[Sequence[str], Iterable[Answer], IO[str]], int]
"""Writes the rows below their columns; returns how many."""

_WIDTHS_OF = 200


def answers(solutions: Solutions, columns: Sequence[str]) -> Iterator[Answer]:
    """The rows in their order, one partition of Spark in memory at a time."""
    scope = solutions.scope
    cells = []
    for number, name in enumerate(columns):
        facets = scope[name].facets if name in scope else {}
        for facet, column in facets.items():
            told = F.unix_micros(column) if facet == "time" else column
            cells.append(told.alias(f"{number} {facet}"))
    rows = solutions.rows.select(*cells) if cells else solutions.rows.select(F.lit(1))
    for row in rows.toLocalIterator():
        values = row.asDict()
        yield tuple(_cell(values, number) for number in range(len(columns)))


def _cell(values: Mapping[str, object], number: int) -> NamedNode | Literal | None:
    for facet, make in _TERMS.items():
        value = values.get(f"{number} {facet}")
        if value is not None:
            return make(value, str(values.get(f"{number} datatype")))
    return None


def _time(value: object, _: str) -> Literal:
    seconds, micros = divmod(int(str(value)), 1_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=micros)
    return canonical(
        Literal(moment.isoformat().replace("+00:00", "Z"), datatype=NamedNode(XSD + "dateTime"))
    )


def _double(value: object, datatype: str) -> Literal:
    text = repr(value).replace("inf", "INF").replace("nan", "NaN")
    return canonical(Literal(text, datatype=NamedNode(datatype)))


_TERMS: Mapping[str, Callable[[object, str], NamedNode | Literal]] = {
    "iri": lambda value, _: NamedNode(str(value)),
    "exact": lambda value, datatype: _plain(f"{value:f}", datatype),
    "floating": _double,
    "boolean": lambda value, _: Literal(str(value).lower(), datatype=NamedNode(BOOLEAN)),
    "time": _time,
    "text": lambda value, _: Literal(str(value)),
    "opaque": lambda value, datatype: canonical(Literal(str(value), datatype=NamedNode(datatype))),
}


def _plain(digits: str, datatype: str) -> Literal:
    bare = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return Literal(bare, datatype=NamedNode(datatype))


def write_json(columns: Sequence[str], rows: Iterable[Answer], out: IO[str]) -> int:
    """application/sparql-results+json."""
    head = json.dumps({"vars": list(columns)}, ensure_ascii=False)
    out.write(f'{{"head":{head},"results":{{"bindings":[')
    count = 0
    for count, row in enumerate(rows, start=1):
        bindings = {
            name: _json(term) for name, term in zip(columns, row, strict=True) if term is not None
        }
        out.write(("," if count > 1 else "") + "\n" + json.dumps(bindings, ensure_ascii=False))
    out.write("\n]}}\n")
    return count


def _json(term: NamedNode | Literal) -> dict[str, str]:
    if isinstance(term, NamedNode):
        return {"type": "uri", "value": term.value}
    told = {"type": "literal", "value": term.value}
    if term.datatype.value != XSD + "string":
        told["datatype"] = term.datatype.value
    return told


def write_csv(columns: Sequence[str], rows: Iterable[Answer], out: IO[str]) -> int:
    """text/csv: values without datatypes, unbound ones empty."""
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    count = 0
    for count, row in enumerate(rows, start=1):  # noqa: B007 - how many there were
        writer.writerow([_text(term) for term in row])
    return count


def write_table(columns: Sequence[str], rows: Iterable[Answer], out: IO[str]) -> int:
    """For a person: columns as wide as the first rows need."""
    texts = ([_text(term) for term in row] for row in rows)
    first = list(islice(texts, _WIDTHS_OF))
    shown = [list(columns), *first]
    widths = [max(len(row[number]) for row in shown) for number in range(len(columns))]
    count = -1
    for count, row in enumerate(chain(shown, texts)):  # noqa: B007 - how many there were
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        out.write("  ".join(cells).rstrip() + "\n")
    return count


def _text(term: NamedNode | Literal | None) -> str:
    return "" if term is None else term.value
