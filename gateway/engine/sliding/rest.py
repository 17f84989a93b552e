"""`Rest`: what the store makes of rows of a window: joins, NOT EXISTS, OPTIONAL, FILTERs.

Place: between `star` and `groups`, and behind `groups` for what stands beside a sub-query. It looks
at the store alone, so it is asked once for all rows that agree in what it reads (the room of a
thousand observations), and again only where a change of the store concerns that. Source: the seeds
of gateway/engine/incremental/affected.py.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from pyoxigraph import NamedNode

from gateway.engine.dataset import Quads
from gateway.engine.incremental.affected import all_seeds
from gateway.engine.incremental.core import join_core
from gateway.engine.incremental.plan import Filter, Plan, Table
from gateway.engine.incremental.seeds import BOTH, Seeds
from gateway.engine.incremental.solve import solve
from gateway.engine.incremental.states import Now, States
from gateway.engine.lutt import Artq
from gateway.engine.sliding.star import picker
from gateway.rdf.solutions import Row
from gateway.sparql.algebra import Expression

Key = Row
"""The values of what a rest reads of a row; None is unbound."""

Ends = tuple[Row, ...]
"""The ways on from a key, each with what the rest binds: a bag."""

_SOMETHING = NamedNode("urn:x")


def inputs(names: Sequence[str], certain: frozenset[str]) -> Table:
    """A stand-in for what comes from outside, so that a plan knows what its rows surely bind."""
    return Table(tuple(names), (tuple(_SOMETHING if n in certain else None for n in names),))


class Rest:
    """`plan` from rows that bind `names`, or some of them, to values of `shown`."""

    def __init__(
        self, plan: Plan, names: tuple[str, ...], certain: frozenset[str], shown: tuple[str, ...]
    ) -> None:
        self.names = names
        self.shown = shown
        self._plan = plan
        tables = (*plan.tables, inputs(names, certain))
        self._seeded = Plan(plan.patterns, tables, plan.constants, (), plan.steps)
        self._core = Plan(plan.patterns, plan.tables, plan.constants)

    @property
    def conditions(self) -> tuple[Expression, ...]:
        """What its FILTERs ask."""
        steps = (*self._plan.filters, *self._plan.steps)
        return tuple(each.condition.expression.tree for each in steps if isinstance(each, Filter))

    def ends(self, store: Quads, keys: Iterable[Key]) -> dict[Key, Ends]:
        """The ways on from each key, now."""
        found: dict[Key, list[Row]] = {key: [] for key in keys}
        by_bound: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for key in found:
            start: dict[str, Any] = {
                name: term for name, term in zip(self.names, key, strict=True) if term is not None
            }
            by_bound.setdefault(tuple(start), []).append(start | {_FROM: key})
        now = Now(store)
        for bound, starts in by_bound.items():
            for solution in solve(self._plan, now, starts, frozenset(bound)):
                origin: Any = solution[_FROM]
                found[origin].append(tuple([solution.get(name) for name in self.shown]))
        return {key: tuple(rows) for key, rows in found.items()}

    def concerned(self, store: Quads, artq: Artq, known: Iterable[Key]) -> set[Key]:
        """The known keys from which the ways on may be others, after this change of the store."""
        states = States(store, artq)
        found: set[Key] = set()
        for seeds in all_seeds(self._seeded, states):
            bound = [name for name in seeds.names if name in self.names]
            if bound:
                read = picker([seeds.names.index(name) for name in bound])
                values = {read(each) for each in seeds.values}
            else:
                values, bound = self._reached(states, seeds)
            places = [self.names.index(name) for name in bound]
            if len(places) == len(self.names):
                order = picker([bound.index(name) for name in self.names])
                found.update(map(order, values))
            else:
                read = picker(places)
                found.update(key for key in known if read(key) in values)
        return found

    def _reached(self, states: States, seeds: Seeds) -> tuple[set[Row], list[str]]:
        """The values that seeds lead to, of the names that the patterns have."""
        names = frozenset(seeds.names)
        ends = join_core(self._core, states.either, seeds.starts(BOTH), names, seeds.patterns)
        bound = [name for name in self.names if name in self._core.certain | names]
        return {tuple([end[name] for name in bound]) for end in ends}, bound


_FROM = "#from"
"""No variable: the key that a solution comes from."""
