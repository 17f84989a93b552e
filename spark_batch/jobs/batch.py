"""One batch as Spark reads and writes it, and the proof that what was written is what was planned.

Place on the way of the data: between a plan and its commit. A segment is read by one task (gzip
cannot be split) and its lines have their sequences once, so nothing has to be shuffled: each task
sorts what it read into the layout of the table. Whether that was so is told by counts and by a
hash over all identities, which the plan promises and the rows must have; only a batch in which a
segment has a line twice is written in the slow way that drops repeated rows.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from spark_batch.faults import reach
from spark_batch.frames import frame_of
from spark_batch.plan import Plan, Planned
from spark_batch.schema import CORRUPT, LINES
from spark_batch.segment import MINOR
from spark_batch.table import Table, day_of, null_counts
from spark_batch.transforms.layout import in_layout, without_repeated
from spark_batch.transforms.lines import is_broken, is_header, observations, with_unknown_members

_FEW_LINES, _MANY_LINES = 250_000, 1_000_000
_SCANS = 64
_IDENTITY = ("gateway", "epoch", "sequence")
_SEGMENT_COLUMNS = {
    "name": pa.string(),
    "gateway": pa.string(),
    "epoch": pa.int64(),
    "base": pa.string(),
    "keep_first": pa.int64(),
    "keep_last": pa.int64(),
}


@dataclass(frozen=True, slots=True)
class Counts:
    """What was read and written of a batch: by Spark, and by the footers of its files.

    `identities` is a hash over the identities of all rows, `promised` that of the plan's, which is
    known when their numbers are equal.
    """

    lines: int
    broken: int
    identities: int
    promised: int | None
    rows: int
    late: int
    actuations: int
    unknown: int

    def agree(self, plan: Plan) -> bool:
        """Every promised line was read, every new one written, none twice."""
        return self.lines == plan.lines and self.complete(plan)

    def complete(self, plan: Plan) -> bool:
        """Every new line was written once; some may have been read twice."""
        is_exact = self.rows == plan.new_lines and self.identities == self.promised
        return is_exact and not self.broken


@dataclass(frozen=True, slots=True)
class Batch:
    """A plan, and the URI of a segment's file as Spark wants it."""

    plan: Plan
    uri: Callable[[Planned], str]

    def write(self, spark: SparkSession, table: Table, run: str, *, is_doubled: bool) -> Counts:
        """Write the new lines into the folder of a run; `is_doubled`: some are there twice.

        Raises what Spark raises.
        """
        newest = max((file.day for file in table.files()), default=date.min)
        read, written = Observation("read"), Observation("written")
        lines = self._lines(spark).observe(
            read,
            F.count_if(~is_header()).alias("lines"),
            F.count_if(is_broken()).alias("broken"),
        )
        segments = _segments(spark, self.plan)
        rows = _new_rows(lines, segments)
        placed = without_repeated(rows) if is_doubled else in_layout(rows)
        table.write(placed.observe(written, _hash()), run)
        reach("written")
        counts = read.get | written.get | _in_footers(table.written(run), newest)
        # A name may lie about how many lines there are: no list is made of what did not come.
        came = counts["rows"] == self.plan.new_lines
        promised = _promised(segments).collect()[0]["identities"] if came else None
        return Counts(promised=promised, **counts)

    def _lines(self, spark: SparkSession) -> DataFrame:
        """Lines with `name`, a scan for each group of segments that follow each other.

        Files of a newer minor version are read in the way that keeps all.
        """
        tasks = _tasks(self.plan, int(str(spark.conf.get("spark.sql.shuffle.partitions"))))
        known = [each for each in self.plan.segments if each.minor <= MINOR]
        newer = [each for each in self.plan.segments if each.minor > MINOR]
        scans = [_read_known(spark, self._uris(group)) for group in _groups(known, tasks)]
        scans += [_read_all(spark, self._uris(group)) for group in _groups(newer, tasks)]
        each = -(-tasks // len(scans))
        return reduce(DataFrame.unionByName, [scan.coalesce(each) for scan in scans])

    def _uris(self, group: Sequence[Planned]) -> list[str]:
        return [self.uri(each) for each in group]


def _tasks(plan: Plan, usual: int) -> int:
    """How many tasks share a batch: all cores for a small one, and none with more than it holds."""
    return max(min(-(-plan.lines // _FEW_LINES), usual), -(-plan.lines // _MANY_LINES))


def _groups(segments: Sequence[Planned], tasks: int) -> Iterator[Sequence[Planned]]:
    """Neighbours stay together, so that a file of the table has few gateways."""
    size = -(-len(segments) // min(tasks, _SCANS)) or 1
    for start in range(0, len(segments), size):
        yield segments[start : start + size]


def _read_known(spark: SparkSession, uris: list[str]) -> DataFrame:
    reader = spark.read.schema(LINES).option("columnNameOfCorruptRecord", CORRUPT)
    return reader.json(uris).select("*", _file_name(), F.lit(None).cast("string").alias("ext"))


def _read_all(spark: SparkSession, uris: list[str]) -> DataFrame:
    return with_unknown_members(spark.read.text(uris).select("value", _file_name()))


def _file_name() -> Column:
    return F.col("_metadata.file_name").alias("name")


def _segments(spark: SparkSession, plan: Plan) -> DataFrame:
    """What is known of each file, a row for each run of it that is new."""
    rows = [
        (each.name, each.segment.gateway, each.segment.epoch, each.base, first, last)
        for each in plan.segments
        for first, last in each.keep
    ]
    return frame_of(spark, rows, _SEGMENT_COLUMNS)


def _new_rows(lines: DataFrame, segments: DataFrame) -> DataFrame:
    """The lines that this batch adds, as rows of the archive."""
    told = lines.where(~is_header() & ~is_broken()).join(F.broadcast(segments), "name")
    return observations(told.where(F.col("q").between(F.col("keep_first"), F.col("keep_last"))))


def _promised(segments: DataFrame) -> DataFrame:
    """One row: the hash that the rows of these runs must have."""
    sequences = F.explode(F.sequence("keep_first", "keep_last")).alias("sequence")
    return segments.select("gateway", "epoch", sequences).agg(_hash())


def _hash() -> Column:
    """A hash of a set of identities, in no order; a repeated or missing one changes it."""
    return F.coalesce(F.bit_xor(F.xxhash64(*_IDENTITY)), F.lit(0)).alias("identities")


def _in_footers(paths: list[Path], newest: date) -> dict[str, int]:
    """Rows, and those of days before `newest`, of actuations, and with unknown members."""
    counts = Counter({"rows": 0, "late": 0, "actuations": 0, "unknown": 0})
    for path in paths:
        footer = pq.read_metadata(path)
        nulls = null_counts(footer)
        counts["rows"] += footer.num_rows
        counts["late"] += footer.num_rows if day_of(path) < newest else 0
        counts["actuations"] += nulls["outcome"] - nulls["topic"]
        counts["unknown"] += footer.num_rows - nulls["ext"]
    return dict(counts)
