"""Rollups: incremental equals full, and both equal what DuckDB computes from the same files."""

import math
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.errors import ArchiveError
from spark_batch.jobs import upkeep
from spark_batch.jobs.derive import Rollup
from spark_batch.summary import Summary
from spark_batch.table import Table
from spark_batch.tools.fleet import Fleet
from tests.spark_batch.truths import reading, write_segment

HOLD_S = 1800
KEY = "gateway, sensor, property, feature, unit"
ORACLE = f"""
WITH valued AS (
  SELECT *, epoch_us(result_time) AS us,
    CASE WHEN isfinite(number) THEN number WHEN "boolean" IS NOT NULL THEN "boolean"::INT END AS v
  FROM read_parquet(?) WHERE kind = 'observation'),
grained AS (
  SELECT valued.*, grain, us - us % (s * 1000000) AS start, s * 1000000 AS length
  FROM valued, (VALUES ('minute', 60::BIGINT), ('hour', 3600), ('day', 86400)) AS grains(grain, s)),
held AS (
  SELECT *,
    lag(v) OVER w AS v0, lag(us) OVER w AS us0, lead(us) OVER w AS us1
  FROM grained WHERE v IS NOT NULL
  WINDOW w AS (PARTITION BY {KEY}, grain ORDER BY us, epoch, sequence)),
parts AS (
  SELECT *,
    (least(coalesce(us1, us + $hold), us + $hold, start + length) - us) / 1e6 AS own,
    CASE WHEN us0 < start THEN greatest(0, least(us, us0 + $hold) - start) / 1e6 ELSE 0 END AS inn,
    CASE WHEN us // 86400000000 - us0 // 86400000000 <= 1 THEN v - v0 END AS step
  FROM held),
figures AS (
  SELECT {KEY}, grain, start, min(v), max(v), avg(v), var_pop(v) * count(v), stddev_samp(v),
    arg_min(v, (us, epoch, sequence)), min(us), arg_max(v, (us, epoch, sequence)), max(us),
    sum(v * own + coalesce(v0, 0) * inn) / nullif(sum(own + inn), 0), sum(own + inn),
    sum(CASE WHEN step < 0 THEN v ELSE step END), count(*) FILTER (step < 0)
  FROM parts GROUP BY ALL),
counts AS (SELECT {KEY}, grain, start, count(*) AS n FROM grained GROUP BY ALL)
SELECT counts.{KEY.replace(", ", ", counts.")}, counts.grain, counts.start, n,
  figures.* EXCLUDE ({KEY}, grain, start)
FROM counts LEFT JOIN figures ON {
    " AND ".join(
        f"counts.{k} IS NOT DISTINCT FROM figures.{k}" for k in [*KEY.split(", "), "grain", "start"]
    )
}
ORDER BY ALL
"""
OURS = f"""
SELECT {KEY}, grain, epoch_us("start"), count, minimum, maximum, mean, m2, stddev, "first",
  epoch_us(first_time), "last", epoch_us(last_time), time_weighted_mean, covered_s, increase,
  CASE WHEN mean IS NOT NULL THEN resets END
FROM read_parquet(?) ORDER BY ALL
"""
Rows = list[tuple[Any, ...]]


def read(table: Table, query: str, **parameters: int) -> Rows:
    files = DeltaTable(str(table.folder)).file_uris()
    query = query.replace("$hold", str(parameters.get("hold", 0) * 1_000_000))
    with duckdb.connect() as connection:
        return connection.execute(query, [files]).fetchall()


def assert_close(ours: Rows, theirs: Rows) -> None:
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one[:8] == other[:8]
        for a, b in zip(one[8:], other[8:], strict=True):
            same = a is b or (
                a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
            )
            assert same, (one, other)


