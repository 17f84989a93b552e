"""`IncrementalUnit`: the tier beyond plain joins: OPTIONAL, MINUS, EXISTS, FILTER, UNION ...

Place: between the LUTT index and the notification, one per subscribed query of this tier. Those
that differ in constants alone are a `family`, which finds out for all of them whom a change
concerns.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Protocol

from gateway.engine.incremental.aggregates import UnsureError
from gateway.engine.incremental.answers import Answer, Bag, Remembered, RowSet, Truth
from gateway.engine.incremental.grouping import GroupedAnswer
from gateway.engine.incremental.query import IncrementalQuery
from gateway.engine.incremental.skeleton import skeletons
from gateway.engine.incremental.sleeping import unmet
from gateway.engine.incremental.states import Findings, Now, States, forget
from gateway.engine.lutt import Artq, LuttEntry
from gateway.engine.spu import Change, SingleMember, Spu, evaluate
from gateway.rdf.solutions import ResultsDelta, SolutionBag, difference
from gateway.rdf.terms import Term
from gateway.store.readable import Source


class Together(Protocol):
    """What a family tells its members."""

    @property
    def hits(self) -> int:
        """Updates that reached all members."""


class IncrementalUnit(SingleMember):
    """Evaluates the solutions that a Delta concerns, before and after.

    Invariant: it sees every change that its LUTT lets through, or else is told to `forget`; its
    findings rest on that. In a family it is not shown changes that concern none of its solutions.
    """

    tier = "incremental"

    def __init__(
        self,
        store: Source,
        spu: Spu,
        lutt: tuple[LuttEntry, ...],
        query: IncrementalQuery,
        *,
        may_sleep: bool,
    ) -> None:
        """A unit `may_sleep` where it is shown all changes of the store."""
        super().__init__(spu, lutt)
        self._may_sleep = may_sleep
        self._store = store
        self._query = query
        self._answer: Answer | None = None
        self._findings: Findings = {}
        self._family: Together | None = None
        self.skeletons, self.constants = skeletons(query.plans)

    @property
    def context(self) -> tuple[LuttEntry, ...]:
        """What the unit looks up: what its patterns match."""
        return self.lutt

    @property
    def has_groups_within(self) -> bool:
        """Whether at times only the store can say what its answer has become."""
        return self._query.has_groups_within

    @property
    def unmet(self) -> tuple[LuttEntry, ...]:
        """Patterns without a match now; until one has some, no change concerns it."""
        return unmet(self._query.plans, self._store) if self._may_sleep else ()

    def enter(self, family: Together) -> None:
        """Be a member of a family from now on."""
        self._family = family
        self._hits -= family.hits

    def leave(self) -> None:
        """The reverse of `enter`."""
        self._hits = self.hits(self.members[0])
        self._family = None

    def hits(self, spu: Spu) -> int:
        """How many updates reached it, alone or with its family."""
        return super().hits(spu) + (self._family.hits if self._family else 0)

    def forget(self, predicates: Collection[Term]) -> None:
        """Quads with these have changed unseen."""
        forget(self._findings, frozenset(predicates))

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer; of a set, how often each row is derived is counted at the first."""
        if self._answer is None:
            self._answer = self._first_answer(spu)
        return difference(spu.variables, Counter(), self._answer.now())

    def told(self, spu: Spu) -> SolutionBag | None:
        """The answer, where it is more than its rows one by one."""
        del spu
        return None if self._answer is None else self._answer.told()

    def renew(self) -> None:
        """Find answer and findings anew."""
        self._answer = None
        self._findings.clear()

    def process(self, artq: Artq) -> Iterable[Change]:
        """The rows of the solutions concerned, netted by the form of the query."""
        (spu,) = self.members
        states = States(self._store, artq, self._findings)
        if self._answer is None:
            return ()
        try:
            removed, added = self._query.changed(states)
        except UnsureError:
            if isinstance(self._answer, Remembered):
                return ((spu, self._answer.renew()),)
            raise
        if not (removed or added) and isinstance(self._answer, Bag):
            return ()
        return ((spu, self._answer.change(removed, added)),)

    def _first_answer(self, spu: Spu) -> Answer:
        store = self._store  # not self: a cycle would keep the store open after its end

        def whole() -> SolutionBag:
            return evaluate(store, spu.subject)

        if spu.form == "ASK":
            return Truth(whole)
        if self._query.is_set:
            return RowSet(spu.variables, self._query.everything(Now(self._store)))
        if self._query.grouping is not None:
            rows = self._query.everything(Now(self._store))
            return GroupedAnswer(spu.variables, self._query.grouping, rows, whole)
        kind = Remembered if self._query.has_groups_within else Bag
        return kind(spu.variables, whole)
