"""`EventQuery`: a query that is asked of each compound event alone, and answers with rows.

    event -> required patterns -> join of patterns, or the store on the event's quads -> rows

Place: one for each distinct subscription of mode `event`. A join of patterns is answered here; what
is more than that is given to the store where the required patterns match. Oracle: the store on
these quads.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter

from pyoxigraph import QueryBoolean, QuerySolutions

from gateway.engine.compile import parse_subscribed
from gateway.engine.compound.event import CompoundEvent
from gateway.engine.compound.event_bounds import require_bounded
from gateway.engine.compound.event_chain import EventChain, Found
from gateway.engine.compound.event_join import Bindings, TooManyTrialsError, in_order, solutions
from gateway.engine.compound.required import required_patterns
from gateway.engine.join.conjunction import Conjunction, NotAJoinError, conjunction
from gateway.engine.join.join_pattern import JoinPattern
from gateway.engine.limits import Limits, bounded, limited
from gateway.engine.lutt import LuttEntry
from gateway.engine.spu import Spu, Subject
from gateway.errors import UnsupportedQueryError
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term
from gateway.sparql.algebra import Query
from gateway.sparql.order.tie_break import with_tie_break
from gateway.sparql.order.total_order import with_total_order
from gateway.store.clock import with_clock


class EventQuery:
    """The query of an SPU; `refused` says why it is no join, "" for one that is."""

    def __init__(self, subject: Subject) -> None:
        """Raises SparqlSyntaxError, and UnsupportedQueryError for FROM and what else cannot be."""
        query = parse_subscribed(subject)
        _require_no_dataset(query, subject)
        self.spu = Spu(subject, query.form.name, query.variables)
        self.refused = ""
        self._query = query
        self._text = with_clock(with_total_order(with_tie_break(subject.text)))
        self._join: Conjunction | None = None
        self._chain: EventChain | None = None
        try:
            self._join = conjunction(query, None)
            self._patterns = in_order(self._join.patterns)
            self._chain = EventChain.of(self._patterns)
        except NotAJoinError as error:
            self.refused = str(error)
            self._patterns = in_order(required_patterns(query))
        self.hits = 0
        columns = () if self._join is None else self._join.columns
        self._pick = None if self._chain is None else _picked(self._chain.names, columns)

    @property
    def tier(self) -> str:
        """How it is answered."""
        return "event" if self._join is None else "event join"

    @property
    def key(self) -> LuttEntry | None:
        """What an event must have to be looked at; None where each one must be."""
        return entry_of(self._patterns[0]) if self._patterns else None

    @property
    def lutt(self) -> tuple[LuttEntry, ...]:
        """All that an event must have."""
        return tuple(dict.fromkeys(map(entry_of, self._patterns)))

    def may_read(self, event: CompoundEvent) -> bool:
        """Whether its rights let it see the event."""
        readable = self.spu.subject.readable
        return readable is None or event.graph in readable

    def rows(self, event: CompoundEvent) -> Sequence[Row]:
        """The answer on the event alone, as a bag: an ASK that is true has one empty row.

        Raises TooComplexError where the event may make too much of it. Keeps to the limits in
        force (gateway/engine/limits.py).
        """
        try:
            found = solutions(event, self._patterns)
            if self._join is not None:
                return _projected(self._join, list(bounded(found)))
            if next(iter(found), None) is None:
                return ()
        except TooManyTrialsError:
            pass
        return self._evaluated(event)

    def answer(self, event: CompoundEvent, limits: Limits) -> Sequence[Row]:
        """As `rows`, within limits. Raises what these raise, too."""
        if self._chain is not None:
            found = self._chain.solution(event)
            if found is False:
                return ()
            if found is not True:
                return (self._row(found),)
        with limited(limits):
            rows = self.rows(event)
        limits.require(len(rows))
        return rows

    @property
    def is_chain(self) -> bool:
        """Whether its form says that it is asked in no time."""
        return self._chain is not None

    def is_answered(self, event: CompoundEvent, limits: Limits) -> bool:
        """Whether the answer is not empty. Raises as `answer` does."""
        found = True if self._chain is None else self._chain.solution(event)
        if found is True:
            with limited(limits):
                return bool(self.rows(event))
        return found is not False

    def _row(self, found: Found) -> Row:
        """The row of a chain's solution."""
        if self._pick is not None:
            return self._pick(found)
        assert self._join is not None  # noqa: S101  # what has a chain is one
        assert self._chain is not None  # noqa: S101
        known = {
            name: term
            for name, term in zip(self._chain.names, found, strict=True)
            if term is not None
        }
        return _projected(self._join, (known,))[0]

    def _evaluated(self, event: CompoundEvent) -> Sequence[Row]:
        require_bounded(self._query, event)
        results = event.query(self._text)
        if isinstance(results, QuerySolutions):
            return [tuple(row) for row in bounded(results)]
        if isinstance(results, QueryBoolean):
            return [()] if results else ()
        triples = ((t.subject, t.predicate, t.object) for t in bounded(results))
        return list(dict.fromkeys(triples))


def _picked(names: Sequence[str], columns: Sequence[Term | str]) -> Callable[[Found], Row] | None:
    """What makes a row of a solution; None where a column is no variable of it."""
    places = {name: place for place, name in enumerate(names)}
    found = [places.get(each, -1) if isinstance(each, str) else -1 for each in columns]
    if -1 in found:
        return None
    if len(found) < 2:  # `itemgetter` makes no tuple of one
        return lambda terms: tuple([terms[place] for place in found])
    return itemgetter(*found)


def _projected(join: Conjunction, found: Sequence[Bindings]) -> Sequence[Row]:
    columns = join.columns
    rows = [
        tuple(known.get(each) if isinstance(each, str) else each for each in columns)
        for known in found
    ]
    return list(dict.fromkeys(rows)) if join.distinct else rows


def entry_of(pattern: JoinPattern) -> LuttEntry:
    """The pattern as an entry of a LUTT; in an event each graph is the same."""
    ends = (pattern.subject, pattern.predicate, pattern.object)
    subject, predicate, object_ = (None if isinstance(end, str) else end for end in ends)
    return LuttEntry(subject, predicate, object_)


def _require_no_dataset(query: Query, subject: Subject) -> None:
    if query.dataset is not None or subject.dataset is not None:
        raise UnsupportedQueryError(
            "in mode event a query is asked of one event, and this one names other graphs",
            "leave out FROM, default-graph-uri and named-graph-uri",
        )
