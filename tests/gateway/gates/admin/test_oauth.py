"""Registration and tokens over HTTP, at a gateway that runs; and the command line beside it."""

import asyncio
import base64
import json
import logging
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gateway.cli.command import main
from gateway.config.settings import Config, SecuritySettings
from tests.kit.gateways import LOOPBACK, running, settings, write_profile

JSON = {"Content-Type": "application/json", "Accept": "application/json"}


def secured(folder: Path, **security: object) -> Config:
    config = settings(folder, write_profile(folder))
    return config.model_copy(
        update={"security": SecuritySettings.model_validate({"enabled": True, **security})}
    )


@asynccontextmanager
async def open_gateway(folder: Path, **security: object) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        running(secured(folder, **security)) as gateway,
        httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as client,
    ):
        yield client


def administer(folder: Path, *arguments: str) -> None:
    """`sosa-gateway client`, on the folder of a gateway."""
    file = folder / "gateway.toml"
    file.write_text(f'[gateway]\nid = "test"\ndata_dir = "{folder / "data"}"\n', encoding="utf-8")
    assert main([*arguments, "--config", str(file)]) == 0


def registration(name: str, *grants: str) -> dict[str, object]:
    return {"register": {"client_identity": name, "grant_types": list(grants), "httpsAgent": {}}}


def basic(client_id: str, secret: str) -> dict[str, str]:
    credentials = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {credentials}"}


async def test_a_client_registers_and_gets_tokens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_gateway(tmp_path) as client:
        refused = await client.post("/oauth/register", json=registration("a:b", "x"))
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
        asked = registration("a:b", "client_credentials")
        refused = await client.post("/oauth/register", json=asked)
        assert (refused.status_code, refused.json()["error"]) == (401, "not_authorized_identity")
        administer(tmp_path, "client", "add", "a:b", "--kind", "device", "--query", "all")
        async with asyncio.timeout(60):
            while (answer := await client.post("/oauth/register", json=asked)).status_code != 201:
                await asyncio.sleep(0.1)
        credentials = answer.json()["credentials"]
        assert credentials["signature"] in (await client.get("/oauth/jwks")).json()["keys"]
        assert "d" not in credentials["signature"]
        mine = basic(credentials["client_id"], credentials["client_secret"])
        for body in (b"", b'""'):
            token = await client.post("/oauth/token", content=body, headers={**JSON, **mine})
            assert token.status_code == 201
            assert token.headers["cache-control"] == "no-store"
            members = token.json()
            nested = members.pop("token")
            assert nested == members
            assert members["token_type"] == "bearer"
            assert members["expires_in"] == 3600
        for secret in (credentials["client_secret"], members["access_token"]):
            assert secret not in caplog.text


async def test_a_standard_client_gets_a_token_by_a_form(tmp_path: Path) -> None:
    file = tmp_path / "dash.json"
    administer(tmp_path, "client", "add", "dash", "--credentials", str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    credentials = json.loads(file.read_text(encoding="utf-8"))
    grant = {"grant_type": "client_credentials"}
    async with open_gateway(tmp_path) as client:
        by_header = await client.post(
            "/oauth/token",
            data=grant,
            auth=(credentials["client_id"], credentials["client_secret"]),
        )
        by_form = await client.post("/oauth/token", data={**grant, **credentials})
        for answer in (by_header, by_form):
            assert answer.status_code == 200
            assert answer.json()["expires_in"] == 43_200
        wrong = {**credentials, "client_secret": "wrong"}
        refused = await client.post("/oauth/token", data={**grant, **wrong})
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
        refused = await client.post("/oauth/token", data={**wrong, "grant_type": "password"})
        assert (refused.status_code, refused.json()["error"]) == (400, "unsupported_grant_type")
        form = {"token": by_form.json()["access_token"]}
        assert (await client.post("/oauth/revoke", data=form)).status_code == 200
        assert (await client.post("/oauth/revoke", data={"token": "x"})).status_code == 200
        assert (await client.post("/oauth/revoke")).status_code == 400


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "unauthorized_client"),
        ({"Authorization": "Bearer x"}, 401, "unauthorized_client"),
        ({"Authorization": "Basic !"}, 401, "invalid_client"),
        ({"Authorization": "Basic bm9jb2xvbg=="}, 401, "invalid_client"),
        (basic("nobody", "x"), 400, "unauthorized_client"),
        ({"Content-Type": "text/plain"}, 400, "content_type_error"),
        ({"Accept": "text/html"}, 400, "accept_error"),
    ],
)
async def test_a_token_is_refused_in_the_words_of_sepa(
    tmp_path: Path, headers: dict[str, str], status: int, code: str
) -> None:
    async with open_gateway(tmp_path) as client:
        answer = await client.post("/oauth/token", headers={**JSON, **headers})
        assert answer.status_code == status
        assert set(answer.json()) == {"error", "error_description", "status_code"}
        assert answer.json()["error"] == code


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"register": 1}',
        b'{"register": {"client_identity": 1, "grant_types": []}}',
        b'{"register": {"client_identity": "a", "grant_types": "client_credentials"}}',
        b"[" * 60_000,
    ],
)
async def test_a_malformed_registration_is_refused(tmp_path: Path, body: bytes) -> None:
    async with open_gateway(tmp_path) as client:
        answer = await client.post("/oauth/register", content=body, headers=JSON)
        assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
        answer = await client.post("/oauth/register", content=b"x" * 70_000, headers=JSON)
        assert answer.status_code == 413


