"""The graph of proposals, read from the store."""

from collections.abc import Callable, Iterable, Sequence

from pyoxigraph import NamedNode, Quad, QuerySolutions

from gateway.admin.onboarding.nodes import ACTUATOR, TYPE, Nodes, queried_nodes, said_of
from gateway.admin.onboarding.proposals import LABEL, PROPOSAL, Status, StoredProposal, short_id
from gateway.engine import Engine
from gateway.errors import NotFoundError
from gateway.rdf.namespaces import PROPOSALS_GRAPH


def all_proposals(engine: Engine) -> list[StoredProposal]:
    """Every proposal there is, by family, device and label; in any thread. Linear in them."""
    return sorted(
        proposals_of(queried_nodes(engine, PROPOSALS_GRAPH)).values(),
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
    """One proposal, None where there is none; in the scheduler's thread."""

    def said(each: NamedNode) -> frozenset[Quad]:
        return said_of(engine, each, PROPOSALS_GRAPH)

    quads = said(node)
    return StoredProposal(node, quads, _beside(quads, said)) if quads else None


def _beside(quads: Iterable[Quad], said: Callable[[NamedNode], frozenset[Quad]]) -> frozenset[Quad]:
    """What is said of the actuators that the quads name."""
    beside = [quad.object for quad in quads if quad.predicate == ACTUATOR]
    return _NONE.union(*(said(each) for each in beside if isinstance(each, NamedNode)))


def proposal_nodes(engine: Engine) -> list[NamedNode]:
    """The nodes of all proposals; in any thread."""
    rows = engine.query(f"SELECT ?p {{ GRAPH {PROPOSALS_GRAPH} {{ ?p a {PROPOSAL} }} }}")
    if not isinstance(rows, QuerySolutions):
        raise TypeError("a SELECT has solutions")
    return [row["p"] for row in rows if isinstance(row["p"], NamedNode)]


def find(nodes: Iterable[NamedNode], ids: Sequence[str]) -> list[NamedNode]:
    """The nodes with the ids, in their order; an id may be the whole IRI. Raises NotFoundError."""
    known = {name: each for each in nodes for name in (short_id(each.value), each.value)}
    missing = [id_ for id_ in ids if id_ not in known]
    if missing:
        raise NotFoundError(
            f"there is no proposal {', '.join(missing[:5])}",
            "`sosa-gateway mapping proposals` and `mapping unknown` show those that there are",
        )
    return list(dict.fromkeys(known[id_] for id_ in ids))


def status_of(proposal: StoredProposal, is_mapped: bool) -> Status:
    """Confirmed is what has its mapping, whoever wrote it; without one it is open again.

    A mapping may have been made by an earlier announcement, or its device may be gone.
    """
    status = proposal.status
    if is_mapped:
        is_older = status in {Status.MOVED, Status.CHANGED, Status.WITHDRAWN}
        return status if is_older else Status.CONFIRMED
    return status if status in {Status.REJECTED, Status.WITHDRAWN} else Status.PROPOSED


_NONE: frozenset[Quad] = frozenset()
