"""`Declared`: the windows and the clients' streams that have names of their own.

    graph of mappings -> Declared -> subscribing (windows by name), UPDATE and /elements (streams)

Place: beside `WindowedView`. An UPDATE that would declare what cannot be is refused as a whole.
"""

import logging
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pyoxigraph import NamedNode, Quad

from gateway.engine.windowed.declaration import ELEMENT_STREAM, WINDOW, declared_window
from gateway.errors import WindowError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import GW, MAPPINGS_GRAPH, OBSERVATIONS, OWN_GRAPHS, RDF
from gateway.rdf.terms import GraphName
from gateway.store.quad_store import QuadStore
from gateway.windows.window import Window

log = logging.getLogger(__name__)

_TYPE = NamedNode(f"{RDF}type")
_MAPPING = NamedNode(f"{GW}Mapping")
_OWN_NAME = "give it an IRI of its own"

Written = Callable[[str], Iterable[GraphName]]
"""The graphs whose readers may read a stream; where it names none, who reads all graphs may."""


def itself(stream: str) -> Iterable[GraphName]:
    """The graph of a client's stream, which has its IRI."""
    return (NamedNode(stream),)


@dataclass(frozen=True, slots=True)
class Declared:
    """`windows` by their IRIs; `streams`, IRIs of what clients let elements into."""

    windows: Mapping[str, Window] = field(default_factory=dict)
    streams: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether nothing has a name."""
        return not (self.windows or self.streams)


class _Graph(Protocol):
    """The graph of mappings, as it is or as it is to be."""

    def of_kind(self, kind: NamedNode) -> list[NamedNode]:
        """The nodes of a class."""

    def of(self, node: NamedNode) -> Iterable[Quad]:
        """What a node says."""


class _Stored:
    """As it is."""

    def __init__(self, store: QuadStore) -> None:
        self._store = store

    def of_kind(self, kind: NamedNode) -> list[NamedNode]:
        found = self._store.match(None, _TYPE, kind, MAPPINGS_GRAPH)
        return [quad.subject for quad in found if isinstance(quad.subject, NamedNode)]

    def of(self, node: NamedNode) -> Iterable[Quad]:
        return self._store.match(node, None, None, MAPPINGS_GRAPH)


class _Changed:
    """As it will be once the store has a Delta."""

    def __init__(self, store: QuadStore, delta: Delta) -> None:
        self._stored = _Stored(store)
        self._added = [quad for quad in delta.added if quad.graph_name == MAPPINGS_GRAPH]
        self._removed = frozenset(delta.removed)

    def of_kind(self, kind: NamedNode) -> list[NamedNode]:
        gone = {
            quad.subject
            for quad in self._removed
            if quad.predicate == _TYPE and quad.object == kind and self._is_ours(quad)
        }
        new = [q.subject for q in self._added if q.predicate == _TYPE and q.object == kind]
        kept = [node for node in self._stored.of_kind(kind) if node not in gone]
        return kept + [node for node in new if isinstance(node, NamedNode)]

    def of(self, node: NamedNode) -> Iterable[Quad]:
        kept = [quad for quad in self._stored.of(node) if quad not in self._removed]
        return kept + [quad for quad in self._added if quad.subject == node]

    @staticmethod
    def _is_ours(quad: Quad) -> bool:
        return quad.graph_name == MAPPINGS_GRAPH


def read_declared(store: QuadStore) -> Declared:
    """What the store declares; what cannot be is logged and left out."""
    return _declared(_Stored(store), None)


def declared_after(store: QuadStore, delta: Delta) -> Declared | None:
    """What is declared once the store has a Delta; None where that is about other things.

    Raises WindowError where the Delta declares what cannot be.
    """
    changed = {
        quad.subject
        for quads in (delta.added, delta.removed)
        for quad in quads
        if quad.graph_name == MAPPINGS_GRAPH
    }
    if not changed:
        return None
    graph = _Changed(store, delta)
    declared = _declared(graph, changed)
    for iri in (*declared.windows, *declared.streams):
        if NamedNode(iri) in changed:
            _require_free(NamedNode(iri), store, delta)
    return declared


def _declared(graph: _Graph, strict: Container[object] | None) -> Declared:
    """`strict` are the nodes whose errors are raised; None: none."""
    streams = _streams(graph, strict)
    windows: dict[str, Window] = {}
    for node in graph.of_kind(WINDOW):
        try:
            windows[node.value] = declared_window(node, graph.of(node))
            _require_other_name(node, windows, streams)
        except WindowError as error:
            windows.pop(node.value, None)
            if strict is not None and node in strict:
                raise
            log.error("window_refused", extra={"reason": str(error)})
    return Declared(windows, streams)


def _streams(graph: _Graph, strict: Container[object] | None) -> frozenset[str]:
    """The streams of clients; by the name of a mapping what devices send has its stream."""
    streams: list[str] = []
    for node in graph.of_kind(ELEMENT_STREAM):
        if not any(quad.predicate == _TYPE and quad.object == _MAPPING for quad in graph.of(node)):
            streams.append(node.value)
            continue
        error = WindowError(node.value, "is a mapping, whose stream devices write", _OWN_NAME)
        if strict is not None and node in strict:
            raise error
        log.error("window_refused", extra={"reason": str(error)})
    return frozenset(streams)


def _require_other_name(
    node: NamedNode, windows: Mapping[str, Window], streams: frozenset[str]
) -> None:
    if node.value in streams or any(node.value == each.stream for each in windows.values()):
        raise WindowError(node.value, "is the name of a stream", _OWN_NAME)


def _require_free(node: NamedNode, store: QuadStore, delta: Delta) -> None:
    """Raise WindowError where the IRI means something else already."""
    if node in OWN_GRAPHS or node.value == OBSERVATIONS:
        raise WindowError(node.value, "is the gateway's own", _OWN_NAME)
    held = len(list(store.match(None, None, None, node)))
    gone = sum(quad.graph_name == node for quad in delta.removed)
    if held > gone or any(quad.graph_name == node for quad in delta.added):
        raise WindowError(node.value, "is a graph that has quads", f"{_OWN_NAME}, or clear it")
