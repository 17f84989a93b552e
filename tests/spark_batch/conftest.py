"""One Spark session for all tests of the archive, small, without ports of its own."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.jobs.ingest import Ingest
from spark_batch.landing import landing_zone
from spark_batch.session import spark_session
from spark_batch.summary import Summary

# Every JVM lives for seconds: without the second compiler a run costs half the CPU time.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="session")
def shared_session() -> Iterator[SparkSession]:
    session = spark_session("tests", SETTINGS)
    yield session
    session.stop()


@pytest.fixture
def spark(shared_session: SparkSession) -> SparkSession:
    """The session, planning as SETTINGS say whatever the test before planned or left."""
    assert spark_session("tests", SETTINGS) is shared_session
    return shared_session


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    folder = tmp_path / "landing"
    folder.mkdir()
    return folder


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive")


@pytest.fixture
def ingest(spark: SparkSession, archive: Archive, landing: Path) -> Callable[[], Summary]:
    return lambda: Ingest(archive, landing_zone(str(landing)), lambda _: spark).run()
