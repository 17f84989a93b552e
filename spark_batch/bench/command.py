"""`bench`: the archive beside DuckDB and Polars, on this machine.

The table of each size is told as progress, everything together is the summary.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from spark_batch.bench.run_way import WAYS
from spark_batch.errors import ArchiveError
from spark_batch.summary import Progress, Summary

_SIZES = (1_000_000, 5_000_000)
_NEEDED = {"DuckDB": "duckdb", "Polars": "polars"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The sizes and the engines."""
    default = ",".join(map(str, _SIZES))
    parser.add_argument(
        "--observations", type=_sizes, default=_SIZES, metavar="N,…", help=f"default: {default}"
    )
    parser.add_argument(
        "--ways", type=_ways, default=tuple(WAYS), metavar="WAY,…", help="besides Spark"
    )
    parser.add_argument(
        "--gateways",
        type=_gateways,
        default=(),
        metavar="N,…",
        help="Spark alone, with so many gateways and as many observations in all",
    )
    text = "a day of one gateway by `run` and by its three jobs, so often in turns"
    parser.add_argument("--days", type=_times, default=0, metavar="N", help=text)
    text = "make an archive of a year of one gateway there, and measure nothing"
    parser.add_argument("--year", type=Path, metavar="FOLDER", help=text)


def run(options: argparse.Namespace, tell: Progress) -> Summary:
    """Measure what the options say; raises ArchiveError where engines made different rows.

    With `gateways`, `days` or `year`: with the first size, and no other engine.
    """
    size = options.observations[0]
    if options.gateways:
        return _growth(size, options.gateways, tell)
    if options.days:
        return _days(size, options.days, tell)
    if options.year is not None:
        return _year(size, options.year, tell)
    return _sizes_compared(options.observations, options.ways, tell)


def _sizes_compared(sizes: tuple[int, ...], ways: tuple[str, ...], tell: Progress) -> Summary:
    for way in {*ways, "DuckDB"} & set(_NEEDED):
        if find_spec(_NEEDED[way]) is None:
            raise ArchiveError(f"the benchmark needs {way}", f"pip install {_NEEDED[way]}")
    # Only here: whoever ingests needs no other engine.
    from spark_batch.bench.comparison import Outcome, compare  # noqa: PLC0415
    from spark_batch.bench.report import growth, notes, to_members, to_text  # noqa: PLC0415

    for note in notes():
        tell(note)
    outcomes: list[Outcome] = []
    for size in sizes:
        outcomes.append(compare(size, ways, tell))
        for line in to_text(outcomes[-1]):
            tell(line)
        if outcomes[-1].differences:
            raise ArchiveError("the engines made different rows", "one of them is wrong")
    for smaller, larger in pairwise(outcomes):
        tell(growth(smaller, larger))
    summary = Summary("bench", rows_in=sum(sizes), rows_out=sum(sizes))
    summary.details = {"sizes": [to_members(outcome) for outcome in outcomes], "notes": notes()}
    return summary


def _growth(size: int, gateways: Sequence[int], tell: Progress) -> Summary:
    from spark_batch.bench.growth import growths, to_text  # noqa: PLC0415 - as above

    found = growths(size, gateways, tell)
    for line in to_text(found):
        tell(line)
    summary = Summary("bench", rows_in=size * len(found), rows_out=size * len(found))
    summary.details = {"growth": [asdict(each) for each in found]}
    return summary


def _days(size: int, times: int, tell: Progress) -> Summary:
    from spark_batch.bench.day import days, to_text  # noqa: PLC0415 - as above

    found = []
    for day in days(size, times, tell):
        found.append(day)
        for line in to_text(day):
            tell(line)
    rows = sum(day.first.rows + day.second.rows for day in found)
    summary = Summary("bench", rows_in=rows, rows_out=rows)
    summary.details = {"days": [asdict(day) for day in found]}
    return summary


def _year(size: int, folder: Path, tell: Progress) -> Summary:
    from spark_batch.bench.year import make_year  # noqa: PLC0415 - as above

    rows = make_year(size, folder, tell)
    return Summary("bench", rows_in=rows, rows_out=rows, details={"archive": str(folder)})


def _times(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _gateways(text: str) -> tuple[int, ...]:
    numbers = tuple(int(part) if part.isdecimal() else 0 for part in text.split(","))
    if not 0 < min(numbers) <= max(numbers) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not N,… with N of 1 to 10000")
    return numbers


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(int(part) if part.isdecimal() else 0 for part in text.replace("_", "").split(","))
    if min(sizes) < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not N,… with N of 1000 or more")
    return sizes


def _ways(text: str) -> tuple[str, ...]:
    known = {way.lower(): way for way in WAYS}
    chosen = {known.get(part.lower(), "") for part in text.split(",")}
    if "" in chosen:
        raise argparse.ArgumentTypeError(f"{text!r} is not of {','.join(WAYS)}")
    return ("Spark", *(way for way in WAYS if way in chosen and way != "Spark"))
