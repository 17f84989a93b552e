"""The store after a Delta, before it, and both at once.

Place: what `solve` and `affected` look at while an ARTQ is processed. The store already has the
change; the state before is (now without added) and removed (engine.md, section 5).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad

from gateway.engine.booster import Quads
from gateway.engine.lutt import Artq
from gateway.rdf.terms import GraphName, Term

LookUp = tuple[Term | None, Term | None, Term | None, Term | GraphName | None]
"""Subject, predicate, object, graph; None is a wildcard."""

_NOTHING: tuple[Quad, ...] = ()


class Now:
    """The store."""

    def __init__(self, store: Quads) -> None:
        self._store = store
        self._memories: dict[object, dict[Any, Any]] = {}

    def memory(self, owner: object) -> dict[Any, Any]:
        """What somebody has found here, by whatever key suits them."""
        return self._memories.setdefault(owner, {})

    def beneath(self, predicate: Term | None) -> "State":
        """The simplest state with the same quads of a predicate; None is any."""
        del predicate
        return self

    def match(self, wanted: LookUp) -> Iterable[Quad]:
        """The quads of a pattern; none where a term cannot stand in its position."""
        subject, predicate, object_, graph = wanted
        if isinstance(graph, Literal) or not isinstance(subject, NamedNode | BlankNode | None):
            return _NOTHING
        return self._store.match(subject, predicate, object_, graph)  # type: ignore[arg-type]


class Past:
    """`now` without some quads and with others: the state before, or with nothing left out, both.

    The quads to be had besides are indexed by subject and by object, so a look-up costs the same
    whatever the size of the Delta.
    """

    def __init__(self, now: Now, without: Collection[Quad], besides: Iterable[Quad]) -> None:
        self._now = now
        self._without = without
        self._besides = tuple(besides)
        self._predicates = {quad.predicate for quad in (*without, *self._besides)}
        self._memories: dict[object, dict[Any, Any]] = {}
        self._by_subject: dict[Term, list[Quad]] = {}
        self._by_object: dict[Term, list[Quad]] = {}
        for quad in self._besides:
            self._by_subject.setdefault(quad.subject, []).append(quad)
            self._by_object.setdefault(quad.object, []).append(quad)

    def memory(self, owner: object) -> dict[Any, Any]:
        """What somebody has found here, by whatever key suits them."""
        return self._memories.setdefault(owner, {})

    def beneath(self, predicate: Term | None) -> "State":
        """The simplest state with the same quads of a predicate; None is any."""
        return self if predicate is None or predicate in self._predicates else self._now

    def match(self, wanted: LookUp) -> Iterable[Quad]:
        """The quads of a pattern in that state."""
        found = self._now.match(wanted)
        if self._without:
            found = [quad for quad in found if quad not in self._without]
        besides = self._candidates(wanted)
        if not besides:
            return found
        return [*found, *(quad for quad in besides if _matches(quad, wanted))]

    def _candidates(self, wanted: LookUp) -> Sequence[Quad]:
        subject, _, object_, _ = wanted
        if subject is not None:
            return self._by_subject.get(subject, _NOTHING)
        if object_ is not None:
            return self._by_object.get(object_, _NOTHING)
        return self._besides


State = Now | Past


class States:
    """The states around one ARTQ."""

    def __init__(self, store: Quads, artq: Artq) -> None:
        self.removed = artq.removed
        self.added = artq.added
        self.after = Now(store)
        self.before = Past(self.after, frozenset(artq.added), artq.removed)
        self.either = Past(self.after, (), artq.removed)


def is_named(graph: GraphName) -> bool:
    """Whether `GRAPH ?g` looks there."""
    return not isinstance(graph, DefaultGraph)


def _matches(quad: Quad, wanted: LookUp) -> bool:
    subject, predicate, object_, graph = wanted
    return (
        (subject is None or subject == quad.subject)
        and (predicate is None or predicate == quad.predicate)
        and (object_ is None or object_ == quad.object)
        and (graph is None or graph == quad.graph_name)
    )
