"""The other gateways as a graph, so that SPARQL tells of them as of everything else.

    statuses of the service -> quads of each member -> the change of the graph

Place: beside `FederationService`. The graph is written when a member comes or goes, and else every
five minutes: what is known of a position now is at /federation. What an earlier life left there
goes with the first look.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic

from pyoxigraph import Literal, NamedNode, Quad

from gateway.engine import Engine
from gateway.errors import GatewayError
from gateway.federation.watching.status import MemberStatus
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import FEDERATION_GRAPH, GW, RDF, XSD
from gateway.scheduler.scheduler import Scheduler
from gateway.windows.info import date_time

log = logging.getLogger(__name__)

_LOOK_S = 1.0
_EACH_S = 300.0
_TYPE = NamedNode(RDF + "type")
_DECIMAL, _DATE_TIME = NamedNode(XSD + "decimal"), NamedNode(XSD + "dateTime")


class FederationGraph:
    """Keeps the graph as `statuses` are; `run` is a task."""

    def __init__(
        self, scheduler: Scheduler, statuses: Callable[[], Sequence[MemberStatus]]
    ) -> None:
        self._scheduler = scheduler
        self._statuses = statuses
        self._known: frozenset[tuple[str, str, int]] | None = None
        self._written_at = 0.0

    async def run(self) -> None:
        """Write what has changed, until cancelled."""
        while True:
            statuses = self._statuses()
            states = frozenset((each.name, each.state, each.since) for each in statuses)
            if states != self._known or monotonic() - self._written_at >= _EACH_S:
                self._known, self._written_at = states, monotonic()
                await self._write(statuses)
            await asyncio.sleep(_LOOK_S)

    async def _write(self, statuses: Sequence[MemberStatus]) -> None:
        def change(engine: Engine) -> Delta:
            origin = engine.events.places.origin
            nodes = f"{origin.base_iri}{origin.gateway}/member/"
            wanted = [quad for each in statuses for quad in _quads(nodes, each)]
            present = engine.store.match(None, None, None, FEDERATION_GRAPH)
            return _net(wanted, present)

        try:
            await self._scheduler.decide(change)
        except GatewayError as error:
            log.error("federation_graph_not_written", extra={"reason": str(error)})


def _net(wanted: Sequence[Quad], present: Iterable[Quad]) -> Delta:
    """What has to come and go."""
    before, after = dict.fromkeys(present), dict.fromkeys(wanted)
    return Delta(
        tuple(quad for quad in after if quad not in before),
        tuple(quad for quad in before if quad not in after),
    )


def _quads(nodes: str, status: MemberStatus) -> Iterator[Quad]:
    node = NamedNode(nodes + status.name)
    told: dict[NamedNode, NamedNode | Literal] = {
        _TYPE: NamedNode(GW + "FederationMember"),
        NamedNode(GW + "memberName"): Literal(status.name),
        NamedNode(GW + "memberState"): Literal(status.state),
    }
    if status.position is not None:
        told[NamedNode(GW + "position")] = Literal(status.position)
    if status.lag_s is not None:
        told[NamedNode(GW + "lag")] = Literal(f"{status.lag_s:.3f}", datatype=_DECIMAL)
    if not status.is_up:
        since = date_time(status.since)
        told[NamedNode(GW + "awaySince")] = Literal(str(since), datatype=_DATE_TIME)
    for predicate, value in told.items():
        yield canonical_quad(Quad(node, predicate, value, FEDERATION_GRAPH))
