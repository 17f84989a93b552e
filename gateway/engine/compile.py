"""From a subscribed query to the cheapest unit that is exact for it."""

from gateway.engine.conjunction import conjunction
from gateway.engine.incremental.query import incremental_query
from gateway.engine.incremental.unit import IncrementalUnit
from gateway.engine.join import JoinUnit
from gateway.engine.lutt import EVERYTHING, LuttEntry
from gateway.engine.requery import RequeryUnit
from gateway.engine.single_pattern import SinglePatternUnit
from gateway.engine.spu import Dataset, Spu, Subject, Unit
from gateway.errors import UnsupportedQueryError
from gateway.rdf.canonical import canonical
from gateway.rdf.terms import GraphName, Term
from gateway.sparql import patterns
from gateway.sparql.algebra import Query
from gateway.sparql.parser import parse_query
from gateway.store.readable import Readable


def compile_unit(store: Dataset, subject: Subject) -> Unit:
    """A unit with the subject's SPU as its member: parse, refuse, choose the tier.

    Raises SparqlSyntaxError with the place, UnsupportedQueryError with the reason.
    """
    query = _parse(subject)
    spu = Spu(subject, query.form.name, query.variables)
    lutt = _lutt(query, subject)
    if subject.readable is not None:
        return RequeryUnit(Readable(store, subject.readable), spu, _visible(lutt, subject.readable))
    if not subject.has_dataset:
        single = patterns.single_pattern(query)
        if single is not None:
            return SinglePatternUnit(store, spu, lutt, single)
        joined = conjunction(query)
        if joined is not None:
            return JoinUnit(store, spu, lutt, joined)
    incremental = incremental_query(query, subject.default_graphs, subject.named_graphs)
    if incremental is not None:
        return IncrementalUnit(store, spu, lutt, incremental)
    return RequeryUnit(store, spu, lutt)


def compile_oracle(store: Dataset, subject: Subject) -> Unit:
    """A unit that re-queries after every change: it trusts no look-up table and no tier.

    Raises what `compile_unit` raises.
    """
    query = _parse(subject)
    if subject.readable is not None:
        store = Readable(store, subject.readable)
    return RequeryUnit(store, Spu(subject, query.form.name, query.variables), (EVERYTHING,))


def compile_unfiltered(store: Dataset, subject: Subject) -> Unit:
    """A unit that is given every Delta and looks for itself what of it matches: no LUTT.

    What the LUTTs are worth is measured against it. Raises what `compile_unit` raises.
    """
    query = _parse(subject)
    spu = Spu(subject, query.form.name, query.variables)
    joined = None if subject.has_dataset else conjunction(query)
    if joined is not None:
        return JoinUnit(store, spu, (EVERYTHING,), joined)
    return RequeryUnit(store, spu, (EVERYTHING,))


def _parse(subject: Subject) -> Query:
    query = parse_query(subject.text)
    reason = patterns.unsupported(query)
    if reason is not None:
        raise UnsupportedQueryError(f"this query cannot be subscribed: {reason}")
    return query


def _lutt(query: Query, subject: Subject) -> tuple[LuttEntry, ...]:
    if patterns.reads_clock(query):
        return (EVERYTHING,)
    lookups = patterns.quad_patterns(query, subject.default_graphs, subject.named_graphs)
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
