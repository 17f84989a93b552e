"""The gates by which people look into a running gateway, put together.

Built by `app` at the start, beside those of `admin`.
"""

from collections.abc import Sequence

from gateway.admin.looking.troubles import Before
from gateway.admin.streams import Streams
from gateway.app.health import Health
from gateway.app.stages import Stages
from gateway.engine import Engine, Standing
from gateway.gates.admin.actuators import ActuatorsGate
from gateway.gates.admin.streams import StreamsGate
from gateway.gates.looking.asked_of import Standings
from gateway.gates.looking.quiet import QuietGate, QuietSources
from gateway.gates.looking.subscriptions import StandingGate, StandingSources
from gateway.gates.looking.trail import TrailGate, TrailSources
from gateway.gates.looking.why import WhyGate
from gateway.gates.sparql.query_pool import QueryPool
from gateway.runtime.clocks import SYSTEM_CLOCKS
from gateway.security.policy import Capability, Policy


def looking_gates(
    stages: Stages, health: Health, pool: QueryPool, why: WhyGate, actuators: ActuatorsGate
) -> tuple[object, ...]:
    """The gates of the JSON routes of `gateway.gates.looking`, and of the streams."""
    reload = stages.control.reload
    standing = _standing(stages)

    async def before(policy: Policy) -> Before:
        is_operator = Capability.OPERATIONS in policy.capabilities
        alarms = await health.alarms() if is_operator else ()
        reception = stages.reception
        return Before(reception.mappings.mappings, reception.quarantine, alarms, policy)

    trail = TrailSources(
        command=actuators.entry,
        queries=lambda: reload.profiles.queries,
        before=before,
        standings=Standings(standing, lambda: stages.control.republisher.errors),
    )
    quiet = QuietSources(trail.queries, before, SYSTEM_CLOCKS.now)
    return (
        why,
        TrailGate(why, pool, trail),
        QuietGate(pool, quiet),
        StandingGate(standing),
        StreamsGate(_streams(stages), pool),
    )


def _standing(stages: Stages) -> StandingSources:
    scheduler = stages.storage.scheduler

    async def standing(most: int) -> tuple[Sequence[Standing], int]:
        def look(engine: Engine) -> tuple[Sequence[Standing], int]:
            return engine.standing_by(most), engine.statistics.subscriptions

        return await scheduler.look(look)

    return StandingSources(
        standing,
        clients=lambda: stages.subscribing.subscribers.clients,
        rules=lambda: stages.control.republisher.standing,
    )


def _streams(stages: Stages) -> Streams:
    """As the store knows them, with the points and the journal of ingest."""
    reception, journal = stages.reception, stages.storage.journal
    return Streams(
        reception.current_state.streams,
        reception.sparklines,
        journal.folder,
        journal.manifest.last_times,
    )
