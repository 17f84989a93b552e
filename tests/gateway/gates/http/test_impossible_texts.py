"""Texts that JSON can write and nobody can keep: half of a surrogate pair; and U+0000.

Every operation of the OpenAPI document is asked, with such a text in each place of its body.
"""

import base64
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from gateway.config.settings import SecuritySettings
from gateway.gates.admin.openapi import document
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING
from tests.gateway.security.clients import identity
from tests.kit.gateways import mapping, running, settings, write_profile

HALF, NUL = "a\ud800b", "a\0b"
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
DOCUMENT: Any = document()
SENDING = [
    (path, method, operation["requestBody"]["content"]["application/json"]["schema"])
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if "application/json" in operation.get("requestBody", {}).get("content", {})
]


@asynccontextmanager
async def _open_gateway(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A gateway with a mapping and identities; the client may do everything."""
    store = IdentityStore(folder / "data" / "security" / "identities.sqlite")
    store.add(identity("boss", EVERYTHING, Kind.USER))
    profile = write_profile(folder, [mapping("t", "t", selector="$.v", unit="unit:DEG_C")])
    config = settings(folder, profile).model_copy(
        update={"security": SecuritySettings(enabled=True, address_failures=10_000)}
    )
    async with (
        running(config) as gateway,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{gateway.http_port}") as client,
    ):
        token = await client.post(
            "/oauth/token",
            data={"grant_type": "client_credentials"},
            auth=("boss-id", "boss-secret"),
        )
        client.headers["Authorization"] = f"Bearer {token.json()['access_token']}"
        yield client


def _instances(schema: Any, text: str) -> Iterator[Any]:
    """What fits the schema, with the text in each of its places in turn; the last has none."""
    if "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    if choices:
        for each in choices:
            yield from () if each.get("type") == "null" else _instances(each, text)
    elif "properties" in schema:
        yield from _objects(schema["properties"], text)
    elif schema.get("type") == "array":
        yield from ([each] for each in _instances(schema.get("items", {}), text))
    else:
        yield from _simple(schema, text)


def _simple(schema: Any, text: str) -> list[Any]:
    """Values of the types that a schema lists, the text among them."""
    types = schema.get("type", "string")
    if types == "object":
        return [{text: "x"}, {"x": text}, {"x": "y"}]
    if types in ("integer", "number", "boolean"):
        return [True if types == "boolean" else 1]
    if "enum" in schema or "const" in schema:
        return [text, schema.get("const") or schema["enum"][0]]
    return [text, f"urn:{text}", {"id": text}, "urn:x"]


def _objects(properties: Any, text: str) -> Iterator[Any]:
    usual = {name: list(_instances(each, text))[-1] for name, each in properties.items()}
    for name, each in properties.items():
        for instance in _instances(each, text):
            yield {**usual, name: instance}
            yield {name: instance}
    yield {**usual, text: "x"}
    yield usual


def _bodies(schema: Any, text: str) -> list[str]:
    """Each once, and only those that have the text."""
    bodies = dict.fromkeys(json.dumps(each) for each in _instances(schema, text))
    return [body for body in bodies if json.dumps(text)[1:-1] in body]


async def test_half_of_a_pair_in_json_is_refused_everywhere(tmp_path: Path) -> None:
    assert len(SENDING) > 5
    async with _open_gateway(tmp_path) as client:
        for path, method, schema in SENDING:
            place = path.replace("{", "").replace("}", "")
            for body in _bodies(schema, HALF):
                answer = await client.request(method, place, content=body, headers=JSON)
                if path != "/oauth/token":  # whose JSON has no members that count
                    assert 400 <= answer.status_code < 500, (path, body, answer.text)


async def test_no_nul_in_json_is_a_defect(tmp_path: Path) -> None:
    async with _open_gateway(tmp_path) as client:
        for path, method, schema in SENDING:
            place = path.replace("{", "").replace("}", "")
            bodies = _bodies(schema, NUL)
            # Each rehearsal is a process; each try is checked against the shapes.
            few = bodies[::20] if path in {"/mappings/rehearse", "/mappings/try"} else bodies
            for body in few:
                answer = await client.request(method, place, content=body, headers=JSON)
                assert answer.status_code < 500, (path, body, answer.text)
        assert (await client.get("/health")).json()["status"] == "ok"


async def test_registration_of_nobody_is_refused(tmp_path: Path) -> None:
    identities = (HALF, NUL, "\ud800", ["\ud800"], {"\ud800": 1})
    named = [
        {"client_identity": each, "grant_types": ["client_credentials"]} for each in identities
    ]
    granted = [
        {"client_identity": "boss", "grant_types": ["client_credentials", each]}
        for each in identities
    ]
    async with _open_gateway(tmp_path) as client:
        for members in (*named, *granted):
            answer = await client.post(
                "/oauth/register", content=json.dumps({"register": members}), headers=JSON
            )
            assert answer.status_code in {400, 401}, answer.text
            if r"\ud800" in json.dumps(members):
                assert answer.json()["error"] == "bad_request"


_BASIC = base64.b64encode(b"boss-id\0:boss-secret").decode()


ELSEWHERE: list[tuple[str, str, bytes, dict[str, str]]] = [
    ("POST", "/oauth/token", b"grant_type=client_credentials", {"Authorization": _BASIC}),
    (
        "POST",
        "/oauth/token",
        b"grant_type=client_credentials&client_id=%00&client_secret=%00",
        {"Authorization": ""},
    ),
    (
        "POST",
        "/oauth/token",
        b"grant_type=client_credentials&client_id=%ED%A0%80&client_secret=x",
        {"Authorization": ""},
    ),
    ("POST", "/oauth/revoke", b"token=%ED%A0%80", {}),
    ("POST", "/oauth/revoke", b"token=%00", {}),
    ("POST", "/update", b"update=INSERT DATA { <urn:s> <urn:p> '%ED%A0%80' }", {}),
    ("POST", "/update", rb"update=INSERT DATA { <urn:s> <urn:p> '\uD800' }", {}),
    ("POST", "/update", b"update=INSERT DATA { <urn:s%00> <urn:p> 1 }", {}),
    ("POST", "/query", rb"query=SELECT * { ?s ?p '\uDFFF\uD800' }", {}),
    ("POST", "/query", b"query=ASK {}&default-graph-uri=urn:%00", {}),
    ("POST", "/query", b"query=ASK {}&default-graph-uri=urn:%ED%A0%80", {}),
    ("POST", "/explain", rb"query=SELECT * { ?s ?p '\uD800' }", {}),
    ("GET", "/rdf-graph-store?graph=urn:%00", b"", {}),
    ("GET", "/rdf-graph-store?graph=urn:%ED%A0%80", b"", {}),
    ("PUT", "/rdf-graph-store?graph=urn:%00", b"<urn:s> <urn:p> 1 .", {}),
    ("PUT", "/rdf-graph-store/%00", b"<urn:s> <urn:p> 1 .", {}),
    ("PUT", "/rdf-graph-store/%ED%A0%80", b"<urn:s> <urn:p> 1 .", {}),
    (
        "PUT",
        "/rdf-graph-store?graph=urn:g",
        rb'<urn:s> <urn:p> "\uD800" .',
        {"Content-Type": "text/turtle"},
    ),
    ("GET", "/subscribe?query=ASK%20%7B%20%22%ED%A0%80%22%20%7D", b"", {}),
    ("GET", "/subscribe?query=ASK%20%7B%20%22%00%22%20%7D", b"", {}),
    ("GET", "/quarantine?topic=%00", b"", {}),
    ("GET", "/quarantine?reason=%ED%A0%80", b"", {}),
    ("GET", "/quarantine/%00", b"", {}),
    ("GET", "/messages?topic=a%00", b"", {}),
    ("GET", "/mappings/why?iri=urn:%00", b"", {}),
    ("GET", "/mappings/proposals?device=%00", b"", {}),
    ("POST", "/mappings/proposals/%00/confirm", b"{}", {"Content-Type": "application/json"}),
    ("GET", "/actuators/%00", b"", {}),
]


async def test_impossible_text_elsewhere_is_no_defect(tmp_path: Path) -> None:
    async with _open_gateway(tmp_path) as client:
        for method, path, content, others in ELSEWHERE:
            headers = {**FORM, **others}
            answer = await client.request(method, path, content=content, headers=headers)
            assert answer.status_code < 500, (method, path, content, answer.text)
