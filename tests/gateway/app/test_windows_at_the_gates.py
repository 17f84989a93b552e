"""Windows at every door of a gateway that runs: SUBSCRIBE, elements, what is shown of them."""

import asyncio
import json
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from pyoxigraph import NamedNode
from websockets.asyncio.client import ClientConnection, connect

from gateway.app.gateway import Gateway
from gateway.cli.asking import service
from gateway.cli.command import main
from gateway.engine.windowed.declared import Declared
from gateway.security.policy import EVERYTHING, Policy
from gateway.windows import Window
from tests.gateway.gates.looking.guarded import guarded
from tests.gateway.gates.subscriptions.test_event_stream import Stream
from tests.gateway.gates.subscriptions.test_mqtt import ask, listening, needs_mosquitto
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    Device,
    JsonObject,
    mapping,
    running,
    settings,
    write_profile,
)

Json = dict[str, Any]

STREAM, OTHER, NAMED = "urn:building", "urn:street", "urn:last"
W = "urn:w"
LAST_TWO = {W: {"stream": STREAM, "triples": 2}}
ALL = f"SELECT ?o {{ GRAPH <{W}> {{ ?s <urn:p> ?o }} }}"
COUNTED = f"SELECT (COUNT(*) AS ?n) {{ GRAPH <{W}> {{ ?s <urn:p> ?o }} }}"


@asynccontextmanager
async def gateway(folder: Path) -> AsyncIterator[Gateway]:
    """A gateway with two streams of clients, and a window by name."""
    profile = write_profile(folder, [mapping("t", "room/+", selector="$.t")])
    async with running(settings(folder, profile)) as opened:
        declare(opened)
        yield opened


def declare(opened: Gateway) -> None:
    """As the graph of mappings would."""
    windows = {NAMED: Window(STREAM, triples=5)}
    declared = Declared(windows, frozenset((STREAM, OTHER)))
    opened.scheduler.engine.windowed.declared = declared


def http(opened: Gateway) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{opened.http_port}", timeout=WAIT_S)


def lines(*values: int) -> str:
    return "".join(f'<urn:s> <urn:p> "{value}" .\n' for value in values)


async def send(opened: Gateway, *values: int, **parameters: str) -> Json:
    """Let elements in, one a line."""
    async with http(opened) as client:
        answer = await client.post(
            "/elements",
            params={"stream": STREAM, "each": "line", **parameters},
            content=lines(*values),
            headers={"Content-Type": "application/n-triples"},
        )
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


@asynccontextmanager
async def socket(opened: Gateway) -> AsyncIterator[ClientConnection]:
    async with connect(f"ws://{LOOPBACK}:{opened.http_port}/subscribe") as opened_socket:
        yield opened_socket


async def message(opened: ClientConnection) -> Json:
    async with asyncio.timeout(WAIT_S):
        found: Json = json.loads(await opened.recv())
    return found


async def notification(opened: ClientConnection) -> Json:
    told: Json = (await message(opened))["notification"]
    return told


async def subscribe(opened: ClientConnection, sparql: str = ALL, **members: object) -> Json:
    """Subscribe over windows; the first notification."""
    body = {"sparql": sparql, "windows": LAST_TWO, **members}
    await opened.send(json.dumps({"subscribe": body}))
    return await notification(opened)


def rows(told: Json, member: str = "addedResults") -> list[str]:
    bindings = told[member]["results"]["bindings"]
    return sorted(next(iter(row.values()))["value"] for row in bindings)


