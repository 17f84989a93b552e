"""Why a query is quiet, asked of a bare store: how often, and what is told when time is over."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, assume, given, settings
from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store

from gateway.admin.looking.near import Found
from gateway.admin.looking.quiet import (
    MOST_ASKED,
    MOST_COUNTED,
    MOST_PARTS,
    Quiet,
    Surroundings,
    require_answerable,
    why_quiet,
)
from gateway.errors import QueryTimeoutError, TooComplexError
from gateway.sparql.parser import parse_query
from gateway.sparql.written import Writer
from tests.gateway.sparql.test_random_patterns import contents, groups, legal

SOSA = "http://www.w3.org/ns/sosa/"


class StoreAsks:
    """Counts the questions, and has no time for more than `most` of them."""

    def __init__(self, store: Store, most: int = MOST_ASKED) -> None:
        self.asked = 0
        self._store = store
        self._most = most

    def count(self, group: str, most: int) -> int:
        return len(self.rows(f"SELECT * {group} LIMIT {most}"))

    def rows(self, select: str) -> Sequence[Found]:
        self.asked += 1
        if self.asked > self._most:
            raise QueryTimeoutError(1.0)
        try:
            results = self._store.query(select)
        except SyntaxError as error:
            raise AssertionError(select) from error
        assert isinstance(results, QuerySolutions)
        names = [each.value for each in results.variables]
        return [
            {name: term for name in names if (term := row[name]) is not None} for row in results
        ]


def asked(text: str, asks: StoreAsks) -> Quiet:
    query = parse_query(text)
    around = Surroundings(datetime(2026, 3, 2, tzinfo=UTC), lambda *_: ())

    def rows() -> int:
        return asks.count(f"{{ {{ {Writer.of(query).select(query)} }} }}", MOST_COUNTED)

    return why_quiet(query, asks, rows, around)


@pytest.mark.property
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(groups, contents)
def test_any_query_is_answered_with_few_questions(text: str, content: list[Quad]) -> None:
    assume(legal(f"SELECT * {text}"))
    store = Store()
    store.extend(content)
    asks = StoreAsks(store)
    told = asked(f"SELECT * {text}", asks)
    assert asks.asked <= MOST_ASKED
    assert told.is_whole
    results = store.query(f"SELECT (COUNT(*) AS ?n) {{ SELECT * {text} }}")
    assert isinstance(results, QuerySolutions)
    if "SELECT" not in text:
        (row,) = results
        assert isinstance(row[0], Literal)
        assert told.rows == int(row[0].value)
    for place, part in enumerate(told.parts):
        is_starved = told.first_starved is not None and place >= told.first_starved
        assert (part.joined == 0) == is_starved


def _observed(count: int) -> str:
    """So many patterns about observations of three properties, the last of which is not there."""
    names = [f"?o <{SOSA}observedProperty> <urn:p{number}>" for number in range(3)]
    more = [f"?o <urn:q{number}> ?v{number}" for number in range(count - len(names) - 1)]
    return f"SELECT * {{ {' . '.join([*more, *names])} FILTER(?v0 > 5) }}"


def _filled(count: int) -> Store:
    store, node = Store(), NamedNode("urn:o")
    for number in range(count - 4):
        store.add(Quad(node, NamedNode(f"urn:q{number}"), Literal(number)))
    for number in range(3):
        store.add(Quad(node, NamedNode(f"{SOSA}observedProperty"), NamedNode(f"urn:p{number}")))
    return store


def test_the_largest_query_takes_no_more_questions_than_there_are() -> None:
    asks = StoreAsks(_filled(MOST_PARTS))
    told = asked(_observed(MOST_PARTS), asks)
    assert len(told.parts) == MOST_PARTS
    assert told.parts[-1].text.startswith("FILTER(?v0 > ")
    assert told.first_starved == MOST_PARTS - 1
    assert 2 * MOST_PARTS - 1 < asks.asked <= MOST_ASKED


def test_one_part_more_is_refused() -> None:
    with pytest.raises(TooComplexError):
        require_answerable(parse_query(_observed(MOST_PARTS + 1)))


def test_counts_are_told_where_there_is_no_time_for_more() -> None:
    text = f"SELECT * {{ ?o <{SOSA}observedProperty> <urn:p0> ; <urn:q0> ?v FILTER(?v > 5) }}"
    whole = StoreAsks(_filled(9))
    everything = asked(text, whole)
    counts = StoreAsks(
        _filled(9), most=5
    )  # of the query, of the second part twice, of the others once
    told = asked(text, counts)
    assert (everything.is_whole, told.is_whole) == (True, False)
    assert told.parts == everything.parts
    assert told.first_starved == everything.first_starved == 2
    assert not told.near
    assert "0 is the largest, the filter wants > 5" in everything.near[0].reason


def test_counts_that_take_too_long_are_refused() -> None:
    with pytest.raises(QueryTimeoutError):
        asked("SELECT * { ?o <urn:q0> ?v FILTER(?v > 5) }", StoreAsks(_filled(9), most=1))
