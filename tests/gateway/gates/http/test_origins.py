"""gateway.gates.http.origins: what a page elsewhere has a browser load."""

import httpx
import pytest

from gateway.gates.http.origins import Names
from tests.kit.http_client import open_gate

HOST = "localhost:8000"
OWN, FOREIGN = f"http://{HOST}/page", "http://localhost:3000/page"
CONFIGURED = "https://dash.lan"


@pytest.mark.parametrize(
    ("sites", "referers", "passes"),
    [
        ([], [], True),  # curl
        (["none"], [], True),  # typed by a person
        (["same-origin"], [OWN], True),
        (["same-origin"], [FOREIGN], True),  # a browser does not lie
        (["cross-site"], [], False),
        (["same-site"], [], False),  # another port of this machine
        (["same-site"], [FOREIGN], False),
        (["cross-site"], ["https://evil.example/"], False),
        (["cross-site"], [f"{CONFIGURED}/x?y#z"], True),
        (["cross-site"], [f"{CONFIGURED}.evil.example/"], False),
        (["cross-site", "none"], [], False),
        (["none"], ["https://evil.example/"], True),
        (["new-word"], [], False),
        ([], [OWN], True),
        ([], [FOREIGN], False),
        ([], ["https://evil.example/"], False),
        ([], ["about:blank"], False),
        ([], [""], False),
        ([], [OWN, "https://evil.example/"], False),
    ],
)
def test_who_may_load(sites: list[str], referers: list[str], passes: bool) -> None:
    names = Names(origins=frozenset({CONFIGURED}))
    assert names.admits_load(HOST, sites, referers) is passes


def test_pages_of_the_http_port_may_load_from_the_websocket_port() -> None:
    names = Names().with_pages_of(8000)
    assert names.admits_load("localhost:9000", ["same-site"], [OWN])
    assert not names.admits_load("localhost:9000", ["same-site"], [FOREIGN])


@pytest.mark.parametrize("path", ["/query?query=ASK{}", "/mappings", "/subscribe?query=ASK{}"])
async def test_nothing_is_answered_to_a_page_elsewhere(path: str) -> None:
    async with open_gate() as client:
        refused = await load(client, path, {"Sec-Fetch-Site": "cross-site"})
        assert (refused.status_code, refused.json()["error"]) == (403, "forbidden_origin")
        refused = await load(client, path, {"Referer": "https://evil.example/"})
        assert refused.status_code == 403


async def test_a_person_and_a_program_are_answered() -> None:
    async with open_gate() as client:
        for headers in ({}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}):
            answer = await load(client, "/query?query=ASK{}", headers)
            assert answer.status_code == 200


async def load(client: httpx.AsyncClient, path: str, headers: dict[str, str]) -> httpx.Response:
    return await client.get(path, headers=headers)
