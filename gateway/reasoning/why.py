"""`proof`: why a quad is in the entailed view, down to what is asserted.

    quad → axioms that conclude it (`Conclusions`) → premises in the entailed view → asserted quads

Place: under the engine's `why`. Nothing is kept for it while the gateway runs. Of a contradiction
in several domains the shallowest proof counts.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter

from pyoxigraph import Quad

from gateway.errors import NotFoundError, TooComplexError
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import GraphName
from gateway.reasoning.domains import SCHEMA, Domain, Domains
from gateway.reasoning.kinds import NOTHING, Axiom
from gateway.reasoning.proofs.backward import Backward
from gateway.reasoning.proofs.conclusions import Conclusions
from gateway.reasoning.proofs.hierarchy import Hierarchy
from gateway.reasoning.proofs.proof import MOST_STEPS, Proof, View
from gateway.store.readable import Source

__all__ = ["Proof", "proof"]


def proof(
    quad: Quad,
    axioms: Iterable[Axiom],
    domains: Domains,
    asserted: Source,
    entailed: Source,
    *,
    sees: Callable[[GraphName], bool] = lambda _: True,
    most: int = MOST_STEPS,
) -> Proof:
    """The shallowest proof of a quad; looks at `most` quads and rules at most, twice.

    Where that does not do, paths along transitive properties are halved, deeper than need be.
    Of a premise in a graph that `sees` denies it is told that there is one, and nothing else.
    Raises NotFoundError for what is neither asserted nor derived, or not to be seen;
    TooComplexError.
    """
    graph, fact = quad.graph_name, (quad.subject, quad.predicate, quad.object)
    if not sees(graph) or not any(True for _ in entailed.match(*fact, graph)):
        raise NotFoundError("the quad is neither asserted nor derived", "look for it by a query")
    if any(True for _ in asserted.match(*fact, graph)):
        return Proof(quad)
    conclusions = Conclusions(axioms)

    def view(domain: Domain) -> View:
        return View(domain, asserted, entailed, sees, most)

    try:
        found = _Search(conclusions, domains, entailed, view).prove(quad)
    except TooComplexError:
        found = _Search(conclusions, domains, entailed, view, is_narrow=True).prove(quad)
    if found is None:
        raise NotFoundError("nothing leads to this quad now", "ask again")
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    """The search for a derived quad, whichever graph it is in."""

    conclusions: Conclusions
    domains: Domains
    entailed: Source
    view: Callable[[Domain], View]
    is_narrow: bool = False

    def prove(self, quad: Quad) -> Proof | None:
        fact = quad.subject, quad.predicate, quad.object
        if quad.graph_name == ONTOLOGY_GRAPH:
            return Hierarchy(self.conclusions, self.view(SCHEMA)).prove(fact)
        if quad.graph_name == CONTRADICTIONS_GRAPH:
            return self._contradiction(quad)
        domain = self._into(quad.graph_name)
        return None if domain is None else self._within(domain).prove(fact)

    def _within(self, domain: Domain) -> Backward:
        return Backward(self.conclusions, self.view(domain), is_narrow=self.is_narrow)

    def _into(self, graph: GraphName) -> Domain | None:
        """The domain that reads the graph, or puts its conclusions there."""
        joint = (each for each in self.domains.joint if each.into == graph)
        return next(joint, self.domains.of(graph))

    def _contradiction(self, quad: Quad) -> Proof | None:
        axiom = None
        if quad.predicate != NOTHING:
            axiom = self.conclusions.disjoint.get((quad.predicate, quad.object))
            if axiom is None:
                return None
        found = [
            step
            for domain in self._domains_about(quad)
            if (step := self._within(domain).contradicted(quad.subject, axiom)) is not None
        ]
        if not found:
            return None
        _, (last, premises) = min(found, key=itemgetter(0))
        return Proof(quad, last, premises)

    def _domains_about(self, quad: Quad) -> Iterator[Domain]:
        """The domains in which anything is said of a quad's subject."""
        node = quad.subject
        found: dict[Domain, None] = {}
        for pattern in ((node, None, None, None), (None, None, node, None)):
            for about in self.entailed.match(*pattern):
                domain = self._into(about.graph_name)
                if domain is not None:
                    found[domain] = None
        return iter(found)
