"""`Reasoning`: what an engine reasons on, by which reasoner, and what it asks of one.

Place: between the settings and the engine, which makes a reasoner of it on its store.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pyoxigraph import Quad

from gateway.rdf.delta import Delta
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.axioms import Axiom, Axioms
from gateway.reasoning.domains import Domain, Domains
from gateway.reasoning.incremental.parting import AllKinds, Among, Parted
from gateway.reasoning.reasoner import Reasoner
from gateway.reasoning.relevance import Relevance
from gateway.store.readable import GraphNode, Source
from gateway.store.update import BoundUpdate

MOST_DERIVED = 500_000
"""Derived quads of all domains, unless somebody says otherwise: some 300 MB."""


class Derived(Protocol):
    """The quads that follow and are not asserted."""

    def __len__(self) -> int:
        """How many they are."""

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; None is a wildcard."""

    def contains(self, quad: Quad) -> bool:
        """Whether a quad is derived."""

    def graphs(self) -> Iterable[GraphNode]:
        """The named graphs that hold one."""


class Pattern(Protocol):
    """A quad pattern; None is a wildcard. What a LUTT entry is."""

    @property
    def subject(self) -> Term | None:
        """The subject."""

    @property
    def predicate(self) -> Term | None:
        """The predicate."""

    @property
    def object(self) -> Term | None:
        """The object."""

    @property
    def graph(self) -> GraphName | None:
        """The graph; None stands for every graph."""


class AnyReasoner(Protocol):
    """What derives: incrementally, or anew each time."""

    @property
    def axioms(self) -> Axioms:
        """The axioms of now."""

    @property
    def derived(self) -> Derived:
        """What follows now."""

    @property
    def suspended(self) -> Mapping[Domain, str]:
        """The domains of which nothing is derived, each with the reason."""

    def start(self) -> None:
        """Read the axioms, derive from nothing. Raises OntologyError."""

    def is_silent(self, bound: Iterable[BoundUpdate]) -> bool:
        """Whether it is certain that nothing follows from what these updates change of quads."""

    def parted(self, delta: Delta, kinds: AllKinds, relevance: Relevance) -> Parted | None:
        """A reading's change by what of it is relevant, and what may be derived from later.

        `kinds` are those of all that the reading changes. None where nothing can wait: it changes
        axioms, or is to be refused.
        """

    def step(self, delta: Delta, *, is_reading: bool = False, among: Among = None) -> Delta:
        """The entailed Delta of an asserted one that the store does not have yet.

        Of a reading perhaps that `among` its quads alone, as they were `parted`; what is left may
        come when the store has it, and later changes too.

        Raises DerivedLimitError, OntologyError, ForbiddenError: then nothing has changed.
        """

    def undo(self, delta: Delta) -> None:
        """Take back the last step, of this Delta: the store refused it."""

    def resume(self) -> Delta:
        """Try suspended domains again; the entailed Delta."""

    def concludes(self, entry: Pattern) -> bool:
        """Whether any rule can conclude a quad of this pattern now."""

    def derived_by_axiom(self) -> Counter[Axiom]:
        """How many derived quads each axiom supports."""


class LateReasoner(AnyReasoner, Protocol):
    """A reasoner behind which readings may wait (gateway/reasoning/postponed.py)."""

    @property
    def lately(self) -> AnyReasoner:
        """As it was when somebody looked last, for figures that must not wait."""

    def __len__(self) -> int:
        """The quads that wait."""

    def catch_up(self) -> None:
        """Derive from what waits; for any thread."""


class MakeReasoner(Protocol):
    """Makes a reasoner that has not started."""

    def __call__(self, store: Source, domains: Domains, *, bound: int) -> AnyReasoner:
        """A reasoner of at most `bound` derived quads."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The domains, and how many quads may be derived in all.

    Unless it is to be `at_once`, the engine reasons from `start_reasoning` on: who has more to
    bring in before has it closed once.
    """

    domains: Domains
    derived: int = MOST_DERIVED
    at_once: bool = True
    make: MakeReasoner = Reasoner
