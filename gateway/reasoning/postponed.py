"""`Postponed`: a reasoner behind which readings wait, net, but for what somebody listens to.

    reading -> store, and waits here -> who looks, or the next UPDATE -> reasoner, one step for all

Place: around the reasoner, under the entailed view. A reading mostly replaces an earlier one of the
same sensor, so what came and went meanwhile is never derived; the store's `Pending` does the same
for the disk. What is relevant to those who listen (gateway/reasoning/relevance.py) is derived from
at once, the rest waits. What follows is a function of what is asserted, so whoever looks sees no
difference: everything that is asked here catches up first, but for what readings do not change.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from threading import RLock

from pyoxigraph import NamedNode, Quad

from gateway.rdf.delta import Delta
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.axioms import Axiom, Axioms
from gateway.reasoning.domains import Domain
from gateway.reasoning.incremental.parting import AllKinds, Among, Bundles, Later, Parted
from gateway.reasoning.reasoning import AnyReasoner, Derived, Pattern
from gateway.reasoning.relevance import NOTHING_MATTERS, Relevance
from gateway.store.bundles.bundle import Bundle
from gateway.store.readable import GraphNode
from gateway.store.update import BoundUpdate

_MOST_WAITING = 8_192
"""Quads that wait at most: some 2 MB, and 30 ms to catch up with on a small machine."""


class Postponed:
    """A reasoner, and what it has not seen yet. Changed by whoever holds `writing`.

    `lately` is the reasoner as it was when somebody looked last, for figures that must not wait.
    What is `relevant` it has seen in any case. `late` are the changes of the view by what waited,
    for who keeps a part of it.
    """

    def __init__(self, reasoner: AnyReasoner, writing: RLock) -> None:
        self.lately = reasoner
        self.relevant = NOTHING_MATTERS
        self.late: deque[Delta] = deque()
        self.derived: Derived = _Derived(self)
        self._writing = writing
        self._added: dict[Quad, bool] = {}
        self._removed: dict[Quad, bool] = {}
        self._bundles: dict[Bundle, Later] = {}
        self._of_subject: dict[str, Bundle] = {}
        self._bundled = 0

    def __len__(self) -> int:
        """The quads that wait; of bundles as many as may."""
        return len(self._added) + len(self._removed) + self._bundled

    def listen(self, relevant: Relevance) -> None:
        """From now on derive from what is relevant to these at once."""
        if relevant != self.relevant:
            self.catch_up()
            self.relevant = relevant

    def is_silent(self, bound: Iterable[BoundUpdate]) -> bool:
        """As the reasoner's; not sure as long as something waits that it has not seen."""
        return not len(self) and self.lately.is_silent(bound)

    def parted(self, delta: Delta, kinds: AllKinds, relevance: Relevance) -> Parted | None:
        """What of a reading's change is derived from at once, and what may wait; None: nothing."""
        return self.lately.parted(delta, kinds, relevance)

    def postpone(self, delta: Delta, bundles: Bundles | None = None) -> None:
        """Let what may wait of a reading wait; the store has it by now.

        A bundle waits whole: one that goes again while it waits was nothing, and no quad of it is
        made. Of one whose subject somebody else changes the quads wait.
        """
        if self._bundles:
            for quad in (*delta.removed, *delta.added):
                if isinstance(quad.subject, NamedNode):
                    self._part_with(self._of_subject.get(quad.subject.value))
        self._net(delta.added, delta.removed)
        if bundles is not None:
            for bundle in bundles.leaving:
                if not self._forget(bundle):
                    self._net((), bundles.later.later(bundle))
            for bundle in bundles.entering:
                self._let_wait(bundle, bundles.later)
        if len(self) > _MOST_WAITING:
            self.catch_up()

    def _net(self, came: Iterable[Quad], went: Iterable[Quad]) -> None:
        added, removed = self._added, self._removed
        for quad in went:
            if not added.pop(quad, False):
                removed[quad] = True
        for quad in came:
            if not removed.pop(quad, False):
                added[quad] = True

    def _let_wait(self, bundle: Bundle, later: Later) -> None:
        size = later.most_later(bundle)
        if size:
            self._bundles[bundle] = later
            self._bundled += size
            for iri in bundle.iris:
                self._of_subject[iri] = bundle

    def _forget(self, bundle: Bundle) -> Later | None:
        """Who says what of it has waited; None if it has not."""
        later = self._bundles.pop(bundle, None)
        if later is not None:
            self._bundled -= later.most_later(bundle)
            for iri in bundle.iris:
                del self._of_subject[iri]
        return later

    def _part_with(self, bundle: Bundle | None) -> None:
        """Have a bundle's quads wait one by one."""
        later = None if bundle is None else self._forget(bundle)
        if bundle is not None and later is not None:
            self._net(later.later(bundle), ())

    def catch_up(self) -> None:
        """Derive from what waits. For any thread; waits for `writing` where something waits."""
        if not len(self):
            return
        with self._writing:
            for bundle in tuple(self._bundles):
                self._part_with(bundle)
            late = Delta(tuple(self._added), tuple(self._removed))
            self._added.clear()
            self._removed.clear()
            if not late.is_empty:  # another thread may have been quicker
                entailed = self.lately.step(late, is_reading=True)
                if self.relevant is not NOTHING_MATTERS:
                    self.late.append(entailed)

    @property
    def axioms(self) -> Axioms:
        """The axioms of now, which no reading that waits has changed."""
        return self.lately.axioms

    @property
    def suspended(self) -> Mapping[Domain, str]:
        """The domains of which nothing is derived, each with the reason."""
        self.catch_up()
        return self.lately.suspended

    def start(self) -> None:
        """Read the axioms, derive from nothing. Raises OntologyError."""
        self.lately.start()

    def step(self, delta: Delta, *, is_reading: bool = False, among: Among = None) -> Delta:
        """As the reasoner's, behind what waits: the entailed Delta is of this change alone.

        With what is relevant `among` it, as it was `parted`, it does not wait for that: no relevant
        quad of the entailed Delta depends on it.
        """
        if among is None:
            self.catch_up()
        return self.lately.step(delta, is_reading=is_reading, among=among)

    def undo(self, delta: Delta) -> None:
        """Take back the last step, of this Delta or of what was among it: the store refused it."""
        self.lately.undo(delta)

    def resume(self) -> Delta:
        """Try suspended domains again; the entailed Delta."""
        self.catch_up()
        return self.lately.resume()

    def concludes(self, entry: Pattern) -> bool:
        """Whether any rule can conclude a quad of this pattern now, be there premises or not."""
        return self.lately.concludes(entry)

    def derived_by_axiom(self) -> Counter[Axiom]:
        """How many derived quads each axiom supports."""
        self.catch_up()
        return self.lately.derived_by_axiom()


class _Derived:
    """What follows now. Looking at what is relevant waits for nothing."""

    def __init__(self, postponed: Postponed) -> None:
        self._postponed = postponed

    @property
    def _all(self) -> Derived:
        self._postponed.catch_up()
        return self._postponed.lately.derived

    def __len__(self) -> int:
        """How many quads they are."""
        return len(self._all)

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; None is a wildcard."""
        postponed = self._postponed
        if len(postponed) and not postponed.relevant.covers(subject, predicate, object_):
            postponed.catch_up()
        return postponed.lately.derived.match(subject, predicate, object_, graph)

    def contains(self, quad: Quad) -> bool:
        """Whether a quad is derived."""
        return self._all.contains(quad)

    def graphs(self) -> Iterable[GraphNode]:
        """The named graphs that hold one."""
        return self._all.graphs()
