"""`Truth`: what a full evaluation finds, by `naive` or by our engine.

Place on the way of the data: what the heuristics fall back on, and what they must not guess again.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from bench.sepbm.adapters.engine import EngineAdapter
from bench.sepbm.adapters.naive import Bag, Naive
from bench.sepbm.lubm import Statement


class Truth(ABC):
    """The answers as of the last full evaluation of each channel."""

    answers: dict[str, Bag]

    @abstractmethod
    def load(self, base: Sequence[Statement]) -> None:
        """Hold the data."""

    @abstractmethod
    def subscribe(self, name: str, text: str) -> int:
        """Follow a query; the rows of its first answer."""

    @abstractmethod
    def unsubscribe(self, name: str) -> None:
        """Follow it no more."""

    @abstractmethod
    def change(self, graph: Sequence[Statement], *, insert: bool) -> None:
        """A graph came or went."""

    @abstractmethod
    def evaluate(self, name: str) -> tuple[Bag, Bag]:
        """What the answer gained and lost since the last evaluation."""

    @abstractmethod
    def close(self) -> None:
        """End."""


class NaiveTruth(Truth):
    """The query is asked of a store that holds the closure, which `naive` keeps."""

    def __init__(self, naive: Naive) -> None:
        self._naive = naive
        self._texts: dict[str, str] = {}
        self.answers = {}

    def load(self, base: Sequence[Statement]) -> None:
        """Nothing: the closure is kept already."""

    def subscribe(self, name: str, text: str) -> int:
        """Ask it once."""
        self._texts[name] = text
        self.answers[name] = self._ask(name)
        return self.answers[name].total()

    def unsubscribe(self, name: str) -> None:
        """Ask it no more."""
        del self._texts[name], self.answers[name]

    def change(self, graph: Sequence[Statement], *, insert: bool) -> None:
        """Nothing: the closure has changed already."""

    def evaluate(self, name: str) -> tuple[Bag, Bag]:
        """Ask it and compare."""
        before, after = self.answers[name], self._ask(name)
        self.answers[name] = after
        return after - before, before - after

    def _ask(self, name: str) -> Bag:
        return self._naive.answer(self._texts[name])

    def close(self) -> None:
        """Nothing runs."""


class EngineTruth(Truth):
    """Our engine follows the queries; an evaluation looks at what it has told since."""

    def __init__(self, namespace: str) -> None:
        self._engine = EngineAdapter(namespace, measured=False)
        self._gained: dict[str, Bag] = {}
        self._lost: dict[str, Bag] = {}
        self.answers = {}

    def load(self, base: Sequence[Statement]) -> None:
        """Into the engine."""
        self._engine.load(base)

    def subscribe(self, name: str, text: str) -> int:
        """SUBSCRIBE."""
        self._engine.create_channel(name, text)
        self._gained[name], self._lost[name] = Bag(), Bag()
        rows = self._engine.first_answer(name, self._tell)
        self.answers[name] = Counter(map(_line, rows))
        return len(rows)

    def unsubscribe(self, name: str) -> None:
        """UNSUBSCRIBE."""
        self._engine.unsubscribe(name)
        self._engine.delete_channel(name)
        del self._gained[name], self._lost[name], self.answers[name]

    def change(self, graph: Sequence[Statement], *, insert: bool) -> None:
        """UPDATE."""
        request: Any = self._engine.prepare(graph, insert=insert)
        (self._engine.publish if insert else self._engine.delete)(request)

    def evaluate(self, name: str) -> tuple[Bag, Bag]:
        """What it has told since."""
        gained, lost = self._gained[name], self._lost[name]
        self._gained[name], self._lost[name] = Bag(), Bag()
        self.answers[name] += gained
        self.answers[name] -= lost
        return gained - lost, lost - gained

    def _tell(
        self,
        name: str,
        added: Iterable[Sequence[object]],
        removed: Iterable[Sequence[object]],
        at: float,
    ) -> None:
        del at
        self._gained[name].update(map(_line, added))
        self._lost[name].update(map(_line, removed))

    def close(self) -> None:
        """End the engine."""
        self._engine.close()


def _line(row: Iterable[object]) -> str:
    return "\t".join(map(str, row))
