"""The JSON interface put together: the gates by which people look into a gateway and set it up.

Place on the way of the data: built by `app` at the start, when all parts are there.
"""

from datetime import timedelta
from functools import partial

from gateway.admin.onboarding.changes import history
from gateway.admin.profile_reload import ProfileReload
from gateway.admin.provenance import Provenance
from gateway.admin.quarantine_replay import QuarantineReplay
from gateway.admin.rehearsal.runner import RehearsalConditions, RehearsalRunner
from gateway.app.health import Health
from gateway.app.measures import Parts
from gateway.config.settings import Config
from gateway.engine import Limits
from gateway.gates.admin.actuators import ActuatorsGate
from gateway.gates.admin.openapi import ROUTERS
from gateway.gates.admin.quarantine import QuarantineGate
from gateway.gates.admin.raw_messages import RawMessagesGate
from gateway.gates.admin.rehearsal import RehearsalGate
from gateway.gates.admin.why import WhyGate
from gateway.gates.http.dependencies import Served
from gateway.gates.http.health import HealthGate
from gateway.gates.http.json_interface import JsonInterface
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.sparql.delayed import DelayedGate
from gateway.security.guard import Guard


def json_interface(
    parts: Parts, health: Health, guard: Guard, limits: RequestLimits, config: Config
) -> JsonInterface:
    """The JSON routes of a gateway whose parts are all there."""
    identity = parts.ingest.present.identity
    quarantine = parts.ingest.quarantine
    gates: list[object] = [
        DelayedGate(parts.scheduler),
        HealthGate(health),
        QuarantineGate(quarantine, QuarantineReplay(quarantine, parts.inbox)),
        RawMessagesGate(parts.ingest.raw, identity),
        parts.onboarding,
        parts.profiles,
    ]
    if parts.actuating is not None:
        gates.append(ActuatorsGate(parts.actuating, identity.actuation_iri("")))
    if parts.queries is not None and parts.profiles is not None:
        history_now = partial(parts.scheduler.look, history)
        provenance, queries = _provenance(parts, parts.profiles), parts.queries
        rehearsals = _rehearsals(parts, parts.profiles, config)
        gates.append(RehearsalGate(rehearsals, parts.ingest.raw, queries))
        gates.append(WhyGate(provenance, history_now, queries))
    return JsonInterface(ROUTERS, Served({type(gate): gate for gate in gates}, guard, limits))


def _provenance(parts: Parts, profiles: ProfileReload) -> Provenance:
    ingest = parts.ingest
    return Provenance(
        ingest.present.identity,
        ingest.mappings,
        ingest.raw,
        ingest.quarantine,
        journal=parts.journal.folder,
        profiles=lambda: profiles.profiles,
        templates=lambda: ingest.present.templates,
    )


def _rehearsals(parts: Parts, profiles: ProfileReload, config: Config) -> RehearsalRunner:
    ingest = parts.ingest
    future = timedelta(seconds=config.limits.future_s)
    limits = Limits(config.limits.query_solutions, config.limits.query_s)
    conditions = RehearsalConditions(ingest.present.identity, future, config.store.latest, limits)
    return RehearsalRunner(parts.scheduler, lambda: profiles.profiles, conditions)
