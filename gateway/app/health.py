"""How a running gateway is, for /health, /ready and /metrics.

Put together by `app` at the start.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.app.measures import Parts, alarms, histograms, measures, summary
from gateway.app.vitals import Flow, Vitals, nothing_waits
from gateway.gates.admin.openapi import document
from gateway.gates.http.operations import OperationsGate
from gateway.runtime.metrics import Measures
from gateway.security.guard import Guard


@dataclass(frozen=True, slots=True)
class Health:
    """What /health and /ready tell."""

    parts: Parts
    vitals: Vitals

    @classmethod
    def of(cls, parts: Parts, folder: Path) -> "Health":
        """The health of a gateway with its data in `folder`; its `vitals` are to be run."""
        seen, engine = parts.ingest.statistics, parts.engine.statistics
        flows = (
            Flow("messages_in", lambda: seen.messages, lambda: len(parts.inbox)),
            Flow("updates", lambda: engine.updates, lambda: parts.scheduler.waiting_updates),
            Flow("triples_out", lambda: engine.quads_added + engine.quads_removed, nothing_waits),
            Flow("notifications_out", lambda: engine.notifications, nothing_waits),
        )
        return cls(parts, Vitals(flows, folder))

    async def alarms(self) -> list[str]:
        """What keeps it from its work."""
        return [*alarms(self.parts), *await self.vitals.alarms()]

    def details(self) -> Mapping[str, object]:
        """Counters since the start, and the flow now."""
        return {"counters": dict(summary(self.parts)), "flow": self.vitals.flow()}

    @property
    def is_full(self) -> bool:
        """Whether the URQ takes no more."""
        return self.parts.scheduler.is_full


def operations_gate(health: Health, guard: Guard) -> OperationsGate:
    """The endpoints /metrics and /openapi.json."""
    parts = health.parts
    registry = Measures(measures(parts), histograms(parts)).registry
    return OperationsGate(registry, document, guard)
