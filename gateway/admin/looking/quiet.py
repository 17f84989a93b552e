"""Why a query is quiet: which of its parts takes the rows away, and what was near.

Place: behind POST /why/quiet, in a thread of the pool of queries. The query is taken apart; its
parts are counted, alone and joined with those before, by queries of our own with the rights of who
asks. Each is answered as the store is then: while much changes, counts may differ by that.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyoxigraph import NamedNode

from gateway.admin.looking.near import Asking, Asks, Near, Nears
from gateway.admin.looking.near_filters import near_filter
from gateway.admin.looking.near_patterns import near_pattern
from gateway.admin.looking.near_streams import (
    Wanted,
    near_silent,
    near_unlinked,
    near_unobserved,
    unobserved,
)
from gateway.admin.looking.parts import Part, parts_of
from gateway.errors import QueryTimeoutError, TooComplexError, UnsupportedQueryError
from gateway.rdf.namespaces import XSD
from gateway.sparql import algebra
from gateway.sparql.algebra import Query, QueryForm
from gateway.sparql.scope import walk
from gateway.sparql.written import Writer

MOST_PARTS = 20
MOST_ASKED = 65
"""Questions for one answer: two for each part, the rest for near misses."""

MOST_COUNTED = 10_000
"""Solutions; a count that is this may be more."""

_SHOWN = 600

Troubles = Callable[[Wanted, tuple[NamedNode, ...]], Iterable[Near]]
"""What keeps values away before the store: mappings, quarantine; told which nothing observes."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A part in words, its solutions alone, and joined with all before it."""

    text: str
    alone: int
    joined: int


@dataclass(frozen=True, slots=True)
class Quiet:
    """The rows of a query now, the parts in order of evaluation, and what was near.

    `first_starved` is the place of the first part with which nothing is left, None where there are
    solutions to the last. `is_whole`: there was time for everything.
    """

    rows: int
    parts: tuple[Counted, ...]
    first_starved: int | None
    near: tuple[Near, ...]
    is_whole: bool = True


def require_answerable(query: Query) -> list[Part]:
    """The parts of the query.

    Raises UnsupportedQueryError, TooComplexError for one that this cannot be asked of.
    """
    if query.form is QueryForm.DESCRIBE:
        raise UnsupportedQueryError("a DESCRIBE has no rows", "ask of a SELECT")
    if any(isinstance(node, algebra.Service) for node in walk(query)):
        raise UnsupportedQueryError(
            "what another host answers cannot be looked into", "ask of what stands beside SERVICE"
        )
    parts = parts_of(query)
    if len(parts) > MOST_PARTS:
        raise TooComplexError(
            f"the query has {len(parts)} parts, {MOST_PARTS} are looked at", "ask of a part of it"
        )
    return parts


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known beside the store: the time, and what keeps values away before it.

    `prefixes` are those by which people write the query, besides its own.
    """

    now: datetime
    troubles: Troubles
    prefixes: Mapping[str, str] = field(default_factory=dict)


def why_quiet(
    query: Query, asks: Asks, count_rows: Callable[[], int], around: Surroundings
) -> Quiet:
    """Why it has the rows that it has. Raises a GatewayError."""
    parts = require_answerable(query)
    prefixes = {**_PLAIN, **around.prefixes, **dict(query.prefixes)}
    asking = Asking(asks, Writer.of(query), Writer.of(query, prefixes))
    rows = count_rows()
    counted, starved = _count(parts, asking)
    nears, is_whole = Nears(), True
    try:
        if starved is not None:
            for found in _nears_of(parts[starved], counted[starved], asking):
                nears.add(found)
        for found in _nears_around(
            Wanted.of(query), asking, around, is_starved=starved is not None
        ):
            nears.add(found)
    except QueryTimeoutError:
        is_whole = False
    if not rows and starved is None:
        nears.add(_modified(query))
    return Quiet(rows, tuple(counted), starved, tuple(nears.found), is_whole)


_PLAIN = {"xsd": XSD}


def _count(parts: list[Part], asking: Asking) -> tuple[list[Counted], int | None]:
    """Each part; where nothing is left, nothing comes back further on."""
    counted: list[Counted] = []
    starved: int | None = None
    for index, part in enumerate(parts):
        alone = asking.asks.count(asking.text.group(part.alone), MOST_COUNTED)
        joined = 0
        if starved is None:
            is_same = part.joined == part.alone
            group = asking.text.group(part.joined)
            joined = alone if is_same else asking.asks.count(group, MOST_COUNTED)
            starved = None if joined else index
        text = asking.told.element(part.element)
        counted.append(Counted(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…", alone, joined))
    return counted, starved


def _nears_of(part: Part, counted: Counted, asking: Asking) -> Iterator[Iterable[Near]]:
    """What is near the part that starves."""
    yield near_filter(part, asking)
    yield near_pattern(part, asking, is_alone_empty=not counted.alone)
    if not asking.asks.count("{ ?s ?p ?o }", 1):
        yield [Near("the store", "nothing is in its default graph yet", "connect a device")]


def _nears_around(
    wanted: Wanted, asking: Asking, around: Surroundings, *, is_starved: bool
) -> Iterator[Iterable[Near]]:
    """What is wrong with the observations that it asks for."""
    yield near_silent(wanted, asking, around.now)
    if wanted.is_about_observations:
        missing = unobserved(wanted, asking)
        yield near_unobserved(missing, asking)
        if is_starved:
            yield near_unlinked(wanted, asking)
        yield around.troubles(wanted, tuple(missing))


def _modified(query: Query) -> Iterator[Near]:
    """What stands behind the WHERE and leaves none of its solutions."""
    if query.having:
        what = "HAVING"
    elif query.limit == 0:
        what = "LIMIT 0"
    elif query.offset:
        what = f"OFFSET {query.offset}"
    else:
        return
    yield Near(what, "it leaves none of the solutions", "change it")
