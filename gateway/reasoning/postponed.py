"""`Postponed`: a reasoner behind which readings wait, net, while nobody looks at what follows.

    reading -> store, and waits here -> who looks, or the next UPDATE -> reasoner, one step for all

Place: around the reasoner, under the entailed view. A reading mostly replaces an earlier one of the
same sensor, so what came and went meanwhile is never derived; the store's `Pending` does the same
for the disk. What follows is a function of what is asserted, so whoever looks sees no difference:
everything that is asked here catches up first, but for what readings do not change.
"""

from collections import Counter
from collections.abc import Mapping
from threading import RLock

from pyoxigraph import Quad

from gateway.rdf.delta import Delta
from gateway.reasoning.axioms import Axiom, Axioms
from gateway.reasoning.domains import Domain
from gateway.reasoning.reasoning import AnyReasoner, Derived, Pattern

_MOST_WAITING = 8_192
"""Quads that wait at most: some 2 MB, and 30 ms to catch up with on a small machine."""


class Postponed:
    """A reasoner, and what it has not seen yet. Changed by whoever holds `writing`.

    `lately` is the reasoner as it was when somebody looked last, for figures that must not wait.
    """

    def __init__(self, reasoner: AnyReasoner, writing: RLock) -> None:
        self.lately = reasoner
        self._writing = writing
        self._added: dict[Quad, bool] = {}
        self._removed: dict[Quad, bool] = {}

    def __len__(self) -> int:
        """The quads that wait."""
        return len(self._added) + len(self._removed)

    def looked_at(self, delta: Delta) -> Delta | None:
        """What may mean something of a reading's change; None where it cannot wait."""
        return self.lately.looked_at(delta)

    def postpone(self, delta: Delta) -> None:
        """Let what is looked at of a reading wait; the store has it by now."""
        added, removed = self._added, self._removed
        for quad in delta.removed:
            if not added.pop(quad, False):
                removed[quad] = True
        for quad in delta.added:
            if not removed.pop(quad, False):
                added[quad] = True
        if len(added) + len(removed) > _MOST_WAITING:
            self.catch_up()

    def catch_up(self) -> None:
        """Derive from what waits. For any thread; waits for `writing` where something waits."""
        if not (self._added or self._removed):
            return
        with self._writing:
            late = Delta(tuple(self._added), tuple(self._removed))
            self._added.clear()
            self._removed.clear()
            if not late.is_empty:  # another thread may have been quicker
                self.lately.step(late, is_reading=True)

    @property
    def axioms(self) -> Axioms:
        """The axioms of now, which no reading that waits has changed."""
        return self.lately.axioms

    @property
    def derived(self) -> Derived:
        """What follows now; to be asked for each time."""
        self.catch_up()
        return self.lately.derived

    @property
    def suspended(self) -> Mapping[Domain, str]:
        """The domains of which nothing is derived, each with the reason."""
        self.catch_up()
        return self.lately.suspended

    def start(self) -> None:
        """Read the axioms, derive from nothing. Raises OntologyError."""
        self.lately.start()

    def step(self, delta: Delta, *, is_reading: bool = False) -> Delta:
        """As the reasoner's, behind what waits: the entailed Delta is of this change alone."""
        self.catch_up()
        return self.lately.step(delta, is_reading=is_reading)

    def undo(self, delta: Delta) -> None:
        """Take back the last step, of this Delta: the store refused it."""
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