async def test_socket_tells_of_what_comes_and_goes(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client:
        first = await subscribe(client)
        assert first["sequence"] == 0
        assert first["windows"][W].keys() == {"from", "to", "complete", "elements"}
        assert first["windows"][W]["elements"] == 0
        assert await send(opened, 1) == {"stream": STREAM, "elements": 1, "triples": 1}
        assert rows(await notification(client)) == ["1"]
        await send(opened, 2, 3)
        second = await notification(client)
        assert rows(second) == ["2", "3"]
        assert rows(second, "removedResults") == ["1"]
        assert "windows" not in second
        again = await subscribe(client)
        assert rows(again) == ["2", "3"]
        assert again["windows"][W]["elements"] == 2
        assert again["windows"][W]["to"].endswith("Z")


async def test_one_request_is_one_element_or_one_a_line(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client:
        last = {W: {"stream": STREAM, "elements": 1}}
        await subscribe(client, windows=last)
        await send(opened, 1, 2, each="request")
        assert rows(await notification(client)) == ["1", "2"]
        await send(opened, 3, 4, each="line")
        assert rows(await notification(client)) == ["4"]


async def test_time_of_an_element_places_it(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client:
        hour = {W: {"stream": STREAM, "range": "PT1H"}}
        await subscribe(client, windows=hour)
        await send(opened, 1, time="2001-01-01T00:00:00Z")
        await send(opened, 2)
        assert rows(await notification(client)) == ["2"]


@pytest.mark.parametrize(
    ("output", "added", "removed"),
    [("added", ["2", "3"], []), ("removed", [], ["1"]), ("whole", ["2", "3"], [])],
)
async def test_output_says_what_is_told(
    tmp_path: Path, output: str, added: list[str], removed: list[str]
) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client:
        await send(opened, 0)
        await subscribe(client, output=output)
        await send(opened, 1)
        if output != "removed":
            assert rows(await notification(client)) == ["1"]
        await send(opened, 2, 3)
        told = await notification(client)
        assert (rows(told), rows(told, "removedResults")) == (added, removed)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"windows": {W: {"stream": STREAM, "triple": 2}}}, f"windows: {W}: triple"),
        ({"windows": {W: {"stream": "gw:observations", "triples": 1}}}, "name with a prefix"),
        ({"windows": {W: {"stream": STREAM, "range": 60}}}, "range: is no text"),
        ({"windows": [1]}, "windows: is no JSON object"),
        ({"output": "all"}, "output: 'all' is none (give changes"),
        ({"windows": None, "output": "added"}, "output: is for windows"),
        ({"windows": {f"urn:{n}": LAST_TWO[W] for n in range(17)}}, "windows: there are 17"),
    ],
)
async def test_what_cannot_be_a_window_is_said(tmp_path: Path, members: Json, said: str) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client:
        body = {"sparql": ALL, "windows": LAST_TWO, "alias": "mine", **members}
        await client.send(json.dumps({"subscribe": body}))
        refused = await message(client)
        assert refused["status_code"] == 400
        assert refused["alias"] == "mine"
        assert said in refused["error_description"]


