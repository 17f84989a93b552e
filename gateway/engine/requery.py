"""`RequeryUnit`: evaluate again and take the bag difference; the oracle of every faster unit."""

from collections import Counter
from collections.abc import Iterable

from gateway.engine.lutt import Artq, LuttEntry
from gateway.engine.spu import Change, SingleMember, Spu, Subject, evaluate
from gateway.rdf.solutions import ResultsDelta, SolutionBag, difference
from gateway.store.readable import Source


class RequeryUnit(SingleMember):
    """Exact for every query; remembers the answer of its one member."""

    tier = "requery"

    def __init__(
        self,
        store: Source,
        spu: Spu,
        lutt: tuple[LuttEntry, ...],
        evaluated: Subject | None = None,
    ) -> None:
        """`evaluated` is a subject with the same answer, where that is faster to evaluate."""
        super().__init__(spu, lutt)
        self._store = store
        self._subject = evaluated or spu.subject
        self._answer: SolutionBag | None = None

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer, evaluated for the first subscriber and remembered."""
        if self._answer is None:
            self._answer = evaluate(self._store, self._subject)
        return difference(spu.variables, Counter(), self._answer)

    def told(self, spu: Spu) -> SolutionBag | None:
        """What is remembered."""
        del spu
        return self._answer

    def renew(self) -> None:
        """Evaluate at the next `initial`."""
        self._answer = None

    def process(self, artq: Artq) -> Iterable[Change]:
        """The difference between the answer now and the last one told."""
        del artq
        (spu,) = self.members
        answer = evaluate(self._store, self._subject)
        results = difference(spu.variables, self._answer or Counter(), answer)
        self._answer = answer
        return ((spu, results),)
