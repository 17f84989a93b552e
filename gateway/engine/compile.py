"""From a subscribed query to the cheapest SPU that is exact for it."""

from gateway.engine.conjunction import conjunction
from gateway.engine.join_spu import JoinSpu
from gateway.engine.lutt import EVERYTHING, LuttEntry
from gateway.engine.spu import RequerySpu, SinglePatternSpu, Spu, Subject
from gateway.errors import UnsupportedQueryError
from gateway.rdf.canonical import canonical
from gateway.rdf.terms import Term
from gateway.sparql import patterns
from gateway.sparql.algebra import Query
from gateway.sparql.parser import parse_query
from gateway.store.quad_store import QuadStore


def compile_spu(store: QuadStore, subject: Subject, *, oracle: bool = False) -> Spu:
    """Parse, refuse what cannot be subscribed, choose the tier; `oracle` always re-queries.

    The oracle looks at every change: it trusts no look-up table and no tier.
    Raises SparqlSyntaxError with the place, UnsupportedQueryError with the reason.
    """
    query = parse_query(subject.text)
    reason = patterns.unsupported(query)
    if reason is not None:
        raise UnsupportedQueryError(f"this query cannot be subscribed: {reason}")
    if oracle:
        return RequerySpu(store, subject, query.form.name, _variables(query), (EVERYTHING,))
    lutt = _lutt(query, subject)
    single = None if subject.has_dataset else patterns.single_pattern(query)
    if single is not None:
        pattern, graph = single
        return SinglePatternSpu(store, subject, query.variables, lutt, pattern=pattern, graph=graph)
    joined = None if subject.has_dataset else conjunction(query)
    if joined is not None:
        return JoinSpu(store, subject, query.variables, lutt, joined)
    return RequerySpu(store, subject, query.form.name, _variables(query), lutt)


def _variables(query: Query) -> tuple[str, ...]:
    """The columns of a row: none for ASK, the triple's positions for CONSTRUCT."""
    match query.form.name:
        case "ASK":
            return ()
        case "CONSTRUCT":
            return ("subject", "predicate", "object")
        case _:
            return query.variables


def _lutt(query: Query, subject: Subject) -> tuple[LuttEntry, ...]:
    if patterns.reads_clock(query):
        return (EVERYTHING,)
    lookups = patterns.quad_patterns(query, subject.default_graphs, subject.named_graphs)
    entries = (
        LuttEntry(each.subject, each.predicate, _canonical(each.object), each.graph)
        for each in lookups
    )
    return tuple(dict.fromkeys(entries))


def _canonical(term: Term | None) -> Term | None:
    """A constant as it stands in a Delta: `21.50` in a query matches the stored `21.5`."""
    return None if term is None else canonical(term)
