"""The three jobs in DuckDB's SQL, as somebody would write them who needs no exactly-once."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import duckdb

from spark_batch.bench.plain import known_files, text_sql
from spark_batch.bench.way import Made
from spark_batch.schema import LINES, NUMERIC, STREAM, XSD
from spark_batch.transforms.shape import load_shapes

NOTE = (
    "DuckDB: memory_limit 1 GB, spills to disk; type errors stop it; no seals, quarantine, log or "
    "increments; texts are not rolled up"
)
_TYPES = {"bigint": "BIGINT", "string": "VARCHAR"}
_KEY = ", ".join(STREAM)

_INGEST = """
COPY (
  WITH lines AS (
    SELECT *, coalesce(CASE WHEN c IS DISTINCT FROM 1 THEN t END, i) AS us,
      CASE WHEN d IN ({numeric}) THEN try_cast(v AS DOUBLE) END AS number,
      CASE WHEN d = '{xsd}boolean' THEN v IN ('true', '1') END AS bool
    FROM read_json($files, format = 'newline_delimited', filename = true, columns = {columns})
    WHERE q IS NOT NULL AND CASE WHEN s IS NULL OR v IS NULL OR d IS NULL OR i IS NULL
      OR ((p IS NULL OR f IS NULL) AND a IS DISTINCT FROM 1)
      THEN error('a broken line') ELSE true END),
  once AS (SELECT DISTINCT ON (gateway, epoch, q) * FROM lines JOIN known USING (filename)),
  rows AS (
    SELECT gateway, epoch, q AS sequence,
      CASE WHEN a = 1 THEN 'actuation' ELSE 'observation' END AS kind,
      s AS sensor, p AS property, f AS feature, h AS platform, w AS place,
      make_timestamptz(us) AS result_time, i - us AS delay_us,
      t IS NOT NULL AND c IS DISTINCT FROM 1 AS device_clock,
      CASE WHEN c = 1 THEN make_timestamptz(t) END AS suspect_time, number, bool AS boolean,
      CASE WHEN number IS NULL AND bool IS NULL AND d NOT LIKE '%wktLiteral' THEN v END AS text,
      CASE WHEN d LIKE '%wktLiteral' THEN v END AS geometry,
      CASE WHEN coalesce({plain} <> v, false) THEN v END AS lexical,
      d AS datatype, u AS unit, q - m AS message_lag, n AS device_sequence, o AS topic, r AS rule,
      base, z AS clock, l = 1 AS historical, make_timestamp(us)::DATE AS day
    FROM once)
  SELECT * FROM rows
  ORDER BY day, gateway, sensor, property, feature, result_time, epoch, sequence
) TO '{out}' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, PARTITION_BY (day))
"""

_ROLLUP = """
COPY (
  WITH valued AS (
    SELECT *, epoch_us(result_time) AS us, coalesce(number, boolean::INT) AS v
    FROM read_parquet($files, hive_partitioning = false) WHERE kind = 'observation'),
  seen AS (
    SELECT *, lag(v) OVER w AS v0, lag(us) OVER w AS us0, lead(us) OVER w AS us1
    FROM valued WHERE isfinite(v)
    WINDOW w AS (PARTITION BY {key} ORDER BY us, epoch, sequence)),
  grained AS (
    SELECT *, us - us % length AS start,
      CASE WHEN us // 86400000000 - us0 // 86400000000 <= 1 THEN v - v0 END AS step
    FROM seen, (VALUES ('minute', 60000000), ('hour', 3600000000), ('day', 86400000000))
      AS grains(grain, length)),
  parts AS (
    SELECT *, (least(coalesce(us1, us + {hold}), us + {hold}, start + length) - us) / 1e6 AS own,
      CASE WHEN us0 < start THEN greatest(0, least(us, us0 + {hold}) - start) / 1e6
        ELSE 0 END AS inn
    FROM grained)
  SELECT grain, {key}, make_timestamptz(start) AS start, count(*) AS count,
    min(v) AS minimum, max(v) AS maximum, avg(v) AS mean, var_pop(v) * count(v) AS m2,
    stddev_samp(v) AS stddev, arg_min(v, (us, epoch, sequence)) AS first,
    make_timestamptz(min(us)) AS first_time, arg_max(v, (us, epoch, sequence)) AS last,
    make_timestamptz(max(us)) AS last_time,
    sum(v * own + coalesce(v0, 0) * inn) / nullif(sum(own + inn), 0) AS time_weighted_mean,
    sum(own + inn) AS covered_s, sum(CASE WHEN step < 0 THEN v ELSE step END) AS increase,
    count(*) FILTER (step < 0) AS resets, make_timestamp(start)::DATE AS day
  FROM parts GROUP BY grain, {key}, start
) TO '{out}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day))
"""

_EXPORT = """
COPY (SELECT {text} FROM read_parquet($files, hive_partitioning = false)
  WHERE kind = 'observation' AND result_time < '{before}T00:00:00Z'::TIMESTAMPTZ)
TO '{out}' (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01', COMPRESSION gzip)
"""

_PLAIN = """coalesce(CASE WHEN number = floor(number) AND abs(number) < 9007199254740992
  THEN number::BIGINT::VARCHAR ELSE number::VARCHAR END, {boolean}::VARCHAR)"""


class DuckDb:
    """One connection, 1 GB."""

    def __init__(self, landing: Path, folder: Path, cores: int) -> None:
        self._landing, self._folder = landing, folder
        self._connection = duckdb.connect()
        for setting, value in {
            "memory_limit": "1GB",
            "threads": str(cores),
            "temp_directory": str(folder / "spill"),
            "TimeZone": "UTC",
            "preserve_insertion_order": "false",
        }.items():
            self._connection.execute(f"SET {setting} = '{value}'")

    def ingest(self) -> Made:
        """One statement."""
        known = known_files(self._landing)
        self._connection.execute(
            "CREATE TABLE known (filename VARCHAR, gateway VARCHAR, epoch BIGINT, base VARCHAR)"
        )
        self._connection.executemany("INSERT INTO known VALUES (?, ?, ?, ?)", known)
        columns = ", ".join(
            f"{field.name}: '{_TYPES[field.dataType.simpleString()]}'"
            for field in LINES.fields[:-2]
        )
        return self._made(
            "observations",
            _INGEST,
            [row[0] for row in known],
            columns=f"{{{columns}}}",
            numeric=", ".join(f"'{name}'" for name in NUMERIC),
            xsd=XSD,
            plain=_PLAIN.format(boolean="bool"),
        )

    def rollup(self) -> Made:
        """All grains in one pass."""
        files = self._files("observations")
        return self._made("rollup", _ROLLUP, files, key=_KEY, hold=3_600_000_000)

    def export(self, before: date) -> Made:
        """The same texts as ours, by concatenation."""
        text = text_sql(load_shapes(), _PLAIN.format(boolean="boolean"))
        out = self._folder / "observations.nt.gz"
        sql = _EXPORT.format(text=text, before=before, out=out)
        self._connection.execute(sql, {"files": self._files("observations")})
        return Made(0, [str(out)])

    def _made(self, table: str, sql: str, files: Sequence[str], **parts: object) -> Made:
        filled = sql.format(out=self._folder / table, **parts)
        rows = self._connection.execute(filled, {"files": files}).fetchall()[0][0]
        return Made(rows, self._files(table))

    def _files(self, table: str) -> list[str]:
        return [str(path) for path in sorted((self._folder / table).rglob("*.parquet"))]
