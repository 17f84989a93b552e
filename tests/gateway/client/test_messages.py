"""Whatever a broker says is a message, nothing to us, or a ProtocolError; nothing else."""

import json
import random
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from gateway.client import ProtocolError
from gateway.client.messages import Refusal, Resumed, Unsubscribed, decode_message
from gateway.client.notification import Answer, Notification

WHOLE = {
    "notification": {
        "spuid": "sepa://subscription/1",
        "alias": "a",
        "sequence": 1,
        "time": 1,
        "merged": 2,
        "addedResults": {
            "head": {"vars": ["x"]},
            "results": {"bindings": [{"x": {"type": "literal", "value": "1", "datatype": "u:t"}}]},
        },
        "removedResults": {"head": {}, "boolean": True},
    },
    "error": "code",
    "status_code": 401,
    "error_description": "text",
    "resumed": {"spuid": "x", "sequence": 3},
    "unsubscribed": {"spuid": "x"},
}
ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    1e308,
    "",
    "urn:x",
    "\0",
    [],
    [[]],
    {},
    {"": 0},
    "9" * 5000,
)


def understood(text: str) -> None:
    with suppress(ProtocolError):
        found = decode_message("ws://broker/", text)
        assert found is None or isinstance(found, Notification | Refusal | Resumed | Unsubscribed)
        if isinstance(found, Notification):
            Answer().change(found.added, found.removed)


def test_three_thousand_mutated_messages() -> None:
    chance = random.Random(7)
    for _ in range(3000):
        message = {key: value for key, value in WHOLE.items() if chance.random() < 0.4}
        message = json.loads(json.dumps(message))
        holder = message
        while isinstance(holder, dict) and holder:
            key = chance.choice(list(holder))
            if not isinstance(holder[key], dict) or chance.random() < 0.3:
                holder[key] = chance.choice(ODD)
                break
            holder = holder[key]
        understood(json.dumps(message))
    understood("[" * 100_000)


@given(st.text(max_size=40) | st.sampled_from(list(WHOLE)).map(lambda key: f'{{"{key}": 1}}'))
def test_any_text(text: str) -> None:
    understood(text)
