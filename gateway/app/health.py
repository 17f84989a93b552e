"""How a running gateway is, for /health, /ready and /metrics.

Put together by `app` at the start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.admin.alarm_watch import Alarm
from gateway.app.alarms import Alarming
from gateway.app.stages import Stages
from gateway.app.vitals import Flow, Vitals, nothing_waits
from gateway.gates.admin.openapi import document
from gateway.gates.http.measures import request_measures, request_times
from gateway.gates.http.operations import Load, OperationsGate
from gateway.gates.sparql.measures import apart_measures, query_measures
from gateway.gates.sparql.query_pool import QueryPool
from gateway.runtime.metrics import Measures
from gateway.security.guard import Guard


@dataclass(frozen=True, slots=True)
class Health:
    """What /health and /ready tell."""

    stages: Stages
    alarming: Alarming

    async def alarms(self) -> Sequence[Alarm]:
        """What is wrong now."""
        await self.alarming.vitals.probe()
        return self.alarming.watch.look()

    def details(self) -> Mapping[str, object]:
        """Counters since the start, the flow now, and mappings known to say the contrary."""
        inverted = self.stages.onboarding.inverted()
        told: dict[str, object] = {
            "counters": dict(self.stages.summary()),
            "flow": self.alarming.vitals.flow(),
        }
        if inverted:
            told["inverted"] = inverted
        federation = self.stages.federation
        away = [] if federation is None else [e.name for e in federation.status if not e.is_up]
        return {**told, "federation": {"away": away}} if away else told

    @property
    def is_full(self) -> bool:
        """Whether the URQ takes no more."""
        return self.stages.storage.scheduler.is_full


def vitals_of(stages: Stages, folder: Path) -> Vitals:
    """Whether a gateway with its data in `folder` lives."""
    scheduler, inbox = stages.storage.scheduler, stages.reception.inbox
    seen, engine = stages.reception.ingest.statistics, scheduler.engine.statistics
    flows = (
        Flow("messages_in", lambda: seen.messages, lambda: len(inbox)),
        Flow("updates", lambda: engine.updates, lambda: scheduler.waiting_updates),
        Flow("triples_out", lambda: engine.quads_added + engine.quads_removed, nothing_waits),
        Flow("notifications_out", lambda: engine.notifications, nothing_waits),
    )
    return Vitals(flows, folder)


def operations_gate(health: Health, pool: QueryPool, load: Load, guard: Guard) -> OperationsGate:
    """The endpoints /metrics and /openapi.json."""
    store = health.stages.storage.scheduler.engine.store
    measures = (
        *health.stages.measures(),
        *health.alarming.measures(),
        *query_measures(pool.statistics),
        *apart_measures(health.stages.subscribing.apart, store.remote.documents),
        *request_measures(load.statistics),
    )
    registry = Measures(measures, (request_times(load.statistics),)).registry
    return OperationsGate(registry, document, guard)
