"""The change of a reading, found without looking at its quads.

    UPDATEs of a reading -> what enters and leaves, as bundles -> ReadingDelta -> store, LUTT index

Place: in front of `evaluate`, which says the same of any UPDATE, quad by quad. What is known here:
subjects that nobody has written of come with all their quads, and leave with just these, as long as
nobody has written of them since.
"""

from collections.abc import Iterable

from pyoxigraph import NamedNode, Quad

from gateway.rdf.delta import Delta
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.store.bundles.bundle import Bundle, Entering
from gateway.store.bundles.reading_delta import ReadingDelta
from gateway.store.bundles.shape import Filled
from gateway.store.bundles.steps import Leaving, Replacement
from gateway.store.quad_store import QuadStore
from gateway.store.update import BoundUpdate


def reading_delta(store: QuadStore, updates: Iterable[BoundUpdate]) -> ReadingDelta | None:
    """The net change of these updates as one request, with all rights; the store stays as it is.

    None where that is for `evaluate` to say: some other update is among them, somebody else has
    written of a subject that enters, or two of them meet in one.
    """
    reading = _Reading(store)
    for plan, bindings in updates:
        if isinstance(bindings, Entering):
            is_known = reading.enter(bindings)
        elif isinstance(bindings, Leaving):
            is_known = reading.leave(bindings)
        else:
            is_known = all(
                isinstance(step, Replacement) and reading.replace(step) for step in plan.steps
            )
        if not is_known:
            return None
    return reading.delta()


class _Reading:
    """What the updates so far do. Each method says whether that is certain."""

    def __init__(self, store: QuadStore) -> None:
        self._store = store
        self._entering: list[Bundle] = []
        self._leaving: list[Bundle] = []
        self._others: list[Filled] = []
        self._removed: list[Quad] = []
        self._replacement: Replacement | None = None
        self._own: set[str] = set()

    def enter(self, bindings: Entering) -> bool:
        """All subjects of its own are new, and differ."""
        own, is_unwritten = self._own, self._store.is_unwritten
        for iri in bindings.iris:
            if iri in own or not is_unwritten(iri):
                return False
            own.add(iri)
        if bindings.iris:
            self._entering.append(Bundle(bindings))
        self._others.append(bindings.shape.filled(bindings))
        return True

    def leave(self, bindings: Leaving) -> bool:
        """Nothing before was about these subjects; they are a bundle, or looked up."""
        own, iris = self._own, bindings.iris
        if not own.isdisjoint(iris):
            return False
        own.update(iris)
        bundle = self._store.bundle(iris[0])
        if bundle is not None and set(bundle.iris) <= set(iris):
            self._leaving.append(bundle)
            iris = tuple([iri for iri in iris if iri not in bundle.iris])
        for iri in iris:
            if not self._store.is_unwritten(iri):
                self._removed += self._store.match(NamedNode(iri), None, None, DEFAULT_GRAPH)
        return True

    def replace(self, step: Replacement) -> bool:
        """This is the only one, and in a named graph that exists, where no bundle is."""
        graph = step.after.graph_name
        if self._replacement is not None or step.before == step.after:
            return False
        self._replacement = step
        return isinstance(graph, NamedNode) and self._store.contains_graph(graph)

    def delta(self) -> ReadingDelta | None:
        """The whole; None where a quad beside the bundles has a subject of one."""
        store, step = self._store, self._replacement
        others: list[Quad] = []
        for filled in self._others:
            for subject in filled.subjects:
                if subject in self._own or store.bundle(subject) is not None:
                    return None
            others += filled.quads
        if step is not None:
            others.append(step.after)
            if step.before is not None and step.before in store:
                self._removed.append(step.before)
        added = store.missing(others)
        if len(self._others) > 1:
            added = list(dict.fromkeys(added))
        return ReadingDelta(
            self._entering, self._leaving, Delta(tuple(added), tuple(self._removed))
        )
