"""Whose findings there are: those of streams, devices and gateways, the most severe first."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from spark_batch.jobs.blamed import Owner, blamed
from spark_batch.schema import STREAM

_START = datetime(2026, 9, 1, tzinfo=UTC)
_STREAM: Owner = ("g", "s", "p", None, "C")
_OTHER: Owner = ("g", "s", "p", "f", None)
_DEVICE: Owner = ("g", "s")
_GATEWAY: Owner = ("g",)
_TIME = pa.timestamp("us", tz="UTC")
_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("check", *STREAM)),
        *(("start", _TIME), ("end", _TIME), ("amount", pa.float64()), ("detail", pa.string())),
    ]
)


def _write(path: Path, found: list[tuple[Owner, str, float]]) -> Path:
    rows = [
        dict(zip(STREAM, owner, strict=False))
        | {"check": check, "amount": amount, "detail": f"{amount:g}"}
        | {"start": _START + timedelta(seconds=number), "end": _START + timedelta(days=1)}
        for number, (owner, check, amount) in enumerate(found)
    ]
    pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), path)
    return path


def test_findings_are_counted_by_whose_they_are_and_the_most_severe_are_told(
    tmp_path: Path,
) -> None:
    first = [(_STREAM, "gap", 3.0), (_STREAM, "spike", float("nan")), (_GATEWAY, "missing", 2.0)]
    second = [(_STREAM, "spike", 40.0), (_DEVICE, "clock_drift", 50.0), (_STREAM, "gap", 3.0)]
    files = [_write(tmp_path / "a", first), _write(tmp_path / "b", [*second, (_OTHER, "gap", 9.0)])]
    found = blamed(files)
    assert found.owners == {_STREAM: 4, _OTHER: 1, _DEVICE: 1, _GATEWAY: 1}
    assert found.checks == {"clock_drift": 1, "gap": 3, "missing": 1, "spike": 2}
    assert list(found.checks) == sorted(found.checks)
    worst = found.worst([_STREAM, _DEVICE, _GATEWAY, ("g", "t")], 3)
    details = {owner: [each.detail for each in told] for owner, told in worst.items()}
    assert details == {_STREAM: ["40", "3", "3"], _DEVICE: ["50"], _GATEWAY: ["2"]}
    start_us = int(_START.timestamp()) * 1_000_000
    times = [each.start_us - start_us for each in worst[_STREAM]]
    assert times == [0, 0, 2_000_000]
    assert worst[_GATEWAY][0].end_us - start_us == 86_400_000_000
    assert [each.detail for each in found.worst([_STREAM], 4)[_STREAM]][-1] == "nan"


def test_nothing_is_read_where_nobody_is_blamed(tmp_path: Path) -> None:
    found = blamed([_write(tmp_path / "a", [])])
    assert (found.owners, found.checks) == ({}, {})
    assert found.worst([_STREAM], 3) == {}
