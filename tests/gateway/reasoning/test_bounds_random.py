"""Random worlds under a bound: whole closures or none, nothing refused that fits, Deltas add up.

Which domain is suspended is the reasoner's choice; what then holds is not. All of it twice: the
second time the reasoner looks ahead from the first derived quad on, not from some thousands.
"""

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Quad

from gateway.errors import DerivedLimitError, OntologyError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH
from gateway.reasoning.domains import SCHEMA, Domain
from gateway.reasoning.incremental import propagation
from gateway.reasoning.reasoner import Reasoner
from tests.kit.reasoning.naive import NaiveReasoner
from tests.kit.reasoning.random_worlds import Asserted, World, worlds

_ALL_CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
quick = settings(
    max_examples=30, derandomize=True, deadline=None, suppress_health_check=_ALL_CHECKS
)


@pytest.fixture(autouse=True, scope="module", params=[propagation._MUCH, 0])
def much(request: pytest.FixtureRequest) -> Iterator[None]:
    """How many quads a step derives before it looks ahead."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(propagation, "_MUCH", request.param)
        yield


class Bounded:
    """A reasoner under a bound beside an oracle without one."""

    def __init__(self, world: World, bound: int) -> None:
        self.bound = bound
        self.asserted = Asserted(world)
        self.oracle = NaiveReasoner(self.asserted.store, world.domains, bound=1_000_000)
        self.tested = Reasoner(self.asserted.store, world.domains, bound=bound)
        self.entailed: set[Quad] = set()
        self.suspended: dict[Domain, str] = {}

    def start(self) -> None:
        self.oracle.start()
        self.tested.start()
        self.entailed = {*self.asserted.quads, *self.derived()}
        self.suspended = dict(self.tested.suspended)
        self.check()

    def derived(self) -> list[Quad]:
        return list(self.tested.derived.match(None, None, None, None))

    def step(self, delta: Delta, *, is_reading: bool, is_refused: bool = False) -> None:
        """Make the step in both, or in neither; the store may refuse it at first."""
        try:
            self.oracle.step(delta)
        except OntologyError:
            with pytest.raises(OntologyError):
                self.tested.step(delta, is_reading=is_reading)
            self.check()
            return
        try:
            change = self.tested.step(delta, is_reading=is_reading)
        except DerivedLimitError:
            assert not is_reading
            assert len(self.oracle.derived) > self.bound
            self.oracle.undo(delta)
            self.check()
            return
        if is_refused:
            self.tested.undo(delta)
            self.oracle.undo(delta)
            self.check()
            assert self.suspended == self.tested.suspended
            self.oracle.step(delta)
            change = self.tested.step(delta, is_reading=is_reading)
        self.asserted.apply(delta)
        self.take(change)
        self.check()

    def take(self, change: Delta) -> None:
        """The Deltas add up to the entailed view."""
        self.suspended = dict(self.tested.suspended)
        assert not set(change.added) & self.entailed
        assert set(change.removed) <= self.entailed
        self.entailed = (self.entailed - set(change.removed)) | set(change.added)

    def check(self) -> None:
        """Each domain is closed or suspended; what is suspended concludes nothing."""
        derived = self.derived()
        assert len(derived) == len(self.tested.derived) <= self.bound
        assert self.entailed == {*self.asserted.quads, *derived}
        found, expected = self.by_domain(derived), self.by_domain(self.oracle.derived)
        for domain in found.keys() | expected.keys():
            if domain in self.tested.suspended:
                assert domain not in found
            else:
                assert found.get(domain) == expected.get(domain)
        for quad in derived:
            assert self.oracle.derived.contains(quad)

    def by_domain(self, quads: Iterable[Quad]) -> dict[Domain, set[Quad]]:
        found: dict[Domain, set[Quad]] = {}
        domains = self.asserted.world.domains
        into = {each.into: each for each in domains.joint}
        for quad in quads:
            if quad.graph_name != CONTRADICTIONS_GRAPH:
                domain = into.get(quad.graph_name) or domains.of(quad.graph_name) or SCHEMA
                found.setdefault(domain, set()).add(quad)
        return found


@pytest.mark.property
@quick
@given(
    worlds(),
    st.integers(0, 60),
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=8, max_size=8),
)
def test_what_is_derived_is_whole_and_within_the_bound_and_what_is_undone_was_not(
    world: World, bound: int, kinds: list[tuple[bool, bool]]
) -> None:
    bounded = Bounded(world, bound)
    bounded.asserted.apply(bounded.asserted.turn(world.first))
    try:
        bounded.start()
    except OntologyError:
        return
    for change, (is_reading, is_refused) in zip(world.changes, kinds, strict=False):
        delta = bounded.asserted.turn(change)
        bounded.step(delta, is_reading=is_reading, is_refused=is_refused)
    bounded.take(bounded.tested.resume())
    bounded.check()
    everything = Delta(
        removed=tuple(bounded.asserted.quads), graphs_dropped=tuple(bounded.asserted.graphs)
    )
    bounded.step(everything, is_reading=False)
    bounded.take(bounded.tested.resume())
    assert not bounded.derived()
    assert not bounded.tested.suspended
