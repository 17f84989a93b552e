"""Onboarding as the configuration has it: whose announcements are heard, and what is collected.

Place on the way of the data: none; put together once, when the gateway starts.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta

from starlette.routing import Route

from adapters.proposal import Names
from gateway.config import Config
from gateway.gates.mappings_api import MappingsGate
from gateway.gates.request_body import RequestLimits
from gateway.ingest import Ingest
from gateway.mappings import MappingTable
from gateway.onboarding.listening import announcement_filters, is_among
from gateway.onboarding.onboarding import Onboarding, Terms
from gateway.onboarding.trial import Writing
from gateway.plausibility import Plausibility
from gateway.scheduler import Scheduler
from gateway.security.guard import Guard


def onboarding_of(
    config: Config,
    scheduler: Scheduler,
    ingest: Ingest,
    mappings: MappingTable,
    plausibility: Plausibility,
) -> Onboarding:
    """It hears what ingest does from now on; `run` is to be entered before messages come."""
    settings = config.discovery
    future = timedelta(seconds=config.limits.future_s)
    terms = Terms(
        Names(f"{config.gateway.base_iri}{config.gateway.id}/", config.gateway.base_iri),
        frozenset(settings.families),
        frozenset(settings.auto_accept),
        settings.topics,
        settings.topic_bytes,
    )
    onboarding = Onboarding(
        scheduler,
        mappings,
        lambda: Writing(ingest.present.templates, future),
        terms,
        plausibility.out_of_range,
    )
    ingest.on_heard(onboarding.listening.hear)
    return onboarding


def mappings_routes(
    onboarding: Onboarding | None, guard: Guard, limits: RequestLimits
) -> list[Route]:
    """The endpoints below /mappings; none before there is an onboarding."""
    return [] if onboarding is None else MappingsGate(onboarding, guard, limits).routes()


def announced(config: Config) -> Callable[[str], bool]:
    """Whether a topic is one of announcements that are heard."""
    return is_among(announcement_filters(frozenset(config.discovery.families)))


def also_heard(
    config: Config, set_filters: Callable[[Iterable[str]], None]
) -> Callable[[frozenset[str]], None]:
    """Subscribes at an external broker what mappings ask for, and what onboarding listens to."""
    settings = config.discovery
    more = announcement_filters(frozenset(settings.families)) | frozenset(settings.collect)
    return lambda filters: set_filters(filters | more)
