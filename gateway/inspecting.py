"""The gates that let people look into ingest, put together.

Place on the way of the data: built by `app` at the start: profiles, quarantine, raw messages.
"""

from starlette.routing import Route

from gateway.gates.profiles_gate import ProfilesGate
from gateway.gates.quarantine_gate import QuarantineGate
from gateway.gates.raw_messages_gate import RawMessagesGate
from gateway.gates.why_gate import WhyGate
from gateway.profile_reload import ProfileReload
from gateway.provenance import Provenance
from gateway.quarantine_replay import QuarantineReplay
from gateway.security.guard import Guard
from gateway.statistics import Parts


def inspection_routes(parts: Parts, guard: Guard) -> list[Route]:
    """Their endpoints."""
    routes: list[Route] = []
    if parts.profiles is not None:
        routes += ProfilesGate(parts.profiles, guard).routes()
    quarantine = parts.ingest.quarantine
    replay = QuarantineReplay(quarantine, parts.inbox)
    if parts.queries is not None and parts.profiles is not None:
        routes += WhyGate(_provenance(parts, parts.profiles), parts.queries, guard).routes()
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
