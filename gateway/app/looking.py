"""The gates by which people look into a running gateway, put together.

Built by `app` at the start, beside those of `admin`.
"""

from collections.abc import Sequence
from functools import partial

from gateway.admin.looking.settings_told import told_settings
from gateway.admin.looking.troubles import Before
from gateway.admin.onboarding.changes import history
from gateway.admin.provenance import Provenance
from gateway.app.health import Health
from gateway.app.stages import Stages
from gateway.config.settings import Config
from gateway.engine import Engine, Standing
from gateway.gates.admin.actuators import ActuatorsGate
from gateway.gates.looking.asked_of import Standings
from gateway.gates.looking.federation import FederationGate
from gateway.gates.looking.operations import LookingGate
from gateway.gates.looking.quiet import QuietGate, QuietSources
from gateway.gates.looking.subscriptions import StandingGate, StandingSources
from gateway.gates.looking.trail import TrailGate, TrailSources
from gateway.gates.looking.why import WhyGate
from gateway.gates.sparql.query_pool import QueryPool
from gateway.runtime.clocks import SYSTEM_CLOCKS
from gateway.security.policy import Capability, Policy


def looking_gates(
    stages: Stages,
    health: Health,
    pool: QueryPool,
    config: Config,
    actuators: ActuatorsGate,
) -> tuple[object, ...]:
    """The gates of looking, and of the streams; `actuators` are asked what became of a command."""
    scheduler = stages.storage.scheduler
    prove = scheduler.engine.why
    why = WhyGate(_provenance(stages), partial(scheduler.look, history), pool, prove)
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
        FederationGate(stages.federation),
        _looking_gate(stages, config),
    )


def _looking_gate(stages: Stages, config: Config) -> LookingGate:
    settings = told_settings(config, Config())
    return LookingGate(stages.log, settings, stages.broker.clients, stages.subscribing.subscribers)


def _provenance(stages: Stages) -> Provenance:
    reception, reload = stages.reception, stages.control.reload
    return Provenance(
        stages.storage.identity,
        reception.mappings,
        reception.raw,
        reception.quarantine,
        journal=stages.storage.journal.folder,
        profiles=lambda: reload.profiles,
        templates=lambda: reception.current_state.templates,
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
