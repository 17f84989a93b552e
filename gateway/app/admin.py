"""The gates that let people look into ingest, put together.

Place on the way of the data: built by `app` at the start: profiles, quarantine, raw messages.
"""

from datetime import timedelta

from starlette.routing import Route

from gateway.admin.onboarding.changes import history
from gateway.admin.profile_reload import ProfileReload
from gateway.admin.provenance import Provenance
from gateway.admin.quarantine_replay import QuarantineReplay
from gateway.admin.rehearsal.runner import RehearsalConditions, RehearsalRunner
from gateway.app.measures import Parts
from gateway.app.subscribers import request_limits
from gateway.config.settings import Config
from gateway.engine import Limits
from gateway.gates.admin.profiles import ProfilesGate
from gateway.gates.admin.quarantine import QuarantineGate
from gateway.gates.admin.raw_messages import RawMessagesGate
from gateway.gates.admin.rehearsal import RehearsalGate
from gateway.gates.admin.why import WhyGate
from gateway.security.guard import Guard


def inspection_routes(parts: Parts, guard: Guard, config: Config) -> list[Route]:
    """Their endpoints."""
    routes: list[Route] = []
    if parts.profiles is not None:
        routes += ProfilesGate(parts.profiles, guard).routes()
    quarantine = parts.ingest.quarantine
    replay = QuarantineReplay(quarantine, parts.inbox)
    if parts.queries is not None and parts.profiles is not None:
        rehearsals = _rehearsals(parts, parts.profiles, config)
        routes += RehearsalGate(
            rehearsals, parts.ingest.raw, parts.queries, guard, request_limits(config)
        ).routes()
        routes += WhyGate(
            _provenance(parts, parts.profiles),
            lambda: parts.scheduler.look(history),
            parts.queries,
            guard,
        ).routes()
    return [
        *routes,
        *QuarantineGate(quarantine, replay, guard).routes(),
        *RawMessagesGate(parts.ingest.raw, parts.ingest.present.identity, guard).routes(),
    ]


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
