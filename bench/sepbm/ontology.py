"""`univ_bench`: LUBM's ontology, in either of its namespaces.

Place on the way of the data: what the reasoners of the benchmark are given as axioms. Source: Guo,
Pan, Heflin, "LUBM: A benchmark for OWL knowledge base systems", 2005.
"""

from collections.abc import Sequence
from pathlib import Path

from pyoxigraph import RdfFormat, Triple, parse

from bench.sepbm.lubm import UNIV_BENCH

FILE = Path(__file__).with_name("univ_bench.ttl")


def univ_bench(namespace: str = UNIV_BENCH) -> Sequence[Triple]:
    """The ontology, 43 classes and 32 properties; blank nodes are new ones at each call."""
    text = _text(namespace)
    return [quad.triple for quad in parse(text, format=RdfFormat.TURTLE, rename_blank_nodes=True)]


def write_ontology(file: Path, namespace: str) -> None:
    """The same as a Turtle document, for a gateway that is to read it."""
    file.write_text(_text(namespace), encoding="utf-8")


def _text(namespace: str) -> str:
    return FILE.read_text(encoding="utf-8").replace(UNIV_BENCH, namespace)
