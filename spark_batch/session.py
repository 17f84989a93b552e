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

from spark_batch.class_data import ClassData
from spark_batch.errors import ArchiveError
from spark_batch.files import full, is_full
from spark_batch.frames import ONE_PART
from spark_batch.java import java_home
from spark_batch.summary import Progress

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
    # All of a group is in one part already: once is enough.
    "spark.sql.execution.combineAdjacentAggregation": "true",
    # More rows of a stream than these are copied through a sorter that may spill.
    "spark.sql.windowExec.buffer.in.memory.threshold": "65536",
    # A union of scans with one partition each has as many as there are scans, not one.
    "spark.sql.unionOutputPartitioning": "false",
}
"""What every job relies on, in whatever session it runs."""

_BEGUN = {
    # Else each column that Python names takes five calls into Java, which say where it was named.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # A round of `run` generates some 80 classes: a hundred, the default, are compiled again and
    # again, since those that the next round needs first are the oldest.
    "spark.sql.codegen.cache.maxEntries": "1000",
}
"""What a session can be told only where it begins."""

SMALL_ROWS = 100_000
"""Up to here a job is made of plans that cost little to begin, and not of those that run fast."""


Sessions = Callable[[int], SparkSession]
"""Gives the session for a job on about so many rows, and starts the JVM only when called."""

_JAVA_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")


def spark_session(
    application: str,
    options: dict[str, str] | None = None,
    rows: int | None = None,
    *,
    is_listing: bool = False,
) -> SparkSession:
    """The session of this process: an existing one, the cluster's, or an embedded one.

    `options` are Spark's own (`--conf`) and win over the embedded defaults. Those of the JVM are
    for the rows of the first call, those of plans for these; None: nobody knows how many.
    `is_listing`: `keep_classes` will be called. Raises JavaMissingError.
    """
    builder = SparkSession.builder.appName(application)
    given = options or {}
    is_small = rows is not None and rows <= SMALL_ROWS
    if SparkSession.getActiveSession() is None:
        own = {} if _submitted() else _embedded(is_small=is_small, is_listing=is_listing) | given
        for key, value in (_BEGUN | own).items():
            builder = builder.config(key, value)
    session = builder.getOrCreate()
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # kilobytes for what is raised anyway
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    if not _submitted():
        for key, value in _plans(is_small=is_small).items():
            session.conf.set(key, given.get(key, value))
    return session


def keep_classes(progress: Progress) -> None:
    """Once for each Java and Spark: have the next JVM start with the classes of this one.

    Tells what is done, and why something is not; a job does not depend on it.
    """
    session = SparkSession.getActiveSession()
    data = ClassData.of(Path(os.environ.get("JAVA_HOME", "")), os.environ)
    if session is None or _submitted() or data is None:
        return
    if data.archive.exists():
        if not _is_sharing(session):
            progress(f"Java does not take {data.archive}: remove it, and `run` makes it anew")
    elif not data.can_be_kept:
        progress(f"Java starts slowly again next time: {data.archive.parent} cannot be written")
    elif data.listed.exists():
        progress("keeping what Java loaded for its next start: once, about half a minute")
        if why := data.keep(_property(session, "java.class.path")):
            progress(f"it could not be kept in {data.archive.parent}: {why}")


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


def is_interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C came in the middle of a call into Java, of which py4j makes an error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def _is_sharing(session: SparkSession) -> bool:
    """Whether the session's JVM has its classes from an archive."""
    return "sharing" in _property(session, "java.vm.info")


def _property(session: SparkSession, name: str) -> str:
    return str(session._jvm.java.lang.System.getProperty(name))  # type: ignore[union-attr]


def _embedded(*, is_small: bool, is_listing: bool) -> dict[str, str]:
    """Defaults of a session of our own; prepares the environment of its JVM."""
    scratch = Path(tempfile.mkdtemp(prefix="sosa-archive-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    home = java_home(os.environ, scratch)
    classes = ClassData.of(home, os.environ)
    java = _java_options(os.environ, is_small=is_small)
    if classes is not None:
        java = f"{java} {classes.options(is_listing=is_listing)}"
    os.environ["JAVA_HOME"] = str(home)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Without this, workers are whatever `python3` is on PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # The launcher's own JVM lives for half a second.
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1")
    return {
        "spark.master": f"local[{_cores()}]",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": java,
        "spark.log.level": "ERROR",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Lists of files are ours, from the Delta log: no job of its own to stat them.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    }


def _plans(*, is_small: bool) -> dict[str, str]:
    """How the plans of a job are made, which a session can change from one job to the next.

    What is in one part is one stage, and needs no planning between stages.
    """
    parts = ONE_PART if is_small else str(3 * _cores())
    adaptive = "false" if is_small else SETTINGS["spark.sql.adaptive.enabled"]
    return {"spark.sql.shuffle.partitions": parts, "spark.sql.adaptive.enabled": adaptive}


def _cores() -> int:
    return len(os.sched_getaffinity(0))


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
        if is_interrupted(error):
            raise KeyboardInterrupt from error
        if is_full(str(error)):
            raise full(archive) from error
        raise ArchiveError(f"Spark failed: {reason(error)}", "nothing was committed") from error


def reason(error: Exception) -> str:
    """The innermost cause of what Spark raised, in one line."""
    lines = str(error).strip().split("\n")
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return (causes or lines)[-1 if causes else 0]
