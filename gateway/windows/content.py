"""`Content`: what a window has now, and `Change`: what a step did to it."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from pyoxigraph import Literal, Triple

from gateway.errors import WindowFullError
from gateway.rdf.terms import Term
from gateway.windows.info import WindowInfo
from gateway.windows.owners import Record
from gateway.windows.parted import ANY_SUBJECT, Ask, Interest, Predicates, Spo
from gateway.windows.window import Window

_Told = TypeVar("_Told", bound=Spo)

EACH = Interest([ANY_SUBJECT])
"""All elements are of interest."""


class Content(ABC):
    """The triples of a window, as a set; one for all who declare it equally.

    `streams` makes it (`Streams.open`) and moves it (`Streams.step`). One that became full is empty
    from then on and changes no more; `full` says why. `late`, `dropped` and `expired` are as in
    `WindowInfo`. `wanted` are the predicates that somebody has said to want, None before anybody
    has: a `Change` has all triples of these, and perhaps some of others, of all elements that are
    `asked` for; without `tells` it has none. `kept`: what somebody keeps something of, at first
    nothing; by this what is held is weighed.
    """

    def __init__(self, window: Window) -> None:
        self.window = window
        self.full: WindowFullError | None = None
        self.late = 0
        self.dropped = 0
        self.expired = 0
        self.wanted: Predicates | None = None
        self.asked = EACH
        self.tells = True
        self.kept: Predicates | None = frozenset()
        self._wants: Counter[Term | None] = Counter()
        self._keeps: Counter[Term | None] = Counter()

    def want(self, predicates: Iterable[Term | None], asks: Iterable[Ask] | None = None) -> None:
        """Tell changes of these predicates from the next step on; None is all. Each is counted.

        Of elements that may have a subject of `asks`, None: of each. That grows as long as anything
        is wanted: who knows what came is told when it goes. Linear in what is held where that
        changes what is wanted.
        """
        wants = [*predicates]
        if not self._wants:
            self.asked = Interest()
        if asks is not None or wants:
            self.asked = self.asked.also((ANY_SUBJECT,) if asks is None else asks)
        self._wants.update(wants)
        self._narrow()

    def unwant(self, predicates: Iterable[Term | None]) -> None:
        """The reverse of `want`."""
        self._wants.subtract(predicates)
        self._wants += Counter()
        self._narrow()

    def keep(self, predicates: Iterable[Term | None]) -> None:
        """Say that something is kept of triples of these, which need not be told. Each is counted.

        Costs as `want`.
        """
        self._keeps.update(predicates)
        self._narrow()

    def unkeep(self, predicates: Iterable[Term | None]) -> None:
        """The reverse of `keep`."""
        self._keeps.subtract(predicates)
        self._keeps += Counter()
        self._narrow()

    def _narrow(self) -> None:
        wanted, kept = _all_of(self._wants), _all_of(self._wants + self._keeps)
        if wanted != self.wanted or kept != self.kept:
            self.wanted, self.kept = wanted, kept
            self.tells = wanted is None or bool(wanted)
            self.weigh_again()

    @abstractmethod
    def weigh_again(self) -> None:
        """Count what is held by what is kept of it."""

    def having(self, wanted: Predicates | None, among: Interest = EACH) -> Iterator[Triple]:
        """The triples of some predicates, each once, in no order; None is all.

        Without those that only elements have which `among` does not concern, or with some of them.
        """
        del among
        return iter(self) if wanted is None else (t for t in self if t.predicate in wanted)

    def apart(self, wanted: Predicates | None, among: Interest) -> Iterator[Triple]:
        """What one element alone has that `among` concerns; all others are told of each."""
        del wanted, among
        return iter(())

    @abstractmethod
    def __iter__(self) -> Iterator[Triple]:
        """Each triple once, in no order."""

    @abstractmethod
    def __contains__(self, triple: object) -> bool: ...

    @abstractmethod
    def __len__(self) -> int:
        """How many triples there are."""

    @property
    def bounds(self) -> tuple[Literal, Literal] | None:
        """Start and end, `xsd:dateTime`, of a window that asks for them; None while it has none.

        The window's IRI, which is their subject, only its subscriber knows.
        """
        return None

    @property
    @abstractmethod
    def held(self) -> tuple[int, int]:
        """Elements and bytes that are held for it, what others see too included; at no cost.

        As any thread may ask, and not as exact as `info`.
        """

    @abstractmethod
    def info(self) -> WindowInfo:
        """What there is, from when to when, and whether that is all; linear in what is held."""


def _all_of(counts: Counter[Term | None]) -> Predicates | None:
    if None in counts:
        return None
    return frozenset(each for each in counts if each is not None)


class Change(NamedTuple):
    """What a step did to a content: sets of triples that came and went, net.

    Those that one element alone may have may be told as what they are made of.
    `is_boundary`: a stepped window reached a boundary, changed or not. `full`: nothing else counts,
    and who sees the window has to be told so and ended. `entered` and `left` are elements, where
    somebody follows these; one may be among both.
    """

    content: Content
    added: Sequence[Spo]
    removed: Sequence[Spo]
    is_boundary: bool = False
    full: WindowFullError | None = None
    entered: Sequence[Record] = ()
    left: Sequence[Record] = ()


change_of: Callable[[type[Change], tuple[object, ...]], Change] = tuple.__new__
"""A third of the time of calling the class."""


def net(gained: list[_Told], lost: list[_Told]) -> tuple[list[_Told], list[_Told]]:
    """What came and what went, of triples that came and went in turn; what did both did neither."""
    balance = dict.fromkeys(gained, 0)
    for triple in gained:
        balance[triple] += 1
    for triple in lost:
        balance[triple] = balance.get(triple, 0) - 1
    added = [triple for triple, times in balance.items() if times > 0]
    return added, [triple for triple, times in balance.items() if times < 0]
