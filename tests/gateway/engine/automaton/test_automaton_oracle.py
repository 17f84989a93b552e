"""The automaton against nested loops and against re-query, for random queries and windows."""

from collections import Counter, deque
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Triple

from gateway.engine.automaton import (
    Automaton,
    NotAnAutomatonError,
    ccr,
    compiled,
    terms,
    window_index,
)
from gateway.rdf.solutions import SolutionBag
from tests.gateway.engine.automaton.oracles import by_nested_loops, by_requery, query
from tests.gateway.engine.automaton.writer import Writer

randoms = st.randoms(use_true_random=False)

Steps = list[tuple[list[Triple], list[Triple]]]


class Watched:
    """Queries that come and go, and what each was told, compared after every step."""

    def __init__(self, automaton: Automaton, window: Sequence[Triple]) -> None:
        self.automaton = automaton
        self.window = window
        self.told: dict[int, tuple[str, bool, SolutionBag]] = {}

    def add(self, text: str, removals: bool) -> int:
        number = self.automaton.add(query(text), removals=removals)
        answer = Counter(self.automaton.initial(number))
        assert answer == by_requery(text, self.window)
        assert answer == by_nested_loops(query(text), self.window)
        self.told[number] = (text, removals, answer)
        return number

    def remove(self, number: int) -> None:
        self.automaton.remove(number)
        del self.told[number]

    def step(
        self, removed: Sequence[Triple], added: Sequence[Triple], after: Sequence[Triple]
    ) -> None:
        changes = self.automaton.step(removed, added)
        assert all(results.added or results.removed for _, results in changes)
        assert len({number for number, _ in changes}) == len(changes)
        self.window = after
        found = {number: (Counter(each.added), Counter(each.removed)) for number, each in changes}
        for number, (text, removals, before) in self.told.items():
            now = by_requery(text, after)
            won, lost = found.get(number, (Counter(), Counter()))
            assert won == now - before, text
            assert lost == (before - now if removals else Counter()), text
            self.told[number] = (text, removals, now)


def texts(writer: Writer, most: int) -> list[str]:
    """Queries that the automaton takes."""
    found: list[str] = []
    for _ in range(most * 3):
        text = writer.query()
        try:
            query(text)
        except NotAnAutomatonError:
            continue
        found.append(text)
        if len(found) == most:
            break
    return found


def slide(writer: Writer, random: Random, watched: Watched, size: int, length: int) -> None:
    """A window of the last `size` triples, a set; steps of one or several arrivals."""
    last: deque[Triple] = deque()
    for _ in range(length):
        before = dict.fromkeys(last)
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            triple = writer.triple()
            if triple in last:
                last.remove(triple)
            last.append(triple)
        while len(last) > size:
            last.popleft()
        after = dict.fromkeys(last)
        removed = [each for each in before if each not in after]
        added = [each for each in after if each not in before]
        watched.step(removed, added, [*after])
        come_and_go(writer, random, watched)


def come_and_go(writer: Writer, random: Random, watched: Watched) -> None:
    if random.randint(1, 6) == 1:
        for text in texts(writer, 1):
            watched.add(text, random.choice((True, False)))
    if watched.told and random.randint(1, 6) == 1:
        watched.remove(random.choice([*watched.told]))


@settings(max_examples=120, deadline=None)
@given(randoms)
def test_what_is_told_is_the_difference_of_answers(random: Random) -> None:
    writer = Writer(random)
    watched = Watched(Automaton(), [])
    for text in texts(writer, random.randint(1, 6)):
        watched.add(text, random.choice((True, True, False)))
    slide(writer, random, watched, random.choice((1, 2, 5, 12)), 12)


@settings(max_examples=60, deadline=None)
@given(randoms)
def test_a_filled_automaton_goes_on_from_its_window(random: Random) -> None:
    writer = Writer(random)
    window = [*dict.fromkeys(writer.triple() for _ in range(random.randint(0, 14)))]
    watched = Watched(Automaton(window), window)
    for text in texts(writer, 4):
        watched.add(text, random.choice((True, False)))
    removed = [each for each in window if random.choice((True, False))]
    added = [each for each in {writer.triple(): None for _ in range(4)} if each not in window]
    after = [each for each in (*window, *added) if each not in removed]
    watched.step(removed, added, after)


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else thousands of queries bring about: parts of functions, buckets, families."""
    monkeypatch.setattr(compiled, "MOST_LINES", 3)
    monkeypatch.setattr(compiled, "MOST_DEPTH", 2)
    monkeypatch.setattr(ccr, "_MOST_SIBLINGS", 2)
    monkeypatch.setattr(ccr, "_BUCKETS", 2)
    monkeypatch.setattr(ccr, "_FAMILY", 1)
    monkeypatch.setattr(terms, "_SLACK", 4)
    monkeypatch.setattr(window_index, "_FEW", 2)


@pytest.mark.usefixtures("_small")
def test_however_small_the_parts_are_the_whole_is_right() -> None:
    for seed in range(25):
        random_session(seed, queries=25, length=10)


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("seed", range(8))
def test_however_small_the_parts_are_the_whole_is_right_at_length(seed: int) -> None:
    for number in range(50):
        random_session(10_000 + seed * 1000 + number, queries=40, length=25)


def random_session(seed: int, queries: int, length: int) -> None:
    """Without Hypothesis's own work for each choice there is time for more."""
    random = Random(seed)
    writer = Writer(random)
    watched = Watched(Automaton(), [])
    for text in texts(writer, random.randint(1, queries)):
        watched.add(text, random.choice((True, True, False)))
    slide(writer, random, watched, random.choice((1, 2, 5, 12, 25)), length)
    for number in [*watched.told]:
        watched.remove(number)
    automaton = watched.automaton
    assert (automaton.queries, automaton.plans, automaton.patterns) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_what_is_told_is_the_difference_of_answers_at_length(seed: int) -> None:
    for number in range(150):
        random_session(seed * 1000 + number, queries=12, length=20)
