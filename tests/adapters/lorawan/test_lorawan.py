"""LoRaWAN mappings that cannot be; copies of an uplink by several gateways."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.adapter import Decoded
from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
MAPPING = Mapping(
    "urn:m", "v3/+/devices/+/up", "ttn", "urn:s:{2}", "urn:p", "urn:f", "air.temperature"
)


@pytest.mark.parametrize("format_", ["ttn", "chirpstack"])
@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ("", "name a decoded value"),
        ("elsys:", "name a decoded value"),
        ("zenner:temperature", "none of the byte tables milesight-am107, milesight-am300"),
        ("a.*", "one value"),
        ("$.rxInfo[*].rssi", "one value"),
        ("$.a[", "character"),
    ],
)
def test_selector_that_can_not_be_is_refused(format_: str, selector: str, why: str) -> None:
    _, (error,) = Registry.compile([replace(MAPPING, format=format_, selector=selector)])
    assert error.member == "selector"
    assert why in str(error)


@pytest.mark.parametrize("member", ["time_selector", "sequence_selector"])
def test_time_and_sequence_are_the_network_servers(member: str) -> None:
    _, (error,) = Registry.compile([replace(MAPPING, **{member: "$.t"})])  # type: ignore[arg-type]
    assert error.member == member


def uplink(received_at: str) -> Decoded:
    payload = (
        '{"end_device_ids":{"device_id":"d"},"uplink_message":{"f_cnt":7,"received_at":"%s",'
        '"normalized_payload":[{"air":{"temperature":4}}]}}'
    )
    registry, errors = Registry.compile([MAPPING])
    assert not errors
    return registry.decode(Message("v3/a/devices/d/up", (payload % received_at).encode(), NOW))


def test_copies_by_several_gateways_have_one_sequence() -> None:
    (first,) = uplink("2026-03-02T07:00:00.100Z").observations
    (second,) = uplink("2026-03-02T07:00:00.350Z").observations
    assert first.phenomenon_time != second.phenomenon_time
    assert (first.stream, first.device_sequence) == (second.stream, second.device_sequence)
