"""What a mapping says of retained messages and of silence, whatever the format."""

from datetime import UTC, datetime

import pytest

from adapters.registry import Registry
from adapters.values.mapping import Mapping, MappingError
from adapters.values.message import Message
from adapters.values.notice import Liveness

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def registry(retained: str = "seed", expires_after_s: float | None = None) -> Registry:
    mapping = Mapping(
        "urn:m",
        "home/+",
        "json",
        "urn:s:{1}",
        "urn:p",
        "urn:f",
        selector="$.v",
        time_selector="$.t",
        retained=retained,
        expires_after_s=expires_after_s,
    )
    compiled, errors = Registry.compile([mapping])
    assert not errors
    return compiled


def message(payload: bytes, *, retained: bool) -> Message:
    return Message("home/hall", payload, NOW, retained=retained)


@pytest.mark.parametrize(
    ("policy", "circumstances"),
    [("seed", [(True, False)]), ("history", [(False, True)]), ("drop", [])],
)
def test_retained_result_without_a_time_is_what_the_policy_says(
    policy: str, circumstances: list[tuple[bool, bool]]
) -> None:
    decoded = registry(policy).decode(message(b'{"v":1}', retained=True))
    found = [
        (seen.circumstances.seed, seen.circumstances.historical) for seen in decoded.observations
    ]
    assert found == circumstances
    assert decoded.matched
    assert not decoded.faults


@pytest.mark.parametrize("policy", ["seed", "history", "drop"])
@pytest.mark.parametrize("payload", [b'{"v":1}', b'{"v":1,"t":"2026-03-01T00:00:00Z"}'])
def test_live_results_and_those_with_a_time_are_what_they_are(policy: str, payload: bytes) -> None:
    decoded = registry(policy).decode(message(payload, retained=b'"t"' in payload))
    (seen,) = decoded.observations
    assert not seen.circumstances.seed
    assert not seen.circumstances.historical


def test_mapping_with_a_limit_promises_another_observation() -> None:
    decoded = registry(expires_after_s=600).decode(message(b'{"v":1}', retained=False))
    assert decoded.notices == (Liveness(("urn:s:hall", "urn:p", "urn:f"), True, 600),)
    assert registry().decode(message(b'{"v":1}', retained=False)).notices == ()


def test_retained_result_promises_nothing() -> None:
    decoded = registry(expires_after_s=600).decode(message(b'{"v":1}', retained=True))
    assert decoded.notices == ()


def test_unknown_policy_is_refused() -> None:
    mapping = Mapping("urn:m", "home", "scalar", "urn:s", "urn:p", "urn:f", retained="keep")
    _, errors = Registry.compile([mapping])
    assert [(type(each), each.member) for each in errors] == [(MappingError, "retained")]
