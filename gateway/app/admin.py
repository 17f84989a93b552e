"""The JSON interface put together: the gates by which people look into a gateway and set it up.

Place on the way of the data: built by `app` at the start, when all parts are there.
"""

from collections.abc import Sequence
from datetime import timedelta

from gateway.admin.quarantine_replay import QuarantineReplay
from gateway.admin.rehearsal.runner import RehearsalConditions, RehearsalRunner
from gateway.admin.saved_queries import SavedQueries
from gateway.app.access import access_gates
from gateway.app.health import Health
from gateway.app.looking import looking_gates
from gateway.app.security import Security
from gateway.app.stages import Stages
from gateway.config.settings import Config
from gateway.engine import Limits
from gateway.gates.admin.actuators import ActuatorsGate
from gateway.gates.admin.alarms import AlarmsGate
from gateway.gates.admin.health_history import HealthHistoryGate
from gateway.gates.admin.quarantine import QuarantineGate
from gateway.gates.admin.raw_messages import RawMessagesGate
from gateway.gates.admin.reasoning import ReasoningGate
from gateway.gates.admin.rehearsal import RehearsalGate
from gateway.gates.admin.routers import ROUTERS
from gateway.gates.admin.windows import WindowsGate
from gateway.gates.http.dependencies import Served
from gateway.gates.http.health import HealthGate
from gateway.gates.http.json_interface import JsonInterface
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.sparql.delayed import DelayedGate
from gateway.gates.sparql.query_pool import QueryPool


def json_interface(
    stages: Stages,
    health: Health,
    pool: QueryPool,
    security: Security,
    config: Config,
    *,
    more: Sequence[object],
) -> JsonInterface:
    """The JSON routes of a gateway whose parts are all there; `more` are gates made before."""
    storage, reception = stages.storage, stages.reception
    control, raw = stages.control, reception.raw
    identity, quarantine = storage.identity, reception.quarantine
    actuators = ActuatorsGate(control.actuating, identity.actuation_iri(""))
    gates: tuple[object, ...] = (
        *access_gates(security, config, stages.broker.port, stages.federation),
        DelayedGate(storage.scheduler),
        HealthGate(health),
        stages.keeping,
        AlarmsGate(health),
        HealthHistoryGate(health.alarming.report),
        QuarantineGate(quarantine, QuarantineReplay(quarantine, reception.inbox)),
        RawMessagesGate(raw, identity),
        stages.onboarding,
        control.reload,
        SavedQueries(config.saved_profile, control.reload),
        actuators,
        ReasoningGate(storage.scheduler, config.reasoning.domains(), config.reasoning.derived),
        WindowsGate(storage.scheduler),
        RehearsalGate(_rehearsals(stages, config), raw, pool),
        *looking_gates(stages, health, pool, config, actuators),
        *more,
    )
    limits = RequestLimits(config.limits.request_bytes, config.limits.request_s)
    return JsonInterface(
        ROUTERS, Served({type(gate): gate for gate in gates}, security.guard, limits)
    )


def _rehearsals(stages: Stages, config: Config) -> RehearsalRunner:
    storage, reload = stages.storage, stages.control.reload
    future = timedelta(seconds=config.limits.future_s)
    limits = Limits(config.limits.query_solutions, config.limits.query_s)
    conditions = RehearsalConditions(storage.identity, future, config.store.latest, limits)
    return RehearsalRunner(storage.scheduler, lambda: reload.profiles, conditions)
