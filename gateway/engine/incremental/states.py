"""The store after a Delta, before it, and both at once.

Place: what `solve` and `affected` look at while an ARTQ is processed. The store already has the
change; the state before is (now without added) and removed (docs/engine.md).

An example: an UPDATE has set a lamp from 80 to 60, and each state is asked for its value.

>>> from pyoxigraph import RdfFormat, parse
>>> from gateway.engine.lutt import runs
>>> from gateway.rdf.delta import Delta
>>> from gateway.store.quad_store import QuadStore
>>> old, new = parse('<urn:1> <urn:value> 80, 60 .', format=RdfFormat.TURTLE)
>>> store, change = QuadStore.open(None), Delta(added=(new,), removed=(old,))
>>> store.apply(Delta(added=(new,)))
>>> states = States(store, Artq(runs(change)))
>>> wanted = (NamedNode("urn:1"), NamedNode("urn:value"), None, None)
>>> for state in (states.before, states.after, states.either):
...     print([quad.object.value for quad in state.match(wanted)])
['80']
['60']
['60', '80']

A predicate that did not change is looked up in the store itself, without looking at the Delta:

>>> states.before.narrowed(NamedNode("urn:lamp")) is states.after
True
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad

from gateway.engine.dataset import Quads
from gateway.engine.lutt import Artq, Run
from gateway.rdf.terms import GraphName, Term

LookUp = tuple[Term | None, Term | None, Term | None, Term | GraphName | None]
"""Subject, predicate, object, graph; None is a wildcard."""

Predicates = frozenset[Term] | None
"""The predicates that something looks up; None is any."""

Findings = dict[Hashable, tuple[Predicates, dict[Any, Any]]]
"""What has been found in the store, and what was looked up for it: right until that changes."""

Sides = tuple[Sequence[Quad], Sequence[Quad]]
"""Quads removed, quads added."""

_NOTHING: tuple[Quad, ...] = ()


class Now:
    """The state after: the store as it is."""

    def __init__(self, store: Quads) -> None:
        self._store = store
        self._memories: dict[object, dict[Any, Any]] = {}

    def memory(self, owner: object) -> dict[Any, Any]:
        """What somebody has found here, by whatever key suits them."""
        return self._memories.setdefault(owner, {})

    def narrowed(self, predicate: Term | None) -> "State":
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

    The `extra` quads are indexed by subject or by object when somebody looks, so a look-up costs
    the same whatever the size of the Delta. `predicates` are those of all quads that differ.
    """

    def __init__(
        self,
        now: Now,
        without: Collection[Quad],
        extra: Iterable[Quad],
        predicates: frozenset[Term],
    ) -> None:
        self._now = now
        self._without = without
        self._extra = tuple(extra)
        self._predicates = predicates
        self._memories: dict[object, dict[Any, Any]] = {}
        self._by_subject: dict[Term, list[Quad]] | None = None
        self._by_object: dict[Term, list[Quad]] | None = None

    def memory(self, owner: object) -> dict[Any, Any]:
        """What somebody has found here, by whatever key suits them."""
        return self._memories.setdefault(owner, {})

    def narrowed(self, predicate: Term | None) -> "State":
        """The simplest state with the same quads of a predicate; None is any."""
        return self if predicate is None or predicate in self._predicates else self._now

    def match(self, wanted: LookUp) -> Iterable[Quad]:
        """The quads of a pattern in that state."""
        found = self._now.match(wanted)
        if self._without:
            found = [quad for quad in found if quad not in self._without]
        extra = self._candidates(wanted)
        if not extra:
            return found
        return [*found, *(quad for quad in extra if _matches(quad, wanted))]

    def _candidates(self, wanted: LookUp) -> Sequence[Quad]:
        subject, _, object_, _ = wanted
        if subject is not None:
            if self._by_subject is None:
                self._by_subject = _index(self._extra, attrgetter("subject"))
            return self._by_subject.get(subject, _NOTHING)
        if object_ is not None:
            if self._by_object is None:
                self._by_object = _index(self._extra, attrgetter("object"))
            return self._by_object.get(object_, _NOTHING)
        return self._extra


State = Now | Past


class States:
    """The states around one ARTQ; findings that it does not touch are those of earlier ones."""

    def __init__(self, store: Quads, artq: Artq, findings: Findings | None = None) -> None:
        self.quads = store
        self.runs = artq.runs
        self._artq = artq
        self._findings = {} if findings is None else findings
        if self._findings:
            forget(self._findings, self.predicates)

    @cached_property
    def predicates(self) -> frozenset[Term]:
        """All that have changed."""
        return frozenset(self._by_predicate)

    @cached_property
    def _by_predicate(self) -> Mapping[Term, Sides]:
        return _by_predicate(self.runs)

    @cached_property
    def after(self) -> Now:
        """The store as it is."""
        return Now(self.quads)

    @cached_property
    def before(self) -> Past:
        """The store without the quads added, and with those removed."""
        artq = self._artq
        return Past(self.after, frozenset(artq.added), artq.removed, self.predicates)

    @cached_property
    def either(self) -> Past:
        """Both together."""
        return Past(self.after, (), self._artq.removed, self.predicates)

    def changes(self, predicates: Predicates) -> bool:
        """Whether a quad with one of these has changed."""
        return _changes(predicates, self.predicates)

    def kept(self, owner: Hashable, predicates: Predicates) -> dict[Any, Any]:
        """What somebody has found by looking up these, which are the same in both states."""
        return self._findings.setdefault(owner, (predicates, {}))[1]

    def changed(self, predicate: Term | None) -> Sides:
        """The quads of a predicate removed and added; None is any."""
        if predicate is None:
            return self._artq.removed, self._artq.added
        return self._by_predicate.get(predicate, (_NOTHING, _NOTHING))


def forget(findings: Findings, changed: frozenset[Term]) -> None:
    """Leave out what was found by looking up one of these predicates."""
    for key, (predicates, _) in tuple(findings.items()):
        if _changes(predicates, changed):
            del findings[key]


def _changes(predicates: Predicates, changed: frozenset[Term]) -> bool:
    if predicates is None:
        return bool(changed)
    return not predicates.isdisjoint(changed)


def _by_predicate(runs: Iterable[Run]) -> Mapping[Term, Sides]:
    found: dict[Term, tuple[list[Quad], list[Quad]]] = {}
    for run in runs:
        sides = found.get(run.predicate)
        if sides is None:
            sides = found[run.predicate] = ([], [])
        sides[run.is_added].extend(run.quads)
    return found


def _index(quads: Iterable[Quad], position: Callable[[Quad], Term]) -> dict[Term, list[Quad]]:
    found: dict[Term, list[Quad]] = {}
    for quad in quads:
        found.setdefault(position(quad), []).append(quad)
    return found


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
