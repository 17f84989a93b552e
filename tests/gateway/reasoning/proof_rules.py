"""A proof checked from outside: each step is an instance of its axiom's rule.

Place: under test_why.py. Only the axiom, the conclusion and the premises are looked at, neither the
search nor the closure: the premises alone, put into a graph under the quads of the axiom alone,
must give the conclusion by the naive fixpoint.
"""

from collections.abc import Iterable

from pyoxigraph import Quad

from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.reasoning.why import Proof
from gateway.store.readable import Source
from tests.kit.reasoning.fixpoint.closure import Closure, Fact, Schema
from tests.kit.reasoning.fixpoint.schema import schema_closure


def fact(quad: Quad) -> Fact:
    return quad.subject, quad.predicate, quad.object  # type: ignore[return-value]


def check(proof: Proof, asserted: Source, above: tuple[Quad, ...] = ()) -> int:
    """The depth of a proof of which nothing is hidden; fails where a step is none."""
    quad = proof.conclusion
    assert quad is not None
    assert quad not in above, f"{quad} rests on itself"
    if proof.axiom is None and not proof.premises:
        assert any(True for _ in asserted.match(*fact(quad), quad.graph_name)), quad
        return 0
    depths = [check(premise, asserted, (*above, quad)) for premise in proof.premises]
    premises = [each.conclusion for each in proof.premises if each.conclusion is not None]
    said = proof.axiom.quads if proof.axiom is not None else ()
    assert all(any(True for _ in asserted.match(*fact(q), q.graph_name)) for q in said)
    assert follows(quad, said, premises), f"{quad} does not follow from {premises} by {said}"
    return 1 + max(depths, default=0)


def follows(quad: Quad, said: Iterable[Quad], premises: Iterable[Quad]) -> bool:
    """Whether the naive fixpoint has the conclusion, given an axiom's quads and the premises."""
    if quad.graph_name == ONTOLOGY_GRAPH:
        return fact(quad) in schema_closure(Schema((*said, *premises)))
    closure = Closure(Schema(said))
    closure.add(map(fact, premises))
    if quad.graph_name == CONTRADICTIONS_GRAPH:
        return fact(quad) in set(closure.contradictions())
    return fact(quad) in closure.facts
