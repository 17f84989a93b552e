"""`WindowCompiler`: the tiers of queries over windows, aggregates that slide before all others.

Place: in a `WindowedProcessing`. Queries that differ in constants of HAVING, or of FILTERs around
their groups, share a unit.
"""

from collections.abc import Callable, Collection, Hashable
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from gateway.engine.compile import TierCompiler, lutt_of, parse_subscribed
from gateway.engine.incremental.aggregates import UnsureError
from gateway.engine.incremental.syntax import Replacement
from gateway.engine.lutt import LuttEntry
from gateway.engine.sliding.members import checks_of
from gateway.engine.sliding.query import NotSlidingError, SlidingQuery, sliding_query
from gateway.engine.sliding.unit import SlidingUnit
from gateway.engine.spu import Placed, Spu, Subject, Unit
from gateway.rdf.terms import GraphName
from gateway.sparql import algebra
from gateway.sparql.algebra import Query
from gateway.store.readable import Source
from gateway.windows.content import Content

ContentOf = Callable[[NamedNode], Content]


class WindowCompiler(TierCompiler):
    """Chooses the first tier that is exact.

    `content_of` has the window of a name, to begin with what that has; without it units stay empty,
    as to explain a query.
    """

    def __init__(self, store: Source, content_of: ContentOf | None = None) -> None:
        super().__init__(store)
        self._content_of = content_of
        self._alike: dict[Hashable, SlidingUnit] = {}
        self._names: dict[Unit, Hashable] = {}

    def place(self, subject: Subject) -> Placed:
        """The SPU in the unit of those that group alike, or where the other tiers place it."""
        query = parse_subscribed(subject)
        spu = Spu(subject, query.form.name, query.variables)
        try:
            return self._sliding(query, spu)
        except (NotSlidingError, UnsureError) as error:
            placed = super().place(subject)
            reason = str(error) or "values that only the store can order or add"
            return replace(placed, refused={"sliding": reason, **placed.refused})

    def _sliding(self, query: Query, spu: Spu) -> Placed:
        subject = spu.subject
        if subject.readable is not None:
            raise NotSlidingError("graphs that are hidden")
        windows = {NamedNode(iri): window for iri, window in subject.windows}
        found = sliding_query(query, windows.keys(), subject.dataset)
        if windows[found.rows.node].bounds:
            raise NotSlidingError("its window tells its bounds")
        lutt = _lutt_of_store(subject, windows.keys())
        name = _shape(query, subject, found)
        unit = self._alike.get(name)
        is_made = unit is None
        if unit is None:
            unit = self._made(found, lutt)
            self._alike[name] = unit
            self._names[unit] = name
        unit.add(spu, checks_of(found.conditions))
        return Placed(spu, unit, is_made=is_made)

    def _made(self, query: SlidingQuery, lutt: tuple[LuttEntry, ...]) -> SlidingUnit:
        unit = SlidingUnit(self._store, query, lutt)
        if self._content_of is not None:
            unit.fill(self._content_of(unit.node))
        return unit

    def instead(self, spu: Spu) -> Unit:
        """A unit of another tier for an SPU that can slide no more."""
        return self._alone(parse_subscribed(spu.subject), spu, {}).unit

    def remove(self, spu: Spu, unit: Unit) -> None:
        """Take the SPU out of its unit."""
        if not isinstance(unit, SlidingUnit):
            super().remove(spu, unit)
            return
        unit.remove(spu)
        if not unit.members:
            del self._alike[self._names.pop(unit)]


def _lutt_of_store(subject: Subject, windows: Collection[NamedNode]) -> tuple[LuttEntry, ...]:
    """What of the store can change the answer. Raises NotSlidingError."""
    lutt = lutt_of(subject)
    if any(entry.graph is None for entry in lutt):
        raise NotSlidingError("it looks at any graph, or at the clock")
    names: Collection[GraphName] = windows
    return tuple(entry for entry in lutt if entry.graph not in names)


def _shape(query: Query, subject: Subject, found: SlidingQuery) -> Hashable:
    """What queries have in common that differ in constants that their groups are compared with.

    Conditions that see more than groups count with their constants.
    """
    return (
        subject.windows,
        subject.dataset,
        subject.infer,
        query.base,
        () if found.outer is None else found.outer.conditions,
        replace(
            query,
            having=_blank_all(query.having),
            where=algebra.Group(tuple(map(_blanked, query.where.elements))),
        ),
    )


_ANY = Variable(":any")


def _blank_all(trees: tuple[algebra.Expression, ...]) -> tuple[algebra.Expression, ...]:
    blank: Replacement[Literal] = Replacement(Literal, lambda _: _ANY)
    return tuple(map(blank.expression, trees))


def _blanked(element: algebra.Element) -> algebra.Element:
    match element:
        case algebra.SubSelect(query=query):
            return replace(element, query=replace(query, having=_blank_all(query.having)))
        case algebra.Group(elements=elements):
            return replace(element, elements=tuple(map(_blanked, elements)))
        case algebra.Filter(expression=tree):
            return replace(element, expression=_blank_all((tree,))[0])
        case _:
            return element
