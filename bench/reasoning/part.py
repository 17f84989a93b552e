"""One part of `reasoning` in a process of its own: `python -m bench.reasoning.part JSON`.

Place on the way of the data: started by reasoning.py, one after the other, so that memory is that
of the part alone. Each says its members as one JSON object.
"""

import ctypes
import gc
import json
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from pyoxigraph import RdfFormat, parse

from bench.city.child import resident_bytes
from bench.reasoning.lubm_closure import axiom_change, derived, kinds, reasoned
from bench.reasoning.reading_cost import reading_cpu_us
from bench.reasoning.reasonable_closure import by_reasonable
from bench.report import digest
from bench.sepbm.adapters.adapter import n_triples
from bench.sepbm.lubm import universities
from gateway.rdf.namespaces import ONTOLOGY_GRAPH
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.reasoning.domains import Domains
from gateway.reasoning.entailed import Entailed
from gateway.reasoning.ontologies import load_ontology
from gateway.reasoning.reasoner import Reasoner
from gateway.store.quad_store import QuadStore

Members = Mapping[str, Any]

_CHUNK = 2000


def closure(number: int) -> Members:
    """Sizes, times of changes, and the exactness of a round trip."""
    data = list(dict.fromkeys(universities(number)))
    found = reasoned(data)
    before = derived(found.reasoner)
    gc.collect()
    gc.freeze()
    measured = kinds(found, data)
    axiom = axiom_change(found)
    after = derived(found.reasoner)
    found.store.close()
    return {
        "asserted": len(data),
        "closure": len(data) + len(before),
        "closure_cpu_s": found.closure_cpu_s,
        "kinds": measured,
        "round_trip_exact": before == after,
        "axiom_change": axiom,
        "digest": digest([*map(_line, data), *(str(quad.triple) for quad in before)]),
    }


def yardstick(number: int) -> Members:
    """The closure of `reasonable`, None where it is not installed."""
    data = list(dict.fromkeys(universities(number)))
    with TemporaryDirectory() as folder:
        found = by_reasonable(data, Path(folder))
    if found is None:
        return {"cpu_s": None, "digest": None}
    return {"cpu_s": found.cpu_s, "digest": digest(map(_line, found.facts))}


def memory(number: int) -> Members:
    """Bytes of RAM a derived quad, and a mirrored one."""
    store = reasoned(()).store
    data = universities(number)
    while chunk := list(islice(data, _CHUNK)):  # what is free again must not be taken for less
        store.load(parse(n_triples(chunk), format=RdfFormat.N_TRIPLES), [])
    domains = Domains(frozenset({DEFAULT_GRAPH}))
    reasoner = Reasoner(store, domains, bound=50_000_000)
    before = _held_bytes()
    reasoner.start()
    per_derived = (_held_bytes() - before) / len(reasoner.derived)
    entailed = Entailed(store, reasoner, domains)
    before = _held_bytes()
    entailed.mirror.current(frozenset({DEFAULT_GRAPH}))
    per_mirrored = (_held_bytes() - before) / len(entailed.mirror)
    return {"per_derived": per_derived, "per_mirrored": per_mirrored}


def _held_bytes() -> int:
    """Memory that is in use: the C library gives back what is free, where it can (malloc_trim)."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return resident_bytes()


def ontology(number: int) -> Members:
    """Brick 1.5, read and compiled; None where its package is not installed."""
    del number
    package = find_spec("brickschema")
    if package is None or package.origin is None:
        return {"triples": None, "cpu_s": None, "memory_bytes": None}
    path = Path(package.origin).parent / "ontologies" / "1.5" / "Brick.ttl"
    triples = sum(1 for _ in parse(path.read_bytes(), format=RdfFormat.TURTLE))
    before, started = _held_bytes(), process_time()
    store = QuadStore.open(None)
    store.load(load_ontology(path), [ONTOLOGY_GRAPH])
    reasoner = Reasoner(store, Domains(frozenset({DEFAULT_GRAPH})), bound=500_000)
    reasoner.start()
    spent = process_time() - started
    return {"triples": triples, "cpu_s": spent, "memory_bytes": _held_bytes() - before}


def readings(number: int) -> Members:
    """CPU µs a reading."""
    del number
    return reading_cpu_us()


PARTS: Mapping[str, Callable[[int], Members]] = {
    "closure": closure,
    "reasonable": yardstick,
    "memory": memory,
    "ontology": ontology,
    "readings": readings,
}


def main() -> None:
    """Measure a part and say it."""
    wanted = json.loads(sys.argv[1])
    sys.stdout.write(f"{json.dumps(PARTS[wanted['part']](wanted['universities']))}\n")


def _line(statement: tuple[str, str, str]) -> str:
    return " ".join(statement)


if __name__ == "__main__":
    main()
