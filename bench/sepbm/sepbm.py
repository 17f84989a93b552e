"""`sepbm`: the benchmark of semantic publish/subscribe systems, by every adapter.

Place on the way of the data: configuration and reference first, then one process an adapter.
Reference data is kept below `build/sepbm`, by the digest of its configuration, for the next run.
Source: Murth et al., "Performance Testing of Semantic Publish/Subscribe Systems".
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

from bench.processes import ChildFailedError, python_child
from bench.report import Experiment, Figure, Outcome, TableRow, digest, versions
from bench.sepbm.adapters.adapter import Adapter
from bench.sepbm.adapters.engine import EngineAdapter
from bench.sepbm.adapters.naive import Naive
from bench.sepbm.child import REFERENCE_FILES, Wanted
from bench.sepbm.configuration import EACH, Configuration, configure
from bench.sepbm.html import page
from bench.sepbm.paper import of_paper
from bench.sepbm.queries import queries, reordered, requeried
from bench.sepbm.reference import Reference, reference_run, write

ADAPTERS = ("engine", "gateway", "naive", "stringrs", "graphss")
TRUTHS = ("naive", "engine")
MODES = ("all", "each", "requery")
NAIVE_UNIVERSITIES = 2
"""Above this the reference is by `engine`, and `naive` runs and checks `CHECKED` publications."""
CHECKED = 5
BUILD = Path("build/sepbm")
_CHILD_S = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What the command line asks for."""

    universities: int = 1
    adapters: Sequence[str] = ADAPTERS
    mode: str = "all"
    truth: str = "naive"
    report: Path | None = None
    resources: str = "first"
    each: int = EACH


def measure(plan: Plan) -> Iterator[Outcome]:
    """One experiment an adapter; the report, where one is wanted, is written after the last."""
    started = process_time()
    configuration = configure(plan.universities, each=plan.each, resources=plan.resources)
    configure_s = process_time() - started
    sha256 = configuration.digest
    folder = BUILD / sha256[:16]
    folder.mkdir(parents=True, exist_ok=True)
    configuration.write(folder)
    _refer(configuration, folder / REFERENCE_FILES[plan.mode], plan)
    found: list[dict[str, Any]] = []
    for adapter in plan.adapters:
        members = {
            "universities": plan.universities,
            "adapter": adapter,
            "channels_mode": plan.mode,
            "resources": plan.resources,
            "configuration_sha256": sha256,
            "configure_s": configure_s,
            "paper": of_paper(adapter),
            **_measured(plan, adapter, folder),
        }
        found.append(members)
        yield _experiment(members)
    if plan.report is not None:
        plan.report.mkdir(parents=True, exist_ok=True)
        file = plan.report / f"sepbm-{plan.universities}-{plan.mode}.html"
        file.write_text(page(found, versions()), encoding="utf-8")


def _measured(plan: Plan, adapter: str, folder: Path) -> dict[str, Any]:
    number = None
    if adapter == "naive" and plan.universities > NAIVE_UNIVERSITIES:
        number = CHECKED
    wanted = Wanted(str(folder), adapter, plan.mode, plan.truth, number)
    with python_child(adapter, "bench.sepbm.child", json.dumps(asdict(wanted))) as child:
        return dict(child.result(_CHILD_S))


def _refer(configuration: Configuration, file: Path, plan: Plan) -> None:
    """Make the reference data, unless they are there."""
    if file.exists():
        return
    texts = requeried if plan.mode == "requery" else queries
    wanted = texts(configuration.namespace)
    small = plan.universities <= NAIVE_UNIVERSITIES
    reference = _by(
        _naive(configuration) if small else _engine(configuration), configuration, wanted
    )
    if not small:
        checked = reference_run(configuration, _naive(configuration), wanted, CHECKED)
        if checked != reference[:CHECKED]:
            raise ChildFailedError("the reference data of the engine is not that of naive")
    write(reference, file)


def _by(adapter: Adapter, configuration: Configuration, texts: Any) -> Reference:
    try:
        return reference_run(configuration, adapter, texts)
    finally:
        adapter.close()


def _naive(configuration: Configuration) -> Adapter:
    return Naive(configuration.namespace, reordered(configuration.namespace))


def _engine(configuration: Configuration) -> Adapter:
    return EngineAdapter(configuration.namespace, measured=False)


def _experiment(members: dict[str, Any]) -> Experiment:
    times = members["notification_ms"]
    figures = [
        ("publications", members["publications"], ""),
        ("rows", members["rows"], ""),
        ("notification mean", times["mean"], "ms"),
        ("notification p50", times["p50"], "ms"),
        ("notification p99", times["p99"], "ms"),
        ("throughput", members["publications_per_s"], "publications/s"),
        ("publication", members["cpu_ms_per_publication"], "ms CPU"),
        ("deletion", members["delete_cpu_ms"], "ms CPU"),
        ("load and close", members["load_s"], "s CPU"),
        ("first answers", members["first_answers_s"], "s CPU"),
        ("memory", members["memory_bytes"], "bytes"),
    ]
    notes = [*members.pop("notes"), f"the paper: {json.dumps(members['paper'])}"]
    problems = members.pop("problems")
    found = [str(members["rows"]), *problems]
    return Experiment(
        f"sepbm {members['adapter']}",
        tuple(Figure(name, value, unit) for name, value, unit in figures if value is not None),
        digest(found),
        digest([str(members["rows_expected"])]),
        tuple(notes + problems),
        table=[_line(each) for each in members["channels"]],
        members={**members, "experiment": "sepbm"},
    )


def _line(channel: dict[str, Any]) -> TableRow:
    return {name: "-" if value is None else value for name, value in channel.items()}
