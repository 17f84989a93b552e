"""A gateway without clients is claimed from a browser, for the code that its owner prints."""

import asyncio
import logging
from pathlib import Path

import httpx
import pytest

from gateway.cli.command import main
from tests.gateway.gates.admin.access.secured import House, open_house
from tests.kit.gateways import LOOPBACK, running, settings, write_profile


def printed(folder: Path, capsys: pytest.CaptureFixture[str], is_secured: bool = True) -> str:
    """What `sosa-gateway claim` says first, on the folder of a gateway."""
    file = folder / "gateway.toml"
    file.write_text(
        f'[gateway]\nid = "test"\ndata_dir = "{folder / "data"}"\n'
        f"[security]\nenabled = {str(is_secured).lower()}\n",
        encoding="utf-8",
    )
    capsys.readouterr()
    status = main(["claim", "--config", str(file)])
    told = capsys.readouterr()
    return told.out.splitlines()[0] if status == 0 else told.err


async def post(house: House, code: str, client: str = "browser") -> httpx.Response:
    return await house.http.post("/claim", json={"code": code, "client": client})


async def test_the_code_of_the_command_line_makes_the_first_client(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_house(tmp_path) as house:
        assert (await house.http.get("/me")).json()["claimable"] is True
        code = await asyncio.to_thread(printed, tmp_path, capsys)
        answer = await post(house, code.lower().replace("-", " "))
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
        told = answer.json()
        token = await house.token(told["client_id"], told["client_secret"])
        me = (await house.http.get("/me", headers=token)).json()
        assert (me["identity"], me["everything"], me["claimable"]) == ("browser", True, False)
        again = await post(house, code)
        assert (again.status_code, again.json()["error"]) == (409, "conflict")
    for secret in (code, told["client_secret"]):
        assert secret not in caplog.text


async def test_a_code_outlives_a_restart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_house(tmp_path) as house:
        code = await asyncio.to_thread(printed, tmp_path, capsys)
        assert (await post(house, "ABCDE-FGHJK")).status_code == 401
    async with open_house(tmp_path) as house:
        assert (await post(house, code)).status_code == 200


async def test_of_two_browsers_at_once_one_is_let_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_house(tmp_path) as house:
        code = await asyncio.to_thread(printed, tmp_path, capsys)
        answers = await asyncio.gather(*(post(house, code, f"browser {n}") for n in range(4)))
        statuses = sorted(each.status_code for each in answers)
        assert statuses[0] == 200
        assert set(statuses[1:]) <= {401, 409}
        assert len(house.store.snapshot().identities) == 1


async def test_guesses_are_throttled_and_end_the_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_house(tmp_path, identity_failures=6) as house:
        code = await asyncio.to_thread(printed, tmp_path, capsys)
        guesses = [(await post(house, f"ABCDE-FGHJ{n}")).status_code for n in range(2, 8)]
        assert guesses == [401] * 6
        refused = await post(house, code)
        assert (refused.status_code, "retry-after" in refused.headers) == (429, True)
    async with open_house(tmp_path) as house:
        assert (await post(house, code)).status_code == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"{}", 400),
        (b'{"code": "ABCDE-FGHJK"}', 400),
        (b'{"code": 5, "client": "a"}', 400),
        (b'{"code": "ABCDE-FGHJK", "client": "a", "policy": {}}', 400),
        (b'{"code": "ABCDE-FGHJK", "client": "a\\u0000"}', 400),
        (b'{"code": "' + b"A" * 5_000_000 + b'", "client": "a"}', 413),
    ],
    ids=["torn", "empty", "nameless", "number", "more", "unprintable", "long"],
)
async def test_what_is_no_claim_is_refused(body: bytes, status: int, tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        headers = {"Content-Type": "application/json"}
        answer = await house.http.post("/claim", content=body, headers=headers)
        assert answer.status_code == status


async def test_a_gateway_that_has_clients_reads_no_body(tmp_path: Path) -> None:
    async with open_house(tmp_path, "reader") as house:
        answer = await house.http.post("/claim", content=b"{")
        assert answer.status_code == 409


async def test_where_nobody_is_asked_there_is_nothing_to_claim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url) as client:
            answer = await client.post("/claim", json={"code": "ABCDE-FGHJK", "client": "a"})
    assert answer.status_code == 404
    assert "enabled = true" in printed(tmp_path, capsys, is_secured=False)


def test_a_gateway_with_clients_gets_no_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = printed(tmp_path, capsys)
    second = printed(tmp_path, capsys)
    assert first != second
    file = tmp_path / "gateway.toml"
    assert main(["client", "add", "lamp", "--config", str(file)]) == 0
    assert "has clients already" in printed(tmp_path, capsys)
