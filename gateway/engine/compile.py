"""From a subscribed query to the cheapest unit that is exact for it."""

from dataclasses import replace
from typing import Protocol

from gateway.engine.incremental.draft import NotIncrementalError
from gateway.engine.incremental.query import incremental_query
from gateway.engine.incremental.unit import IncrementalUnit
from gateway.engine.join.conjunction import Conjunction, NotAJoinError, conjunction
from gateway.engine.join.join import JoinUnit, UnfilteredUnit
from gateway.engine.join.shapes import JoinUnits
from gateway.engine.lutt import EVERYTHING, LuttEntry
from gateway.engine.requery import RequeryUnit
from gateway.engine.spu import Placed, Spu, Subject, Unit
from gateway.errors import UnsupportedQueryError
from gateway.rdf.canonical import canonical
from gateway.rdf.terms import GraphName, Term
from gateway.sparql import patterns
from gateway.sparql.algebra import Query
from gateway.sparql.bounds.growth import require_growth
from gateway.sparql.constants import with_constants
from gateway.sparql.parser import parse_query
from gateway.store.readable import Readable, Source


class Compiler(Protocol):
    """Chooses the units of SPUs."""

    def place(self, subject: Subject) -> Placed:
        """A new SPU for the subject, and its unit.

        Raises SparqlSyntaxError with the place, UnsupportedQueryError with the reason.
        """

    def remove(self, spu: Spu, unit: Unit) -> None:
        """Take the SPU out of its unit."""


class TierCompiler:
    """Chooses the first tier that is exact; joins of one shape share a unit."""

    by_look_ups = False
    may_sleep = True

    def __init__(self, store: Source) -> None:
        self._store = store
        self._shapes = JoinUnits(store, by_look_ups=self.by_look_ups)

    def place(self, subject: Subject) -> Placed:
        """The SPU in the unit of its shape, or in one of its own."""
        query = parse_subscribed(subject)
        spu = Spu(subject, query.form.name, query.variables)
        if subject.readable is not None:
            return self._restricted(query, spu, subject.readable)
        try:
            return self._shapes.place(spu, _join(query, subject))
        except NotAJoinError as error:
            return self._alone(query, spu, {"booster": str(error)})

    def _restricted(self, query: Query, spu: Spu, readable: frozenset[GraphName]) -> Placed:
        lutt = _visible(_lutt(query, spu.subject), readable)
        unit = RequeryUnit(Readable(self._store, readable), spu, lutt)
        return Placed(spu, unit, is_made=True, refused={"incremental": "graphs that are hidden"})

    def _alone(self, query: Query, spu: Spu, refused: dict[str, str]) -> Placed:
        subject = spu.subject
        lutt = _lutt(query, subject)
        unit: Unit
        try:
            found = incremental_query(query, subject.dataset)
            unit = IncrementalUnit(self._store, spu, lutt, found, may_sleep=self.may_sleep)
        except NotIncrementalError as error:
            refused["incremental"] = str(error)
            faster = replace(subject, text=with_constants(subject.text))
            unit = RequeryUnit(self._store, spu, lutt, faster)
        return Placed(spu, unit, is_made=True, refused=refused)

    def remove(self, spu: Spu, unit: Unit) -> None:
        """A unit of its own ends with it."""
        if isinstance(unit, JoinUnit):
            self._shapes.remove(spu, unit)


class EntailedCompiler(TierCompiler):
    """For what follows too: the first answer of a join is looked up as changes are.

    Oxigraph knows nothing of the mirror's sizes when it orders a join: over LUBM(10) the worst of
    SEP-BM's took ten times what looking it up takes.
    """

    by_look_ups = True
    may_sleep = False  # what is told late of the mirror is told of what a subscription asks for


class OracleCompiler:
    """Re-queries after every change: trusts no look-up table and no tier."""

    def __init__(self, store: Source) -> None:
        self._store = store

    def place(self, subject: Subject) -> Placed:
        """The SPU in a unit of its own."""
        query = parse_subscribed(subject)
        store = self._store
        if subject.readable is not None:
            store = Readable(store, subject.readable)
        spu = Spu(subject, query.form.name, query.variables)
        return Placed(spu, RequeryUnit(store, spu, (EVERYTHING,)), is_made=True)

    def remove(self, spu: Spu, unit: Unit) -> None:
        """The unit ends with it."""


class UnfilteredCompiler(OracleCompiler):
    """Without LUTTs: each unit is given every Delta and looks for itself what of it matches.

    What the LUTTs are worth is measured against it.
    """

    def place(self, subject: Subject) -> Placed:
        """The SPU in a unit of its own: a join, or re-queried."""
        query = parse_subscribed(subject)
        spu = Spu(subject, query.form.name, query.variables)
        if subject.readable is not None:
            return super().place(subject)
        try:
            unit = UnfilteredUnit(self._store, spu, _join(query, subject))
        except NotAJoinError:
            return super().place(subject)
        return Placed(spu, unit, is_made=True)


def parse_subscribed(subject: Subject) -> Query:
    """The query of a subject. Raises SparqlSyntaxError, UnsupportedQueryError, TooLargeError."""
    query = parse_query(subject.text)
    require_growth(query)
    found = patterns.unsupported(query)
    if found is not None:
        raise UnsupportedQueryError(f"this query cannot be subscribed: {found.reason}", found.hint)
    return query


def lutt_of(subject: Subject) -> tuple[LuttEntry, ...]:
    """The patterns of all quads that can change the answer. Raises as `parse_subscribed` does."""
    lutt = _lutt(parse_subscribed(subject), subject)
    return lutt if subject.readable is None else _visible(lutt, subject.readable)


def _join(query: Query, subject: Subject) -> Conjunction:
    return conjunction(query, subject.dataset or query.dataset)


def _lutt(query: Query, subject: Subject) -> tuple[LuttEntry, ...]:
    if patterns.reads_clock(query):
        return (EVERYTHING,)
    lookups = patterns.quad_patterns(query, subject.dataset)
    entries = (
        LuttEntry(each.subject, each.predicate, _canonical(each.object), each.graph)
        for each in lookups
    )
    return tuple(dict.fromkeys(entries))


def _visible(lutt: tuple[LuttEntry, ...], readable: frozenset[GraphName]) -> tuple[LuttEntry, ...]:
    """The entries for readable graphs; those for every graph stay, they may only hit too often."""
    return tuple(each for each in lutt if each.graph is None or each.graph in readable)


def _canonical(term: Term | None) -> Term | None:
    """A constant as it stands in a Delta: `21.50` in a query matches the stored `21.5`."""
    return None if term is None else canonical(term)