async def test_event_stream_over_windows_goes_on_where_it_was(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client:
        asked = {"query": ALL, "windows": json.dumps(LAST_TWO), "output": "changes"}
        async with client.stream("GET", "/subscribe", params=asked) as response:
            stream = Stream(response)
            first = await stream.event()
            assert first.notification["windows"][W]["elements"] == 0
            await send(opened, 1)
            told = await stream.event()
            assert rows(told.notification) == ["1"]
        await send(opened, 2, 3)
        headers = {"Last-Event-ID": told.id}
        async with client.stream("GET", "/subscribe", params=asked, headers=headers) as response:
            stream = Stream(response)
            assert (await stream.event()).name == "resumed"
            again = await stream.event()
            assert rows(again.notification) == ["2", "3"]
            assert rows(again.notification, "removedResults") == ["1"]


async def test_event_stream_by_form_and_its_errors(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client:
        form = {"query": ALL, "windows": json.dumps(LAST_TWO), "output": "added"}
        async with client.stream("POST", "/subscribe", data=form) as response:
            assert rows((await Stream(response).event()).notification) == []
        for parameters, said in (
            ({"windows": "{"}, "windows: is no JSON"),
            ({"output": "x"}, "'x'"),
        ):
            refused = await client.get("/subscribe", params={"query": ALL, **parameters})
            assert refused.status_code == 400
            assert said in refused.json()["error_description"]


@needs_mosquitto
async def test_mqtt_over_windows(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened:

        def work() -> tuple[Json, Json]:
            with listening(opened.mqtt_port) as heard:
                ask(opened.mqtt_port, {"subscribe": {"sparql": ALL, "windows": LAST_TWO}})
                first = heard.notification()
                asyncio.run_coroutine_threadsafe(send(opened, 7), loop).result(WAIT_S)
                return first, heard.notification()

        loop = asyncio.get_running_loop()
        first, second = await asyncio.to_thread(work)
        assert first["windows"][W]["elements"] == 0
        assert rows(second) == ["7"]


@pytest.mark.parametrize(
    ("parameters", "status", "said"),
    [
        ({"stream": "urn:nowhere"}, 404, "ElementStream"),
        ({"stream": NAMED}, 400, f"send to its stream, {STREAM}"),
        ({"stream": "https://sosa-gateway.example/ns#observations"}, 403, "of observations"),
        ({"stream": "urn:mapping:t"}, 403, "of observations"),
        ({}, 400, "no parameter 'stream'"),
        ({"stream": STREAM, "each": "word"}, 400, "each=word"),
        ({"stream": STREAM, "time": "now"}, 400, "time='now'"),
        ({"stream": STREAM, "when": "1"}, 400, "no parameter 'when'"),
        ({"stream": "no iri"}, 400, "absolute IRI"),
    ],
)
async def test_elements_that_may_not_enter(
    tmp_path: Path, parameters: dict[str, str], status: int, said: str
) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client:
        headers = {"Content-Type": "application/n-triples"}
        answer = await client.post("/elements", params=parameters, content="x", headers=headers)
        assert answer.status_code == status, answer.text
        assert said in answer.json()["error_description"]


async def test_elements_that_cannot_be_read(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client:
        path = f"/elements?stream={STREAM}"
        typed = await client.post(path, content="x", headers={"Content-Type": "text/turtle"})
        assert typed.status_code == 415
        headers = {"Content-Type": "application/n-triples"}
        broken = await client.post(path, content="<urn:s> <urn:p>", headers=headers)
        assert broken.status_code == 400
        assert "no N-Triples" in broken.json()["error_description"]
        depth = 200
        nested = "<urn:s> <urn:p> " + "<<( <urn:s> <urn:p> " * depth + "<urn:o>" + " )>>" * depth
        deep = await client.post(path, content=f"{nested} .", headers=headers)
        assert deep.status_code == 413
        empty = await client.post(path, content="", headers=headers)
        assert empty.json() == {"stream": STREAM, "elements": 0, "triples": 0}


async def test_rights_come_before_the_body_and_what_there_is(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    writes_one = Policy(update=frozenset({NamedNode(OTHER)}))
    policies = {"boss": EVERYTHING, "guest": writes_one}
    async with guarded(config, tmp_path, policies) as (opened, asked_by):
        declare(opened)
        for who, stream, status in (
            ("guest", STREAM, 403),
            ("guest", "urn:nowhere", 403),
            ("guest", OTHER, 415),
            ("boss", STREAM, 415),
            ("nobody", STREAM, 401),
        ):
            answer = await asked_by(who, "POST", f"/elements?stream={stream}", content="x")
            assert answer.status_code == status, answer.text


async def test_explained_over_windows(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client, socket(opened) as subscriber:
        asked = {"query": ALL, "windows": json.dumps(LAST_TWO)}
        headers = {"Accept": "application/json"}
        before = (await client.get("/explain", params=asked, headers=headers)).json()
        assert before["tier"] == "automaton"
        assert not before["is_subscribed"]
        assert before["automaton"]["patterns"] == 1
        await subscribe(subscriber)
        await send(opened, 1, 2, 3)
        shown = (await client.post("/explain", data=asked, headers=headers)).json()
        assert shown["is_subscribed"]
        assert shown["output"] == "changes"
        window = shown["windows"][W]
        assert (window["elements"], window["triples"], window["expired"]) == (2, 2, 1)
        text = (await client.get("/explain", params={**asked, "output": "added"})).text
        assert "would be served by the tier: automaton" in text
        assert "told: added" in text
        assert f"window {W}: 2 elements, 2 triples" in text
        counted = {"query": COUNTED, "windows": json.dumps(LAST_TWO)}
        other = (await client.get("/explain", params=counted, headers=headers)).json()
        assert other["tier"] != "automaton"
        assert "automaton" in other["refused"]


async def test_windows_are_shown_with_what_they_hold(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client, socket(opened) as subscriber:
        empty = (await client.get("/windows")).json()
        assert empty["windows"] == []
        assert empty["declared"] == {NAMED: {"stream": STREAM, "triples": 5}}
        assert [each["stream"] for each in empty["streams"]] == [STREAM, OTHER]
        await subscribe(subscriber)
        await subscribe(subscriber, COUNTED)
        await send(opened, 1, 2, 3)
        shown = (await client.get("/windows")).json()
        (window,) = shown["windows"]
        assert window["window"] == LAST_TWO[W]
        assert (window["names"], window["subscriptions"], window["spus"]) == ([W], 2, 2)
        assert (window["elements"], window["triples"], window["expired"]) == (2, 2, 1)
        assert window["from"].endswith("Z")
        assert window["automaton"] == {"patterns": 1, "plans": 1, "matches": 2}
        assert {"stream": STREAM, "declared": True, "elements": 3} in shown["streams"]
        assert shown["held"]["elements"] == 2
        assert shown["limits"]["elements"] == 1_000_000


async def test_windows_are_for_operators(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    policies = {"boss": EVERYTHING, "guest": Policy(query=None, subscribe=None)}
    async with guarded(config, tmp_path, policies) as (_, asked_by):
        for who, status in (("boss", 200), ("guest", 403), ("nobody", 401)):
            assert (await asked_by(who, "GET", "/windows")).status_code == status


async def test_windows_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as subscriber:
        url = f"http://{LOOPBACK}:{opened.http_port}"
        await subscribe(subscriber)
        await send(opened, 1, 2, 3)
        assert await asyncio.to_thread(main, ["windows", "--url", url]) == 0
        told = capsys.readouterr().out
        assert f"{W}\n  stream {STREAM}, triples 2\n  subscriptions 1, elements 2" in told
        assert f"{NAMED}: declared, nobody sees it" in told
        assert f"stream {STREAM}: declared, elements that windows saw 3" in told
        assert await asyncio.to_thread(main, ["windows", "--json", "--url", url]) == 0
        assert json.loads(capsys.readouterr().out)["windows"][0]["names"] == [W]
        declared = tmp_path / "windows.json"
        declared.write_text(json.dumps(LAST_TWO))
        asked = ["explain", ALL, "--windows", f"@{declared}", "--output", "added", "--url", url]
        assert await asyncio.to_thread(main, asked) == 0
        assert f"window {W}: 2 elements" in capsys.readouterr().out
        wrong = ["explain", ALL, "--windows", "{", "--url", url]
        assert await asyncio.to_thread(main, wrong) == 1
        assert "--windows: is no JSON" in capsys.readouterr().err


async def test_command_subscribes_over_windows(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened:

        def first() -> tuple[Json, Json]:
            url = f"ws://{LOOPBACK}:{opened.http_port}/subscribe"
            told = service.notifications(url, ALL, over={"windows": LAST_TWO, "output": "added"})
            with closing(cast("Generator[Json]", told)) as notifications:
                begun = next(notifications)
                asyncio.run_coroutine_threadsafe(send(opened, 5), loop).result(WAIT_S)
                return begun, next(notifications)

        loop = asyncio.get_running_loop()
        begun, told = await asyncio.to_thread(first)
        assert begun["windows"][W]["elements"] == 0
        assert rows(told) == ["5"]


async def test_counted_by_the_names_of_windows(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client, socket(opened) as subscriber:
        await subscribe(subscriber)
        await send(opened, 1, 2, 3)
        text = (await client.get("/metrics")).text
        for line in (
            f'sosa_gateway_window_elements{{window="{W}"}} 2.0',
            f'sosa_gateway_window_expired_total{{window="{W}"}} 1.0',
            f'sosa_gateway_automaton_matches_total{{window="{W}"}} 2.0',
            f'sosa_gateway_automaton_plans{{window="{W}"}} 1.0',
            f'sosa_gateway_stream_elements_total{{stream="{STREAM}"}} 3.0',
            "sosa_gateway_clock_jumps_total 0.0",
        ):
            assert line in text, text


async def test_rules_and_pages_have_the_windows_of_a_query(tmp_path: Path) -> None:
    rule: JsonObject = {
        "id": "urn:rule:1",
        "query": "LAST",
        "on": "added",
        "topic": "told/{o}",
        "payload": "{o}",
    }
    profile = write_profile(tmp_path, rules=[rule])
    members = json.loads(profile.read_text())
    members["namespaces"]["my"] = "urn:"
    windows = {"my:w": {"stream": "my:building", "triples": 2}}
    members["queries"] = {"LAST": {"sparql": ALL, "windows": windows, "output": "added"}}
    profile.write_text(json.dumps(members))
    async with running(settings(tmp_path, profile)) as opened, http(opened) as client:
        declare(opened)

        def work() -> tuple[str, bytes]:
            with Device(opened.mqtt_port) as device:
                device.subscribe("told/+")
                asyncio.run_coroutine_threadsafe(send(opened, 5), loop).result(WAIT_S)
                return device.receive()

        loop = asyncio.get_running_loop()
        assert await asyncio.to_thread(work) == ("told/5", b"5")
        listed = (await client.get("/profiles/queries")).json()["queries"]
        (last,) = [each for each in listed if each["name"] == "LAST"]
        assert last["windows"] == LAST_TWO
        assert last["output"] == "added"
        quiet = await client.post("/why/quiet", json={"name": "LAST"})
        assert quiet.status_code == 400
        assert "over windows" in quiet.json()["error_description"]


async def test_full_window_ends_its_subscriptions_alone(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client, socket(opened) as subscriber:
        small = {W: {"stream": STREAM, "range": "PT1H", "limit": 2}}
        asked = {"query": ALL, "windows": json.dumps(small)}
        async with client.stream("GET", "/subscribe", params=asked) as response:
            stream = Stream(response)
            await stream.event()
            spuid = (await subscribe(subscriber, windows=small))["spuid"]
            other = (await subscribe(subscriber))["spuid"]
            await send(opened, 1, 2, 3)
            told = [await message(subscriber) for _ in range(2)]
            (ended,) = [each for each in told if "error" in each]
            assert (ended["spuid"], ended["error"]) == (spuid, "window_full")
            assert ended["status_code"] == 507
            (going_on,) = [each["notification"] for each in told if "error" not in each]
            assert (going_on["spuid"], rows(going_on)) == (other, ["2", "3"])
            event = await stream.event()
            assert (event.name, event.data["error"]) == ("end", "window_full")
        metrics = (await client.get("/metrics")).text
        assert f'sosa_gateway_window_full_total{{window="{W}"}} 1.0' in metrics


async def test_standing_subscriptions_over_windows_are_listed(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client, socket(opened) as subscriber:
        spuids = {(await subscribe(subscriber, text))["spuid"]: text for text in (ALL, COUNTED)}
        listed = (await client.get("/subscriptions")).json()["subscriptions"]
        tiers = {each["spuid"]: each["tier"] for each in listed if each["spuid"] in spuids}
        assert len(tiers) == 2
        assert "automaton" in tiers.values()


async def test_text_that_no_form_bounds_is_subscribed_over_windows(tmp_path: Path) -> None:
    either = f"SELECT ?o {{ GRAPH <{W}> {{ {{ ?s <urn:p> ?o }} UNION {{ ?o <urn:q> ?s }} }} }}"
    async with gateway(tmp_path) as opened, socket(opened) as client:
        await subscribe(client, either)
        await send(opened, 1)
        assert rows(await notification(client)) == ["1"]
