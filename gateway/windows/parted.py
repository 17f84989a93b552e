"""`Parted`: the triples of an element, made when somebody asks for them.

Place: in an `Element` instead of a tuple, where whoever makes elements knows that most of an
element's triples no other element has, as those of an observation, whose IRI is its own. Such a
triple comes and goes with its element, so nobody has to look for it among others; and of many
triples few are asked for, so those are not even made.
"""

from collections.abc import Collection, Iterator
from typing import TypeAlias

from pyoxigraph import Triple

from gateway.rdf.terms import Term

Predicates = frozenset[Term]
"""Whose triples are wanted; None in its place: all."""

Spo: TypeAlias = tuple[Term, Term, Term] | Triple
"""Subject, predicate and object, in whatever can be taken apart."""

HELD_BYTES = 800
"""What is held of an element whose triples are not made, by estimate."""

MADE_BYTES = 400
"""What whoever wants a triple keeps of it: the triple, its text, what is known of it."""


class Parted:
    """The triples that others may have too, and those that nobody else has.

    Equal ones have equal triples, made anew each time, in the same order.
    """

    __slots__ = ()

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
