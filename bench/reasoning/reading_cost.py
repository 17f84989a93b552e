"""What a reading costs the engine: reasoning off, on with axioms that nobody reads, under SOSA's.

Place on the way of the data: the updates that ingest makes of readings, in memory, on engines that
take turns. Under SOSA's axioms once as long as nobody asks what follows, once with somebody who has
subscribed to what one sensor observed, and once to what each did, so that of every reading
something is derived at once and told.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from pyoxigraph import Quad, Store

from bench.readings.inprocess import Request, run_loop
from bench.readings.workload import Workload, sensor_iri, subscriptions
from bench.sepbm.ontology import univ_bench
from gateway.engine import Engine, SubscribeRequest
from gateway.engine.options import EngineOptions
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, SOSA
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.reasoning.domains import Domains
from gateway.reasoning.ontologies import load_ontology, shipped
from gateway.reasoning.reasoning import Reasoning
from gateway.store.quad_store import QuadStore

READINGS = 4000
TURN = 200
INFERRED_QUERY = f"SELECT ?o {{ <{sensor_iri(0)}> <{SOSA}madeObservation> ?o }}"
"""What follows of one sensor by an inverse property."""
INFERRED_OF_ALL = f"SELECT ?s ?o {{ ?s <{SOSA}madeObservation> ?o }}"
"""What follows so of every reading."""


def reading_cpu_us(readings: int = READINGS) -> Mapping[str, float]:
    """CPU µs a reading: `off`, `unread`, `sosa`, `heard`, `all_heard`.

    Each is the least of all turns but the first two: whatever else the machine does only adds to a
    turn, and by more than what is looked for.
    """
    with TemporaryDirectory() as folder:
        requests = run_loop(Path(folder), Workload(readings), readings).requests
    axioms = [Quad(t.subject, t.predicate, t.object, ONTOLOGY_GRAPH) for t in univ_bench()]
    sosa = load_ontology(shipped()["sosa-profile"])
    engines = {
        "off": _engine(None),
        "unread": _engine(axioms),
        "sosa": _engine(sosa),
        "heard": _engine(sosa),
        "all_heard": _engine(sosa),
    }
    engines["heard"].subscribe(SubscribeRequest(INFERRED_QUERY, infer=True))
    engines["all_heard"].subscribe(SubscribeRequest(INFERRED_OF_ALL, infer=True))
    spent: dict[str, list[float]] = {name: [] for name in engines}
    for start in range(0, len(requests), TURN):
        for name, engine in engines.items():
            spent[name].append(_turn(engine, requests[start : start + TURN]))
    for engine in engines.values():
        engine.close()
    return {name: min(values[2:] or values) for name, values in spent.items()}


def _turn(engine: Engine, requests: Sequence[Request]) -> float:
    started = process_time()
    for request in requests:
        engine.update(request, deferred=True)
    return (process_time() - started) * 1e6 / len(requests)


def _engine(axioms: Sequence[Quad] | None) -> Engine:
    store = Store()
    reasoning = None
    if axioms is not None:
        store.bulk_extend(axioms)
        reasoning = Reasoning(Domains(frozenset({DEFAULT_GRAPH}), all_others=True))
    engine = Engine(QuadStore(store), options=EngineOptions(reasoning=reasoning))
    for text in subscriptions().values():
        engine.subscribe(text)
    return engine
