"""Format "csv": rows of values, with or without a header.

Selector: the name of a column of the header, or `#3` for the third column, when there is no header;
`temperature by station` gives each row the name that stands in its column `station`, for `{name}`.
Each row is an observation of each mapping. time_selector and sequence_selector are columns too.
The delimiter is the first of tab, `;` and `,` that the first line has. Source: RFC 4180.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.values.device_time import read_sequence, read_time
from adapters.values.fault import excerpt
from adapters.values.iri_template import NAME
from adapters.values.mapping import Mapping, MappingError
from adapters.values.memory import Memory
from adapters.values.numbers.quantity import read_captured
from adapters.values.payload import Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.result import NUMERIC, Result, captured_result
from adapters.values.stream import Stream
from adapters.values.usual_words import usual

MAX_ROWS = 1000
MAX_COLUMNS = 100
_DELIMITERS = "\t;,"
_BY = " by "

Row = list[str]


@dataclass(frozen=True, slots=True)
class _Table:
    header: dict[str, int]
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class _Rule:
    """Columns as the mapping names them; empty where it names none."""

    value: str
    name: str
    time: str
    sequence: str
    decimal_sign: str

    @property
    def has_header(self) -> bool:
        """Whether the first row names the columns: it does unless all columns are numbers."""
        named = (self.value, self.name, self.time, self.sequence)
        return not all(column.startswith("#") for column in named if column)


class CsvAdapter:
    """All columns of a topic filter, over the rows of one payload."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._rules = tuple(map(_rule, mappings))
        self._kinds = {rule.has_header for rule in self._rules}

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """An observation of each mapping for each row of the table."""
        text = payload.text()
        if isinstance(text, Fault):
            return Findings.of_fault(text)
        tables = {kind: _table(text, kind) for kind in self._kinds}
        findings = Findings()
        for rule, stream in zip(self._rules, streams, strict=True):
            table = tables[rule.has_header]
            if isinstance(table, Fault):
                return Findings.of_fault(table)
            for row in table.rows:
                _observe(rule, table, row, stream, findings)
        return findings or Findings.of_fault(missing(streams))


def _observe(rule: _Rule, table: _Table, row: Row, stream: Stream, findings: Findings) -> None:
    cell = _cell(table, row, rule.value)
    if cell is None:
        return
    name = _cell(table, row, rule.name) if rule.name else ""
    if name is None or (rule.name and not name):
        fault = Fault(stream.mapping, FaultReason.MISSING, "the row has no name")
        findings.faults.append(fault)
        return
    time = _time(_cell(table, row, rule.time)) if rule.time else None
    counter = _cell(table, row, rule.sequence) if rule.sequence else None
    sequence = None if counter is None else read_sequence(counter.strip())
    own = stream.named(name) if rule.name else stream
    findings.add(own, read_captured(cell, rule.decimal_sign), time, sequence)


def _time(cell: str | None) -> datetime | Fault | None:
    return None if cell is None else read_time(cell)


def _cell(table: _Table, row: Row, column: str) -> str | None:
    at = int(column[1:]) - 1 if column.startswith("#") else table.header.get(column, len(row))
    return row[at] if at < len(row) else None


def _table(text: str, has_header: bool) -> _Table | Fault:
    text = text.strip("\ufeff\0")
    if not text.strip():
        return Fault(None, FaultReason.EMPTY, "the payload is empty")
    if "\0" in text:
        return Fault(None, FaultReason.INVALID_TEXT, "a NUL within CSV")
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = next((sign for sign in _DELIMITERS if sign in first), ",")
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        return Fault(None, FaultReason.MALFORMED, f"no CSV: {excerpt(str(error))}")
    header = [cell.strip() for cell in rows.pop(0)] if has_header and rows else []
    if len(set(header)) != len(header):
        return Fault(None, FaultReason.DUPLICATE_KEY, "a column occurs more than once")
    if len(rows) > MAX_ROWS:
        return Fault(None, FaultReason.TOO_LARGE, f"{len(rows)} rows, at most {MAX_ROWS} are read")
    return _Table({name: at for at, name in enumerate(header)}, rows)


def _rule(mapping: Mapping) -> _Rule:
    value, by, name = mapping.selector.partition(_BY)
    columns = {
        "selector": (value, name) if by else (value,),
        "time_selector": (mapping.time_selector,),
        "sequence_selector": (mapping.sequence_selector,),
    }
    for member, texts in columns.items():
        for text in texts:
            _refuse(mapping, member, text)
    has_name = NAME in mapping.sensor or NAME in mapping.feature_of_interest
    if has_name and not by:
        raise MappingError(mapping.iri, "selector", "{name} needs `column by column`")
    return _Rule(
        value.strip(),
        name.strip(),
        mapping.time_selector,
        mapping.sequence_selector,
        mapping.decimal_sign,
    )


def _refuse(mapping: Mapping, member: str, text: str) -> None:
    if member == "selector" and not text.strip():
        raise MappingError(mapping.iri, member, "name a column, or number it as #1")
    if text.startswith("#") and not (text[1:].isdigit() and 0 < int(text[1:5]) < 1000):
        raise MappingError(mapping.iri, member, "a column's number is #1 to #999")


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A mapping for each column of a table with a header and at least one row of numbers."""
    del memory
    text = payload.text()
    table = text if isinstance(text, Fault) else _table(text, has_header=True)
    if isinstance(table, Fault) or len(table.header) < 2 or not table.rows:
        return ()
    columns = [column for column in table.header if not _is_number(column)]
    same = all(len(row) == len(table.header) for row in table.rows)
    if not same or len(columns) < len(table.header) or len(columns) > MAX_COLUMNS:
        return ()
    topic = payload.message.topic
    return [
        _proposal(topic, column, names)
        for column in columns
        if _is_number(table.rows[0][table.header[column]]) and _BY not in column
    ]


def _proposal(topic: str, column: str, names: Names) -> Proposal:
    found = usual(column)
    mapping = Mapping(
        names.mapping("csv", topic, column),
        topic,
        "csv",
        names.sensor("csv", topic, column),
        names.observed_property(found.meaning),
        names.feature("csv", topic),
        column,
        found.unit,
    )
    question = "Is this a measured value, in this unit, and of what?"
    return Proposal(mapping, "csv", topic, f"{topic} {column}", found.meaning, question=question)


def _is_number(cell: str) -> bool:
    result = captured_result(cell)
    return isinstance(result, Result) and result.datatype in NUMERIC


FORMAT = Format(stateless(CsvAdapter), names=True, written=True, propose=propose)
