"""Archives as docs/archive.md describes them, made of a journal's segments without Spark."""

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from gateway.journal.names import SegmentName

XSD = "http://www.w3.org/2001/XMLSchema#"
_WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
_NUMERIC = {XSD + name for name in ("integer", "decimal", "double", "float")}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = pa.timestamp("us", tz="UTC")
_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("day", "gateway", "kind", "sensor", "property")),
        *((name, pa.string()) for name in ("feature", "text", "geometry", "lexical", "datatype")),
        *((name, pa.string()) for name in ("unit", "device_sequence", "base", "ext", "clock")),
        *((name, pa.int64()) for name in ("epoch", "sequence", "delay_us", "message_lag")),
        *((name, pa.bool_()) for name in ("device_clock", "boolean", "historical")),
        *((name, _TIME) for name in ("result_time", "suspect_time")),
        ("number", pa.float64()),
    ]
)
_ROLLUP = pa.schema(
    [
        *((name, pa.string()) for name in ("day", "grain", "gateway", "sensor", "property")),
        *((name, pa.string()) for name in ("feature", "unit")),
        ("start", _TIME),
        ("count", pa.int64()),
        *((name, pa.float64()) for name in ("minimum", "maximum", "mean")),
    ]
)


def take(archive: Path, segments: Sequence[Path]) -> None:
    """Ingest whole sealed segments as one batch: its plan, then rows and number in one commit."""
    number = taken_batches(archive) + 1
    plan = {
        "number": number,
        "segments": [
            {"name": path.name, "path": str(path), "minor": 3, "base": "", "keep": [_run(path)]}
            for path in segments
        ],
        "repeated": [],
        "conflicts": [],
        "gaps": [],
    }
    folder = archive / "plan"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{number:09d}.json").write_text(json.dumps(plan))
    rows = [row for path in segments for row in _rows(path)]
    write_rows(archive, rows, number)


def write_rows(archive: Path, rows: Sequence[dict[str, Any]], number: int) -> None:
    """Commit rows under the number of a batch."""
    write_deltalake(
        str(archive / "observations"),
        pa.Table.from_pylist(list(rows), schema=_SCHEMA),
        mode="append",
        partition_by=["day"],
        commit_properties=CommitProperties(app_transactions=[Transaction("ingest", number)]),
    )


def taken_batches(archive: Path) -> int:
    """How many batches are committed."""
    table = str(archive / "observations")
    if not DeltaTable.is_deltatable(table):
        return 0
    return DeltaTable(table).transaction_version("ingest") or 0


def _run(path: Path) -> tuple[int, int]:
    name = SegmentName.parse(path.name)
    return name.start.sequence, name.last.sequence


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    name = SegmentName.parse(path.name)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header = json.loads(next(lines))
        for line in map(json.loads, lines):
            yield row_of_line(line, header["base"], name.gateway, name.start.epoch)


def row_of_line(line: dict[str, Any], base: str, gateway: str, epoch: int) -> dict[str, Any]:
    """The row of a line, in the words of docs/archive.md."""
    is_device = line.get("t") is not None and line.get("c") != 1
    time = line["t"] if is_device else line["i"]
    moment = _EPOCH + timedelta(microseconds=time)
    told: dict[str, Any] = {
        "day": moment.date().isoformat(),
        "gateway": gateway,
        "epoch": epoch,
        "sequence": line["q"],
        "kind": "actuation" if line.get("a") == 1 else "observation",
        "sensor": line["s"],
        "property": line.get("p"),
        "feature": line.get("f"),
        "result_time": moment,
        "delay_us": line["i"] - time,
        "device_clock": is_device,
        "datatype": line["d"],
        "unit": line.get("u"),
        "base": base,
    }
    if line.get("t") is not None and not is_device:
        told["suspect_time"] = _EPOCH + timedelta(microseconds=line["t"])
    if line.get("m") is not None:
        told["message_lag"] = line["q"] - line["m"]
    if is_device and "z" in line:
        told["clock"] = line["z"]
    return told | _result(line["v"], line["d"])


def _result(lexical: str, datatype: str) -> dict[str, Any]:
    if datatype == XSD + "boolean":
        value = {"true": True, "1": True, "false": False, "0": False}.get(lexical)
        kept = {} if lexical in ("true", "false") else {"lexical": lexical}
        return {"boolean": value, **kept}
    if datatype in _NUMERIC:
        try:
            number = float(lexical)
        except ValueError:
            return {"lexical": lexical}
        plain = str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
        is_plain = plain == lexical and not set("eEn") & set(plain)
        return {"number": number, **({} if is_plain else {"lexical": lexical})}
    return {"geometry" if datatype == _WKT else "text": lexical}


def roll_up(archive: Path) -> None:
    """Minutes, hours and days of all that is ingested; the figures that readers of streams use."""
    rows = DeltaTable(str(archive / "observations")).to_pyarrow_table().to_pylist()
    groups: defaultdict[tuple[Any, ...], list[float | None]] = defaultdict(list)
    for row in rows:
        if row["kind"] != "observation":
            continue
        value = row["number"] if row["boolean"] is None else float(row["boolean"])
        number = value if value is not None and math.isfinite(value) else None
        stream = (row["gateway"], row["sensor"], row["property"], row["feature"], row["unit"])
        for grain, seconds in (("minute", 60), ("hour", 3600), ("day", 86_400)):
            moment = row["result_time"]
            begin = moment - (moment - _EPOCH) % timedelta(seconds=seconds)
            groups[grain, *stream, begin].append(number)
    told = [_rolled(key, values) for key, values in groups.items()]
    write_deltalake(
        str(archive / "rollup"),
        pa.Table.from_pylist(told, schema=_ROLLUP),
        mode="overwrite",
        partition_by=["day"],
        commit_properties=CommitProperties(
            app_transactions=[Transaction("rollup", taken_batches(archive))]
        ),
    )


def _rolled(key: tuple[Any, ...], values: list[float | None]) -> dict[str, Any]:
    grain, gateway, sensor, observed_property, feature, unit, start = key
    numbers = [each for each in values if each is not None]
    figures = (
        {"minimum": min(numbers), "maximum": max(numbers), "mean": sum(numbers) / len(numbers)}
        if numbers
        else {}
    )
    return {
        "day": start.date().isoformat(),
        "grain": grain,
        "gateway": gateway,
        "sensor": sensor,
        "property": observed_property,
        "feature": feature,
        "unit": unit,
        "start": start,
        "count": len(values),
        **figures,
    }
