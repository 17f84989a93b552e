"""What is wrong with triples by the shapes of ontologies/shapes.ttl (SHACL, W3C 2017).

Place on the way of the data: last step of a trial; the way of a reading never comes here.
pyshacl and its rdflib take 0.2 s and 25 MB to load, so they are loaded when somebody tries
something for the first time; they are in the extra `try`, which a device may do without.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pyoxigraph import Quad, RdfFormat, Triple, serialize

import ontologies

SHACL = "http://www.w3.org/ns/shacl#"

NOT_CHECKED = "not checked by the shapes: pip install 'sosa-gateway[try]'"
"""What is said where there are no violations to tell for want of pyshacl."""

_SHAPES = Path(ontologies.__path__[0]) / "shapes.ttl"


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """A node that is not as its shape says; `path` is a property's IRI, `value` what it has.

    Both are empty where the shape is about the node as a whole, or about no one value.
    """

    node: str
    path: str
    value: str
    message: str


def violations(quads: Iterable[Quad]) -> tuple[Violation, ...] | None:
    """In the order of their nodes, whatever the graphs; None where pyshacl is not installed.

    About 3 ms an observation: to be called in a thread that may take its time.
    """
    try:
        rdflib, pyshacl = import_module("rdflib"), import_module("pyshacl")
    except ImportError:
        return None
    triples = [Triple(quad.subject, quad.predicate, quad.object) for quad in quads]
    text = serialize(triples, format=RdfFormat.N_TRIPLES)
    if not text:
        return ()
    data = rdflib.Graph().parse(data=text.decode(), format="nt")
    conforms, report, _ = pyshacl.validate(data, shacl_graph=_shapes())
    return () if conforms else tuple(sorted(_found(report)))


@cache
def _shapes() -> Any:
    return import_module("rdflib").Graph().parse(_SHAPES)


def _found(report: Any) -> Iterable[Violation]:
    term = import_module("rdflib").Namespace(SHACL)
    for result in report.objects(None, term.result):
        parts = (
            report.value(result, term[name])
            for name in ("focusNode", "resultPath", "value", "resultMessage")
        )
        node, path, value, message = ("" if part is None else str(part) for part in parts)
        yield Violation(node, path, value, message)
