"""BOOSTER: what a Delta changed in the answer of joined patterns.

For each pattern that a changed quad matches, its variables are bound and the other patterns are
completed by index look-ups, the one with the most bound positions first; patterns that share their
subject change as one (`star`). Removed rows are computed on the state before the UPDATE, added
rows on the one after it. A derivation that uses several changed quads counts once: it is found at
the first pattern of the query that uses one, since patterns before it look at unchanged quads only.
So bags come out right, equal rows included.
Source: Roffia et al. 2016, section IV (docs/engine.md).

An example: somebody subscribed to the lamps of all posts, and one of two lamps is set from 80 to
60: three quads are there, one goes, one comes.

>>> from pyoxigraph import NamedNode, RdfFormat, parse
>>> from gateway.engine.lutt import runs
>>> from gateway.rdf.delta import Delta
>>> from gateway.rdf.terms import DEFAULT_GRAPH
>>> from gateway.store.quad_store import QuadStore
>>> class Shown(QuadStore):
...     def match(self, *wanted):
...         print("looks up", *("?" if term is None else term for term in wanted[:3]))
...         return super().match(*wanted)
>>> def quads(turtle):
...     return tuple(parse(turtle, format=RdfFormat.TURTLE))
>>> store = Shown.open(None)
>>> before = '<urn:p1> <urn:lamp> <urn:1>, <urn:2> . <urn:1> <urn:value> 80 .'
>>> store.apply(Delta(added=quads(before)))
>>> change = Delta(quads('<urn:1> <urn:value> 60 .'), quads('<urn:1> <urn:value> 80 .'))
>>> lamp_of, value_of = NamedNode("urn:lamp"), NamedNode("urn:value")
>>> booster = Booster(
...     [
...         JoinPattern("post", lamp_of, "lamp", DEFAULT_GRAPH),
...         JoinPattern("lamp", value_of, "value", DEFAULT_GRAPH),
...     ],
...     columns=["post", "value"],
... )

The changed quads bind `?lamp` and `?value`; what is left to be looked up is the same for both of
them, and the UPDATE did not change it, so it is looked up once.

>>> store.apply(change)
>>> for _, row, is_won in booster.changes(store, Artq(runs(change))):
...     print("won" if is_won else "lost", *(term.value for term in row))
looks up ? <urn:lamp> <urn:1>
lost urn:p1 80
won urn:p1 60

Parameters are variables too: queries that differ in constants alone are joined together, and a
solution is dropped as soon as its parameters are those of nobody (`members`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from gateway.engine.dataset import Quads
from gateway.engine.join.before import Before
from gateway.engine.join.join_pattern import JoinPattern, Key, Slot, by_predicate
from gateway.engine.join.plan import Begun, Plan, WholePlan
from gateway.engine.join.prunes import Members
from gateway.engine.join.star import relations
from gateway.engine.lutt import Artq, Run
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term


class Booster:
    """The join of one or several patterns, incrementally.

    `patterns` may share variables in any way; their constants are as the store gives them. Each
    row has the `columns`, constants or variables (None where no pattern has one), and comes with
    the values of its `parameters`, variables of the patterns.
    """

    def __init__(
        self,
        patterns: Sequence[JoinPattern],
        columns: Sequence[Slot],
        parameters: Sequence[str] = (),
        members: Members | None = None,
    ) -> None:
        self._columns = tuple(columns)
        self._parameters = tuple(parameters)
        self._members = members
        stars = [
            [patterns[place] for place in self._best_first(patterns, star)]
            for star in relations(patterns)
        ]
        self._sizes = [len(star) for star in stars]
        self._patterns = tuple(pattern for star in stars for pattern in star)
        self._known: dict[tuple[int, ...], Plan] = {}

    def _best_first(self, patterns: Sequence[JoinPattern], star: Sequence[int]) -> list[int]:
        """The arms of a star, what most subjects lack first: a constant, a parameter."""

        def rank(place: int) -> int:
            object_ = patterns[place].object
            if isinstance(object_, str):
                return 1 if object_ in self._parameters else 2
            return 0

        return sorted(star, key=rank)

    @cached_property
    def _plans(self) -> Mapping[Term | None, Sequence[Plan]]:
        plans: list[Plan] = []
        for size, end in zip(self._sizes, accumulate(self._sizes), strict=True):
            plans += [self._plan(tuple(range(end - size, end)))] * size
        found = by_predicate(self._patterns, plans)
        return {predicate: tuple(dict.fromkeys(its)) for predicate, its in found.items()}

    def _plan(self, seed: tuple[int, ...]) -> Plan:
        plan = self._known.get(seed)
        if plan is None:
            plan = self._known[seed] = Plan(
                self._patterns, seed, self._columns, self._parameters, self._members
            )
        return plan

    @cached_property
    def _only(self) -> Plan | None:
        """The plan of a join that is one star, which passes over what does not concern it."""
        (size,) = self._sizes if len(self._sizes) == 1 else (0,)
        return self._plan(tuple(range(size))) if size > 1 else None

    @cached_property
    def _whole(self) -> WholePlan:
        return WholePlan(self._patterns, self._columns, self._parameters)

    def changes(self, now: Quads, changed: Artq) -> list[tuple[Key, Row, bool]]:
        """The rows that lost and that won a derivation, True for those; `now` has the change."""
        found: list[tuple[Key, Row, bool]] = []
        before: Quads | None = None
        for plan, (lost, won) in self._begin(now, changed.runs).items():
            if plan.looks_at(changed.runs):
                if lost:
                    if before is None:
                        before = Before(now, changed.added, changed.removed)
                    found += plan.complete(before, lost, changed.removed)
                if won:
                    found += plan.complete(now, won, changed.added)
            else:
                # What it looks up is the same before and after.
                found += plan.complete(now, [*lost, *won], ())
        return found

    def _begin(self, now: Quads, runs: Sequence[Run]) -> dict[Plan, Begun]:
        """What each plan begins with, of those that the changed quads concern."""
        only = self._only
        begun: dict[Plan, Begun] = {}
        for plan, its_runs in self._concerned(runs) if only is None else ((only, runs),):
            sides, wide = plan.begin(now, its_runs)
            if sides[0] or sides[1]:
                begun[plan] = sides
            for place in plan.seed if wide else ():
                alone = self._plan((place,))
                predicate = self._patterns[place].predicate
                its_wide = [run for run in wide if run.predicate == predicate]
                begun[alone], _ = alone.begin(now, its_wide)
        return begun

    def _concerned(self, runs: Sequence[Run]) -> Iterable[tuple[Plan, Sequence[Run]]]:
        plans = self._plans
        anyway = plans[None]
        concerned: dict[Plan, list[Run]] = {}
        for run in runs:
            for plan in plans.get(run.predicate, anyway):
                its_runs = concerned.get(plan)
                if its_runs is None:
                    concerned[plan] = [run]
                else:
                    its_runs.append(run)
        return concerned.items()

    def prepare(self) -> None:
        """Make the plans now, for who would not have the first change wait for them."""
        if self._only is None:
            _ = self._plans

    def everything(self, state: Quads, parameters: Sequence[Term] = ()) -> Iterator[Row]:
        """The rows of all derivations in `state` with these parameters."""
        return self._whole.rows(state, parameters)
