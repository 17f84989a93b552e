"""Figure 2 of Qin et al. 2015 and the constraints of its table 1, and what it leaves open."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from random import Random

import pytest
from pyoxigraph import NamedNode, Triple

from gateway.engine.automaton import Automaton, compiled
from gateway.engine.automaton.ccr import Node
from gateway.rdf.solutions import Row
from tests.gateway.engine.automaton.oracles import query


def node(name: str) -> NamedNode:
    return NamedNode(f"urn:{name}")


def triple(text: str) -> Triple:
    subject, predicate, object_ = map(node, text.split())
    return Triple(subject, predicate, object_)


def over_window(patterns: str) -> str:
    return f"PREFIX : <urn:> SELECT * {{ GRAPH <urn:w> {{ {patterns} }} }}"


def told(automaton: Automaton, gone: Sequence[str], come: Sequence[str]) -> Iterator[str]:
    """Number, sign and row, in order of numbers."""
    changes = automaton.step([*map(triple, gone)], [*map(triple, come)])
    for number, results in sorted(changes, key=lambda change: int(change[0])):
        for sign, rows in (("+", results.added), ("-", results.removed)):
            for row in rows:
                names = " ".join(str(term)[5:-1] for term in row)
                yield f"{number} {sign} {names}"


Q1 = "?x1 :b :c . ?x1 :d :e"
Q2 = "?x2 :b :c . ?x2 :d :e . :a :d ?x2"


@pytest.fixture
def figure_2() -> tuple[Automaton, int, int]:
    automaton = Automaton()
    q1 = automaton.add(query(over_window(Q1)), removals=True)
    q2 = automaton.add(query(over_window(Q2)), removals=True)
    return automaton, q1, q2


def test_five_patterns_of_figure_2_are_three_machines(
    figure_2: tuple[Automaton, int, int],
) -> None:
    automaton, _, _ = figure_2
    assert (automaton.queries, automaton.plans, automaton.patterns) == (2, 5, 3)


def test_figure_2_matches_when_all_its_patterns_have_and_not_before(
    figure_2: tuple[Automaton, int, int],
) -> None:
    automaton, q1, q2 = figure_2
    assert not [*told(automaton, [], ["a b c"])]  # m1 alone
    assert not [*told(automaton, [], ["z d e"])]  # m2 of another subject: no SS
    assert [*told(automaton, [], ["a d e"])] == [f"{q1} + a"]
    assert not [*told(automaton, [], ["a d z"])]  # m3: its object matches m2 alone
    assert [*told(automaton, [], ["a d a"])] == [f"{q2} + a"]
    assert [*told(automaton, ["a b c"], [])] == [f"{q1} - a", f"{q2} - a"]


def test_queries_that_differ_in_names_are_one(figure_2: tuple[Automaton, int, int]) -> None:
    automaton, _, _ = figure_2
    automaton.add(query(over_window("?other :d :e . ?other :b :c")), removals=True)
    assert (automaton.queries, automaton.plans) == (2, 5)


CONSTRAINTS: dict[str, tuple[str, Callable[[Triple, Triple], bool]]] = {
    "SS": ("?x ?p ?o . ?x ?q ?r", lambda t, u: t.subject == u.subject),
    "PP": ("?s ?x ?o . ?q ?x ?r", lambda t, u: t.predicate == u.predicate),
    "OO": ("?s ?p ?x . ?q ?r ?x", lambda t, u: t.object == u.object),
    "SO": ("?x ?p ?o . ?q ?r ?x", lambda t, u: t.subject == u.object),
    "OS": ("?s ?p ?x . ?x ?q ?r", lambda t, u: t.object == u.subject),
    "SSPP": (
        "?x ?y ?o . ?x ?y ?r",
        lambda t, u: t.subject == u.subject and t.predicate == u.predicate,
    ),
    "SSOO": (
        "?x ?p ?y . ?x ?q ?y",
        lambda t, u: t.subject == u.subject and t.object == u.object,
    ),
    "PPOO": (
        "?s ?x ?y . ?q ?x ?y",
        lambda t, u: t.predicate == u.predicate and t.object == u.object,
    ),
    "SOPP": (
        "?x ?y ?o . ?q ?y ?x",
        lambda t, u: t.subject == u.object and t.predicate == u.predicate,
    ),
    "OSPP": (
        "?s ?y ?x . ?x ?y ?r",
        lambda t, u: t.object == u.subject and t.predicate == u.predicate,
    ),
}


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_pairs_of_triples_match_by_the_constraint(constraint: str) -> None:
    """Every pair of the last twelve triples, a triple with itself among them."""
    patterns, holds = CONSTRAINTS[constraint]
    slots = [each[1:] for each in patterns.split() if each != "."]
    names = [*dict.fromkeys(slots)]
    text = f"SELECT {' '.join(f'?{name}' for name in names)} {{ GRAPH <urn:w> {{ {patterns} }} }}"

    def answer(window: Sequence[Triple]) -> Counter[Row]:
        pairs = (pair for pair in product(window, repeat=2) if holds(*pair))
        bound = (dict(zip(slots, (*one, *other), strict=True)) for one, other in pairs)
        return Counter(tuple(each[name] for name in names) for each in bound)

    triples = [Triple(*map(node, each)) for each in product("abc", repeat=3)]
    Random(1).shuffle(triples)
    automaton = Automaton()
    automaton.add(query(text), removals=True)
    for at, come in enumerate(triples):
        before, after = triples[max(0, at - 12) : at], triples[max(0, at - 11) : at + 1]
        changes = automaton.step([each for each in before if each not in after], [come])
        added = Counter(row for _, each in changes for row in each.added)
        removed = Counter(row for _, each in changes for row in each.removed)
        assert added == answer(after) - answer(before)
        assert removed == answer(before) - answer(after)
        assert not added & removed


def test_one_triple_for_two_patterns_is_one_match() -> None:
    automaton = Automaton()
    loop = automaton.add(query(over_window("?x :p ?y . ?y :p ?x")), removals=True)
    assert [*told(automaton, [], ["a p a"])] == [f"{loop} + a a"]
    fork = automaton.add(query(over_window("?x :p ?y . ?x :p ?z")), removals=True)
    assert {*told(automaton, [], ["a p b"])} == {
        f"{fork} + a b b",
        f"{fork} + a a b",
        f"{fork} + a b a",
    }
    assert len([*told(automaton, ["a p a"], [])]) == 4


def test_leaving_and_entering_in_one_step_is_no_change() -> None:
    automaton = Automaton()
    number = automaton.add(query(over_window("?x :p ?y . ?x :q ?z")), removals=True)
    assert [*told(automaton, [], ["a p b", "a q c"])] == [f"{number} + a b c"]
    assert not [*told(automaton, ["a p b"], ["a p b"])]
    assert [*told(automaton, ["a p b", "a q c"], ["a q c", "a p d"])] == [
        f"{number} + a d c",
        f"{number} - a b c",
    ]


def test_no_match_joins_what_leaves_with_what_comes() -> None:
    automaton = Automaton([triple("a p b")])
    automaton.add(query(over_window("?x :p ?y . ?x :q ?z")), removals=True)
    assert not [*told(automaton, ["a p b"], ["a q c"])]


def test_a_window_of_one_triple_has_matches_of_one_triple() -> None:
    automaton = Automaton()
    number = automaton.add(query(over_window("?x :p ?y . ?z :p ?y")), removals=True)
    automaton.add(query(over_window("?x :p ?y . ?y :p ?z")), removals=True)
    assert [*told(automaton, [], ["a p b"])] == [f"{number} + a b a"]
    assert [*told(automaton, ["a p b"], ["c p d"])] == [f"{number} + c d c", f"{number} - a b a"]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Node]:
    """The heads whose functions were made."""
    found: list[Node] = []
    make = compiled.Compiler.make

    def counted(self: compiled.Compiler, heads: Sequence[Node]) -> None:
        heads = [*heads]
        found.extend(heads)
        make(self, heads)

    monkeypatch.setattr(compiled.Compiler, "make", counted)
    return found


def test_a_query_more_or_less_makes_again_only_what_it_touches(made: list[Node]) -> None:
    automaton = Automaton()
    for number in range(400):
        kind, room = number % 8, number // 8
        text = over_window(f"?x :is :k{kind} . ?x :in :r{room} . ?x :p{kind} ?y . ?y :in ?z")
        automaton.add(query(text), removals=True)
    automaton.build()
    of_all = len(made)
    made.clear()
    more = automaton.add(
        query(over_window("?x :is :k3 . ?x :in :other . ?x :p3 ?y")), removals=True
    )
    automaton.build()
    assert 0 < len(made) <= 8 < of_all
    made.clear()
    automaton.remove(more)
    automaton.build()
    assert len(made) <= 8
