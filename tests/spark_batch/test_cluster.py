"""A cluster makes the tables of `local[2]`, row by row: one dies, one waits, one has no room."""

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.errors import DiskFullError
from spark_batch.jobs.rounds import Rounds
from spark_batch.landing import landing_zone
from spark_batch.tools.fleet import Fleet
from tests.kit.small_disk import small_disk
from tests.spark_batch.cluster import Cluster, Daemon, cluster

pytestmark = pytest.mark.alone

_DONE = (0, 3)
_EIGHT_TASKS = ("spark.sql.shuffle.partitions=8",)


@pytest.fixture
def two_workers(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path / "cluster") as made:
        yield made


def _tables(archive: Archive, spark: SparkSession) -> dict[str, list[str]]:
    tables = (archive.observations, archive.rollup, archive.quality)
    return {table.folder.name: sorted(map(str, table.read(spark).collect())) for table in tables}


def _expected(spark: SparkSession, landing: Path, folder: Path) -> dict[str, list[str]]:
    """What one machine makes of the landing zone."""
    archive = Archive(folder)
    Rounds(archive, landing_zone(str(landing)), lambda _: spark).run()
    return _tables(archive, spark)


def _run(cluster: Cluster, archive: Archive, landing: Path, *settings: str) -> Daemon:
    job = ("run", "--landing", str(landing), "--archive", str(archive.folder), "--quiet")
    return cluster.submit(*job, settings=(*_EIGHT_TASKS, *settings))


def _ended(driver: Daemon, within_s: float = 900) -> int:
    return driver.process.wait(within_s)


def _worker_that_reads(cluster: Cluster, driver: Daemon) -> Daemon:
    """The one whose executor has a segment open: in the middle of the job."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for worker in cluster.workers:
            if worker.has_open(".jsonl.gz"):
                return worker
        assert driver.process.poll() is None, driver.log.read_text()[-2000:]
    raise AssertionError("nobody ever read a segment")


def test_a_worker_dies_in_the_middle(
    two_workers: Cluster, archive: Archive, landing: Path, spark: SparkSession, tmp_path: Path
) -> None:
    Fleet(gateways=2, days=1, interval_s=20, lines=20_000, seed=24).write(landing)
    driver = _run(two_workers, archive, landing)
    _worker_that_reads(two_workers, driver).kill()
    expected = _expected(spark, landing, tmp_path / "alone")
    assert _ended(driver) in _DONE, driver.log.read_text()[-4000:]
    assert "Lost executor" in driver.log.read_text()
    assert _tables(archive, spark) == expected
    assert all(expected.values())


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("who", ["worker", "driver", "master"])
def test_somebody_dies_at_random(
    who: str, landing: Path, archive: Archive, spark: SparkSession, tmp_path: Path
) -> None:
    """Once in the run of each delivery; what is not done by then, the next run does."""
    chance = random.Random(who)
    fleet = Fleet(gateways=3, days=5, interval_s=120, lines=2_000, seed=24)
    with cluster(tmp_path / "cluster") as made:
        for _ in fleet.deliveries(landing):
            driver = _run(made, archive, landing)
            _work(driver, chance.randrange(160))
            _kill(who, made, driver, chance)
            driver.kill() if who == "master" else _ended(driver)
        last = _run(made, archive, landing)
        assert _ended(last) in _DONE, last.log.read_text()[-4000:]
    assert _tables(archive, spark) == _expected(spark, landing, tmp_path / "alone")


def _work(driver: Daemon, tasks: int) -> None:
    """Until a driver has seen so many tasks end, or has ended itself."""
    deadline = time.monotonic() + 900
    while driver.process.poll() is None and driver.log.read_bytes().count(b"Finished task") < tasks:
        assert time.monotonic() < deadline, driver.log.read_text()[-2000:]
        time.sleep(0.05)


def _kill(who: str, made: Cluster, driver: Daemon, chance: random.Random) -> None:
    """Kill one, and start another in its place."""
    if who == "worker":
        chance.choice(made.workers[-2:]).kill()
        made.start_worker()
    elif who == "driver":
        driver.kill()
    else:
        made.master.kill()
        made.start_master()
        for worker in made.workers:
            worker.kill()
        made.start_worker()
        made.start_worker()
    made.await_workers()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_worker_is_slow(
    two_workers: Cluster, archive: Archive, landing: Path, spark: SparkSession, tmp_path: Path
) -> None:
    """Stopped for a minute while it reads: it goes on, or the other one does its work."""
    Fleet(gateways=2, days=1, interval_s=20, lines=20_000, seed=24).write(landing)
    driver = _run(two_workers, archive, landing)
    worker = _worker_that_reads(two_workers, driver)
    worker.signal(signal.SIGSTOP)
    time.sleep(60)
    worker.signal(signal.SIGCONT)
    assert _ended(driver) in _DONE, driver.log.read_text()[-4000:]
    assert _tables(archive, spark) == _expected(spark, landing, tmp_path / "alone")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_disk_of_one_is_full(
    landing: Path, archive: Archive, spark: SparkSession, tmp_path: Path
) -> None:
    """Where one of two keeps its shuffles: the other does it, or it is told as no room."""
    Fleet(gateways=2, days=1, interval_s=20, lines=20_000, seed=24).write(landing)
    with small_disk(tmp_path / "disk") as disk, cluster(tmp_path / "cluster", 1) as made:
        small = made.start_worker(local=disk.path)
        made.await_workers()
        disk.fill()
        driver = _run(made, archive, landing, "spark.excludeOnFailure.enabled=true")
        assert _ended(driver) in (*_DONE, DiskFullError.exit_code), driver.log.read_text()[-4000:]
        small.kill()
        again = _run(made, archive, landing)
        assert _ended(again) in _DONE, again.log.read_text()[-4000:]
    assert _tables(archive, spark) == _expected(spark, landing, tmp_path / "alone")
