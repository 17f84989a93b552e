"""What is known of the layout of an event, its predicates in order, is right for the next one."""

import sys
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode, Quad, QuerySolutions

from gateway.engine.compound.event import LAID_OUT, LAID_OUT_CHARACTERS, CompoundEvent
from gateway.engine.compound.event_queries import EventQueries
from gateway.engine.compound.event_query import EventQuery
from gateway.engine.limits import Limits
from gateway.engine.spu import EVENT, Subject
from gateway.journal.event_position import EventPosition
from gateway.rdf.terms import DEFAULT_GRAPH

TEXTS = (
    "SELECT * { ?a <urn:p0> ?b . ?b <urn:p1> ?c }",
    "SELECT ?c { ?a <urn:p0> ?b . ?b <urn:p1> ?c }",
    "SELECT * { ?a <urn:p2> ?b . ?a <urn:p0> <urn:n1> }",
    "SELECT * { GRAPH ?g { ?a <urn:p1> ?a } }",
    "SELECT * { <urn:n0> ?p ?o }",
    "SELECT ?g ?o { GRAPH ?g { <urn:n0> <urn:p1> ?o } }",
)
_NODES = st.sampled_from([NamedNode(f"urn:n{number}") for number in range(3)])
_QUADS = st.builds(
    lambda number, s, o: Quad(s, NamedNode(f"urn:p{number}"), o),
    st.integers(0, 2),
    _NODES,
    _NODES,
)
_EVENTS = st.lists(st.lists(_QUADS, min_size=1, max_size=4, unique=True), min_size=1, max_size=8)


def event_of(quads: list[Quad]) -> CompoundEvent:
    term = NamedNode("urn:event")
    position = EventPosition(1, 0, 1)
    return CompoundEvent(DEFAULT_GRAPH, term, quads, gateway="a", position=position, time=1)


def query_of(text: str) -> EventQuery:
    return EventQuery(Subject(text, mode=EVENT))


def with_rows(queries: EventQueries, event: CompoundEvent) -> dict[str, list[object]]:
    limits = Limits()
    rows = {query.spu.subject.text: query.answer(event, limits) for query in queries.reached(event)}
    return {text: sorted(found, key=str) for text, found in rows.items() if found}


def anew(texts: tuple[str, ...], event: CompoundEvent) -> dict[str, list[object]]:
    """The store's answers."""
    found = {}
    for text in texts:
        results = event.query(text)
        assert isinstance(results, QuerySolutions)
        rows: list[object] = [tuple(row) for row in results]
        if rows:
            found[text] = sorted(rows, key=str)
    return found


@settings(deadline=None)
@given(_EVENTS, st.sets(st.integers(0, len(TEXTS) - 1)), st.integers(0, 8))
def test_events_of_one_layout_are_answered_as_the_store_does(
    stated: list[list[Quad]], later: set[int], turn: int
) -> None:
    queries = EventQueries()
    first = [query_of(text) for number, text in enumerate(TEXTS) if number not in later]
    for query in first:
        queries.add(query)
    for number, quads in enumerate(stated):
        if number == turn:
            for place in later:
                queries.add(query_of(TEXTS[place]))
            if first:
                queries.remove(first.pop(0).spu)
        texts = (
            *(query.spu.subject.text for query in first),
            *(TEXTS[place] for place in later if number >= turn),
        )
        for each in list(permutations(quads))[:4]:
            event = event_of(list(each))
            expected = anew(texts, event)
            assert with_rows(queries, event_of(list(each))) == expected
            assert with_rows(queries, event_of(list(each))) == expected


def test_a_longer_event_is_answered_too() -> None:
    queries = EventQueries()
    queries.add(query_of(TEXTS[0]))
    n0, n1, n2 = (NamedNode(f"urn:n{number}") for number in range(3))
    quads = [Quad(n0, NamedNode("urn:p0"), n1), Quad(n1, NamedNode("urn:p1"), n2)]
    quads += [Quad(n0, NamedNode(f"urn:q{number}"), n2) for number in range(LAID_OUT)]
    for _ in range(2):
        assert with_rows(queries, event_of(quads)) == {TEXTS[0]: [(n0, n1, n2)]}
    assert with_rows(queries, event_of(quads[1:])) == {}


@pytest.mark.parametrize("length", [1, LAID_OUT_CHARACTERS])
def test_nothing_is_kept_of_an_event_with_long_predicates(length: int) -> None:
    queries = EventQueries()
    queries.add(query_of(TEXTS[0]))
    n0, n1, n2 = (NamedNode(f"urn:n{number}") for number in range(3))
    quads = [Quad(n0, NamedNode("urn:p0"), n1), Quad(n1, NamedNode("urn:p1"), n2)]
    event = event_of([*quads, Quad(n0, NamedNode("urn:" + "q" * length), n2)])
    held = sys.getrefcount(event.layout)
    assert with_rows(queries, event) == {TEXTS[0]: [(n0, n1, n2)]}
    is_held_elsewhere = sys.getrefcount(event.layout) > held
    assert is_held_elsewhere == (length == 1)
