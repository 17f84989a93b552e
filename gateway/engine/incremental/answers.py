"""From rows of solutions, before and after, to what changed in an answer, by the query's form.

Place: behind `query` in an `IncrementalUnit`. docs/engine.md, "Exactness", says what an answer is:
bags, ASK, CONSTRUCT.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, consolidate, difference


class Answer(Protocol):
    """What is kept of an answer, which may be nothing."""

    def now(self) -> SolutionBag:
        """The whole answer."""

    def told(self) -> SolutionBag | None:
        """The whole answer as it was told; None where nothing is kept that only this knows."""

    def change(self, removed: Sequence[Row], added: Sequence[Row]) -> ResultsDelta:
        """What becomes of it when solutions with these rows go and come; not yet netted."""


class Bag:
    """A SELECT: every row counts, nothing is kept; the store is asked for the whole."""

    def __init__(self, variables: tuple[str, ...], evaluate: Callable[[], SolutionBag]) -> None:
        self._variables = variables
        self._evaluate = evaluate

    def now(self) -> SolutionBag:
        """The whole answer."""
        return self._evaluate()

    def told(self) -> SolutionBag | None:
        """Nothing is kept."""
        return None

    def change(self, removed: Sequence[Row], added: Sequence[Row]) -> ResultsDelta:
        """The rows themselves, netted."""
        return consolidate(self._variables, added, removed)


class Remembered(Bag):
    """A SELECT with groups in a sub-query, which at times only the store can evaluate."""

    def __init__(self, variables: tuple[str, ...], evaluate: Callable[[], SolutionBag]) -> None:
        super().__init__(variables, evaluate)
        self._answer = evaluate()

    def now(self) -> SolutionBag:
        """The whole answer."""
        return self._answer

    def told(self) -> SolutionBag | None:
        """The whole answer."""
        return self._answer

    def change(self, removed: Sequence[Row], added: Sequence[Row]) -> ResultsDelta:
        """The rows themselves, netted."""
        results = super().change(removed, added)
        self._answer.update(results.added)
        self._answer.subtract(results.removed)
        self._answer += Counter()
        return results

    def renew(self) -> ResultsDelta:
        """Evaluate again."""
        before, self._answer = self._answer, self._evaluate()
        return difference(self._variables, before, self._answer)


class RowSet:
    """DISTINCT and CONSTRUCT: how often each row is derived; the first and the last count."""

    def __init__(self, variables: tuple[str, ...], rows: Iterable[Row]) -> None:
        self._variables = variables
        self._derivations: SolutionBag = Counter(rows)

    def now(self) -> SolutionBag:
        """Each row once."""
        return Counter(dict.fromkeys(self._derivations, 1))

    def told(self) -> SolutionBag | None:
        """Evaluating finds the same."""
        return None

    def change(self, removed: Sequence[Row], added: Sequence[Row]) -> ResultsDelta:
        """Rows that have won their first derivation, and that have lost their last one."""
        derivations = self._derivations
        touched = dict.fromkeys((*added, *removed))
        had = {row for row in touched if row in derivations}
        derivations.update(added)
        derivations.subtract(removed)
        for row in touched:
            if derivations[row] == 0:
                del derivations[row]
        return ResultsDelta(
            self._variables,
            tuple(row for row in touched if row in derivations and row not in had),
            tuple(row for row in touched if row not in derivations and row in had),
        )


class Truth:
    """ASK: true is one empty row. A new solution makes it true, a lost one asks the store again."""

    def __init__(self, evaluate: Callable[[], SolutionBag]) -> None:
        self._evaluate = evaluate
        self._answer = evaluate()

    def now(self) -> SolutionBag:
        """One empty row, or none."""
        return self._answer

    def told(self) -> SolutionBag | None:
        """Evaluating finds the same."""
        return None

    def change(self, removed: Sequence[Row], added: Sequence[Row]) -> ResultsDelta:
        """Whether it has become true or false."""
        before = self._answer
        if added:
            self._answer = Counter([()])
        elif removed and before:
            self._answer = self._evaluate()
        return difference((), before, self._answer)
