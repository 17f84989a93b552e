"""Whose findings the table `quality` has: how many of each, and the most severe of some.

Place on the way of the data: between the table and the page of `quality`. Findings are few beside
what they are about, and the driver has just written them, so it reads their files as they are.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from spark_batch.chart import Finding
from spark_batch.schema import STREAM

Owner = tuple[str | None, ...]
"""Who a finding is about: the names of a stream, of a device (gateway, sensor), or of a gateway."""

_SEVERE = ("amount", "check", "start", "end", "detail")


@dataclass(frozen=True, slots=True)
class Blamed:
    """Findings in these files, by what they are about and by check."""

    files: Sequence[Path]
    owners: Mapping[Owner, int] = field(default_factory=Counter)
    checks: Mapping[str, int] = field(default_factory=dict)

    def worst(self, owners: Iterable[Owner], most: int) -> Mapping[Owner, list[Finding]]:
        """At most so many of each of these, the most severe first."""
        wanted = {owner for owner in owners if self.owners.get(owner)}
        devices = pa.array({owner[1] if len(owner) > 1 else None for owner in wanted}, pa.string())
        found: defaultdict[Owner, list[tuple[object, ...]]] = defaultdict(list)
        for path in self.files if wanted else ():
            for batch in _batches(path, (*STREAM, *_SEVERE)):
                some = batch.filter(pc.is_in(batch["sensor"], devices))
                for owner, told in zip(_owners(some), _told(some), strict=True):
                    if owner in wanted:
                        found[owner].append(told)
        return {owner: [_finding(each) for each in sorted(found[owner])[:most]] for owner in wanted}


def blamed(files: Sequence[Path]) -> Blamed:
    """Count what these files of the table have; one pass over the names."""
    owners, checks = Counter[Owner](), Counter[str]()
    for path in files:
        for batch in _batches(path, (*STREAM, "check")):
            counted = pa.table(batch).group_by([*STREAM, "check"]).aggregate([([], "count_all")])
            numbers = counted["count_all"].to_pylist()
            for owner, check, number in zip(
                _owners(counted), counted["check"].to_pylist(), numbers, strict=True
            ):
                owners[owner] += number
                checks[check] += number
    return Blamed(files, owners, dict(sorted(checks.items())))


def _batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(columns=list(columns))


def _owners(rows: pa.RecordBatch | pa.Table) -> Iterator[Owner]:
    """Names that are null from somewhere on are those of a device or a gateway."""
    for names in zip(*(rows.column(name).to_pylist() for name in STREAM), strict=True):
        yield names if names[2] is not None else names[:2] if names[1] is not None else names[:1]


def _told(rows: pa.RecordBatch) -> Iterator[tuple[object, ...]]:
    """What findings are sorted by: the largest first, last what is no number."""
    amounts, checks, starts, ends, details = (rows.column(name) for name in _SEVERE)
    times = (each.cast(pa.int64()).to_pylist() for each in (starts, ends))
    columns = (amounts.to_pylist(), checks.to_pylist(), *times, details.to_pylist())
    for amount, check, start_us, end_us, detail in zip(*columns, strict=True):
        is_nan = math.isnan(amount)
        yield (is_nan, 0.0 if is_nan else -amount, check, start_us, end_us, detail)


def _finding(told: tuple[object, ...]) -> Finding:
    _, _, check, start_us, end_us, detail = told
    return Finding(str(check), int(str(start_us)), int(str(end_us)), str(detail))
