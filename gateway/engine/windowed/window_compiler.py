"""From a subscribed query over windows to the cheapest unit that is exact for it."""

from pyoxigraph import NamedNode

from gateway.engine.compile import TierCompiler, parse_subscribed
from gateway.engine.sliding.query import NotSlidingError, sliding_query
from gateway.engine.sliding.unit import SlidingUnit
from gateway.engine.spu import Placed, Spu, Subject
from gateway.store.readable import Source


class WindowTierCompiler(TierCompiler):
    """Aggregates over a window first, then the tiers that serve graphs of the store."""

    def __init__(self, store: Source) -> None:
        super().__init__(store)
        self._windows = store

    def place(self, subject: Subject) -> Placed:
        """As TierCompiler."""
        query = parse_subscribed(subject)
        if subject.readable is not None:
            return super().place(subject)
        names = frozenset(NamedNode(iri) for iri, _ in subject.windows)
        try:
            sliding = sliding_query(query, names, subject.dataset)
        except NotSlidingError as error:
            placed = super().place(subject)
            return Placed(
                placed.spu,
                placed.unit,
                placed.is_made,
                placed.gone,
                {"sliding": str(error), **placed.refused},
            )
        spu = Spu(subject, query.form.name, query.variables)
        return Placed(spu, SlidingUnit(self._windows, spu, sliding), is_made=True)
