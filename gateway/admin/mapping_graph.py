"""`MappingGraph`: what is wrong with the nodes of the graph of mappings, as somebody wrote them.

Place on the way of the data: a sink of a subscription to our own engine, beside those by which
mappings, rules and actuators are learned. Their queries do not see a node that lacks a member or
has it under a misspelt name, and an UPDATE may write anything; so each node that changes is looked
at by itself. Source of the terms: ontologies/gateway.ttl.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse

import ontologies
from adapters.values.mapping import MappingError
from adapters.values.units import unit_defect
from gateway.engine import Notification
from gateway.errors import GatewayError
from gateway.ingest.mappings import mapping_of
from gateway.rdf.namespaces import GW, MAPPINGS_GRAPH, RDF, SOSA, SSN
from gateway.runtime.alarms import AlarmKind, Condition
from gateway.sparql.parser import parse_query
from gateway.store.quad_store import QuadStore

EVERYTHING = f"SELECT ?s ?p ?o {{ GRAPH {MAPPINGS_GRAPH} {{ ?s ?p ?o }} }}"
"""The query of the subscription."""

Node = NamedNode | BlankNode

_TYPE = RDF + "type"
_MAPPING, _RULE, _ACTUATOR = GW + "Mapping", GW + "RepublishRule", SOSA + "Actuator"
_VIRTUAL = GW + "VirtualSensor"
_UNIT = GW + "unit"

_NEEDED = {
    _MAPPING: (
        GW + "topicFilter",
        GW + "format",
        GW + "sensor",
        GW + "observedProperty",
        GW + "featureOfInterest",
    ),
    _RULE: (GW + "topicTemplate", GW + "payloadTemplate", GW + "on"),
    _ACTUATOR: (GW + "commandTopic", SSN + "forProperty", GW + "featureOfInterest"),
    _VIRTUAL: (),
}
_TELLING = {
    GW + "topicFilter": _MAPPING,
    GW + "topicTemplate": _RULE,
    GW + "commandTopic": _ACTUATOR,
}
"""What a node that says this is meant to be."""

_KINDS = {
    _MAPPING: AlarmKind.BROKEN_MAPPING,
    _RULE: AlarmKind.BROKEN_RULE,
    _ACTUATOR: AlarmKind.BROKEN_ACTUATOR,
    _VIRTUAL: AlarmKind.BROKEN_VIRTUAL_SENSOR,
}
_UPDATES = 256
"""UPDATEs whose nodes are known, for those who ask what an UPDATE has just done."""


class MappingGraph:
    """The nodes of the graph that are wrong; in the scheduler's thread, `conditions` in any."""

    def __init__(self, store: QuadStore) -> None:
        self.conditions: tuple[Condition, ...] = ()
        self._store = store
        self._wrong: dict[str, tuple[Condition, ...]] = {}
        self._written: deque[tuple[int, frozenset[str]]] = deque(maxlen=_UPDATES)

    def learn(self, notification: Notification) -> None:
        """Look at every node that an UPDATE changed."""
        results = notification.results
        touched = {row[0] for rows in (results.added, results.removed) for row in rows}
        nodes = [node for node in touched if isinstance(node, Node)]
        for node in nodes:
            quads = self._store.match(node, None, None, MAPPINGS_GRAPH)
            found = tuple(node_conditions(node, quads))
            if found:
                self._wrong[_name(node)] = found
            else:
                self._wrong.pop(_name(node), None)
        self.conditions = tuple(each for found in self._wrong.values() for each in found)
        if notification.sequence:
            self._written.append((notification.time, frozenset(map(_name, nodes))))

    def written(self, time: int) -> frozenset[str]:
        """The nodes that the UPDATE of this engine's time changed, a moment ago; in any thread."""
        none: frozenset[str] = frozenset()
        return none.union(*(nodes for each, nodes in tuple(self._written) if each == time))


def node_conditions(node: Node, quads: Iterable[Quad]) -> Iterator[Condition]:
    """What is wrong with a node that these quads of the graph of mappings are about."""
    said: dict[str, list[object]] = {}
    for quad in quads:
        said.setdefault(quad.predicate.value, []).append(quad.object)
    types = {each.value for each in said.get(_TYPE, ()) if isinstance(each, NamedNode)}
    meant = [kind for term, kind in _TELLING.items() if term in said]
    kinds = [kind for kind in _KINDS if kind in types] or meant
    reasons = [*_strange(said), *_untyped(types, meant)]
    for kind in kinds[:1]:
        reasons += _lacking(kind, node, said, quads)
    if reasons:
        kind = _KINDS[kinds[0]] if kinds else AlarmKind.BROKEN_MAPPING
        yield Condition(kind, _name(node), "; ".join(reasons), _WHAT_TO_DO)
    for unit in said.get(_UNIT, ()):
        if isinstance(unit, NamedNode | Literal) and (defect := unit_defect(unit.value)):
            yield Condition(AlarmKind.UNKNOWN_UNIT, _name(node), defect, "correct its gw:unit")


_WHAT_TO_DO = "correct or remove it: sosa-gateway mapping list, or an UPDATE of its graph"


def _strange(said: Iterable[str]) -> Iterator[str]:
    """Terms of our namespace that are none."""
    for term in said:
        if term.startswith(GW) and term not in _terms():
            near = get_close_matches(term, _terms(), n=1, cutoff=0.85)
            meant = f"; did you mean {_short(near[0])}?" if near else ""
            yield f"there is no term {_short(term)[:80]}{meant}"


def _untyped(types: Iterable[str], meant: Iterable[str]) -> Iterator[str]:
    if not set(types) & set(_KINDS):
        for kind in meant:
            yield f"it is not said to be a {_short(kind)}"


def _lacking(
    kind: str, node: Node, said: dict[str, list[object]], quads: Iterable[Quad]
) -> Iterator[str]:
    """Members that are missing or wrong, as far as the node alone can tell."""
    if isinstance(node, BlankNode):
        yield "a blank node has no name: give it an IRI"
        return
    missing = [_short(term) for term in _NEEDED[kind] if term not in said]
    if missing:
        yield f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    elif kind == _MAPPING:
        try:
            mapping_of(node, quads)
        except MappingError as error:
            yield f"{error.member} {error.reason}"
    if kind in {_RULE, _VIRTUAL}:
        yield from _query_faults(said)


def _query_faults(said: dict[str, list[object]]) -> Iterator[str]:
    texts = said.get(GW + "sparql", [])
    if not texts and GW + "query" not in said:
        yield "gw:sparql or gw:query is missing"
    for text in texts:
        try:
            parse_query(text.value if isinstance(text, Literal) else str(text))
        except GatewayError as error:
            yield f"gw:sparql: {error.description}"


def _name(node: Node) -> str:
    return node.value if isinstance(node, NamedNode) else str(node)


def _short(term: str) -> str:
    for prefix, namespace in (("gw", GW), ("sosa", SOSA), ("ssn", SSN)):
        if term.startswith(namespace):
            return f"{prefix}:{term.removeprefix(namespace)}"
    return term


@cache
def _terms() -> frozenset[str]:
    """The terms of our vocabulary; read when somebody first uses one that may be none."""
    path = Path(ontologies.__path__[0], "gateway.ttl")
    quads = parse(path.read_bytes(), format=RdfFormat.TURTLE)
    return frozenset(quad.subject.value for quad in quads if isinstance(quad.subject, NamedNode))
