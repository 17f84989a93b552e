"""Where entries are sent: defaults, overrides, channels, OAuth in both styles, delayed updates."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from jsap import JsapError, Profile
from jsap.endpoints import Endpoint, OAuth, is_socket
from jsap.file_format import Method

ALL = {"sparql": "SELECT * { ?s ?p ?o }"}
ADD = {"sparql": "INSERT DATA { <urn:a> <urn:b> 1 }"}


def profile(**members: object) -> Profile:
    return Profile.parse({"host": "broker", **members})


def test_a_profile_that_says_nothing_means_the_ports_of_sepa() -> None:
    endpoints = profile(queries={"ALL": ALL}).endpoints
    assert endpoints.query("ALL") == Endpoint("http://broker:8000/query", Method.POST, "JSON")
    assert endpoints.update("ADD").url == "http://broker:8000/update"
    assert endpoints.subscribe("ALL").url == "ws://broker:9000/subscribe"
    assert endpoints.subscribe("ALL").reconnect


def test_a_profile_with_a_protocol_and_no_port_means_that_of_the_scheme() -> None:
    endpoints = profile(
        sparql11protocol={"protocol": "HTTPS", "query": {"path": "sparql", "method": "get"}}
    ).endpoints
    assert endpoints.query("ALL") == Endpoint("https://broker/sparql", Method.GET, "JSON")


def test_what_an_entry_says_wins_member_by_member() -> None:
    endpoints = profile(
        sparql11protocol={
            "host": "store",
            "port": 1,
            "query": {"path": "/q", "method": "GET", "format": "xml"},
            "update": {"path": "/u", "method": "URL_ENCODED_POST"},
        },
        queries={"OWN": {**ALL, "sparql11protocol": {"port": 2, "query": {"path": "/own"}}}},
        updates={"OWN": {**ADD, "sparql11protocol": {"host": "::1", "protocol": "https"}}},
    ).endpoints
    assert endpoints.query("OWN") == Endpoint("http://store:2/own", Method.GET, "XML")
    assert endpoints.query("ALL") == Endpoint("http://store:1/q", Method.GET, "XML")
    assert endpoints.update("OWN").url == "https://[::1]:1/u"
    assert endpoints.update("OWN").method is Method.URL_ENCODED_POST


def test_an_entry_has_a_host_of_its_own() -> None:
    entry = {**ALL, "host": "other", "sparql11protocol": {"port": 7}}
    endpoints = profile(
        sparql11protocol={"host": "store"},
        sparql11seprotocol={"host": "socket"},
        queries={
            "OWN": entry,
            "IN": {**entry, "sparql11seprotocol": {"host": "third"}},
            "ALL": ALL,
        },
        updates={"OWN": {**ADD, "host": "other", "sparql11protocol": {"host": "inner"}}},
    ).endpoints
    assert endpoints.query("OWN").url == "http://other:7/query"
    assert endpoints.update("OWN").url == "http://inner/update"
    assert endpoints.query("ALL").url == "http://store/query"
    assert endpoints.subscribe("OWN").url == "ws://other:9000/subscribe"
    assert endpoints.subscribe("IN").url == "ws://third:9000/subscribe"
    assert endpoints.subscribe("ALL").url == "ws://socket:9000/subscribe"


def test_a_subscription_is_opened_by_the_protocol_that_the_entry_names() -> None:
    channels = {
        "ws": {"port": 9000, "path": "/subscribe"},
        "wss": {"port": 9443, "path": "/secure/subscribe", "scheme": "wss"},
        "mqtt": {"host": "mqtt.local", "port": 1883, "requests": "sepa/requests"},
    }
    endpoints = profile(
        sparql11seprotocol={"protocol": "ws", "availableProtocols": channels, "reconnect": False},
        queries={
            "SAFE": {**ALL, "sparql11seprotocol": {"protocol": "wss", "reconnect": True}},
            "SMALL": {**ALL, "sparql11seprotocol": {"protocol": "mqtt"}},
        },
    ).endpoints
    safe, small = endpoints.subscribe("SAFE"), endpoints.subscribe("SMALL")
    assert endpoints.subscribe("ALL").url == "ws://broker:9000/subscribe"
    assert not endpoints.subscribe("ALL").reconnect
    assert (safe.url, safe.reconnect, is_socket(safe)) == (
        "wss://broker:9443/secure/subscribe",
        True,
        True,
    )
    assert (small.protocol, small.url, is_socket(small)) == (
        "mqtt",
        "mqtt://mqtt.local:1883/",
        False,
    )
    assert small.members["requests"] == "sepa/requests"


def test_wss_without_scheme_is_wss_and_a_warning() -> None:
    se = {"protocol": "wss", "availableProtocols": {"wss": {"port": 9443, "path": "/s"}}}
    made = profile(sparql11seprotocol=se, queries={"ALL": ALL})
    assert made.endpoints.subscribe("ALL").url == "wss://broker:9443/s"
    assert made.warnings == (
        "sparql11seprotocol.availableProtocols.wss: no scheme; wss is taken, some clients take ws",
    )


def test_protocol_that_is_not_available_is_told_at_once_and_refused() -> None:
    se = {"protocol": "wss", "availableProtocols": {"ws": {"port": 9000}}}
    made = profile(sparql11seprotocol=se, queries={"ALL": ALL})
    assert made.warnings == ("sparql11seprotocol.protocol: wss is none of availableProtocols",)
    with pytest.raises(JsapError, match="availableProtocols: no wss"):
        made.endpoints.subscribe("ALL")


def test_no_host_is_an_error_where_one_is_needed() -> None:
    with pytest.raises(JsapError, match="host: missing; say where the broker is"):
        Profile.parse({"queries": {"ALL": ALL}}).endpoints.query("ALL")


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"sparql11protocol": {"protocol": "ftp"}}, "sparql11protocol.protocol"),
        ({"sparql11protocol": {"port": 0}}, "sparql11protocol.port"),
        ({"sparql11protocol": {"query": {"method": "PUT"}}}, "sparql11protocol.query.method"),
        ({"updates": {"U": {**ADD, "delay": -1}}}, "updates.U.delay"),
        ({"updates": {"U": {**ADD, "delay": 1e300}}}, "updates.U.delay"),
        ({"updates": {"U": {**ADD, "at": "2026-01-01T00:00:00"}}}, "updates.U.at"),
        ({"updates": {"U": {**ADD, "at": "2026-01-01T00:00:00Z", "delay": 1}}}, "updates.U"),
        ({"oauth": {"enable": "perhaps"}}, "oauth.enable"),
    ],
)
def test_a_wrong_protocol_tells_its_path(members: Mapping[str, object], path: str) -> None:
    with pytest.raises(JsapError) as caught:
        Profile.parse(members)
    assert caught.value.path == path


def test_oauth_of_the_old_style_has_urls_and_no_credentials() -> None:
    old = {
        "enable": True,
        "register": "https://broker:8443/oauth/register",
        "tokenRequest": "https://broker:8443/oauth/token",
        "client_id": "encrypted",
        "client_secret": "encrypted",
        "jwt": "encrypted",
        "expires": 0,
    }
    assert profile(oauth=old).oauth == OAuth(
        True, "https://broker:8443/oauth/register", "https://broker:8443/oauth/token"
    )


def test_oauth_of_the_new_style_has_objects_and_hides_the_secret() -> None:
    new = {
        "enable": True,
        "provider": "sepa",
        "registration": {"endpoint": "https://broker/register", "client_id": "ann"},
        "authentication": {
            "endpoint": "https://broker/token",
            "client_id": "i",
            "client_secret": 7,
        },
    }
    oauth = profile(oauth=new).oauth
    assert oauth == OAuth(True, "https://broker/register", "https://broker/token", "ann", "i", "7")
    assert "7" not in repr(oauth)
    assert not profile().oauth.enabled


@pytest.mark.parametrize(
    ("member", "due"),
    [
        ({"delay": 30}, timedelta(seconds=30)),
        ({"delay": "PT1M"}, timedelta(minutes=1)),
        ({"at": "2026-11-21T18:00:00+01:00"}, datetime(2026, 11, 21, 17, tzinfo=UTC)),
        ({}, None),
    ],
)
def test_an_update_may_wait(member: Mapping[str, object], due: object) -> None:
    assert profile(updates={"U": {**ADD, **member}}).updates["U"].due == due


def test_a_query_does_not_wait() -> None:
    assert profile(queries={"Q": {**ALL, "delay": 1}}).warnings == (
        "queries.Q: only an update waits; `at` and `delay` are passed over",
    )
