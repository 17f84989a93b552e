"""What a reading costs the engine: reasoning off, on with axioms that nobody reads, under SOSA's.

Place on the way of the data: the updates that ingest makes of readings, on engines that take turns,
with stores on disk as the gateway has: there a reading's quads are made when they are asked for, so
that what reasoning asks for is seen. What is flushed between the turns, partly by RocksDB's own
threads, is not in the figures. What a store's look-ups cost hangs on how its skip lists came to be,
by chance: two stores with the same quads differ by 2 %. So each kind has several engines. Under
SOSA's axioms once as long as nobody asks what follows, once with somebody who has subscribed to
what one sensor observed, and once to what each did, so that of every reading something is derived
at once and told.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time

from pyoxigraph import NamedNode, Quad

from bench.readings.inprocess import Request, run_loop
from bench.readings.workload import Workload, sensor_iri, subscriptions
from bench.sepbm.ontology import univ_bench
from gateway.engine import Engine, SubscribeRequest
from gateway.engine.options import EngineOptions
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, SOSA
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.reasoning.domains import Domains
from gateway.reasoning.ontologies import load_ontology, shipped
from gateway.reasoning.reasoning import Reasoning
from gateway.store.quad_store import QuadStore

READINGS = 2000
TURN = 100
ENGINES = 4
"""Of each kind, one after the other."""
INFERRED_QUERY = f"SELECT ?o {{ <{sensor_iri(0)}> <{SOSA}madeObservation> ?o }}"
"""What follows of one sensor by an inverse property."""
INFERRED_OF_ALL = f"SELECT ?s ?o {{ ?s <{SOSA}madeObservation> ?o }}"
"""What follows so of every reading."""


def reading_cpu_us(readings: int = READINGS) -> Mapping[str, float]:
    """CPU µs a reading: `off`, `unread`, `sosa`, `heard`, `all_heard`.

    Each is the least of all turns of all its engines but the first two: whatever else the machine
    does only adds to a turn, and by more than what is looked for.
    """
    with TemporaryDirectory() as folder:
        looped = run_loop(Path(folder), Workload(readings), readings)
    axioms = [Quad(t.subject, t.predicate, t.object, ONTOLOGY_GRAPH) for t in univ_bench()]
    sosa = load_ontology(shipped()["sosa-profile"])
    read = {"off": None, "unread": axioms, "sosa": sosa, "heard": sosa, "all_heard": sosa}
    spent: dict[str, list[float]] = {name: [] for name in read}
    for _ in range(ENGINES):
        with TemporaryDirectory() as folder:
            engines = {
                name: _engine(Path(folder) / name, its, looped.namespace)
                for name, its in read.items()
            }
            engines["heard"].subscribe(SubscribeRequest(INFERRED_QUERY, infer=True))
            engines["all_heard"].subscribe(SubscribeRequest(INFERRED_OF_ALL, infer=True))
            for name, values in _turns(engines, looped.requests).items():
                spent[name] += values[2:] or values
            for engine in engines.values():
                engine.close()
    return {name: min(values) for name, values in spent.items()}


def _turns(engines: Mapping[str, Engine], requests: Sequence[Request]) -> dict[str, list[float]]:
    """What a reading took in each turn; each time another engine begins."""
    spent: dict[str, list[float]] = {name: [] for name in engines}
    order = list(engines)
    for start in range(0, len(requests), TURN):
        for name in order:
            spent[name].append(_turn(engines[name], requests[start : start + TURN]))
            engines[name].flush()
        order.append(order.pop(0))
    return spent


def _turn(engine: Engine, requests: Sequence[Request]) -> float:
    started = thread_time()
    for request in requests:
        engine.update(request, deferred=True)
    return (thread_time() - started) * 1e6 / len(requests)


def _engine(folder: Path, axioms: Sequence[Quad] | None, namespace: NamedNode) -> Engine:
    store = QuadStore.open(folder)
    reasoning = None
    if axioms is not None:
        store.apply(Delta(tuple(axioms)))
        reasoning = Reasoning(Domains(frozenset({DEFAULT_GRAPH}), all_others=True))
    engine = Engine(store, options=EngineOptions(reasoning=reasoning))
    for text in subscriptions().values():
        engine.subscribe(text)
    engine.store.expect_new(namespace)
    return engine
