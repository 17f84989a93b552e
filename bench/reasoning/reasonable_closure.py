"""`reasonable`: the same closure by an OWL 2 RL reasoner in Rust, what its load and reason take.

Place on the way of the data: the yardstick of lubm_closure.py; where it is not installed there is
none. What it also derives (membership of anonymous classes, owl:Thing, the ontology's own schema)
is left out of the comparison.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import process_time

from bench.sepbm.adapters.adapter import n_triples
from bench.sepbm.lubm import RDF_TYPE, UNIV_BENCH, Statement
from bench.sepbm.ontology import write_ontology

_STRING = "^^<http://www.w3.org/2001/XMLSchema#string>"


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The closure as N-Triples statements, and the CPU time of loading and reasoning."""

    facts: frozenset[Statement]
    cpu_s: float


def by_reasonable(data: Iterable[Statement], folder: Path) -> Yardstick | None:
    """Through files in the folder, as its fastest way in; None where it is not installed."""
    if find_spec("reasonable") is None:
        return None
    import reasonable  # noqa: PLC0415  (a development dependency)

    ontology, instances = folder / "ontology.ttl", folder / "data.ttl"
    write_ontology(ontology, UNIV_BENCH)
    instances.write_bytes(n_triples(data))
    started = process_time()
    reasoner = reasonable.PyReasoner()
    reasoner.load_file(str(ontology))
    reasoner.load_file(str(instances))
    found = reasoner.reason()
    spent = process_time() - started
    return Yardstick(frozenset(_instances(found)), spent)


def _instances(found: Sequence[Sequence[object]]) -> Iterable[Statement]:
    """The facts about individuals, by terms of the ontology and of LUBM's data."""
    for triple in found:
        subject, predicate, value = (_text(term) for term in triple)
        if not subject.startswith("<http://www.") or "/owl#" in subject:
            continue
        if subject.startswith(f"<{UNIV_BENCH}"):
            continue
        if predicate == RDF_TYPE and not value.startswith(f"<{UNIV_BENCH}"):
            continue
        if predicate == RDF_TYPE or predicate.startswith(f"<{UNIV_BENCH}"):
            yield subject, predicate, value


def _text(term: object) -> str:
    """An rdflib term in its N-Triples form."""
    written = getattr(term, "n3", None)
    text = str(written()) if written is not None else str(term)
    return text.removesuffix(_STRING)
