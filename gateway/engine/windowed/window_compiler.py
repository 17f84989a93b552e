"""`WindowCompiler`: the tiers of queries over windows, aggregates that slide before all others.

Place: in a `WindowedProcessing`. Queries that differ in constants of HAVING, or of FILTERs around
their groups, share a unit.
"""

from collections.abc import Callable, Collection, Hashable
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from gateway.engine.compile import TierCompiler, lutt_of, parse_subscribed
from gateway.engine.incremental.aggregates import UnsureError
from gateway.engine.incremental.grouping_of import is_grouped
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

    may_sleep = False  # windows are filled bit by bit

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
        name = _shape(query, subject, found, windows.keys())
        known = self._alike.get(name)
        unit = known or self._made(found, lutt)
        unit.add(spu, found.constants, checks_of(found.conditions))
        if known is None:
            self._alike[name] = unit
            self._names[unit] = name
        return Placed(spu, unit, is_made=known is None)

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


def _shape(
    query: Query, subject: Subject, found: SlidingQuery, windows: Collection[NamedNode]
) -> Hashable:
    """What queries have in common that differ in constants alone.

    Those are objects of patterns of a window, and what groups are compared with; conditions that
    see more than groups count with their constants.
    """
    elements = _patterns_blanked(query.where, windows)
    if not is_grouped(query):  # else these FILTERs are about what is grouped
        elements = tuple(map(_filters_blanked, elements))
    blank = replace(query, having=_blank_all(query.having), where=algebra.Group(elements))
    of_rest = () if found.outer is None else found.outer.conditions
    place = subject.windows, subject.dataset, subject.infer
    return place, query.base, found.rows.parameters, of_rest, blank


_ANY = Variable(":any")


def _blank_all(trees: tuple[algebra.Expression, ...]) -> tuple[algebra.Expression, ...]:
    blank: Replacement[Literal] = Replacement(Literal, lambda _: _ANY)
    return tuple(map(blank.expression, trees))


def _filters_blanked(element: algebra.Element) -> algebra.Element:
    """Without the constants of FILTERs around groups, and of the HAVING of these."""
    match element:
        case algebra.SubSelect(query=query):
            return replace(element, query=replace(query, having=_blank_all(query.having)))
        case algebra.Group(elements=elements):
            return replace(element, elements=tuple(map(_filters_blanked, elements)))
        case algebra.Filter(expression=tree):
            return replace(element, expression=_blank_all((tree,))[0])
        case _:
            return element


def _patterns_blanked(
    group: algebra.Group, windows: Collection[NamedNode]
) -> tuple[algebra.Element, ...]:
    """The elements, without the constant objects of patterns in windows."""
    found: list[algebra.Element] = []
    for element in group.elements:
        match element:
            case algebra.Group():
                found.append(algebra.Group(_patterns_blanked(element, windows)))
            case algebra.SubSelect(query=query):
                where = algebra.Group(_patterns_blanked(query.where, windows))
                found.append(replace(element, query=replace(query, where=where)))
            case algebra.Graph(name=name, group=inner) if name in windows:
                found.append(
                    replace(
                        element, group=algebra.Group(tuple(map(_objects_blanked, inner.elements)))
                    )
                )
            case _:
                found.append(element)
    return tuple(found)


def _objects_blanked(element: algebra.Element) -> algebra.Element:
    if not isinstance(element, algebra.BasicPattern):
        return element
    return algebra.BasicPattern(
        tuple(
            each if isinstance(each.object, Variable) else replace(each, object=_ANY)
            for each in element.patterns
        )
    )
