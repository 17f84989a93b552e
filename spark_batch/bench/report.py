"""What the benchmark says: a table for people, members of JSON for machines."""

from collections.abc import Iterator
from importlib import import_module

from spark_batch.bench.comparison import Outcome, Run
from spark_batch.bench.run_way import WAYS

_HEAD = f"{'':8}{'stage':8}{'wall s':>9}{'CPU s':>9}{'µs CPU/obs':>12}{'obs/s':>12}"


def notes() -> list[str]:
    """What each engine does and does not do."""
    modules = (way.split(".")[0] for way in WAYS.values())
    return [import_module(f"spark_batch.bench.{module}").NOTE for module in modules]


def to_members(outcome: Outcome) -> dict[str, object]:
    """The outcome in the form of a JSON object."""
    return {
        "observations": outcome.observations,
        "segment_bytes": outcome.segment_bytes,
        "runs": {run.way: _members(run, outcome.observations) for run in outcome.runs},
        "ratios": dict(_ratios(outcome)),
        "failures": outcome.failures,
        "differences": outcome.differences,
    }


def to_text(outcome: Outcome) -> Iterator[str]:
    """A table, what follows from it, and whether all made the same rows."""
    count = outcome.observations
    yield f"\n{count:,} observations, {outcome.segment_bytes / count:.1f} bytes each in segments"
    yield _HEAD
    for run in outcome.runs:
        for stage in run.stages:
            rate = f"{count / stage.wall_s:12,.0f}" if stage.name == "ingest" else ""
            micros = stage.cpu_s / count * 1e6
            yield (
                f"{run.way:8}{stage.name:8}{stage.wall_s:9.1f}{stage.cpu_s:9.1f}{micros:12.2f}{rate}"
            )
        members = _members(run, count)
        yield (
            f"{run.way:8}{'whole':8}{run.cost.wall_s:9.1f}{run.cost.cpu_s:9.1f}"
            f"  peak {run.cost.peak_bytes / 1e9:.2f} GB, "
            f"{members['bytes_per_observation']:.1f} bytes an observation"
        )
    for name, value in _ratios(outcome):
        yield f"  {name}: {value:,.2f}"
    yield from (f"  {failure}" for failure in outcome.failures)
    if outcome.differences:
        yield from (f"  DIFFERENT ROWS: {each}" for each in outcome.differences)
    else:
        yield "  all that came to an end made the same rows"


def growth(smaller: Outcome, larger: Outcome) -> str:
    """How our ingest grows, by wall and CPU time."""
    one, other = (outcome.runs[0].stage("ingest") for outcome in (smaller, larger))
    return (
        f"  {larger.observations / smaller.observations:.1f} times the observations: ingest takes "
        f"{other.wall_s / one.wall_s:.2f} times the time, {other.cpu_s / one.cpu_s:.2f} of CPU"
    )


def _members(run: Run, observations: int) -> dict[str, object]:
    members: dict[str, object] = {
        stage.name: {
            "wall_s": round(stage.wall_s, 2),
            "cpu_s": round(stage.cpu_s, 2),
            "rows": stage.rows,
            "bytes": stage.bytes,
        }
        for stage in run.stages
    }
    return members | {
        "wall_s": round(run.cost.wall_s, 2),
        "cpu_s": round(run.cost.cpu_s, 2),
        "peak_bytes": run.cost.peak_bytes,
        "bytes_per_observation": run.stage("ingest").bytes / observations,
    }


def _ratios(outcome: Outcome) -> Iterator[tuple[str, float]]:
    ours, *others = outcome.runs
    for other in others:
        for name in ("ingest", "rollup", "export"):
            one, its = ours.stage(name), other.stage(name)
            if its.files:
                yield f"{name}, time of {ours.way} : {other.way}", one.wall_s / its.wall_s
                yield f"{name}, CPU of {ours.way} : {other.way}", one.cpu_s / its.cpu_s
        if other.stage("export").files:
            yield f"whole, time of {ours.way} : {other.way}", ours.cost.wall_s / other.cost.wall_s
            yield f"whole, CPU of {ours.way} : {other.way}", ours.cost.cpu_s / other.cost.cpu_s
    export = ours.stage("export")
    yield f"triples/s of {ours.way} to gzip", export.rows / export.wall_s
    yield f"triples of {ours.way} to gzip for each second of CPU", export.rows / export.cpu_s