def test_incremental_equals_full_and_duckdb(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    job = Rollup(archive, lambda _: spark, hold_s=HOLD_S)
    fleet = Fleet(gateways=2, sensors=3, days=3, interval_s=1200, lines=150, seed=11)
    deliveries = list(fleet.deliveries(landing / "all"))
    files = sorted((landing / "all").rglob("*.jsonl.gz"))
    assert deliveries
    hidden = [path for path in files if "000000000001-" in path.name or "301-" in path.name]
    for path in hidden:
        path.rename(path.with_name(f"{path.name}.part"))
    ingest()
    job.run()
    for path in hidden:  # what is late touches old days
        path.with_name(f"{path.name}.part").rename(path)
    ingest()
    summary = job.run()
    assert summary.status == "done"
    incremental = read(archive.rollup, OURS)
    assert_close(incremental, read(archive.observations, ORACLE, hold=HOLD_S))
    job.run(full=True)
    assert_close(read(archive.rollup, OURS), incremental)
    assert job.run().status == "idle"


def test_only_what_was_touched_is_computed(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    Fleet(gateways=3, days=4, interval_s=3600, faults=False).write(landing)
    ingest()
    job = Rollup(archive, lambda _: spark)
    assert job.run(dry_run=True).details == {"dirty": 12, "days": 4}
    assert not archive.rollup.exists
    job.run()
    day = 86_400_000_000
    write_segment(landing, [reading(1, t=1_788_220_800_000_000 + day)], gateway="gw-001")
    ingest()
    before = {file.path for file in archive.rollup.files()}
    assert job.run().details == {"dirty": 2, "days": 2}
    kept = before & {file.path for file in archive.rollup.files()}
    assert {Path(path).parent.name for path in kept} == {"day=2026-09-01", "day=2026-09-04"}


def test_counter_that_is_reset_and_value_that_holds(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    t = 1_788_220_800_000_000
    values = [(0, "10"), (600, "14"), (1200, "3"), (5400, "4")]
    lines = [reading(n, v=v, t=t + s * 1_000_000) for n, (s, v) in enumerate(values, 1)]
    write_segment(landing, lines)
    ingest()
    Rollup(archive, lambda _: spark, hold_s=1800).run()
    frame = archive.rollup.read(spark).where("grain = 'hour'").orderBy("start").collect()
    first, second = (row.asDict() for row in frame)
    assert (first["increase"], first["resets"], second["increase"]) == (7.0, 1, 1.0)
    assert first["covered_s"] == 600 + 600 + 1800
    assert first["time_weighted_mean"] == pytest.approx((6000 + 8400 + 5400) / 3000)
    assert (second["covered_s"], second["time_weighted_mean"]) == (1800, 4.0)


def test_several_values_of_one_time_all_count_in_order_of_arrival(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    t, xsd = 1_788_220_800_000_000, "http://www.w3.org/2001/XMLSchema#"
    told = [
        *(("count", xsd + "decimal", v, s) for v, s in (("10", 0), ("14", 600))),
        *(("count", xsd + "decimal", v, 600) for v in ("12", "20")),
        *(("door", xsd + "boolean", v, 0) for v in ("false", "true", "false")),
        *(("mode", xsd + "string", v, 0) for v in ("eco", "boost", "eco", "auto", "eco")),
    ]
    lines = [
        reading(n, s=f"urn:{name}", d=datatype, v=v, t=t + s * 1_000_000, i=t + 900_000_000 - n)
        for n, (name, datatype, v, s) in enumerate(told, 1)
    ]
    write_segment(landing, lines)
    ingest()
    Rollup(archive, lambda _: spark, hold_s=1800).run()
    rows = archive.rollup.read(spark).where("grain = 'hour'").orderBy("sensor").collect()
    count, door, mode = (row.asDict() for row in rows)
    assert (count["count"], door["count"], mode["count"]) == (4, 3, 5)
    assert (count["first"], count["last"]) == (10.0, 20.0)
    assert (count["increase"], count["resets"]) == (4.0 + 12.0 + 8.0, 1)
    assert (count["time_weighted_mean"], count["covered_s"]) == (17.5, 2400)
    assert (door["last"], door["time_weighted_mean"], door["covered_s"]) == (0.0, 0.0, 1800)
    assert mode["last_text"] == "eco"


def test_texts_are_counted_and_the_last_is_kept(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    lines = [reading(1, v="open", d=xsd + "string"), reading(2, v="shut", d=xsd + "string")]
    lines += [reading(3, v="NaN", d=xsd + "double", u="urn:u"), reading(4, v="4.50", u="urn:v")]
    write_segment(landing, lines)
    ingest()
    Rollup(archive, lambda _: spark).run()
    rows = archive.rollup.read(spark).where("grain = 'day'").orderBy("unit").collect()
    assert [(row["count"], row["mean"], row["last_text"]) for row in rows] == [
        (2, None, "shut"),
        (1, None, "NaN"),
        (1, 4.5, None),
    ]


def test_other_rule_needs_a_full_run(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    write_segment(landing, [reading(1), reading(2)])
    ingest()
    Rollup(archive, lambda _: spark, hold_s=60).run()
    with pytest.raises(ArchiveError, match="hold a value for 60 s"):
        Rollup(archive, lambda _: spark, hold_s=90).run()
    assert Rollup(archive, lambda _: spark, hold_s=90).run(full=True).rows_out == 3


def test_rollups_outlive_their_observations(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    day = 86_400_000_000
    t = 1_788_220_800_000_000
    write_segment(landing, [reading(1, t=t), reading(2, t=t + 2 * day)])
    ingest()
    job = Rollup(archive, lambda _: spark)
    job.run()
    write_segment(landing, [reading(3, t=t + 1)])
    ingest()
    with pytest.raises(ArchiveError, match="newest batches"):
        upkeep.retain(archive, date(2026, 9, 2))
    job.run()
    upkeep.retain(archive, date(2026, 9, 2))
    before = read(archive.rollup, OURS)
    write_segment(landing, [reading(4, t=t + 2)])
    ingest()
    job.run()
    assert read(archive.rollup, OURS) == before, "a late row of a dropped day changes nothing"
    job.run(full=True)
    assert read(archive.rollup, OURS) == before
