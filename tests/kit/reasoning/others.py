"""`owlrl` and `reasonable`, asked what follows; both are development dependencies alone.

Compared are triples over named terms: no membership of anonymous classes, nothing of `owl:Thing`,
`owl:sameAs`, nor of the vocabularies themselves, no class below itself.
"""

from collections.abc import Callable, Iterable

import owlrl
import rdflib
import reasonable
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse, serialize

from gateway.rdf.namespaces import OWL, RDF, RDFS, XSD

Fact = tuple[NamedNode | BlankNode, NamedNode, NamedNode | BlankNode | Literal | Triple]

_TYPE = NamedNode(RDF + "type")
_SCHEMA = {RDFS + name for name in ("subClassOf", "subPropertyOf", "domain", "range")}


def _graph(quads: Iterable[Quad]) -> rdflib.Graph:
    triples = (Triple(quad.subject, quad.predicate, quad.object) for quad in quads)
    graph = rdflib.Graph()
    graph.parse(data=serialize(triples, format=RdfFormat.N_TRIPLES), format="nt")
    return graph


def _facts(graph: rdflib.Graph) -> set[Fact]:
    text = graph.serialize(format="nt", encoding="utf-8")
    return {
        (quad.subject, quad.predicate, quad.object)
        for quad in parse(text, RdfFormat.N_TRIPLES)
        if not isinstance(quad.subject, Triple)
    }


def by_owlrl(quads: Iterable[Quad]) -> set[Fact]:
    """All that owlrl's OWL 2 RL rules make of the triples, with the triples."""
    graph = _graph(quads)
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    # Its rules also put literals where subjects stand.
    for fact in [fact for fact in graph if isinstance(fact[0], rdflib.Literal)]:
        graph.remove(fact)
    return _facts(graph)


def by_reasonable(quads: Iterable[Quad]) -> set[Fact]:
    """All that reasonable makes of the triples, with the triples."""
    reasoner = reasonable.PyReasoner()
    reasoner.from_graph(_graph(quads))
    graph = rdflib.Graph()
    for fact in reasoner.reason():
        if not isinstance(fact[0], rdflib.Literal):
            graph.add(fact)
    return _facts(graph)


OTHERS: dict[str, Callable[[Iterable[Quad]], set[Fact]]] = {
    "owlrl": by_owlrl,
    "reasonable": by_reasonable,
}


def _is_vocabulary(term: object) -> bool:
    return isinstance(term, NamedNode) and term.value.startswith((RDF, RDFS, OWL, XSD))


def about_individuals(facts: Iterable[Fact]) -> set[Fact]:
    """What is said of individuals, and neither of classes nor of properties."""
    return {
        fact
        for fact in facts
        if not _is_vocabulary(fact[0])
        and (
            not isinstance(fact[2], BlankNode) and not _is_vocabulary(fact[2])
            if fact[1] == _TYPE
            else not _is_vocabulary(fact[1])
        )
    }


def about_schema(facts: Iterable[Fact]) -> set[Fact]:
    """What is said of named classes and properties by hierarchies, domains and ranges."""
    return {
        fact
        for fact in facts
        if fact[1].value in _SCHEMA
        and all(isinstance(end, NamedNode) for end in (fact[0], fact[2]))
        and not any(map(_is_vocabulary, (fact[0], fact[2])))
        and fact[0] != fact[2]
    }
