"""What Mosquitto's files say of clients: no more than their policies, and no lines of theirs."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.config.settings import Config, MqttSettings, SecuritySettings, TlsSettings
from gateway.errors import ConfigurationError
from gateway.gates.mqtt.mosquitto.configuration import configuration
from gateway.gates.mqtt.mosquitto.logins import (
    acl_file,
    logins_of_identities,
    logins_of_users,
    password_file,
)
from gateway.security.identity import Identity, Snapshot
from gateway.security.mosquitto_hash import is_mosquitto_hash, mosquitto_hash, verifies
from gateway.security.passwords import hash_password
from gateway.security.policy import Policy
from tests.gateway.gates.mqtt.mosquitto.beside import LAMP, known

HASH = mosquitto_hash("secret", 2)
X = known("x")


def snapshot(*identities: Identity) -> Snapshot:
    return Snapshot(
        {each.name: each for each in identities}, {each.client_id: each for each in identities}
    )


def test_a_client_has_both_names_and_the_topics_of_its_policy() -> None:
    logins = logins_of_identities(snapshot(known("lamp"), known("boss", Policy(receive=None))))
    assert sorted(logins.by_name) == ["boss", "boss-id", "lamp", "lamp-id"]
    text = acl_file(logins.by_name, "sparql")
    assert "user lamp\ntopic read home/lamp/#\ntopic write home/lamp/state\n\n" in text
    assert "user boss\ntopic read #\ntopic read $SYS/#\n\n" in text
    assert text.endswith("pattern readwrite sparql/%u/#\n")


def test_a_client_id_wins_over_the_name_of_another() -> None:
    first, second = known("first"), known("second", Policy())
    second = replace(second, client_id="first")
    logins = logins_of_identities(snapshot(first, second))
    assert logins.by_name["first"].policy == Policy()
    assert logins.by_name["first-id"].policy == LAMP


@settings(max_examples=40)
@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_no_name_and_no_filter_becomes_a_line_of_its_own(name: str, topic: str) -> None:
    policy = Policy(publish=frozenset({topic}), receive=frozenset({topic}))
    who = replace(X, policy=policy, name=name)
    logins = logins_of_identities(snapshot(who))
    lines = acl_file(logins.by_name, "sparql").splitlines()
    assert all(
        line == "" or line.split(" ")[0] in {"#", "user", "topic", "pattern"} for line in lines
    )
    allowed = {f"topic {way} {topic}" for way in ("read", "write")}
    own = {"topic read #", "topic read $SYS/#", "topic write #"}
    assert {line for line in lines if line.startswith("topic")} <= allowed | own
    users = {"user sosa-gateway", "user x-id", f"user {name}"}
    assert {line for line in lines if line.startswith("user")} <= users
    passwords = password_file(logins.by_name, HASH).splitlines()
    assert {line.partition(":")[0] for line in passwords} <= {"sosa-gateway", name, "x-id"}
    assert passwords[0] == f"sosa-gateway:{HASH}"


@pytest.mark.parametrize("name", ["a:b", "#a", " a", "a ", "sosa-gateway"])
def test_a_name_that_the_files_cannot_say_is_told(name: str) -> None:
    who = replace(known("x"), name=name)
    logins = logins_of_identities(snapshot(who))
    assert sorted(logins.by_name) == ["x-id"]
    assert [each.name for each in logins.left_out] == [name]
    assert logins.left_out[0].what_to_do
    assert [each.name for each in logins_of_users({name: HASH}).left_out] == [name]


def test_who_was_made_before_is_told_with_the_command() -> None:
    users = logins_of_users({"new": HASH, "my lamp": hash_password("secret")})
    assert sorted(users.by_name) == ["new"]
    assert users.left_out[0].what_to_do == "sosa-gateway mqtt-user 'my lamp'"


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_hash_is_of_one_password(password: str, other: str) -> None:
    stored = mosquitto_hash(password, 2)
    assert is_mosquitto_hash(stored)
    assert verifies(stored, password)
    assert verifies(stored, other) == (password == other)


@pytest.mark.parametrize(
    "text",
    ["", "$7$", "$7$0$AAAA$AAAA", f"{HASH}x", HASH.replace("$7$2$", "$7$9999999$")],
    ids=["empty", "no-cost", "costs-nothing", "longer", "costs-too-much"],
)
def test_what_is_no_hash_verifies_nothing(text: str) -> None:
    assert not is_mosquitto_hash(text)
    assert not verifies(text, "secret")


@pytest.mark.parametrize("host", ["192.168.1.5\nplugin /tmp/x.so", "192.168.1.5\r"])
def test_no_setting_is_a_line_of_its_own_in_the_configuration(host: str) -> None:
    mqtt = MqttSettings(mode="mosquitto", host=host)
    tls, security = TlsSettings(mode="own"), SecuritySettings(enabled=True)
    with pytest.raises(ConfigurationError, match="cannot say"):
        configuration(Config(mqtt=mqtt, tls=tls, security=security))
