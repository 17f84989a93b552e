"""`Proof`: a conclusion and what it rests on; `View`: what a search for one may look at.

Place: under gateway/reasoning/proofs/backward.py and gateway/reasoning/proofs/hierarchy.py.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, NamedNode, Quad

from gateway.errors import TooComplexError
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.domains import Domain
from gateway.reasoning.kinds import Axiom
from gateway.store.readable import Source

Fact = tuple[Term, NamedNode, Term]

MOST_STEPS = 50_000
"""Quads and rules that one proof may look at: about half a second."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A conclusion, the axiom it follows by and the proofs of its premises.

    Without an axiom it is asserted; so is the premise of a contradiction without one, membership of
    owl:Nothing. Where it is hidden, nothing of it is told: `conclusion` is None, and there is
    neither axiom nor premise. A proof may stand in several places of the tree.
    """

    conclusion: Quad | None
    axiom: Axiom | None = None
    premises: tuple["Proof", ...] = ()

    @property
    def is_hidden(self) -> bool:
        """Whether it stands in a graph that the asker may not read."""
        return self.conclusion is None


HIDDEN = Proof(None)

Premises = tuple[Proof, ...]
Step = tuple[Axiom | None, Premises]


class View:
    """What a domain has, asserted and entailed; each look-up is counted."""

    def __init__(
        self,
        domain: Domain,
        asserted: Source,
        entailed: Source,
        sees: Callable[[GraphName], bool],
        most: int = MOST_STEPS,
    ) -> None:
        self._into = domain.into
        self._graphs = tuple(sorted(domain.graphs, key=lambda graph: (not sees(graph), str(graph))))
        self._asserted = asserted
        self._entailed = entailed
        self._sees = sees
        self._left = most

    def spend(self, steps: int = 1) -> None:
        """Count steps; raises TooComplexError where there were too many."""
        self._left -= steps
        if self._left < 0:
            raise TooComplexError(
                "too much leads to this conclusion to find why", "ask for one of its premises"
            )

    def leaf(self, fact: Fact) -> Proof | None:
        """The fact as asserted, in a graph that may be read where there is one."""
        if not isinstance(fact[0], NamedNode | BlankNode):
            return None
        for graph in self._graphs:
            self.spend()
            for quad in self._asserted.match(*fact, graph):
                return Proof(quad) if self._sees(graph) else HIDDEN
        return None

    def has_derived(self, fact: Fact) -> bool:
        """Whether the fact stands where conclusions do."""
        self.spend()
        if not isinstance(fact[0], NamedNode | BlankNode):
            return False
        return any(True for _ in self._entailed.match(*fact, self._into))

    def conclude(self, fact: Fact, axiom: Axiom | None, premises: Premises) -> Proof:
        """The proof of a fact that follows; hidden where its graph is."""
        subject, predicate, object_ = fact
        if not self._sees(self._into):
            return HIDDEN
        if not isinstance(subject, NamedNode | BlankNode):
            raise TypeError(f"{subject} is no subject")
        return Proof(Quad(subject, predicate, object_, self._into), axiom, premises)

    def objects(
        self, subject: Term, predicate: NamedNode, *, of_asserted: bool = False
    ) -> Iterator[Term]:
        """What a node has by a property, asserted first, or as it is asserted alone."""
        if isinstance(subject, NamedNode | BlankNode):
            source = self._asserted if of_asserted else self._entailed
            for quad in self._quads(source, subject, predicate, None):
                yield quad.object

    def subjects(self, predicate: NamedNode, object_: Term) -> Iterator[Term]:
        """Who has something by a property, asserted first."""
        for quad in self._quads(self._entailed, None, predicate, object_):
            yield quad.subject

    def _quads(
        self, source: Source, subject: Term | None, predicate: NamedNode, object_: Term | None
    ) -> Iterator[Quad]:
        for graph in dict.fromkeys((*self._graphs, self._into)):
            for quad in source.match(subject, predicate, object_, graph):
                self.spend()
                yield quad
