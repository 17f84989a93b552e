"""Whether two engines made the same rows: a hash of everything that is exact, sums of the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from spark_batch.schema import STREAM

_MEMORY = "2GB"
_STREAM = tuple(f"coalesce({name}, '')" for name in STREAM)
_OBSERVATIONS = (
    *("gateway", "epoch::BIGINT", "sequence::BIGINT", "kind", "sensor"),
    *("coalesce(property, '')", "coalesce(feature, '')", "epoch_us(result_time)"),
    *("delay_us::BIGINT", "device_clock", "coalesce(number, -0.5)", "coalesce(boolean::INT, -1)"),
    *("coalesce(text, '')", "coalesce(lexical, '')", "datatype", "coalesce(unit, '')", "base"),
)
_ROLLUP = (
    *("grain", *_STREAM, 'epoch_us("start")', "count::BIGINT", "minimum", "maximum", '"first"'),
    *("epoch_us(first_time)", '"last"', "epoch_us(last_time)", "resets::BIGINT"),
)
_FIGURES = ("mean", "m2", "stddev", "time_weighted_mean", "covered_s", "increase")


@dataclass(frozen=True, slots=True)
class Digest:
    """What a table says, whatever the order of its rows: their number, a hash, weighted sums."""

    rows: int
    exact: str
    sums: tuple[float, ...] = ()

    def equals(self, other: "Digest") -> bool:
        """The same rows; sums may differ in the tenth digit."""
        near = (
            math.isclose(a, b, rel_tol=1e-9) for a, b in zip(self.sums, other.sums, strict=True)
        )
        return (self.rows, self.exact) == (other.rows, other.exact) and all(near)


def of_observations(files: Sequence[str]) -> Digest:
    """The digest of the table `observations`."""
    return _digest(files, _OBSERVATIONS, ())


def of_rollup(files: Sequence[str]) -> Digest:
    """The digest of the table `rollup`.

    A sum is weighted by the row, so that figures cannot change places.
    """
    return _digest(files, _ROLLUP, _FIGURES)


def of_statements(files: Sequence[str]) -> Digest:
    """The digest of the lines of gzipped N-Triples."""
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{_MEMORY}'")
        rows, exact = connection.execute(
            "SELECT count(*), sum(hash(line)::HUGEINT)::VARCHAR FROM read_csv(?, header = false, "
            "quote = '', escape = '', delim = '\x01', columns = {line: 'VARCHAR'})",
            [list(files)],
        ).fetchall()[0]
    return Digest(rows, exact)


def _digest(files: Sequence[str], exact: Sequence[str], figures: Sequence[str]) -> Digest:
    hashed = f"hash({', '.join(exact)})"
    sums = [f", sum(coalesce({name}, -0.5) * (1 + h % 997))" for name in figures]
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{_MEMORY}'")
        row = connection.execute(
            f"SELECT count(*), sum(h::HUGEINT)::VARCHAR{''.join(sums)} "  # noqa: S608 - ours
            f"FROM (SELECT *, {hashed} AS h FROM read_parquet(?, hive_partitioning = false))",
            [list(files)],
        ).fetchall()[0]
    return Digest(row[0], row[1], row[2:])
