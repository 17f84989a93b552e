"""What an axiom can conclude, as patterns: where quads that it derives can stand.

Place: under `explain`, which tells per pattern of a query the axioms that can feed it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyoxigraph import NamedNode

from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH, RDF, RDFS
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.axioms import (
    Axiom,
    Chain,
    Conclusion,
    Disjoint,
    DomainOf,
    HasValue,
    Inverse,
    Only,
    RangeOf,
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
)
from gateway.reasoning.domains import Domains
from gateway.reasoning.kinds import NOTHING
from gateway.reasoning.reasoning import Pattern

_TYPE = NamedNode(RDF + "type")
_SUB_CLASS, _SUB_PROPERTY = NamedNode(RDFS + "subClassOf"), NamedNode(RDFS + "subPropertyOf")
_DOMAIN, _RANGE = NamedNode(RDFS + "domain"), NamedNode(RDFS + "range")


class Head(NamedTuple):
    """A pattern of conclusions; a graph None is that of a domain, an object None any."""

    predicate: NamedNode
    object: Term | None = None
    graph: GraphName | None = None


def heads(axiom: Axiom) -> Iterator[Head]:
    """The patterns of all that an axiom can conclude, its part of the schema closure included."""
    match axiom:
        case SubClass(_, sup):
            yield Head(_SUB_CLASS, None, ONTOLOGY_GRAPH)
            yield from _concluded(sup)
        case DomainOf(_, cls):
            yield Head(_DOMAIN, None, ONTOLOGY_GRAPH)
            yield from _concluded(cls)
        case RangeOf(_, cls):
            yield Head(_RANGE, None, ONTOLOGY_GRAPH)
            yield from _concluded(cls)
        case SubProperty(_, sup):
            for predicate in (_SUB_PROPERTY, _DOMAIN, _RANGE):
                yield Head(predicate, None, ONTOLOGY_GRAPH)
            yield Head(sup)
        case Chain(_, sup):
            yield Head(sup)
        case Inverse(first, second):
            yield from (Head(first), Head(second))
        case Symmetric(property_) | Transitive(property_):
            yield Head(property_)
        case Disjoint(first, second):
            yield Head(first, second, CONTRADICTIONS_GRAPH)


def _concluded(conclusion: Conclusion) -> Iterator[Head]:
    match conclusion:
        case HasValue(property_, value):
            yield Head(property_, value)
        case Only(_, filler):
            yield from _concluded(filler)
        case _ if conclusion == NOTHING:
            yield Head(NOTHING, NOTHING, CONTRADICTIONS_GRAPH)
        case _:
            yield Head(_TYPE, conclusion)


def feeding(pattern: Pattern, axioms: Iterable[Axiom], domains: Domains) -> tuple[Axiom, ...]:
    """The axioms that can conclude a quad of the pattern; linear in all of them."""
    return tuple(
        axiom for axiom in axioms if any(_meets(pattern, head, domains) for head in heads(axiom))
    )


def _meets(pattern: Pattern, head: Head, domains: Domains) -> bool:
    return (
        pattern.predicate in (None, head.predicate)
        and (head.object is None or pattern.object in (None, head.object))
        and (pattern.graph is None or _stands_in(head, pattern.graph, domains))
    )


def _stands_in(head: Head, graph: GraphName, domains: Domains) -> bool:
    if head.graph is not None:
        return head.graph == graph
    domain = domains.of(graph)
    return domains.writes_refused(graph) or (domain is not None and domain.into == graph)
