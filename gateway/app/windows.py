"""The endpoint by which clients let elements into their streams, put together."""

from gateway.app.stages import Stages
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.sparql.elements import ElementsGate, StreamNames
from gateway.gates.sparql.query_pool import QueryPool
from gateway.rdf.namespaces import GW
from gateway.security.guard import Guard


def elements_gate(
    stages: Stages, pool: QueryPool, guard: Guard, limits: RequestLimits
) -> ElementsGate:
    """The endpoint /elements: the streams of mappings are not for clients."""
    scheduler, mappings = stages.storage.scheduler, stages.reception.mappings
    engine = scheduler.engine

    def is_observed(iri: str) -> bool:
        return iri.startswith(GW) or any(each.iri == iri for each in mappings.mappings)

    streams = StreamNames(lambda: engine.windowed.declared, is_observed)
    documents = engine.store.remote.documents
    return ElementsGate(scheduler, pool, documents, streams, guard=guard, limits=limits)
