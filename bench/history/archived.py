"""`Archived`: an archive that is asked for histories, and what plain SQL says they must be.

Place: beside the gateway that is measured. Buckets are counted from observations, not from the
rollups that the gateway reads.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
from deltalake import DeltaTable

from adapters.values.observation import StreamKey
from gateway.errors import GatewayError

DAY_MS = 86_400_000

_STREAMS = (
    "SELECT gateway, sensor, property, feature, sum(count) FROM read_parquet($files, "
    "hive_partitioning = false) WHERE grain = 'day' AND property IS NOT NULL AND feature IS NOT "
    "NULL AND gateway = (SELECT min(gateway) FROM read_parquet($files)) GROUP BY ALL ORDER BY ALL"
)
_BUCKETS = (
    "SELECT epoch_us(result_time) // 1000 // {every} * {every} AS t, count(*), min(n), max(n) FROM "
    "(SELECT *, coalesce(CASE WHEN isfinite(number) THEN number END, boolean::INT) AS n FROM "
    "read_parquet($files, union_by_name = true, hive_partitioning = false) "
    "WHERE kind = 'observation' AND gateway = $gateway AND sensor = $sensor AND "
    "property = $property AND feature = $feature AND epoch_us(result_time) >= $low * 1000 AND "
    "epoch_us(result_time) < $high * 1000) GROUP BY t, n IS NULL ORDER BY t"
)


class NoArchiveError(GatewayError):
    """There is no archive that could be asked."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `low` up to and without `high`, ms since 1970."""

    low: int
    high: int


class Archived:
    """The streams of one gateway of an archive. Raises NoArchiveError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = {name: _files(folder / name) for name in ("observations", "rollup")}
        found = duckdb.execute(_STREAMS, {"files": self._paths("rollup")}).fetchall()
        if not found:
            raise NoArchiveError(f"{folder} has no stream", "name one that `archive run` filled")
        self.gateway = str(found[0][0])
        self.streams: Sequence[StreamKey] = [(row[1], row[2], row[3]) for row in found]
        self.of_streams = sum(int(row[4]) for row in found)

    @property
    def span(self) -> Window:
        """The days that it has."""
        days = sorted(day for day, _ in self._files["observations"])
        return Window(_ms(days[0]), _ms(days[-1]) + DAY_MS)

    @property
    def observations(self) -> int:
        """How many there are, of all gateways."""
        paths = self._paths("observations")
        found = duckdb.execute("SELECT count(*) FROM read_parquet($1)", [paths]).fetchall()
        return int(found[0][0])

    def buckets(self, stream: StreamKey, window: Window, every_ms: int) -> list[str]:
        """What each bucket has: time, count, least, most."""
        sensor, observed, feature = stream
        first, last = window.low - window.low % DAY_MS, window.high
        paths = [path for day, path in self._files["observations"] if first <= _ms(day) < last]
        named = {"gateway": self.gateway, "sensor": sensor, "property": observed}
        named |= {"feature": feature}
        values: dict[str, Any] = {"files": paths, "low": window.low, "high": window.high, **named}
        found = duckdb.execute(_BUCKETS.format(every=every_ms), values).fetchall()
        return [row_text(*row) for row in found]

    def _paths(self, table: str) -> list[str]:
        return [path for _, path in self._files[table]]


def row_text(time_ms: int, count: int, least: float | None, most: float | None) -> str:
    """A bucket in one line, however it was found."""
    told = [None if each is None else float(each) for each in (least, most)]
    return f"{time_ms} {count} {told[0]} {told[1]}"


def make_archive(observations: int, folder: Path) -> None:
    """A year of one gateway with 20 sensors, by the archive's own jobs. Raises NoArchiveError."""
    command = [sys.executable, "-m", "spark_batch", "bench", "--quiet"]
    command += ["--observations", str(observations), "--year", str(folder)]
    made = subprocess.run(command, check=False, capture_output=True, text=True)
    if made.returncode:
        raise NoArchiveError(f"no archive was made: {made.stderr[-300:]}", "see why")


def _files(table: Path) -> list[tuple[str, str]]:
    """Day and path of each file."""
    if not DeltaTable.is_deltatable(str(table)):
        raise NoArchiveError(f"{table} is no table", "name an archive that `archive run` filled")
    found = DeltaTable(str(table)).file_uris()
    return [(path.rpartition("day=")[2].partition("/")[0], path) for path in found]


def _ms(day: str) -> int:
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
