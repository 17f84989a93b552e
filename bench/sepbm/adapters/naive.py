"""`Naive`: the closure is kept, every query is asked again, the answers are compared as bags.

Place on the way of the data: the yardstick, the truth of the reference data, and what the
heuristics fall back on.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import cast

from pyoxigraph import QueryResultsFormat, QuerySolutions, RdfFormat, Store, parse

from bench.sepbm.adapters.adapter import Adapter, Tell, n_triples
from bench.sepbm.closure import Closure, Rules
from bench.sepbm.lubm import Statement
from bench.sepbm.ontology import univ_bench

Bag = Counter[str]
"""An answer: its rows with tabs between the terms, and how often each occurs.

That is the TSV format, which writes strings and IRIs as N-Triples does.
"""


class Naive(Adapter):
    """The closure in a store in memory; `texts` replace those of channels with the same answers."""

    def __init__(self, namespace: str, texts: Mapping[str, str] | None = None) -> None:
        self._rules = Rules(univ_bench(namespace))
        self._instead = texts or {}
        self._texts: dict[str, str] = {}
        self._tells: dict[str, Tell] = {}
        self.answers: dict[str, Bag] = {}

    def load(self, base: Sequence[Statement]) -> None:
        """Close it."""
        self.closure = Closure(self._rules, base)
        self.store = Store()
        self.store.bulk_load(n_triples(self.closure.facts), format=RdfFormat.N_TRIPLES)

    def create_channel(self, name: str, text: str) -> None:
        """Keep its text."""
        self._texts[name] = self._instead.get(name, text)

    def delete_channel(self, name: str) -> None:
        """Forget its text."""
        del self._texts[name]

    def subscribe(self, name: str, tell: Tell) -> int:
        """Ask it once."""
        self._tells[name] = tell
        answer = self.answers[name] = self.answer(self._texts[name])
        return answer.total()

    def unsubscribe(self, name: str) -> None:
        """Ask it no more."""
        del self._tells[name], self.answers[name]

    def publish(self, request: Sequence[Statement]) -> None:
        """Add what follows, ask all queries."""
        self.add(request)
        self.ask(self._tells)

    def delete(self, request: Sequence[Statement]) -> None:
        """Take away what follows no more, ask all queries."""
        self.remove(request)
        self.ask(self._tells)

    def add(self, graph: Sequence[Statement]) -> list[Statement]:
        """What is new in the closure, and in the store."""
        new = self.closure.add(graph)
        self.store.load(n_triples(new), format=RdfFormat.N_TRIPLES)
        return new

    def remove(self, graph: Sequence[Statement]) -> list[Statement]:
        """What follows no more."""
        gone = self.closure.remove(graph)
        for quad in parse(n_triples(gone), format=RdfFormat.N_TRIPLES):
            self.store.remove(quad)
        return gone

    def ask(self, names: Iterable[str]) -> None:
        """Ask these channels and tell how they have changed."""
        for name in names:
            before, after = self.answers[name], self.answer(self._texts[name])
            self.answers[name] = after
            added, removed = rows(after - before), rows(before - after)
            if added or removed:
                self._tells[name](name, added, removed, perf_counter())

    def answer(self, text: str) -> Bag:
        """The answer of any SELECT on the closure."""
        solutions = cast(QuerySolutions, self.store.query(text))
        written = solutions.serialize(format=QueryResultsFormat.TSV) or b""
        return Counter(written.decode().split("\n")[1:-1])

    def close(self) -> None:
        """Nothing runs."""
        self._tells.clear()


def rows(bag: Bag) -> list[tuple[str, ...]]:
    """A bag's rows as terms in their N-Triples form."""
    return [tuple(line.split("\t")) for line in bag.elements()]
