"""Rows of what messages mean: mappings, topics, payloads, the broker, the clock."""

import json
import shlex

from tests.gateway.cli.mistakes.row import WRONG, Row

_REPLAY = "what to do: correct the device or its mapping; then quarantine replay ID, or discard ID"


def _applied(**wrong: str) -> str:
    members = {
        "id": "urn:my:loft",
        "topic": "loft/temperature",
        "format": "json",
        "selector": "$.t",
        "sensor": "urn:my:loft:sensor",
        "property": "urn:my:temperature",
        "feature": "urn:my:loft",
    }
    return shlex.quote(json.dumps({"add": [{**wrong, **members, **wrong}]}))


MEANING = (
    Row(
        "a mapping with a typo",
        "sosa-gateway update @mapping.ru",
        0,
        "warning: urn:my:cellar-temperature: there is no term gw:topicFiltr; did you mean "
        "gw:topicFilter?",
        "correct or remove it: sosa-gateway mapping list, or an UPDATE of its graph",
        at="gateway",
        files={"mapping.ru": WRONG.replace("topicFilter", "topicFiltr")},
    ),
    Row(
        "a unit with a typo",
        "sosa-gateway update @mapping.ru",
        0,
        "warning: urn:my:attic-temperature: QUDT has no unit DEGC; did you mean DEG_C?",
        "correct its gw:unit",
        at="gateway",
        files={"mapping.ru": WRONG.replace("cellar", "attic").replace("DEG_C", "DEGC")},
    ),
    Row(
        "a topic filter that is none",
        "sosa-gateway update @mapping.ru",
        0,
        "warning: urn:my:loft-temperature: topic_filter: # must be the whole last level",
        "correct or remove it",
        at="gateway",
        files={"mapping.ru": WRONG.replace("cellar", "loft").replace("/+/", "/#/")},
    ),
    Row(
        "a topic with a typo",
        "sosa-gateway mapping unknown",
        0,
        "kitchn/oven/temperature",
        "nearly       kitchen/+/temperature, which a mapping reads: is it a typo?",
        at="gateway",
        published=("kitchn/oven/temperature", b"21.5"),
    ),
    Row(
        "a payload that is too long",
        "sosa-gateway quarantine list --topic kitchen/huge/temperature",
        0,
        "too_large: 70000 bytes of payload; [limits] payload_bytes allows fewer",
        _REPLAY,
        at="gateway",
        published=("kitchen/huge/temperature", b"1" * 70_000),
    ),
    Row(
        "a payload that is not UTF-8",
        "sosa-gateway quarantine list --topic kitchen/latin/temperature",
        0,
        "invalid_utf8: …byte…",
        _REPLAY,
        at="gateway",
        published=("kitchen/latin/temperature", b"21\xb0C"),
    ),
    Row(
        "JSON that was cut off",
        "sosa-gateway quarantine list --topic hall/state",
        0,
        "malformed: …",
        _REPLAY,
        at="gateway",
        published=("hall/state", b'{"temperature": 21.5, "hum'),
    ),
    Row(
        "JSON without the member",
        "sosa-gateway quarantine list --topic hall/wrong",
        0,
        "missing: no mapping found its value in the payload",
        _REPLAY,
        at="gateway",
        published=("hall/wrong", b'{"temp": 21.5}'),
    ),
    Row(
        "a member of a mapping that there is not",
        "sosa-gateway mapping apply " + _applied(selctor="$.t"),
        1,
        "add[0].selctor: unknown",
        "did you mean selector?",
        at="gateway",
    ),
    Row(
        "a format that there is not",
        "sosa-gateway mapping apply " + _applied(format="jsn"),
        1,
        "format: is none of",
        "correct this member",
        at="gateway",
    ),
    Row(
        "a unit with a typo, as JSON",
        "sosa-gateway mapping apply " + _applied(unit="unit:DEGC"),
        1,
        "QUDT has no unit DEGC",
        "did you mean DEG_C?",
        at="gateway",
    ),
    Row(
        "a topic filter that is none, as JSON",
        "sosa-gateway mapping apply " + _applied(topic="loft/#/temperature"),
        1,
        "# must be the whole last level",
        "correct this member",
        at="gateway",
    ),
    Row(
        "an actuator that there is not",
        "sosa-gateway actuate haeter 21",
        1,
        "there is no actuator haeter",
        "GET /actuators lists those there are",
        at="gateway",
    ),
    Row(
        "a value that an actuator cannot have",
        "sosa-gateway actuate heater 70",
        1,
        '"70" is above the maximum, 30',
        "(5 to 30)",
        at="gateway",
    ),
    Row(
        "a clock that says 2000",
        "sosa-gateway alarms",
        1,
        "clock: it says 2000-…, which is long ago",
        "let it be set by NTP: timedatectl set-ntp true",
        at="lonely gateway",
    ),
    Row(
        "no broker",
        "sosa-gateway alarms",
        1,
        "127.0.0.1:1883: nothing listens at 127.0.0.1:1883",
        "correct [mqtt] host, port, username, password_file and tls, or start the broker",
        at="lonely gateway",
    ),
    Row(
        "a broker that refuses the login",
        "sosa-gateway check",
        1,
        "the broker at 127.0.0.1:1883 refuses us: Not authorized",
        "correct [mqtt] username and password_file, or let this user in at the broker",
        at="other broker",
    ),
)
