"""The graph of proposals, read from the store.

Place on the way of the data: beside it; in the scheduler's thread.
"""

from collections.abc import Callable, Iterable, Sequence

from pyoxigraph import NamedNode, Quad

from gateway.engine import Engine
from gateway.errors import NotFoundError
from gateway.onboarding.nodes import ACTUATOR, TYPE, Nodes, stored_nodes
from gateway.onboarding.proposals import LABEL, PROPOSAL, Status, StoredProposal
from gateway.rdf.namespaces import PROPOSALS_GRAPH


def all_proposals(engine: Engine) -> list[StoredProposal]:
    """Every proposal there is, by family, device and label. Linear in them."""
    return sorted(
        proposals_of(stored_nodes(engine, PROPOSALS_GRAPH)).values(),
        key=lambda each: (each.text("family"), each.text("device"), each.value(LABEL)),
    )


def proposals_of(nodes: Nodes) -> dict[NamedNode, StoredProposal]:
    """The proposals among the nodes of a graph."""
    return {
        node: StoredProposal(node, quads, _beside(quads, lambda each: nodes.get(each, _NONE)))
        for node, quads in nodes.items()
        if any(quad.predicate == TYPE and quad.object == PROPOSAL for quad in quads)
    }


def proposal_at(engine: Engine, node: NamedNode) -> StoredProposal | None:
    """One proposal, None where there is none."""

    def said_of(each: NamedNode) -> frozenset[Quad]:
        return frozenset(engine.store.match(each, None, None, PROPOSALS_GRAPH))

    quads = said_of(node)
    return StoredProposal(node, quads, _beside(quads, said_of)) if quads else None


def _beside(
    quads: Iterable[Quad], said_of: Callable[[NamedNode], frozenset[Quad]]
) -> frozenset[Quad]:
    """What is said of the actuators that the quads name."""
    beside = [quad.object for quad in quads if quad.predicate == ACTUATOR]
    return _NONE.union(*(said_of(each) for each in beside if isinstance(each, NamedNode)))


def find(proposals: Iterable[StoredProposal], ids: Sequence[str]) -> list[StoredProposal]:
    """Those with the ids, in their order; an id may be the whole IRI. Raises NotFoundError."""
    known = {name: each for each in proposals for name in (each.id, each.node.value)}
    missing = [id_ for id_ in ids if id_ not in known]
    if missing:
        raise NotFoundError(
            f"there is no proposal {', '.join(missing[:5])}",
            "`sosa-gateway mapping proposals` and `mapping unknown` show those that there are",
        )
    return list({known[id_].node: known[id_] for id_ in ids}.values())


def status_of(proposal: StoredProposal, mappings: Nodes) -> Status:
    """Confirmed is what has its mapping, whoever wrote it; without one it is open again."""
    if proposal.node in mappings:
        return Status.CONFIRMED
    return Status.PROPOSED if proposal.status is Status.CONFIRMED else proposal.status


_NONE: frozenset[Quad] = frozenset()
