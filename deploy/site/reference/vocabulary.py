"""Every term of ontologies/gateway.ttl, our own vocabulary."""

from pathlib import Path

from pyoxigraph import Literal, NamedNode, RdfFormat, Store

import ontologies
from deploy.site.reference.tables import code, table, words

_FILE = Path(ontologies.__path__[0]) / "gateway.ttl"
_GW = "https://sosa-gateway.example/ns#"
_OWL = "http://www.w3.org/2002/07/owl#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_NAMES = {
    _GW: "gw:",
    _OWL: "owl:",
    _RDF: "rdf:",
    _RDFS: "rdfs:",
    "http://www.w3.org/ns/sosa/": "sosa:",
    "http://www.w3.org/2001/XMLSchema#": "xsd:",
}
_CLASS = NamedNode(f"{_OWL}Class")
_PROPERTIES = {
    *(NamedNode(f"{_OWL}{kind}Property") for kind in ("Datatype", "Object")),
    NamedNode(f"{_RDF}Property"),
}
_HEAD = f"""\
# Vocabulary

Made of [ontologies/gateway.ttl](../ontologies/gateway.ttl): what SOSA, QUDT and OWL-Time
have no word for. The prefix is `gw: <{_GW}>`.
"""


def vocabulary_page() -> str:
    """Classes, properties with domain and range, individuals; each by name."""
    store = Store()
    store.bulk_load(path=str(_FILE), format=RdfFormat.TURTLE)
    terms = sorted({term for each in store if (term := _ours(each.subject))}, key=str)
    parts: dict[str, list[list[str]]] = {"Classes": [], "Properties": [], "Individuals": []}
    for term in terms:
        types = set(_objects(store, term, f"{_RDF}type"))
        part = "Individuals"
        if types & _PROPERTIES:
            part = "Properties"
        elif _CLASS in types:
            part = "Classes"
        parts[part].append(_row(store, term))
    head = ["term", "of", "to", "what it says"]
    tables = (f"## {name}\n\n{table(head, rows)}\n" for name, rows in parts.items())
    return "\n".join([_HEAD, *tables])


def _ours(term: object) -> NamedNode | None:
    return term if isinstance(term, NamedNode) and term.value.startswith(_GW) else None


def _objects(store: Store, term: NamedNode, name: str) -> list[object]:
    found = store.quads_for_pattern(term, NamedNode(name), None)
    return [each.object for each in found]


def _row(store: Store, term: NamedNode) -> list[str]:
    sides = [
        ", ".join(sorted(code(_name(each)) for each in _objects(store, term, f"{_RDFS}{side}")))
        for side in ("domain", "range")
    ]
    comments = [
        each.value for each in _objects(store, term, f"{_RDFS}comment") if isinstance(each, Literal)
    ]
    return [code(_name(term)), *sides, words(" ".join(comments))]


def _name(term: object) -> str:
    """With its prefix; what has no name of its own is told as what it is."""
    if not isinstance(term, NamedNode):
        return "one of several"
    for begin, prefix in _NAMES.items():
        if term.value.startswith(begin):
            return prefix + term.value.removeprefix(begin)
    return term.value
