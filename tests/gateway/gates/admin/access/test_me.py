"""GET /me: what a page knows before and after somebody has signed in."""

import socket
from pathlib import Path

import httpx
import pytest

from gateway import __version__
from gateway.gates.admin.access.me import NOBODY, MeGate
from gateway.security.policy import Capability, Policy
from gateway.security.principal import Principal
from tests.gateway.gates.admin.access.secured import open_house
from tests.kit.gateways import LOOPBACK, running, settings, write_profile

PARTS = ("query", "subscribe", "update", "publish", "receive")
ALL = sorted(each.value for each in Capability)


async def test_where_nobody_is_asked_everybody_may_everything(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}/me"
        async with httpx.AsyncClient() as client:
            answer = await client.get(url)
            shown = await client.get(url, headers={"Authorization": "Bearer anything"})
    assert answer.status_code == 200
    assert answer.json() == {
        "secured": False,
        "identity": None,
        "capabilities": ALL,
        "everything": True,
        "claimable": False,
        "version": __version__,
        "name": socket.gethostname(),
        "gateways": [],
    }
    assert shown.json() == answer.json()


async def test_who_shows_nothing_is_told_that_a_token_is_needed_and_no_more(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path, "boss") as house:
        answer = await house.http.get("/me")
        assert answer.status_code == 200
        told = answer.json()
        assert told == {
            "secured": True,
            "identity": None,
            "capabilities": [],
            "everything": False,
            "claimable": False,
            "version": __version__,
            "name": socket.gethostname(),
            "gateways": [],
        }


@pytest.mark.parametrize(
    ("who", "capabilities", "everything", "policy"),
    [
        (
            "boss",
            ALL,
            True,
            {part: ["all"] for part in PARTS} | {"may": ALL},
        ),
        ("operator", ["mappings", "operations"], False, {"may": ["mappings", "operations"]}),
        ("reader", [], False, {"query": ["all"], "subscribe": ["all"]}),
    ],
)
async def test_a_client_is_told_who_it_is_and_what_it_may_do(
    who: str, capabilities: list[str], everything: bool, policy: object, tmp_path: Path
) -> None:
    async with open_house(tmp_path, who) as house:
        told = (await house.ask(who, "GET", "/me")).json()
        below = (await house.ask(who, "GET", "/secure/me")).json()
    assert (told["identity"], told["capabilities"]) == (who, capabilities)
    assert (told["everything"], told["policy"]) == (everything, policy)
    assert told["claimable"] is False
    assert below == told


@pytest.mark.parametrize(
    ("may", "told"),
    [
        ({Capability.FEDERATE}, ["attic", "hall"]),
        ({Capability.OPERATIONS}, ["attic", "hall"]),
        ({Capability.MAPPINGS, Capability.COMMAND}, []),
        (set(), []),
    ],
)
def test_other_gateways_are_named_to_who_may_ask_or_look_after_them(
    may: set[Capability], told: list[str]
) -> None:
    gate = MeGate(True, "pi", gateways=lambda: {"hall", "attic"})
    who = Principal("somebody", Policy(query=None, capabilities=frozenset(may)))
    assert gate.me(who).gateways == told
    assert gate.me(NOBODY).gateways == []


async def test_a_token_that_is_not_in_force_is_refused(tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss") as house:
        token = await house.token("boss")
        for shown in ("Bearer nothing", "Basic Ym9zczpib3Nz", "", "Bearer"):
            answer = await house.http.get("/me", headers={"Authorization": shown})
            assert answer.status_code == 401, shown
        twice = [("Authorization", token["Authorization"])] * 2
        assert (await house.http.get("/me", headers=twice)).status_code == 401
        revoked = token["Authorization"].removeprefix("Bearer ")
        await house.http.post("/oauth/revoke", data={"token": revoked})
        assert (await house.http.get("/me", headers=token)).status_code == 401


async def test_a_gateway_without_clients_may_be_claimed(tmp_path: Path) -> None:
    async with open_house(tmp_path, sepatest=True) as house:
        told = (await house.http.get("/me")).json()
        assert (told["secured"], told["identity"], told["claimable"]) == (True, None, True)
