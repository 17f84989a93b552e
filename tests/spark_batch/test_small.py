"""Jobs on few rows are planned in one part: another way to the same tables, row by row."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.frames import ONE_PART, interpreted
from spark_batch.jobs.rounds import Rounds
from spark_batch.landing import landing_zone
from spark_batch.session import SMALL_ROWS, _plans
from spark_batch.tools.fleet import Fleet
from tests.spark_batch.truths import rows

_GENERATED = "spark.sql.codegen.wholeStage"


@contextmanager
def _planned(spark: SparkSession, *, is_small: bool) -> Iterator[SparkSession]:
    """The session of all tests, planning so whatever a job before has set in it."""
    plans = _plans(is_small=is_small)
    before = {name: str(spark.conf.get(name)) for name in plans}
    for name, value in plans.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def _tables(spark: SparkSession, folder: Path, landing: Path) -> dict[str, list[str]]:
    """Two rounds, the second with the rest of a day and one more."""
    archive, fleet = Archive(folder), Fleet(days=2, interval_s=1800, lines=200, seed=24)
    truth = []
    for delivered in fleet.deliveries(landing):
        truth += delivered
        rounds = Rounds(archive, landing_zone(str(landing)), lambda _: spark)
        rounds.run()
    assert len(rows(archive)) == len(truth)
    tables = (archive.observations, archive.rollup, archive.quality)
    return {table.folder.name: sorted(map(str, table.read(spark).collect())) for table in tables}


def test_one_part_makes_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    with _planned(spark, is_small=False):
        usual = _tables(spark, tmp_path / "usual", _folder(tmp_path / "a"))
    with _planned(spark, is_small=True):
        small = _tables(spark, tmp_path / "small", _folder(tmp_path / "b"))
    assert usual["observations"]
    assert usual["rollup"]
    assert usual["quality"]
    assert small == usual


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def test_only_small_jobs_are_interpreted(spark: SparkSession) -> None:
    with _planned(spark, is_small=False), interpreted(spark, 1):
        assert spark.conf.get(_GENERATED) == "true"
    with _planned(spark, is_small=True):
        with interpreted(spark, 1):
            assert spark.conf.get(_GENERATED) == "false"
        with interpreted(spark, SMALL_ROWS):
            assert spark.conf.get(_GENERATED) == "true"
        assert spark.conf.get(_GENERATED) == "true"


def test_what_a_round_generates_is_kept_for_the_next(spark: SparkSession) -> None:
    assert int(str(spark.conf.get("spark.sql.codegen.cache.maxEntries"))) >= 1000


def test_plans_follow_the_rows_of_each_job(
    tmp_path: Path, landing: Path, spark: SparkSession
) -> None:
    """A JVM for all that the archive has, plans for what a job reads."""
    asked: list[int] = []

    def sessions(rows: int) -> SparkSession:
        asked.append(rows)
        return spark

    Fleet(gateways=1, days=1, interval_s=3600, faults=False).write(landing)
    rounds = Rounds(Archive(tmp_path / "archive"), landing_zone(str(landing)), sessions)
    count = rounds.run().rows_out
    assert asked == [count, count, 2 * count, count, 2 * count, count]
    assert 0 < count < SMALL_ROWS
    assert _plans(is_small=True)["spark.sql.shuffle.partitions"] == ONE_PART
    assert _plans(is_small=False)["spark.sql.shuffle.partitions"] != ONE_PART
