"""`JoinUnit`: a conjunction of triple patterns, answered by the BOOSTER from its ARTQ alone."""

from collections import Counter
from collections.abc import Iterable, Iterator

from gateway.engine.booster import Before, Booster
from gateway.engine.conjunction import Conjunction
from gateway.engine.lutt import Artq, LuttEntry
from gateway.engine.spu import Change, Dataset, Spu, evaluate
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, consolidate, difference


class JoinUnit:
    """Keeps nothing of its answer, but for DISTINCT how often each row is derived."""

    tier = "booster"

    def __init__(
        self, store: Dataset, spu: Spu, lutt: tuple[LuttEntry, ...], conjunction: Conjunction
    ) -> None:
        self.members = (spu,)
        self.lutt = lutt
        self._variables = spu.variables
        self._store = store
        names = [column for column in conjunction.columns if isinstance(column, str)]
        self._booster = Booster(conjunction.patterns, names)
        self._constants = {
            place: column
            for place, column in enumerate(conjunction.columns)
            if not isinstance(column, str)
        }
        self._derivations: SolutionBag | None = None
        if conjunction.distinct:
            self._derivations = Counter(self._all())

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer, from the store or from the derivations known."""
        if self._derivations is None:
            answer = evaluate(self._store, spu.subject)
        else:
            answer = Counter(dict.fromkeys(self._derivations, 1))
        return difference(self._variables, Counter(), answer)

    def reach(self, artq: Artq) -> int:
        """The one member."""
        del artq
        return 1

    def process(self, artq: Artq) -> Iterable[Change]:
        """Rows that lost and that won a derivation, netted after projection."""
        (spu,) = self.members
        return ((spu, self._changed(artq)),)

    def _changed(self, artq: Artq) -> ResultsDelta:
        before = Before(self._store, frozenset(artq.added), artq.removed)
        removed = [self._row(row) for row in self._booster.rows(before, artq.removed)]
        added = [self._row(row) for row in self._booster.rows(self._store, artq.added)]
        if self._derivations is None:
            return consolidate(self._variables, added, removed)
        return self._distinct(added, removed)

    def _distinct(self, added: list[Row], removed: list[Row]) -> ResultsDelta:
        """Only the first derivation of a row adds it, only the last one removes it."""
        derivations = self._derivations or Counter()
        touched = dict.fromkeys(added + removed)
        had = {row: derivations[row] > 0 for row in touched}
        derivations.update(added)
        derivations.subtract(removed)
        for row in touched:
            if derivations[row] == 0:
                del derivations[row]
        self._derivations = derivations
        return ResultsDelta(
            self._variables,
            tuple(row for row in touched if row in derivations and not had[row]),
            tuple(row for row in touched if row not in derivations and had[row]),
        )

    def _all(self) -> Iterator[Row]:
        """Every derivation there is now."""
        return map(self._row, self._booster.everything(self._store))

    def _row(self, row: Row) -> Row:
        if not self._constants:
            return row
        terms = iter(row)
        return tuple(
            self._constants[place] if place in self._constants else next(terms)
            for place in range(len(self._variables))
        )
