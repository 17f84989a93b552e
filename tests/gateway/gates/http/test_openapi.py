"""The gateway does what its OpenAPI document says, whatever schemathesis sends it.

The number of requests is bounded: 20 for each operation and mode, and the same ones in each run.
"""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gateway.gates.admin.openapi import document
from tests.kit import gateways

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SCHEMA = schemathesis.openapi.from_dict(document()).exclude(path=["/subscribe", "/flow"])
"""All but the streams, whose answers never end."""


@schemathesis.serializer("application/n-triples")
def _as_written(_: object, value: object) -> bytes:
    """Text, as it is; anything else is no N-Triples."""
    return value.encode() if isinstance(value, str) else repr(value).encode()


OPERATIONS = [each.ok() for each in SCHEMA.get_all_operations() if isinstance(each, Ok)]
FUZZED = [
    pytest.param(each, mode, id=f"{each.label} {mode.value}")
    for each in OPERATIONS
    for mode in GenerationMode
    # A path alone can hardly be wrong.
    if mode is GenerationMode.POSITIVE or each.query or each.body
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real gateway, in a thread with a loop of its own."""
    folder = tmp_path_factory.mktemp("fuzzed")
    started, ended = threading.Event(), asyncio.Event()
    found: list[str] = []
    loop = asyncio.new_event_loop()

    async def serve(folder: Path) -> None:
        config = gateways.settings(folder, gateways.write_profile(folder))
        with patch("gateway.admin.keeping.encryption.MEMORY_KIB", 8):  # many passphrases are tried
            async with gateways.running(config) as gateway:
                found.append(f"http://127.0.0.1:{gateway.http_port}")
                started.set()
                await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve(folder)))
    thread.start()
    assert started.wait(20)
    yield found[0]
    loop.call_soon_threadsafe(ended.set)
    thread.join()
    loop.close()


@pytest.mark.parametrize(("operation", "mode"), FUZZED)
def test_fuzzed_requests_are_answered_as_documented(
    operation: APIOperation[Any, Any, Any, Any], mode: GenerationMode, url: str
) -> None:
    @settings(
        max_examples=20,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def fuzz(case: Case[Any]) -> None:
        case.call_and_validate(base_url=url, checks=CHECKS, timeout=gateways.WAIT_S)

    fuzz()
    assert httpx.get(f"{url}/health").json()["status"] == "ok"


def test_the_document_is_served_and_names_every_path(url: str) -> None:
    served = httpx.get(f"{url}/openapi.json")
    assert served.json() == document()
