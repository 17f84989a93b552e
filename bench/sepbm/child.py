"""One adapter in a process of its own: `python -m bench.sepbm.child JSON`.

Place on the way of the data: started by sepbm.py for each adapter, so that no adapter pays for the
heap of another, and each one's memory is known. It reads configuration and reference from a folder,
runs, and says the analysed figures as one JSON object.
"""

import gc
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.sepbm.adapters.adapter import Adapter
from bench.sepbm.adapters.engine import EngineAdapter
from bench.sepbm.adapters.gateway import GatewayAdapter
from bench.sepbm.adapters.graph_ss import GraphSS
from bench.sepbm.adapters.naive import Naive
from bench.sepbm.adapters.se_endpoint import SeEndpoint
from bench.sepbm.adapters.string_rs import StringRS
from bench.sepbm.analysis import analysed, analysed_each
from bench.sepbm.configuration import Configuration
from bench.sepbm.queries import queries, requeried
from bench.sepbm.reference import read
from bench.sepbm.runner import Runner


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to run: the folder has configuration and reference; `mode` is all, each or requery.

    `adapter` is as on the command line, `truth` that of the heuristics, `number` of the first
    publications, None for all.
    """

    folder: str
    adapter: str
    mode: str
    truth: str = "naive"
    number: int | None = None


REFERENCE_FILES = {"all": "reference.json", "each": "reference.json", "requery": "requery.json"}
"""What a mode's rows are compared with, beside the configuration."""


def main() -> None:
    """Run and say."""
    wanted = Wanted(**json.loads(sys.argv[1]))
    with TemporaryDirectory() as data:
        sys.stdout.write(f"{json.dumps(measured(wanted, Path(data)))}\n")


def measured(wanted: Wanted, data: Path) -> dict[str, Any]:
    """The figures of one adapter; `data` is an empty folder that it may use."""
    folder = Path(wanted.folder)
    configuration = Configuration.read(folder)
    reference = read(folder / REFERENCE_FILES[wanted.mode])
    adapter = made(wanted, configuration.namespace, data)
    try:
        cpu_s = adapter.cpu_s()
        adapter.load(configuration.base)
        load_s = adapter.cpu_s() - cpu_s
        gc.collect()
        gc.freeze()  # first answers do not pay for what was loaded
        runner = Runner(adapter, configuration, reference)
        members = _run(runner, wanted, configuration.namespace)
    finally:
        adapter.close()
    return {**members, "load_s": load_s, "notes": list(adapter.notes)}


def _run(runner: Runner, wanted: Wanted, namespace: str) -> dict[str, Any]:
    texts = requeried(namespace) if wanted.mode == "requery" else queries(namespace)
    if wanted.mode != "each":
        return analysed(runner.run(texts, wanted.number))
    runs: Mapping[str, Any] = {
        name: runner.run({name: text}, wanted.number) for name, text in texts.items()
    }
    return analysed_each(runs)


def made(wanted: Wanted, namespace: str, data: Path) -> Adapter:
    """The adapter that a name or `sepa=URL` stands for."""
    name, _, url = wanted.adapter.partition("=")
    match name:
        case "engine":
            return EngineAdapter(namespace)
        case "naive":
            return Naive(namespace)
        case "stringrs":
            return StringRS(namespace, wanted.truth)
        case "graphss":
            return GraphSS(namespace, wanted.truth)
        case "gateway":
            return GatewayAdapter(data, namespace)
        case _:
            return SeEndpoint(*endpoints(url), namespace, derives=False)


def endpoints(url: str) -> tuple[str, str]:
    """The URLs for UPDATE and SUBSCRIBE, with `+` between; the second is guessed from the first.

    >>> endpoints("http://localhost:8000/update")
    ('http://localhost:8000/update', 'ws://localhost:8000/subscribe')
    >>> endpoints("http://a:8000/update+ws://a:9000/subscribe")[1]
    'ws://a:9000/subscribe'
    """
    update, _, subscribe = url.partition("+")
    start = update.partition("://")[2].partition("/")[0]
    return update, subscribe or f"ws://{start}/subscribe"


if __name__ == "__main__":
    main()