async def test_guesses_are_answered_with_429_in_the_end(tmp_path: Path) -> None:
    async with open_gateway(tmp_path, identity_failures=2) as client:
        statuses = []
        for _ in range(3):
            answer = await client.post("/oauth/token", headers={**JSON, **basic("lamp", "x")})
            statuses.append(answer.status_code)
        assert statuses == [400, 400, 429]
        assert int(answer.headers["retry-after"]) > 1


def test_the_command_line_lists_changes_and_revokes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    administer(tmp_path, "client", "add", "lamp", "--secret", "--publish", "home/#")
    secret = capsys.readouterr().out.split()[-1]
    administer(
        tmp_path, "client", "change", "lamp", "--query", "default", "urn:g", "--may", "mappings"
    )
    administer(tmp_path, "client", "list")
    assert capsys.readouterr().out == (
        "lamp  application  registered  --query default urn:g  --may mappings\n"
    )
    twice = ("--query", "default", "--query", "urn:g", "--may", "mappings", "--may", "operations")
    administer(tmp_path, "client", "change", "lamp", *twice)
    administer(tmp_path, "client", "list")
    assert capsys.readouterr().out == (
        "lamp  application  registered  --query default urn:g  --may mappings operations\n"
    )
    administer(
        tmp_path, "client", "change", "lamp", "--query", "default", "urn:g", "--may", "mappings"
    )
    administer(tmp_path, "client", "list", "--json")
    assert json.loads(capsys.readouterr().out)["query"] == ["default", "urn:g"]
    administer(tmp_path, "client", "revoke", "lamp", "--tokens")
    administer(tmp_path, "client", "revoke", "lamp")
    administer(tmp_path, "client", "list")
    assert capsys.readouterr().out == ""
    for _ in range(2):
        administer(tmp_path, "keys", "rotate")
    administer(tmp_path, "keys", "list")
    states = [line.split()[-1] for line in capsys.readouterr().out.splitlines()[2:]]
    assert states == ["signs", "retired"]
    stored = (tmp_path / "data" / "security" / "identities.sqlite").read_bytes()
    assert secret.encode() not in stored


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["client", "add", ""], "is no name"),
        (["client", "add", "SEPATest"], "sepatest = true"),
        (["client", "add", "x", "--query", "not an iri"], "is not a graph"),
        (["client", "revoke", "nobody"], "no client"),
        (["client", "change", "nobody"], "no client"),
    ],
)
def test_the_command_line_says_what_is_wrong(
    tmp_path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text("", encoding="utf-8")
    assert main([*arguments, "--config", str(file)]) == 1
    assert words in capsys.readouterr().err


def test_credentials_do_not_replace_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toml, file = tmp_path / "gateway.toml", tmp_path / "lamp.json"
    toml.write_text("", encoding="utf-8")
    add = ["client", "add", "lamp", "--config", str(toml), "--credentials"]
    assert main([*add, str(file)]) == 0
    before = file.read_bytes()
    assert main([*add, str(file)]) == 1
    assert "cannot write" in capsys.readouterr().err
    assert file.read_bytes() == before
    other = tmp_path / "other.json"
    assert main([*add, str(other)]) == 1
    assert not other.exists()
