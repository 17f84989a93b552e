"""The incremental reasoner against the naive one, after every step of random worlds.

Each step may change data and axioms at once, or drop a graph; it is made, undone and made again,
refused as a whole where the axioms are wrong, and in the end everything goes.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from pyoxigraph import Quad

from gateway.engine.lutt import LuttEntry
from gateway.errors import DerivedLimitError, OntologyError
from gateway.rdf.delta import Delta
from gateway.reasoning.reasoner import Reasoner
from tests.kit.reasoning.naive import NaiveReasoner
from tests.kit.reasoning.random_worlds import Asserted, Change, World, worlds

_ALL_CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
quick = settings(
    max_examples=40, derandomize=True, deadline=None, suppress_health_check=_ALL_CHECKS
)
long = settings(max_examples=3_000, deadline=None, suppress_health_check=_ALL_CHECKS)

Sides = tuple[frozenset[object], ...]


def sides(delta: Delta) -> Sides:
    """What a Delta says, in whichever order."""
    for side in (delta.added, delta.removed, delta.graphs_created, delta.graphs_dropped):
        assert len(set(side)) == len(side)
    return (
        frozenset(delta.added),
        frozenset(delta.removed),
        frozenset(delta.graphs_created),
        frozenset(delta.graphs_dropped),
    )


class Both:
    """The reasoner and the oracle, over the same asserted quads."""

    def __init__(self, world: World, bound: int = 1_000_000) -> None:
        self.asserted = Asserted(world)
        self.oracle = NaiveReasoner(self.asserted.store, world.domains, bound=bound)
        self.tested = Reasoner(self.asserted.store, world.domains, bound=bound)

    def start(self) -> bool:
        """Start both; whether the axioms let them."""
        try:
            self.oracle.start()
        except OntologyError:
            with pytest.raises(OntologyError):
                self.tested.start()
            return False
        self.tested.start()
        self.compare()
        return True

    def change(self, change: Change) -> None:
        """Make a change in both, perhaps undo it first; refused in one, refused in the other."""
        delta = self.asserted.turn(change)
        if change.is_undone_first and self.step(delta):
            self.tested.undo(delta)
            self.oracle.undo(delta)
            self.compare()
        if self.step(delta):
            self.asserted.apply(delta)
        self.compare()

    def step(self, delta: Delta) -> bool:
        """Whether both made the step, and alike."""
        try:
            expected = self.oracle.step(delta)
        except (OntologyError, DerivedLimitError) as error:
            with pytest.raises(type(error)):
                self.tested.step(delta)
            self.compare()
            return False
        assert sides(self.tested.step(delta)) == sides(expected)
        return True

    def compare(self) -> None:
        """Whether both have derived the same, by whatever is asked."""
        derived, expected = self.tested.derived, set(self.oracle.derived)
        found = list(derived.match(None, None, None, None))
        assert set(found) == expected
        assert len(found) == len(derived) == len(expected)
        assert set(derived.graphs()) == set(self.oracle.derived.graphs())
        assert set(self.tested.axioms) == set(self.oracle.axioms)
        assert self.tested.axioms.unused == self.oracle.axioms.unused

    def look_up(self) -> None:
        """Each derived quad is found by each pattern that it matches, and could be concluded."""
        derived, expected = self.tested.derived, self.oracle.derived
        for quad in expected:
            assert derived.contains(quad)
            for pattern in _patterns(quad):
                assert set(derived.match(*pattern)) == set(expected.match(*pattern))
                assert self.tested.concludes(LuttEntry(*pattern))


def _patterns(quad: Quad) -> list[tuple]:  # type: ignore[type-arg]
    terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)
    return [
        tuple(term if mask >> place & 1 else None for place, term in enumerate(terms))
        for mask in range(16)
    ]


def check_world(world: World) -> None:
    both = Both(world)
    both.asserted.apply(both.asserted.turn(world.first))
    if not both.start():
        return
    for change in world.changes:
        both.change(change)
    both.look_up()
    again = Reasoner(both.asserted.store, world.domains, bound=1_000_000)
    again.start()
    assert set(again.derived.match(None, None, None, None)) == set(both.oracle.derived)
    everything = Delta(
        removed=tuple(both.asserted.quads), graphs_dropped=tuple(both.asserted.graphs)
    )
    assert both.step(everything)
    both.asserted.apply(everything)
    both.compare()
    assert not len(both.tested.derived)


@pytest.mark.property
@quick
@given(worlds())
def test_each_step_is_that_of_the_naive_reasoner(world: World) -> None:
    check_world(world)


@pytest.mark.property
@pytest.mark.slow
@pytest.mark.timeout(3600)
@long
@given(worlds(most_steps=20))
def test_many_steps_are_those_of_the_naive_reasoner(world: World) -> None:
    check_world(world)
