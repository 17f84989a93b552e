"""The only place that makes a Spark session.

Under `spark-submit` the session is that of the cluster: master, memory and Java are its own. Alone
(`python -m spark_batch`, `sosa-gateway archive`) it is `local[*]` with 1 GB, no ports open beyond
loopback. Settings that decide what an instant or a file means are set in both.
"""

import atexit
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_batch.errors import ArchiveError
from spark_batch.files import full, is_full
from spark_batch.java import java_home

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # What generates more bytecode than Java compiles would be interpreted: in smaller steps then.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # A union of scans with one partition each has as many as there are scans, not one.
    "spark.sql.unionOutputPartitioning": "false",
}
"""What every job relies on, in whatever session it runs."""

SMALL_ROWS = 50_000
"""Up to here Java's second compiler is left out; a guess, not yet measured."""

Sessions = Callable[[int], SparkSession]
"""Gives the session for a job on about so many rows, and starts the JVM only when called."""

_JAVA_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")


def spark_session(
    application: str, options: dict[str, str] | None = None, rows: int | None = None
) -> SparkSession:
    """The session of this process: an existing one, the cluster's, or an embedded one.

    `options` are Spark's own (`--conf`) and win over the embedded defaults, which are others for
    up to SMALL_ROWS rows; None: nobody knows how many. Raises JavaMissingError.
    """
    builder = SparkSession.builder.appName(application)
    given = options or {}
    if SparkSession.getActiveSession() is None and not _submitted():
        is_small = rows is not None and rows <= SMALL_ROWS
        for key, value in (_embedded(is_small=is_small) | given).items():
            builder = builder.config(key, value)
    session = builder.getOrCreate()
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # kilobytes for what is raised anyway
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    return session


def _submitted() -> bool:
    """Whether spark-submit started us, or a Spark Connect server is named."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ


def is_lost() -> bool:
    """Whether the session's JVM has ended: this process gets no other."""
    session = SparkSession.getActiveSession()
    if session is None:
        return False
    try:
        return not session.version
    except (Py4JError, OSError):
        return True


def _embedded(*, is_small: bool) -> dict[str, str]:
    """Defaults of a session of our own; prepares the environment of its JVM."""
    scratch = Path(tempfile.mkdtemp(prefix="sosa-archive-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    os.environ["JAVA_HOME"] = str(java_home(os.environ, scratch))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Without this, workers are whatever `python3` is on PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    cores = len(os.sched_getaffinity(0))
    return {
        "spark.master": f"local[{cores}]",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": _java_options(os.environ, is_small=is_small),
        "spark.log.level": "ERROR",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1" if is_small else str(3 * cores),
        # Lists of files are ours, from the Delta log: no job of its own to stat them.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    }


def _java_options(environment: Mapping[str, str], *, is_small: bool = False) -> str:
    """Errors only in the log; compiler and collector that cost least, if nobody chose others."""
    log = Path(__file__).with_name("log4j2.properties")
    options = f"-Dlog4j2.configurationFile={log.as_uri()}"
    chosen = " ".join(environment.get(name, "") for name in _JAVA_VARIABLES)
    if is_small and "-XX:TieredStopAtLevel" not in chosen:
        options += " -XX:TieredStopAtLevel=1"
    if _COLLECTOR.search(chosen):
        return options
    return f"{options} -XX:+Use{'Serial' if is_small else 'Parallel'}GC"


@contextmanager
def told(archive: Path) -> Iterator[None]:
    """What Spark raises, as one line: ArchiveError, or DiskFullError where there is no room."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if is_full(str(error)):
            raise full(archive) from error
        raise ArchiveError(f"Spark failed: {reason(error)}", "nothing was committed") from error


def reason(error: Exception) -> str:
    """The innermost cause of what Spark raised, in one line."""
    lines = str(error).strip().split("\n")
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return (causes or lines)[-1 if causes else 0]
