"""The raw endpoints of SPARQL, as the configuration says."""

from starlette.routing import Route

from gateway.app.serving.limits import request_limits
from gateway.app.stages import Stages
from gateway.config.settings import Config
from gateway.gates.sparql.explain import ExplainGate
from gateway.gates.sparql.graph_store import GraphStoreGate
from gateway.gates.sparql.history import HistoryQueries
from gateway.gates.sparql.protocol import HttpGate, SubscribeAddress, Warnings
from gateway.gates.sparql.query_pool import QueryPool
from gateway.gates.sparql.service_description import ServiceDescription
from gateway.security.guard import Guard


class SparqlGates:
    """The raw endpoints of SPARQL, but those that keep a connection open."""

    def __init__(
        self,
        stages: Stages,
        pool: QueryPool,
        config: Config,
        guard: Guard,
        warnings: Warnings,
        *,
        history: HistoryQueries,
    ) -> None:
        limits = request_limits(config)
        scheduler, federation = stages.storage.scheduler, stages.federation
        self._http = HttpGate(
            scheduler,
            pool,
            limits,
            guard=guard,
            description=ServiceDescription(is_federated=bool(config.remote.hosts)),
            warnings=warnings,
            federation=federation,
        )
        self._http.history = history
        documents = scheduler.engine.store.remote.documents
        self._graphs = GraphStoreGate(scheduler, pool, documents, guard, limits)
        infer = config.reasoning.infer
        self._explain = ExplainGate(scheduler, limits, guard, infer=infer, federation=federation)

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        gates = (self._http, self._graphs, self._explain)
        return [route for gate in gates for route in gate.routes()]

    def subscribe_at(self, port: int) -> None:
        """WebSockets are accepted on a port of their own."""
        self._http.subscribe = SubscribeAddress(port)
