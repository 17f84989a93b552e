"""The closure of LUBM from nothing, changes of descriptions and of an axiom, by our reasoner.

Place on the way of the data: generator, store, reasoner; no engine, nobody subscribes. CPU time,
in memory. The bare store is pyoxigraph's, with the same quads.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time, process_time_ns
from typing import Any

from pyoxigraph import NamedNode, Quad, RdfFormat, Store, parse

from bench.sepbm.adapters.adapter import n_triples
from bench.sepbm.analysis import times
from bench.sepbm.lubm import UNIV_BENCH, Statement
from bench.sepbm.ontology import univ_bench
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, RDF, RDFS
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.reasoning.domains import Domains
from gateway.reasoning.reasoner import Reasoner
from gateway.store.quad_store import QuadStore

KINDS = ("UndergraduateStudent", "GraduateStudent", "FullProfessor", "Publication", "Course")
SAMPLE = 300
CONCERNED = "Lecturer"
"""A class of some 0.5 % of the individuals, which the changed axiom puts below another one."""

_TYPE = NamedNode(f"{RDF}type")
_WARM_UP = 30
_BOUND = 50_000_000


@dataclass(slots=True)
class Reasoned:
    """LUBM in a store, and a reasoner on it that has started; `closure_cpu_s` is what that took."""

    store: QuadStore
    reasoner: Reasoner
    closure_cpu_s: float


def reasoned(data: Iterable[Statement]) -> Reasoned:
    """Load and derive from nothing."""
    bare = Store()
    bare.bulk_load(n_triples(data), format=RdfFormat.N_TRIPLES)
    axioms = (Quad(t.subject, t.predicate, t.object, ONTOLOGY_GRAPH) for t in univ_bench())
    bare.bulk_extend(axioms)
    store = QuadStore(bare)
    reasoner = Reasoner(store, Domains(frozenset({DEFAULT_GRAPH})), bound=_BOUND)
    started = process_time()
    reasoner.start()
    return Reasoned(store, reasoner, process_time() - started)


def derived(reasoner: Reasoner) -> set[Quad]:
    """What follows in the data's graph."""
    return set(reasoner.derived.match(None, None, None, DEFAULT_GRAPH))


def kinds(found: Reasoned, data: Sequence[Statement]) -> Mapping[str, Mapping[str, Any]]:
    """For each kind of resource: what taking its description away and adding it again takes."""
    graphs: dict[str, list[Statement]] = defaultdict(list)
    of_kind: dict[str, list[str]] = {f"<{UNIV_BENCH}{kind}>": [] for kind in KINDS}
    for subject, predicate, value in data:
        graphs[subject].append((subject, predicate, value))
        if value in of_kind:
            of_kind[value].append(subject)
    chosen = random.Random(17)  # noqa: S311  (a sample, no secret)
    bare = Store()
    bare.bulk_extend(found.store.match(None, None, None, DEFAULT_GRAPH))
    measured = {}
    for kind in KINDS:
        subjects = of_kind[f"<{UNIV_BENCH}{kind}>"]
        sample = chosen.sample(subjects, min(SAMPLE, len(subjects)))
        quads = [_quads(graphs[subject]) for subject in sample]
        measured[kind] = _kind(found, bare, quads)
    return measured


def _quads(graph: Sequence[Statement]) -> tuple[Quad, ...]:
    return tuple(parse(n_triples(graph), format=RdfFormat.N_TRIPLES))


def _kind(found: Reasoned, bare: Store, graphs: Sequence[tuple[Quad, ...]]) -> Mapping[str, Any]:
    deletes, adds, store_removes, store_adds = [], [], [], []
    step, apply = found.reasoner.step, found.store.apply
    for graph in [*graphs[:_WARM_UP], *graphs]:
        gone, back = Delta(removed=graph), Delta(added=graph)
        deletes.append(_us(step, gone))
        apply(gone)
        adds.append(_us(step, back))
        apply(back)
        store_removes.append(_us(_remove_all, bare, graph))
        store_adds.append(_us(_add_all, bare, graph))
    parts = {
        "add_us": adds,
        "delete_us": deletes,
        "store_add_us": store_adds,
        "store_remove_us": store_removes,
    }
    told: dict[str, Any] = {"triples": sum(map(len, graphs)) / len(graphs)}
    for name, values in parts.items():
        spread = times(values[min(_WARM_UP, len(graphs)) :])
        told[name] = {"p50": spread["p50"], "p99": spread["p99"]}
    return told


def _us(work: Callable[..., object], *arguments: object) -> float:
    started = process_time_ns()
    work(*arguments)
    return (process_time_ns() - started) / 1e3


def _remove_all(store: Store, quads: Sequence[Quad]) -> None:
    for quad in quads:
        store.remove(quad)


def _add_all(store: Store, quads: Sequence[Quad]) -> None:
    for quad in quads:
        store.add(quad)


def axiom_change(found: Reasoned) -> Mapping[str, float]:
    """One subclass axiom more, and less again: the mean of both."""
    concerned = NamedNode(f"{UNIV_BENCH}{CONCERNED}")
    above = NamedNode("urn:bench:Teaching")
    axiom = (Quad(concerned, NamedNode(f"{RDFS}subClassOf"), above, ONTOLOGY_GRAPH),)
    individuals = len(found.store.match(None, _TYPE, concerned, DEFAULT_GRAPH))
    spent = 0.0
    for delta in (Delta(added=axiom), Delta(removed=axiom)):
        spent += _us(found.reasoner.step, delta) / 2e6
        found.store.apply(delta)
    return {
        "individuals": individuals,
        "cpu_ms": spent * 1e3,
        "closure_share": spent / found.closure_cpu_s,
    }
