"""`JoinUnit`: joins of triple patterns that differ in constants alone, answered by the BOOSTER.

A unit is made for one query; its constants stay, and so its look-ups are the most selective. Of
the second query of the same shape on, where they differ are parameters (`shapes`). One pattern
alone is a join too: each changed quad that matches is a row.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from gateway.engine.join.booster import Booster
from gateway.engine.join.conjunction import Conjunction
from gateway.engine.join.join_pattern import Key
from gateway.engine.join.members import Members
from gateway.engine.join.reach import Reach
from gateway.engine.limits import bounded
from gateway.engine.lutt import EVERYTHING, Artq, LuttEntry
from gateway.engine.spu import Change, Spu, evaluate
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, consolidate, difference
from gateway.rdf.terms import Term
from gateway.store.readable import Source


class JoinUnit:
    """Keeps nothing of the answers, but for DISTINCT how often each row is derived.

    `general` has names for the `parameters`; all members have the same `variables`.
    """

    def __init__(
        self,
        store: Source,
        general: Conjunction,
        parameters: Sequence[str] = (),
        *,
        by_look_ups: bool = False,
    ) -> None:
        """With `by_look_ups` the BOOSTER finds first answers too, without a text."""
        self._store = store
        self._asks_text = not by_look_ups
        self._is_shared = bool(parameters)
        self._members = Members(len(parameters))
        self._reach = Reach(general.patterns, parameters, self._members)
        self._booster = Booster(general.patterns, general.columns, parameters, self._members)
        self._derivations: dict[Key, SolutionBag] | None = {} if general.distinct else None
        self.lutt = tuple(
            dict.fromkeys(
                LuttEntry(*(None if isinstance(slot, str) else slot for slot in each.slots))  # type: ignore[arg-type]
                for each in general.patterns
            )
        )
        self.tier = "single pattern" if len(general.patterns) == 1 else "booster"

    @property
    def members(self) -> Collection[Spu]:
        """The SPUs that it serves."""
        return self._members

    @property
    def context(self) -> tuple[LuttEntry, ...]:
        """What it looks up: nothing where a changed quad says all."""
        return () if self.tier == "single pattern" else self.lutt

    def values(self, spu: Spu) -> tuple[Term, ...]:
        """The parameters of a member."""
        return self._members.values(spu)

    def join(self, spu: Spu, values: tuple[Term, ...] = (), hits: int = 0) -> None:
        """A further member, with its values for the parameters and its hits elsewhere."""
        self._members.add(spu, values)
        self._reach.join(spu, hits)

    def derive(self, spu: Spu) -> None:
        """With DISTINCT: count how often each row of a member is derived, if that is not known."""
        if self._derivations is None:
            return
        key = self._members.key(spu)
        if key not in self._derivations:
            rows = self._booster.everything(self._store, self._members.values(spu))
            self._derivations[key] = Counter(rows)

    def leave(self, spu: Spu) -> None:
        """The reverse of `join`."""
        key = self._members.key(spu)
        self._members.remove(spu)
        self._reach.leave(spu)
        if self._derivations is not None and key not in self._members.whole():
            self._derivations.pop(key, None)

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer: the first member's from the store, unless that is to be looked up."""
        self._booster.prepare()
        self.derive(spu)
        if self._derivations is not None:
            answer = Counter(dict.fromkeys(self._derivations[self._members.key(spu)], 1))
        elif self._asks_text and len(self._members) == 1:
            answer = evaluate(self._store, spu.subject)
        else:
            rows = self._booster.everything(self._store, self._members.values(spu))
            answer = Counter(bounded(rows))
        return difference(spu.variables, Counter(), answer)

    def hits(self, spu: Spu) -> int:
        """How many updates reached a member."""
        return self._reach.hits(spu)

    def reach(self, artq: Artq) -> int:
        """How many members' own LUTTs let something through: without parameters they are one."""
        if artq.runs and not self._is_shared:
            return self._reach.count_all()
        return self._reach.count(artq)

    def told(self, spu: Spu) -> SolutionBag | None:
        """Nothing is kept of an answer."""
        del spu
        return None

    def renew(self) -> None:
        """Count derivations anew."""
        if self._derivations is not None:
            self._derivations.clear()

    def process(self, artq: Artq) -> Sequence[Change]:
        """Rows that lost and that won a derivation, netted after projection."""
        changes = self._booster.changes(self._store, artq)
        return self._netted(changes) if changes else ()

    def _netted(self, changes: Iterable[tuple[Key, Row, bool]]) -> list[Change]:
        rows: dict[Key, tuple[list[Row], list[Row]]] = {}
        for key, row, is_won in changes:
            sides = rows.get(key)
            if sides is None:
                sides = rows[key] = [], []
            sides[not is_won].append(row)
        found: list[Change] = []
        whole = self._members.whole()
        for key, (added, removed) in rows.items():
            spus = whole[key]
            variables = next(iter(spus)).variables
            results = consolidate(variables, added, removed)
            if self._derivations is not None:
                results = _distinct(self._derivations[key], results)
            found += [(spu, results) for spu in spus]
        return found


class UnfilteredUnit(JoinUnit):
    """A join of one member that is given every Delta, as if there were no LUTTs."""

    def __init__(self, store: Source, spu: Spu, join: Conjunction) -> None:
        super().__init__(store, join)
        self.lutt = (EVERYTHING,)
        self.join(spu)

    def reach(self, artq: Artq) -> int:
        """The member, always; its hits are counted all the same."""
        self._reach.count(artq)
        return 1


def _distinct(derivations: SolutionBag, change: ResultsDelta) -> ResultsDelta:
    """Only the first derivation of a row adds it, only the last one removes it."""
    touched = dict.fromkeys((*change.added, *change.removed))
    had = {row: derivations[row] > 0 for row in touched}
    derivations.update(change.added)
    derivations.subtract(change.removed)
    for row in touched:
        if derivations[row] == 0:
            del derivations[row]
    return ResultsDelta(
        change.variables,
        tuple(row for row in touched if row in derivations and not had[row]),
        tuple(row for row in touched if row not in derivations and had[row]),
    )
