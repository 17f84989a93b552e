"""Ten thousand malformed profiles: a Profile, or a JsapError that names its place; nothing else."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsap import JsapError, Profile
from jsap.endpoints import Endpoint
from jsap.extended.quads import mapping_quads

pytestmark = pytest.mark.property

WHOLE: dict[str, Any] = {
    "host": "h",
    "oauth": {
        "enable": True,
        "register": "http://h/r",
        "registration": {"endpoint": "x", "client_id": "c"},
        "authentication": {"endpoint": "x", "client_id": "c", "client_secret": "s"},
    },
    "sparql11protocol": {
        "host": "h",
        "protocol": "http",
        "port": 8000,
        "query": {"path": "/query", "method": "POST", "format": "JSON"},
        "update": {"path": "/update", "method": "POST"},
    },
    "sparql11seprotocol": {
        "protocol": "ws",
        "reconnect": True,
        "availableProtocols": {"ws": {"port": 9000, "path": "/s"}, "mqtt": {"port": 1883}},
    },
    "parameters": {
        "host": "h",
        "ports": {"http": 1, "ws": 2, "wss": 3},
        "paths": {"query": "/q", "securePath": "/s", "register": "/r"},
        "security": {"jwt": "x"},
    },
    "graphs": {"default-graph-uri": ["urn:g"], "named_graph_uri": ["urn:g"]},
    "namespaces": {"a": "urn:a:", "xsd": "http://www.w3.org/2001/XMLSchema#"},
    "extended": {
        "mappings": [
            {
                "id": "urn:m",
                "topic": "t",
                "format": "json",
                "sensor": "urn:s",
                "property": "urn:p",
                "feature": "urn:f",
                "unit": "a:u",
            }
        ],
        "rules": [{"id": "urn:r", "query": "Q", "topic": "t", "payload": "x", "on": "added"}],
    },
    "updates": {
        "U": {
            "sparql": "INSERT { ?s a:p ?o } WHERE {}",
            "delay": 1,
            "forcedBindings": {
                "s": {"type": "uri", "value": "a:x"},
                "o": {"type": "literal", "datatype": "xsd:decimal", "value": "1.5"},
            },
        }
    },
    "queries": {
        "Q": {
            "sparql": "SELECT * { ?s ?p ?o }",
            "graphs": {"named-graph-uri": ["urn:g"]},
            "forcedBindings": {"o": {"type": "literal", "language": "en", "value": "x"}},
            "sparql11protocol": {"port": 1},
            "sparql11seprotocol": {"protocol": "ws"},
        }
    },
}
TEXTS = ("", "x", "\0", "\ud800", "urn:x", "a:b", "_:b", "?o", "'", "\\u0022", "http://[", "P")
ODD: tuple[object, ...] = (
    *TEXTS,
    *(None, True, 0, -1, 10**30, 1e308, "9" * 400, "2026-99-99T00:00:00Z"),
    *([], [[]], [None], {}, {"": {}}, {"type": "literal"}),
)


def checked(read: Callable[[], Profile]) -> bool:
    """Whether a profile came of it, with everything that is made of one; nothing but JsapError."""
    try:
        profile = read()
        mapping_quads(profile)
        for key, update in profile.updates.items():
            assert isinstance(profile.endpoints.update(key), Endpoint)
            update.render(update.bind({}))
        for key, query in profile.queries.items():
            profile.endpoints.subscribe(key)
            query.render_rows([{}, {}])
    except JsapError as error:
        return not error.reason
    return True


def mutated(chance: random.Random) -> object:
    """The whole profile with one to three members replaced, renamed or taken away."""
    members = json.loads(json.dumps(WHOLE))
    if chance.random() < 0.8:
        del members["parameters"]
    for _ in range(chance.randint(1, 3)):
        holder: Any = members
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = chance.choice(keys)
            if not isinstance(holder[key], dict | list) or chance.random() < 0.3:
                _mutate(holder, key, chance)
                break
            holder = holder[key]
    return members


def _mutate(holder: Any, key: Any, chance: random.Random) -> None:
    match chance.randint(0, 3):
        case 0 if isinstance(holder, dict):
            holder[chance.choice(["", "x y", "#", "\0", key.upper()])] = holder.pop(key)
        case 1:
            del holder[key]
        case _:
            holder[key] = chance.choice(ODD)


def test_nine_thousand_mutated_profiles() -> None:
    chance = random.Random(4)
    profiles = 0
    for _ in range(9000):
        members = mutated(chance)
        profiles += checked(lambda members=members: Profile.parse(members, source="own.jsap"))  # type: ignore[misc]
    assert 1000 < profiles < 8000


def test_five_hundred_texts_with_broken_bytes() -> None:
    chance = random.Random(5)
    text = json.dumps({key: WHOLE[key] for key in WHOLE if key != "parameters"})
    for _ in range(500):
        start = chance.randrange(len(text))
        junk = chance.choice(["", "{", "[" * 3000, '"', "1e999999999", "NaN", "9" * 5000, "\ud800"])
        broken = text[:start] + junk + text[start + chance.randint(0, 9) :]
        checked(lambda broken=broken: Profile.parse(broken))  # type: ignore[misc]
    assert not checked(lambda: Profile.parse("[" * 200_000))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*WHOLE, "Q", "sparql", "type", "value"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from([*WHOLE, "include"]), json_values, max_size=4))
def test_five_hundred_made_up_profiles(members: dict[str, object]) -> None:
    checked(lambda: Profile.parse(members))


def test_number_with_an_exponent_of_twenty_digits_is_an_error() -> None:
    with pytest.raises(JsapError, match="number"):
        Profile.parse('{"extended": {"x": 1e99999999999999999999}}')
