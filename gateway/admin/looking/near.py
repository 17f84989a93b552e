"""Near misses: what would be a row but for one thing, with a reason that a person can act on.

Place: made by `near_patterns`, `near_filters` and `near_streams` for `quiet`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Protocol

from pyoxigraph import Literal, NamedNode, Variable

from gateway.rdf.terms import Term
from gateway.sparql.algebra import Element
from gateway.sparql.written import Writer

Found = Mapping[str, Term]
"""A solution: its terms by the names of their variables."""


@dataclass(frozen=True, slots=True)
class Link:
    """Where a page goes for more: `kind` is sensor, place, property, mapping, quarantine, ..."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Near:
    """One near miss; `since` is a time as ISO 8601 has it, "" where there is none."""

    what: str
    reason: str
    advice: str
    since: str = ""
    link: Link | None = None


class Asks(Protocol):
    """Asks the store, so often and so long as one who wonders may; raises a GatewayError."""

    def count(self, group: str, most: int) -> int:
        """The solutions of a group, `most` at most."""
        ...

    def rows(self, select: str) -> Sequence[Found]:
        """The rows of a SELECT that has a LIMIT."""
        ...


@dataclass(frozen=True, slots=True)
class Asking:
    """What the makers of near misses share: who asks, and how the query's terms are written.

    `text` writes SPARQL, `told` writes for people.
    """

    asks: Asks
    text: Writer
    told: Writer

    def rows(self, columns: str, elements: Iterable[Element], most: int) -> Sequence[Found]:
        """`SELECT columns` of some elements of the query, `most` at most."""
        return self.asks.rows(f"SELECT {columns} {self.text.group(elements)} LIMIT {most}")

    def has(self, elements: Iterable[Element]) -> bool:
        """Whether they have a solution."""
        return self.asks.count(self.text.group(elements), 1) > 0

    def name(self, variable: Variable) -> str:
        """The variable's name in what `rows` finds."""
        return self.text.term(variable).removeprefix("?")

    def values(self, terms: Iterable[Term]) -> str:
        """Some terms in words."""
        return ", ".join(map(self.told.term, terms))


@dataclass(slots=True)
class Nears:
    """Near misses, each once and `most` at most."""

    most: int = 20
    found: list[Near] = field(default_factory=list)

    def add(self, nears: Iterable[Near]) -> None:
        """Take up what is new, while there is room."""
        for near in nears:
            if len(self.found) >= self.most:
                return
            if near not in self.found:
                self.found.append(near)


def similar(wanted: Term, known: Iterable[Term], most: int = 3) -> list[Term]:
    """The known terms that somebody could have meant, the likeliest first.

    By what stands last in an IRI: a property of an old vocabulary has another namespace, a typo
    another letter.

    >>> names = [NamedNode("urn:p:temperature"), NamedNode("urn:p:humidity")]
    >>> [each.value for each in similar(NamedNode("urn:q/temprature"), names)]
    ['urn:p:temperature']
    """
    name = _bare(wanted)
    rated = [(_likeness(name, _bare(each)), each) for each in known if each != wanted]
    good = sorted((each for each in rated if each[0] >= _ALIKE), key=lambda each: -each[0])
    return [each for _, each in good[:most]]


_ALIKE = 0.7


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() if one and other else 0.0


def _bare(term: Term) -> str:
    value = term.value if isinstance(term, NamedNode | Literal) else ""
    if isinstance(term, NamedNode):
        value = value.replace("#", "/").replace(":", "/").rstrip("/").rpartition("/")[2]
    return value[:200].casefold().replace("_", "").replace("-", "")


def linked(term: Term, kind: str = "term") -> Link | None:
    """A link to what an IRI names."""
    return Link(kind, term.value) if isinstance(term, NamedNode) else None
