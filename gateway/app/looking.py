"""The gates by which people look into a running gateway, put together.

Built by `app` at the start, beside those of `admin`.
"""

from gateway.app.health import Health
from gateway.app.stages import Stages
from gateway.gates.looking.quiet import QuietGate, QuietSources
from gateway.gates.sparql.query_pool import QueryPool
from gateway.runtime.clocks import SYSTEM_CLOCKS


def looking_gates(stages: Stages, health: Health, pool: QueryPool) -> tuple[object, ...]:
    """The gates of the routes of `gateway.gates.looking`, but `WhyGate`."""
    reception, reload = stages.reception, stages.control.reload
    quiet = QuietSources(
        queries=lambda: reload.profiles.queries,
        mappings=lambda: reception.mappings.mappings,
        quarantine=reception.quarantine,
        alarms=health.alarms,
        now=SYSTEM_CLOCKS.now,
    )
    return (QuietGate(pool, quiet),)
