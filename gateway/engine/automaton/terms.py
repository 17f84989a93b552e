"""`Terms`: integers for terms, so that joins compare and hash nothing else.

Place: where triples enter the automaton and rows leave it. A number is given once and stays while
its term is in the window or in a query; what is neither is forgotten by `sweep`, in one go, when
that is worth it: nothing is counted as triples come and go. Source: the numerical values of Qin et
al. 2015, section 2.1; they are hashes there and may collide, here they are not.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pyoxigraph import Triple

from gateway.rdf.terms import Term

Ids = tuple[int, int, int]
"""A triple: the numbers of subject, predicate and object."""

IntRow = tuple[int, ...]
"""A row of numbers."""

UNBOUND = 0
"""The number of what has no value: no term has it."""

_SLACK = 4096
"""Terms that may have left, beside as many as there are, before they are looked for."""


class Terms:
    """Terms to integers and back.

    `wants_sweep`: so many terms have come that those that left are worth looking for.

    >>> from pyoxigraph import NamedNode
    >>> terms = Terms()
    >>> number = terms.pin(NamedNode("urn:a"))
    >>> terms.terms[number], terms.terms[UNBOUND]
    (<NamedNode value=urn:a>, None)
    """

    def __init__(self) -> None:
        self._numbers: dict[Term, int] = {}
        self._terms: list[Term | None] = [None]
        self._free: list[int] = []
        self._pins: Counter[int] = Counter()
        self._most = _SLACK
        self.wants_sweep = False

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def terms(self) -> Sequence[Term | None]:
        """By number; always the same object."""
        return self._terms

    def ids(self, triple: Triple) -> Ids:
        """The numbers of a triple's terms, given now where there are none."""
        numbers = self._numbers
        subject, predicate, object_ = triple
        try:
            return numbers[subject], numbers[predicate], numbers[object_]
        except KeyError:
            return self.number(subject), self.number(predicate), self.number(object_)

    def number(self, term: Term) -> int:
        """The number of a term, given now where there is none."""
        number = self._numbers.get(term)
        if number is None:
            if self._free:
                number = self._free.pop()
                self._terms[number] = term
            else:
                number = len(self._terms)
                self._terms.append(term)
            self._numbers[term] = number
            self.wants_sweep = len(self._numbers) > self._most
        return number

    @property
    def numbers(self) -> Mapping[Term, int]:
        """By term; always the same object."""
        return self._numbers

    def pin(self, term: Term) -> int:
        """The number of a query's constant; it stays until it was unpinned as often."""
        number = self.number(term)
        self._pins[number] += 1
        return number

    def unpin(self, number: int) -> None:
        """The reverse of `pin`."""
        self._pins[number] -= 1
        if not self._pins[number]:
            del self._pins[number]

    def is_pinned(self, number: int) -> bool:
        """Whether it is a constant of a query."""
        return number in self._pins

    def sweep(self, used: Iterable[int]) -> None:
        """Forget all terms but these numbers' and those that are pinned: their numbers are free."""
        kept = {*used, *self._pins}
        for term, number in [*self._numbers.items()]:
            if number not in kept:
                del self._numbers[term]
                self._terms[number] = None
                self._free.append(number)
        self._most = 2 * len(self._numbers) + _SLACK
        self.wants_sweep = False
