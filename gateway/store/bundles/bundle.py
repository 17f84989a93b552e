"""`Bundle`: the quads of one reading that have subjects of its own, made when they are asked for.

Place: in a `ReadingDelta` and in `Pending`. Of twenty quads of a reading subscriptions ask for two
or three; the others are made when the disk is written or somebody looks them up, and never if the
reading has been replaced by then.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping

from pyoxigraph import NamedNode, Quad

from gateway.rdf.canonical import canonical
from gateway.rdf.terms import Term
from gateway.store.bundles.shape import Shape


class Entering(Mapping[str, Term]):
    """Forced bindings of a template with a shape, each made when it is asked for.

    `iris` are those of the subjects of its own, in the order of `shape.subjects`: no other part
    of the gateway writes of these. All terms can be made: what could not was refused before.
    `made`: the terms that somebody has asked for.
    """

    __slots__ = ("iris", "made", "shape")

    def __init__(self, shape: Shape, iris: tuple[str, ...]) -> None:
        self.shape = shape
        self.iris = iris
        self.made: dict[str, Term] = {}

    def term(self, name: str) -> Term:
        """What is bound to a name, as the store gives it back; made once."""
        found = self.made.get(name)
        if found is None:
            found = self.made[name] = canonical(self[name])
        return found

    @abstractmethod
    def names(self) -> Mapping[str, object]:
        """What is bound."""

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())


class Known(Entering):
    """The same where all terms are made already."""

    __slots__ = ("_terms",)

    def __init__(self, shape: Shape, iris: tuple[str, ...], terms: Mapping[str, Term]) -> None:
        super().__init__(shape, iris)
        self._terms = terms

    def __getitem__(self, name: str) -> Term:
        return self._terms[name]

    def names(self) -> Mapping[str, object]:
        """What is bound."""
        return self._terms


class Bundle:
    """The quads, by their place in the shape."""

    __slots__ = ("_bindings", "_quads", "iris", "shape")

    def __init__(self, bindings: Entering) -> None:
        self.shape = bindings.shape
        self.iris = bindings.iris
        self._bindings = bindings
        self._quads: dict[int, Quad] = {}

    def __len__(self) -> int:
        return len(self.shape.own)

    def term(self, name: str) -> Term:
        """What is bound to a name, as the store gives it back."""
        return self._bindings.term(name)

    def terms(self, place: int) -> tuple[Term, NamedNode, Term]:
        """Subject, predicate and object of one of the quads."""
        subject, predicate, object_ = self.shape.own[place]
        known = self.term(object_) if isinstance(object_, str) else object_
        return self.term(subject), predicate, known

    def quad(self, place: int) -> Quad:
        """One of the quads."""
        found = self._quads.get(place)
        if found is None:
            found = self._quads[place] = Quad(*self.terms(place))  # type: ignore[arg-type]
        return found

    def forget_quads(self) -> None:
        """Let those that were made be made again when somebody asks."""
        self._quads = {}

    def quads(self) -> list[Quad]:
        """All of them."""
        return list(map(self.quad, range(len(self.shape.own))))
