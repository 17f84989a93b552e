"""Onboarding as the configuration has it: whose announcements are heard, and what is collected.

Put together once, when the gateway starts.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from adapters.values.message import Message
from adapters.values.notice import Liveness
from adapters.values.observation import StreamKey
from adapters.values.proposal import Names
from gateway.admin.onboarding.discovery import announcement_filters, is_among
from gateway.admin.onboarding.onboarding import Onboarding, OnboardingSettings
from gateway.admin.onboarding.trial import Writing
from gateway.app.reception import Reception
from gateway.config.settings import Config
from gateway.gates.mqtt.external.listener import ExternalListener
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.profiles import Profiles
from gateway.runtime.clocks import Clocks


def onboarding_of(
    config: Config, profiles: Callable[[], Profiles], reception: Reception, clocks: Clocks
) -> Onboarding:
    """Behind our own broker it hears what ingest does; `run` is to be entered before that."""

    def gone(streams: Sequence[StreamKey]) -> None:
        if streams:
            reception.ingest.note([Liveness(each, False) for each in streams], clocks.now())

    settings = config.discovery
    future = timedelta(seconds=config.limits.future_s)
    chosen = OnboardingSettings(
        Names(f"{config.gateway.base_iri}{config.gateway.id}/", config.gateway.base_iri),
        frozenset(settings.families),
        frozenset(settings.auto_accept),
        settings.topics,
        settings.topic_bytes,
        lambda: profiles().texts(),
    )
    onboarding = Onboarding(
        reception.scheduler,
        reception.mappings,
        lambda: Writing(reception.current_state.templates, future),
        chosen,
        believe=reception.plausibility.out_of_range,
        gone=gone,
    )
    if config.mqtt.mode == "embedded":
        reception.ingest.on_message(onboarding.discovery.observe)
    return onboarding


def announced(config: Config) -> Callable[[str], bool]:
    """Whether a topic is one of announcements that are heard."""
    return is_among(announcement_filters(frozenset(config.discovery.families)))


def external_listener(
    config: Config,
    settings: ExternalSettings,
    onboarding: Onboarding,
    now: Callable[[], datetime],
    is_taken: Callable[[str], bool],
) -> ExternalListener:
    """What hears announcements, and the topics that are collected, at an external broker.

    What we tell ourselves `is_taken`, and not heard, though the broker had taken our mark off.
    """
    discovery, own = config.discovery, f"{config.mqtt.sparql_topic}/"
    filters = announcement_filters(frozenset(discovery.families)) | frozenset(discovery.collect)

    def observe(message: Message) -> None:
        if not is_taken(message.topic) and not message.topic.startswith(own):  # tokens are in those
            onboarding.observe(message)

    return ExternalListener(settings, filters, observe, now)
