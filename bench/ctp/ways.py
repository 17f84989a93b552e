"""The ways of answering thousands of queries over one stream, each asked alike.

Place on the way of the data: in `child`. All are given the same texts and triples; what they tell
in the checked steps must be the same, and what they do with encoded triples is timed.

- *shared*: the automaton.
- *unshared*: as in the paper. Triple pattern matching is shared, constraints are resolved query by
  query; equal queries are not one. The plans are compiled as those of the automaton.
- *naive*: the store is asked again after each triple.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import process_time
from typing import Protocol

from pyoxigraph import NamedNode, Quad, QuerySolutions, Store, Triple

from bench.ctp.point import Point
from bench.ctp.workload import WINDOW
from gateway.engine.automaton import Automaton, AutomatonQuery, automaton_query
from gateway.engine.automaton.canonical_form import Order, canonical_form
from gateway.engine.automaton.ccr import APART
from gateway.engine.automaton.compiled import Compiler
from gateway.engine.automaton.conditions import Conditions
from gateway.engine.automaton.form import form_of
from gateway.engine.automaton.plan import SAME, Plan, plans
from gateway.engine.automaton.terms import IntRow, Terms
from gateway.engine.automaton.tpm import Found, Machine
from gateway.engine.automaton.window_index import WindowIndex
from gateway.rdf.solutions import Row
from gateway.sparql.parser import parse_query

Told = Iterator[tuple[int, str, Row]]
"""Number of a text, + or -, a row."""

_GRAPH = NamedNode(WINDOW)


class Way(Protocol):
    """A way; all texts are subscribed when it is made, the window is full then."""

    parsing_s: float
    construction_s: float

    @property
    def distinct(self) -> int | None:
        """Queries that are not equal, or that it takes for that."""

    @property
    def plans(self) -> int | None:
        """Plans, where it has some."""

    def step(self, gone: Sequence[Sequence[Triple]], come: Triple) -> Told:
        """One triple more; for each size of window those that leave it: what is told to whom."""

    def run(self, stream: Sequence[Triple], start: int) -> tuple[int, float]:
        """Slide over the stream from there on: how many triples, and the CPU seconds."""


def parsed(texts: Sequence[str]) -> list[AutomatonQuery]:
    """The queries."""
    return [automaton_query(parse_query(text), _GRAPH, None) for text in texts]


class Shared:
    """An automaton for each size of window."""

    def __init__(self, point: Point, texts: Sequence[str], window: Sequence[Triple]) -> None:
        started = process_time()
        queries = parsed(texts)
        self.parsing_s = process_time() - started
        self._sizes = point.windows
        started = process_time()
        self.automata = [Automaton(window[-size:]) for size in self._sizes]
        self._texts: list[dict[int, int]] = [{} for _ in self._sizes]
        for text, query in enumerate(queries):
            at = text % len(self._sizes)
            number = self.automata[at].add(query, removals=point.output == "changes")
            self._texts[at][number] = text
        for automaton in self.automata:
            automaton.build()
        self.construction_s = process_time() - started
        self.distinct = sum(each.queries for each in self.automata)
        self.plans = sum(each.plans for each in self.automata)

    @property
    def matches(self) -> int:
        """Rows that the automata have found so far."""
        return sum(each.matches for each in self.automata)

    def step(self, gone: Sequence[Sequence[Triple]], come: Triple) -> Told:
        """By the automata, terms in and out."""
        for automaton, texts, leaving in zip(self.automata, self._texts, gone, strict=True):
            for number, results in automaton.step(leaving, [come]):
                yield from ((texts[number], "+", row) for row in results.added)
                yield from ((texts[number], "-", row) for row in results.removed)

    def run(self, stream: Sequence[Triple], start: int) -> tuple[int, float]:
        """Encoded triples in, rows of each distinct query out."""
        spent = 0.0
        for automaton, size in zip(self.automata, self._sizes, strict=True):
            encoded = [automaton.ids(triple) for triple in stream]
            change = automaton.change
            started = process_time()
            for at in range(start, len(encoded)):
                change((encoded[at - size],), (encoded[at],))
            spent += process_time() - started
        return len(stream) - start, spent


class Unshared:
    """Plans query by query, behind one matching of triple patterns."""

    def __init__(self, point: Point, texts: Sequence[str], window: Sequence[Triple]) -> None:
        started = process_time()
        queries = parsed(texts)
        self.parsing_s = process_time() - started
        self._size = point.window
        started = process_time()
        self._terms, self._index = Terms(), WindowIndex()
        conditions = Conditions(self._terms.terms)
        for triple in window[-point.window :]:
            self._index.add(*self._terms.ids(triple))
        self._machine = Machine(Compiler(self._index, conditions))
        self._orders = []
        for text, query in enumerate(queries):
            form, order = canonical_form(form_of(query, self._terms, conditions))
            self._orders.append(order)
            self._machine.insert((_apart(plan, text) for plan in plans(form)), text)
        self._machine.build()
        self.construction_s = process_time() - started
        self.distinct, self.plans = len(texts), self._machine.plans

    def step(self, gone: Sequence[Sequence[Triple]], come: Triple) -> Told:
        """Rows of matches: all variables are shown."""
        (leaving,) = gone
        found: Found = {}
        for triple in leaving:
            self._index.remove(*self._terms.ids(triple))
        ids = self._terms.ids(come)
        self._index.add(*ids)
        self._machine.matches(*ids, found)
        for text, rows in found.items():
            yield from ((text, "+", self._row(row, self._orders[text])) for row in rows)

    def _row(self, row: IntRow, order: Order) -> Row:
        return tuple([self._terms.terms[row[place]] for place in order or range(len(row))])

    def run(self, stream: Sequence[Triple], start: int) -> tuple[int, float]:
        """Encoded triples in, rows of each query out."""
        encoded = [self._terms.ids(triple) for triple in stream]
        index, matches = self._index, self._machine.matches
        started = process_time()
        for at in range(start, len(encoded)):
            found: Found = {}
            index.remove(*encoded[at - self._size])
            index.add(*encoded[at])
            matches(*encoded[at], found)
        return len(stream) - start, process_time() - started


def _apart(plan: Plan, query: int) -> Plan:
    """The plan with a step of its own behind what is asked of the triple alone."""
    asked = next((at for at, step in enumerate(plan.steps) if step[0] > SAME), len(plan.steps))
    steps = (*plan.steps[:asked], (APART, ~query, 0), *plan.steps[asked:])
    return replace(plan, steps=steps)


def _quad(triple: Triple) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object, _GRAPH)


class Naive:
    """For each size of window a store has it as a graph and is asked again."""

    parsing_s = construction_s = 0.0
    distinct = plans = None

    def __init__(self, point: Point, texts: Sequence[str], window: Sequence[Triple]) -> None:
        self._texts = texts
        self._seconds = point.naive_s
        self._is_told_of_leaving = point.output == "changes"
        self._sizes = point.windows
        self._stores = [Store() for _ in self._sizes]
        for store, size in zip(self._stores, self._sizes, strict=True):
            store.extend(map(_quad, window[-size:]))
        self._answers = [self._answer(number) for number in range(len(texts))]

    def step(self, gone: Sequence[Sequence[Triple]], come: Triple) -> Told:
        """The difference to the answers before."""
        for store, leaving in zip(self._stores, gone, strict=True):
            for triple in leaving:
                store.remove(_quad(triple))
            store.add(_quad(come))
        for number, before in enumerate(self._answers):
            answer = self._answers[number] = self._answer(number)
            yield from ((number, "+", row) for row in (answer - before).elements())
            if self._is_told_of_leaving:
                yield from ((number, "-", row) for row in (before - answer).elements())

    def run(self, stream: Sequence[Triple], start: int) -> tuple[int, float]:
        """For `naive_s` seconds at most."""
        started = process_time()
        for at in range(start, len(stream)):
            leaving = [stream[at - size : at - size + 1] for size in self._sizes]
            for _ in self.step(leaving, stream[at]):
                pass
            if process_time() - started > self._seconds:
                break
        return at + 1 - start, process_time() - started

    def _answer(self, number: int) -> Counter[Row]:
        results = self._stores[number % len(self._stores)].query(self._texts[number])
        if not isinstance(results, QuerySolutions):
            raise TypeError("not a SELECT")
        return Counter(tuple(row) for row in results)


WAYS: Mapping[str, Callable[[Point, Sequence[str], Sequence[Triple]], Way]] = {
    "shared": Shared,
    "unshared": Unshared,
    "naive": Naive,
}
