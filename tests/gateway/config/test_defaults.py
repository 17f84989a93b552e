"""A default stands once: what a part takes unless told otherwise is what the settings say."""

from dataclasses import fields

from gateway.actuation.limits import ActuationLimits
from gateway.app.brokers.settings import broker_settings
from gateway.app.security import token_lifetimes_s
from gateway.app.serving.limits import load_limits, query_limits, request_limits, server_settings
from gateway.app.subscribers import subscriber_limits
from gateway.config.settings import Config
from gateway.engine.workers.workers import ARTQ
from gateway.gates.http.operations import ServerSettings
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.http.request_load import LoadLimits
from gateway.gates.mqtt.embedded.settings import BrokerSettings
from gateway.gates.sparql.query_pool import QueryLimits
from gateway.gates.subscriptions.subscription import SubscriberLimits
from gateway.ingest.quarantine import QuarantineLimits
from gateway.ingest.raw_messages import RawLimits
from gateway.journal import JournalLimits, Origin
from gateway.scheduler.limits import SRQ, URQ
from gateway.security.authority import AuthoritySettings
from gateway.security.throttle import ThrottleLimits
from gateway.sparql.bounds.form import FormBounds

CONFIG = Config()
LIMITS = CONFIG.limits


def test_gates_are_bounded_as_the_settings_say() -> None:
    assert subscriber_limits(CONFIG) == SubscriberLimits()
    assert server_settings(CONFIG) == ServerSettings()
    assert request_limits(CONFIG) == RequestLimits()
    assert query_limits(LIMITS) == QueryLimits()
    assert LIMITS.of_form() == FormBounds()
    assert load_limits(LIMITS) == LoadLimits()


def test_parts_below_the_gates_are_bounded_as_the_settings_say() -> None:
    assert CONFIG.journal.limits() == JournalLimits()
    assert CONFIG.actuation.limits() == ActuationLimits()
    assert LIMITS.of_quarantine() == QuarantineLimits()
    assert LIMITS.of_raw_messages() == RawLimits()
    assert (LIMITS.urq, LIMITS.srq, CONFIG.engine.artq) == (URQ, SRQ, ARTQ)
    assert Origin(CONFIG.gateway.id, CONFIG.gateway.base_iri) == Origin()


def test_the_embedded_broker_is_as_the_settings_say() -> None:
    told, default = broker_settings(CONFIG, None), BrokerSettings()
    of_the_gateway = {"max_announcement_bytes", "is_announcement", "names"}
    for each in fields(BrokerSettings):
        if each.name not in of_the_gateway:
            assert getattr(told, each.name) == getattr(default, each.name), each.name


def test_logins_are_as_the_settings_say() -> None:
    security, authority = CONFIG.security, AuthoritySettings("https://example.org/id/g")
    throttle = ThrottleLimits(security.address_failures, security.identity_failures)
    assert token_lifetimes_s(CONFIG) == authority.token_s
    assert throttle == authority.throttle
