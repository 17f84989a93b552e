"""`Guessing`: notifications guessed from those of similar publications, and tested before sending.

Place on the way of the data: what StringRS and GraphSS have in common, which differ in what is
similar. A guess is tested by an ASK of the query with all variables bound, on the closure, and must
not have been told before; so no wrong one is ever sent, but a right one that nobody guesses waits
for a full evaluation. Where more than 80 % of a channel's rows are guessed it is evaluated at every
10th publication only. Source: Murth et al., "Performance Testing of Semantic Publish/Subscribe
Systems", section 4.2; the definitions of the two heuristics (Murth, Kühn, "A heuristics framework
for semantic subscription processing", 2009) could not be read, so they are reconstructions.
"""

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from bench.sepbm.adapters.adapter import Adapter, Tell
from bench.sepbm.adapters.naive import Bag, Naive, rows
from bench.sepbm.adapters.truth import EngineTruth, NaiveTruth, Truth
from bench.sepbm.lubm import Statement

ENOUGH = 0.8
INTERVAL = 10

_HEAD = re.compile(r"^(?P<prologue>.*?)SELECT (?P<names>[^{]*)\{(?P<body>.*)\}[^}]*$", re.DOTALL)
_LIMIT = re.compile(r"LIMIT (\d+)\s*$")
_VARIABLE = re.compile(r"\?(\w+)")

TextRow = tuple[str, ...]
"""Terms in their N-Triples form."""


@dataclass(slots=True)
class _Channel:
    """A channel: its test, what was told ahead of the truth, and how well it is guessed."""

    tell: Tell
    variables: Sequence[str]
    ask: str
    limit: int | None
    ahead: Bag = field(default_factory=Bag)
    skipped: list[Sequence[Statement]] = field(default_factory=list)
    """The publications since the last full evaluation."""
    hits: int = 0
    rows: int = 0
    tested: int = 0
    wrong: int = 0

    @property
    def rate(self) -> float:
        """The part of the rows that were guessed."""
        return self.hits / max(self.rows, 1)


class Guessing(Adapter):
    """The closure is kept; guesses first, a full evaluation where they do not suffice."""

    may_be_late = True

    def __init__(self, namespace: str, truth: str = "naive") -> None:
        self._naive = Naive(namespace)
        self._truth: Truth = (
            EngineTruth(namespace) if truth == "engine" else NaiveTruth(self._naive)
        )
        self._texts: dict[str, str] = {}
        self._channels: dict[str, _Channel] = {}
        self.notes = (f"full evaluation by {truth}", "reconstruction of a heuristic")

    @abstractmethod
    def candidates(self, channel: str, graph: Sequence[Statement]) -> Iterable[TextRow]:
        """Rows that the publication may bring, without repetition."""

    @abstractmethod
    def learn(self, channel: str, graph: Sequence[Statement], row: TextRow) -> None:
        """The publication has brought the row."""

    def load(self, base: Sequence[Statement]) -> None:
        """Close it."""
        self._naive.load(base)
        self._truth.load(base)

    def create_channel(self, name: str, text: str) -> None:
        """Keep its text."""
        self._texts[name] = text

    def delete_channel(self, name: str) -> None:
        """Forget its text."""
        del self._texts[name]

    def subscribe(self, name: str, tell: Tell) -> int:
        """Evaluate it once."""
        text = self._texts[name]
        parts = _HEAD.match(text)
        if parts is None:
            raise ValueError(f"no SELECT that can be tested: {text}")
        limit = _LIMIT.search(text)
        self._channels[name] = _Channel(
            tell,
            [variable.removeprefix("?") for variable in parts["names"].split()],
            f"{parts['prologue']}ASK {{{parts['body']}}}",
            int(limit[1]) if limit else None,
        )
        return self._truth.subscribe(name, text)

    def unsubscribe(self, name: str) -> None:
        """Follow it no more."""
        self._truth.unsubscribe(name)
        del self._channels[name]

    def publish(self, request: Sequence[Statement]) -> None:
        """Guess for all channels, then evaluate those that need it."""
        self._naive.add(request)
        self._truth.change(request, insert=True)
        for name, channel in self._channels.items():
            self._guess(name, channel, request)
            channel.skipped.append(request)
        for name, channel in self._channels.items():
            if channel.rate <= ENOUGH or len(channel.skipped) >= INTERVAL:
                self._evaluate(name, channel)

    def delete(self, request: Sequence[Statement]) -> None:
        """Evaluate what is behind, delete, evaluate all: nothing guesses what goes."""
        self.settle()
        self._naive.remove(request)
        self._truth.change(request, insert=False)
        for name, channel in self._channels.items():
            self._evaluate(name, channel)

    def settle(self) -> bool:
        """Evaluate the channels that are behind."""
        for name, channel in self._channels.items():
            if channel.skipped:
                self._evaluate(name, channel)
        return True

    def guessed(self) -> Mapping[str, Mapping[str, float]]:
        """What came of the guesses."""
        return {
            name: {
                "hits": channel.hits,
                "rows": channel.rows,
                "tested": channel.tested,
                "wrong": channel.wrong,
            }
            for name, channel in self._channels.items()
        }

    def close(self) -> None:
        """End the truth."""
        self._truth.close()

    def _guess(self, name: str, channel: _Channel, graph: Sequence[Statement]) -> None:
        known = self._truth.answers[name]
        for row in self.candidates(name, graph):
            line = "\t".join(row)
            if line in known or line in channel.ahead:
                continue
            channel.tested += 1
            if self._holds(channel, row, len(known)):
                channel.tell(name, [row], (), perf_counter())
                channel.ahead[line] += 1
                channel.hits += 1
                channel.rows += 1
                self.learn(name, graph, row)
            else:
                channel.wrong += 1

    def _holds(self, channel: _Channel, row: TextRow, known: int) -> bool:
        """Whether the row is in the answer now: a LIMIT must be out of its reach."""
        if channel.limit is not None and known + len(channel.ahead) >= channel.limit:
            return False
        bound = dict(zip(channel.variables, row, strict=True))
        text = _VARIABLE.sub(lambda found: bound.get(found[1], found[0]), channel.ask)
        return bool(self._naive.store.query(text))

    def _evaluate(self, name: str, channel: _Channel) -> None:
        added, removed = self._truth.evaluate(name)
        new = added - channel.ahead
        channel.ahead.clear()
        if new or removed:
            channel.tell(name, rows(new), rows(removed), perf_counter())
        for row in rows(new):
            channel.rows += 1
            if (graph := _cause(channel.skipped, row)) is not None:
                self.learn(name, graph, row)
        channel.skipped.clear()


def _cause(graphs: Sequence[Sequence[Statement]], row: TextRow) -> Sequence[Statement] | None:
    """The publication that brought a row: the only one, or the only one that it names."""
    if len(graphs) == 1:
        return graphs[0]
    named = [graph for graph in graphs if graph[0][0] in row]
    return named[0] if len(named) == 1 else None
