"""The endpoint /flow put together: what goes through a gateway, once a second."""

import asyncio
from collections.abc import Callable
from functools import partial
from time import monotonic

from pyoxigraph import QuerySolutions

from gateway.admin.looking.latencies import ReadingLatencies
from gateway.app.alarms import Alarming
from gateway.app.stages import Stages
from gateway.app.vitals import nothing_waits
from gateway.engine import Engine
from gateway.gates.looking.flow import FlowGate, FlowSources, Stage
from gateway.rdf.namespaces import GW, PROPOSALS_GRAPH
from gateway.runtime.clocks import SYSTEM_CLOCKS


def flow_gate(stages: Stages, alarming: Alarming) -> FlowGate:
    """The endpoint /flow."""
    latencies = ReadingLatencies()
    ingest = stages.reception.ingest
    ingest.on_records(accepted=latencies.accepted, stored=latencies.stored)
    counts = {
        "alarms": lambda: len(alarming.watch.alarms),
        "unknown": _seldom(lambda: len(stages.onboarding.unknown_topics())),
    }
    sources = FlowSources(
        _flow_stages(stages),
        counts,
        partial(asyncio.to_thread, _proposals, stages.storage.engine),
        latencies,
        lambda: int(SYSTEM_CLOCKS.now().timestamp() * 1000),
    )
    return FlowGate(stages.subscribing.subscribers, sources)


def _seldom(count: Callable[[], int]) -> Callable[[], int]:
    """The count as it was at most so long ago: linear in the mappings each time."""
    known: tuple[float, int] | None = None

    def counted() -> int:
        nonlocal known
        if known is None or monotonic() - known[0] >= _COUNT_S:
            known = monotonic(), count()
        return known[1]

    return counted


_COUNT_S = 5.0


def _flow_stages(stages: Stages) -> tuple[Stage, ...]:
    """The way of the data, as /health counts it."""
    scheduler, inbox = stages.storage.scheduler, stages.reception.inbox
    seen, engine = stages.reception.ingest.statistics, scheduler.engine.statistics
    delivery = scheduler.engine.delivery
    return (
        Stage("messages", lambda: seen.messages, lambda: len(inbox)),
        Stage("observations", lambda: seen.observations, nothing_waits),
        Stage("updates", lambda: engine.updates, lambda: scheduler.waiting_updates),
        Stage("notifications", lambda: engine.notifications + delivery.late, nothing_waits),
    )


_PROPOSALS = f"SELECT DISTINCT ?p {{ GRAPH {PROPOSALS_GRAPH} {{ ?p <{GW}announcedOn> ?t }} }}"


def _proposals(engine: Engine) -> int:
    """How many there are, as any thread may ask."""
    results = engine.query(_PROPOSALS)
    assert isinstance(results, QuerySolutions)  # noqa: S101
    return sum(1 for _ in results)
