"""`Parted`: the triples of an element, made when somebody asks for them.

Place: in an `Element` instead of a tuple, where whoever makes elements knows that most of an
element's triples no other element has, as those of an observation, whose IRI is its own. Such a
triple comes and goes with its element, so nobody has to look for it among others; and of many
triples few are asked for, so those are not even made.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from pyoxigraph import Triple

from gateway.rdf.terms import Term

Predicates = frozenset[Term]
"""Whose triples are wanted; None in its place: all."""

Spo: TypeAlias = tuple[Term, Term, Term] | Triple
"""Subject, predicate and object, in whatever can be taken apart."""


class Ask(NamedTuple):
    """A subject that somebody looks for: what has to be said of it, as predicates and objects.

    Its triples of these `predicates` are looked at; None: of any.
    """

    predicates: Predicates | None
    says: frozenset[tuple[Term, Term]] = frozenset()


ANY_SUBJECT = Ask(None)

HELD_BYTES = 800
"""What is held of an element whose triples are not made, by estimate."""

MADE_BYTES = 400
"""What whoever wants a triple keeps of it: the triple, its text, what is known of it."""


class Parted:
    """The triples that others may have too, and those that nobody else has.

    Equal ones have equal triples, made anew each time, in the same order.
    """

    __slots__ = ()

    @property
    def kind(self) -> Hashable:
        """Equal for those that may answer the same."""
        return type(self).__name__

    def may_answer(self, ask: Ask) -> bool:
        """Whether a subject of its triples may be the one that is asked for.

        False is sure: of no subject that it says something of, alone or beside other elements.
        """
        del ask
        return True

    def __len__(self) -> int:
        """How many triples there are."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Triple]:
        """All triples, each once, in order."""
        raise NotImplementedError

    @property
    def shared(self) -> tuple[Triple, ...]:
        """The triples that other elements may have too, each once."""
        raise NotImplementedError

    def unique(self, wanted: Predicates | None) -> tuple[Triple, ...]:
        """The triples of wanted predicates that no other element of the stream ever has."""
        raise NotImplementedError

    def unique_terms(self, wanted: Predicates | None) -> Collection[Spo]:
        """The same, as what a triple is made of; for who keeps no triples it costs less."""
        return self.unique(wanted)

    def unique_of(self, wanted: Predicates | None) -> int:
        """How many these are, at no cost."""
        raise NotImplementedError

    def bytes(self, wanted: Predicates | None) -> int:
        """What an element takes that has these, by estimate, when so much of them is wanted."""
        return HELD_BYTES + MADE_BYTES * self.unique_of(wanted)


Triples = tuple[Triple, ...] | Parted
"""The triples of an element."""


MOST_ASKS = 256
"""Beyond so many subjects that are looked for, each element is one of them."""

_MOST_KINDS = 50_000


class Interest:
    """Which elements somebody wants something of: those with a subject that one of `asks` may mean.

    Elements whose triples are made always have one. Never changes, but for what it remembers.

    >>> Interest().concerns(()), Interest([ANY_SUBJECT]).is_any
    (True, True)
    """

    __slots__ = ("_known", "asks", "is_any")

    def __init__(self, asks: Iterable[Ask] = ()) -> None:
        self.asks = frozenset(asks)
        if len(self.asks) > MOST_ASKS:
            self.asks = frozenset({ANY_SUBJECT})
        self.is_any = ANY_SUBJECT in self.asks
        self._known: dict[Hashable, bool] = {}

    def also(self, asks: Iterable[Ask]) -> "Interest":
        """The same with further ones; the same object where there are none."""
        if self.is_any or self.asks.issuperset(asks):
            return self
        return Interest(self.asks.union(asks))

    def concerns(self, triples: Triples) -> bool:
        """Whether somebody may want something of an element that has these."""
        if self.is_any or type(triples) is tuple:
            return True
        kind = triples.kind  # type: ignore[union-attr]  # else it is a tuple
        found = self._known.get(kind)
        if found is None:
            if len(self._known) >= _MOST_KINDS:
                self._known.clear()
            found = self._known[kind] = any(map(triples.may_answer, self.asks))  # type: ignore[union-attr]
        return found
