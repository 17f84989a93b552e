"""Mappings as nodes of their graph: read from the store, told as the JSON that a profile has.

Place on the way of the data: beside `gateway.ingest.mappings`, which learns from the same graph
what ingest decodes with. A node that is incomplete, ambiguous or does not compile is listed with
its error; the query MAPPINGS does not see the first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pyoxigraph import NamedNode, Quad, QuerySolutions

from adapters.registry import Registry
from adapters.values.mapping import Mapping as Decoding
from adapters.values.mapping import MappingError
from gateway.engine import Engine
from gateway.ingest.mappings import mapping_of
from gateway.rdf.namespaces import GW, MAPPINGS_GRAPH, QUDT, RDF, SOSA, SSN, UNIT
from gateway.rdf.terms import Term
from jsap.extended.quads import mapping_members
from jsap.namespaces import DEFAULT_NAMESPACES

TYPE = NamedNode(RDF + "type")
MAPPING = NamedNode(GW + "Mapping")
ACTUATOR = NamedNode(GW + "actuator")

PREFIXES: Mapping[str, str] = {
    **DEFAULT_NAMESPACES,
    "gw": GW,
    "sosa": SOSA,
    "ssn": SSN,
    "qudt": QUDT,
    "unit": UNIT,
}
"""The prefixes that a mapping given as JSON may use."""

Nodes = Mapping[NamedNode, frozenset[Quad]]
Members = dict[str, object]


def nodes_of(quads: Iterable[Quad]) -> Nodes:
    """The quads by the node that they say something of."""
    found: dict[NamedNode, set[Quad]] = {}
    for quad in quads:
        if isinstance(quad.subject, NamedNode):
            found.setdefault(quad.subject, set()).add(quad)
    return {node: frozenset(of_it) for node, of_it in found.items()}


def stored_nodes(engine: Engine, graph: NamedNode = MAPPINGS_GRAPH) -> Nodes:
    """What a graph says now; in the scheduler's thread. Linear in the graph."""
    return nodes_of(engine.store.match(None, None, None, graph))


def said_of(engine: Engine, node: NamedNode, graph: NamedNode = MAPPINGS_GRAPH) -> frozenset[Quad]:
    """What a graph says of one node now; in the scheduler's thread."""
    return frozenset(engine.store.match(node, None, None, graph))


class Said(Protocol):
    """What is said in the graph of mappings, as far as somebody asks."""

    def of(self, node: NamedNode) -> frozenset[Quad]:
        """The quads of a node, none where there is no such node."""
        ...

    def naming(self, predicate: NamedNode, value: Term) -> frozenset[NamedNode]:
        """The nodes that have this value."""
        ...


@dataclass(frozen=True, slots=True)
class InStore:
    """What is said now; in the scheduler's thread."""

    engine: Engine

    def of(self, node: NamedNode) -> frozenset[Quad]:
        """The quads of a node in the store."""
        return said_of(self.engine, node)

    def naming(self, predicate: NamedNode, value: Term) -> frozenset[NamedNode]:
        """The nodes in the store that have this value."""
        found = self.engine.store.match(None, predicate, value, MAPPINGS_GRAPH)
        return frozenset(each.subject for each in found if isinstance(each.subject, NamedNode))


@dataclass(frozen=True, slots=True)
class InNodes:
    """What was said when somebody looked; `naming` is linear in it."""

    nodes: Nodes

    def of(self, node: NamedNode) -> frozenset[Quad]:
        """The quads of a node then."""
        return self.nodes.get(node, frozenset())

    def naming(self, predicate: NamedNode, value: Term) -> frozenset[NamedNode]:
        """The nodes that had this value then."""
        return frozenset(
            node
            for node, quads in self.nodes.items()
            if any(quad.predicate == predicate and quad.object == value for quad in quads)
        )


def queried_nodes(engine: Engine, graph: NamedNode) -> Nodes:
    """What a graph said a moment ago; in any thread, whose time it takes."""
    rows = engine.query(f"SELECT ?s ?p ?o {{ GRAPH {graph} {{ ?s ?p ?o }} }}")
    if not isinstance(rows, QuerySolutions):
        raise TypeError("a SELECT has solutions")
    return nodes_of(Quad(row["s"], row["p"], row["o"], graph) for row in rows)


def is_mapping(quads: Iterable[Quad]) -> bool:
    """Whether a node is a gw:Mapping, be it a good one or not."""
    return any(quad.predicate == TYPE and quad.object == MAPPING for quad in quads)


@dataclass(frozen=True, slots=True)
class Compiled:
    """The mappings of a graph: their values, and why others are none, by IRI."""

    mappings: tuple[Decoding, ...]
    errors: Mapping[str, MappingError]

    @classmethod
    def of(cls, nodes: Nodes) -> "Compiled":
        """Linear in the nodes; about 50 µs a mapping."""
        mappings, errors = [], {}
        for node, quads in nodes.items():
            if not is_mapping(quads):
                continue
            try:
                mappings.append(mapping_of(node, quads))
            except MappingError as error:
                errors[node.value] = error
        mappings.sort(key=lambda mapping: mapping.iri)
        for refused in Registry.compile(mappings)[1]:
            errors[refused.mapping] = refused
        good = tuple(mapping for mapping in mappings if mapping.iri not in errors)
        return cls(good, errors)


def described(nodes: Nodes) -> list[Members]:
    """All mappings as JSON, by id: a profile's members, `actuator` and `error` where they are."""
    errors = Compiled.of(nodes).errors
    listed = []
    for node in sorted(nodes, key=str):
        quads = nodes[node]
        if not is_mapping(quads):
            continue
        members: Members = {**mapping_members(node, quads)}
        for quad in quads:
            if quad.predicate == ACTUATOR and isinstance(quad.object, NamedNode):
                members["actuator"] = quad.object.value
        if node.value in errors:
            error = errors[node.value]
            members["error"] = f"{error.member}: {error.reason}"
        listed.append(members)
    return listed
