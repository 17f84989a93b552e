"""Queries that count as alike have equal rows, and those that are renamed are alike."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.engine.automaton import AutomatonQuery
from gateway.engine.automaton.alike import likeness
from gateway.engine.automaton.query import Pattern, Slot
from tests.gateway.engine.automaton.oracles import by_nested_loops, query
from tests.gateway.engine.automaton.test_automaton_oracle import texts
from tests.gateway.engine.automaton.writer import Writer

randoms = st.randoms(use_true_random=False)


def put(slot: Slot, names: Mapping[str, str]) -> Slot:
    return names[slot] if isinstance(slot, str) else slot


def renamed(asked: AutomatonQuery, random: Random) -> AutomatonQuery:
    """The same with other names for its variables and patterns in another order."""
    old = sorted(asked.variables)
    names = dict(
        zip(old, random.sample([f"n{at}" for at in range(9 + len(old))], len(old)), strict=True)
    )
    patterns: list[Pattern] = [
        (put(s, names), put(p, names), put(o, names)) for s, p, o in asked.patterns
    ]
    random.shuffle(patterns)
    rows = tuple(
        tuple(None if slot is None else put(slot, names) for slot in row) for row in asked.rows
    )
    return replace(asked, patterns=tuple(patterns), rows=rows)


@settings(max_examples=50, deadline=None)
@given(randoms)
def test_a_renamed_query_is_alike(random: Random) -> None:
    for text in texts(Writer(random), 4):
        asked = query(text)
        # A condition is known by its text, names and all.
        plain = replace(asked, conditions=())
        assert likeness(plain)[0] == likeness(renamed(plain, random))[0]


@settings(max_examples=40, deadline=None)
@given(randoms)
def test_what_is_alike_has_equal_rows(random: Random) -> None:
    writer = Writer(random)
    window = [*dict.fromkeys(writer.triple() for _ in range(8))]
    known: dict[object, Counter[object]] = {}
    for text in texts(writer, 8):
        for asked in (query(text), renamed(replace(query(text), conditions=()), random)):
            answer: Counter[object] = Counter(by_nested_loops(asked, window))
            assert known.setdefault(likeness(asked), answer) == answer, text


def test_columns_in_another_order_are_not_alike() -> None:
    one = query("SELECT ?a ?b { GRAPH <urn:w> { ?a <urn:p> ?b } }")
    other = query("SELECT ?b ?a { GRAPH <urn:w> { ?a <urn:p> ?b } }")
    assert likeness(one) != likeness(other)


def test_constants_tell_apart_what_is_else_alike() -> None:
    one = query("SELECT ?a { GRAPH <urn:w> { ?a <urn:p> 1 } }")
    other = query("SELECT ?a { GRAPH <urn:w> { ?a <urn:p> '1' } }")
    assert likeness(one) != likeness(other)
