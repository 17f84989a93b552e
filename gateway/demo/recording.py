"""`Recording`: a CSV file of readings as MQTT messages, and the mappings that understand them.

Place on the way of the data: the very beginning, instead of the simulated house. Columns tell
their part by name and content: `*_id` is the sensor, `time` or `timestamp` the device's time and
the pace, a counter (`reading`, `seq`, `sequence`) the device's sequence, every other column that
is numeric in the first rows an observed property. The rest is ignored.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from gateway.demo.devices import Publication
from gateway.errors import ConfigurationError

ROWS_LOOKED_AT = 100
BASE_IRI = "https://sosa-gateway.example/demo/"
LATEST = (
    "SELECT ?sensor ?property ?result WHERE { ?o sosa:madeBySensor ?sensor ; "
    "sosa:observedProperty ?property ; sosa:hasSimpleResult ?result }"
)

_TIME = ("time", "timestamp")
_SEQUENCE = ("reading", "seq", "sequence")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

CsvRow = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Recording:
    """What the columns of a CSV file mean; `time` and so on are column names, empty for none."""

    path: Path
    properties: tuple[str, ...]
    sensor: str = ""
    time: str = ""
    sequence: str = ""

    @property
    def name(self) -> str:
        """The file's name as one topic level and one IRI segment."""
        return quote(self.path.stem, safe="")

    def publications(self) -> Iterator[tuple[Publication, float | None]]:
        """One JSON message a row, and the row's time in s where the file has times."""
        for row in _rows(self.path):
            yield self.publication(row), self._seconds(row)

    def publication(self, row: CsvRow) -> Publication:
        """The message of one row; numbers keep their digits, empty cells are left out."""
        columns = [*self.properties, self.time, self.sequence]
        members = [f"{json.dumps(key)}:{_json(row[key])}" for key in columns if row.get(key)]
        sensor = quote(row[self.sensor] or "none" if self.sensor else self.name, safe="")
        payload = f"{{{','.join(members)}}}".encode()
        return Publication(sensor, f"replay/{self.name}/{sensor}", payload)

    def profile(self) -> dict[str, object]:
        """A JSAP profile with one mapping a property and a query of the latest results."""
        return {
            "host": "127.0.0.1",
            "namespaces": {"sosa": "http://www.w3.org/ns/sosa/"},
            "queries": {"LATEST": {"sparql": LATEST}},
            "extended": {"mappings": [self._mapping(column) for column in self.properties]},
        }

    def _mapping(self, column: str) -> dict[str, str]:
        segment = quote(column, safe="")
        mapping = {
            "id": f"{BASE_IRI}mapping/{self.name}/{segment}",
            "topic": f"replay/{self.name}/+",
            "format": "json",
            "selector": _selector(column),
            "sensor": f"{BASE_IRI}device/{self.name}-{{1}}",
            "property": f"{BASE_IRI}property/{segment}",
            "feature": f"{BASE_IRI}place/{self.name}-{{1}}",
        }
        for key, source in (("time", self.time), ("sequence", self.sequence)):
            if source:
                mapping[key] = _selector(source)
        return mapping

    def _seconds(self, row: CsvRow) -> float | None:
        text = row.get(self.time) if self.time else None
        if not text:
            return None
        try:
            return float(text) if _is_number(text) else datetime.fromisoformat(text).timestamp()
        except ValueError:
            return None


def read_recording(path: Path) -> Recording:
    """Look at the first rows of a CSV file with a header; raises ConfigurationError."""
    sample = list(islice(_rows(path), ROWS_LOOKED_AT))
    if not sample:
        raise ConfigurationError(f"{path}: no rows", "give a CSV file with a header line")
    columns = [column for column in sample[0] if column]
    sensor = next((each for each in columns if each.lower().endswith("_id")), "")
    time = _named(columns, _TIME)
    sequence = _named(columns, _SEQUENCE)
    others = [each for each in columns if each not in {sensor, time, sequence}]
    properties = tuple(each for each in others if _is_numeric(each, sample))
    if not properties:
        raise ConfigurationError(
            f"{path}: no numeric column among {', '.join(columns)}", "give one at least"
        )
    return Recording(path, properties, sensor, time, sequence)


def _rows(path: Path) -> Iterator[CsvRow]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            yield from csv.DictReader(lines, restval="")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigurationError(
            f"cannot read {path}: {error}", "give a CSV file in UTF-8 with a header line"
        ) from error


def _named(columns: Sequence[str], names: Sequence[str]) -> str:
    return next((column for column in columns if column.lower() in names), "")


def _is_numeric(column: str, rows: Sequence[CsvRow]) -> bool:
    cells = [row[column] for row in rows if row[column]]
    return bool(cells) and all(map(_is_number, cells))


def _is_number(text: str) -> bool:
    """Whether the text is a JSON number (RFC 8259, section 6) as it stands."""
    return _NUMBER.fullmatch(text) is not None


def _json(text: str) -> str:
    return text if _is_number(text) else json.dumps(text)


def _selector(column: str) -> str:
    """The JSON path of a member; quoted, as a header may hold anything."""
    escaped = column.replace("\\", "\\\\").replace("'", "\\'")
    return f"$['{escaped}']"
