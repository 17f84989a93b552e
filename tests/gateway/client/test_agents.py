"""Producer, consumer, aggregator and client against a gateway, by asyncio and without."""

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from gateway.client import (
    Aggregator,
    AsyncAggregator,
    AsyncClient,
    AsyncConsumer,
    AsyncProducer,
    Client,
    ClosedError,
    Consumer,
    Notification,
    Producer,
    RefusedError,
    Settings,
    UnknownEntryError,
    UnreachableError,
)
from gateway.rdf.terms import Term
from jsap import BindingError, Profile
from tests.gateway.client.places import chatting
from tests.kit.gateways import LOOPBACK, free_port

ANN, BOB = NamedNode("urn:ann"), NamedNode("urn:bob")
TEXT = 'say "hi" \\ } ?text \u00e9'
HELLO: dict[str, Term | str] = {
    "text": TEXT,
    "sender": ANN,
    "receiver": BOB,
}
PATIENCE = Settings(timeout_s=20)


async def test_producer_consumer_and_aggregator_by_asyncio(tmp_path: Path) -> None:
    async with chatting(tmp_path) as (_, profile), AsyncClient(profile, PATIENCE) as client:
        sent = AsyncAggregator(client, "SENT", "SET_RECEIVED", {"receiver": BOB})
        received = AsyncConsumer(client, "RECEIVED", {"sender": ANN})
        async with sent, received:
            assert (await sent.receive()).added == ()
            assert (await received.receive()).sequence == 0
            await AsyncProducer(client, "SEND").update(HELLO)
            [message] = (await sent.receive()).added
            assert message["text"] == Literal(TEXT)
            assert message["sender"] == ANN
            await sent.update({"message": message["message"]})
            told = await received.receive()
            assert told.added[0]["message"] == message["message"]
            assert told.time is not None
            await client.update("REMOVE", {"message": message["message"]})
            assert (await sent.receive()).removed == (message,)
            assert sent.solutions == []


async def test_an_aggregator_runs_until_what_it_does_raises(tmp_path: Path) -> None:
    async def react(notification: Notification) -> list[dict[str, Term]]:
        if notification.removed:
            raise RuntimeError("the last word")
        return [{"message": each["message"]} for each in notification.added]

    async with (
        chatting(tmp_path) as (_, profile),
        AsyncClient(profile, PATIENCE) as client,
        AsyncAggregator(client, "SENT", "REMOVE", {"receiver": BOB}) as remover,
    ):
        await client.update("SEND", HELLO)
        with pytest.raises(RuntimeError, match="the last word"):
            await remover.run(react)


def use_without_asyncio(profile: Path) -> None:
    with Client(profile, PATIENCE) as client, Producer(client, "SEND") as sender:
        with Aggregator(profile, "SENT", "SET_RECEIVED", {"receiver": BOB}, PATIENCE) as inbox:
            assert inbox.receive().added == ()
            with pytest.raises(TimeoutError):
                inbox.receive(timeout_s=0.05)
            sender.update(HELLO)
            [message] = inbox.receive(timeout_s=20).added
            inbox.update({"message": message["message"]})
            with Consumer(profile, "RECEIVED", {"sender": ANN}, PATIENCE) as received:
                assert len(received.receive().added) == 1
                client.update("REMOVE", {"message": message["message"]})
                with pytest.raises(ZeroDivisionError):
                    received.listen(lambda notification: 1 // 0)
            assert [each["message"] for each in inbox.receive().removed] == [message["message"]]
        with pytest.raises(ClosedError, match="not open"):
            inbox.receive()
    with pytest.raises(ClosedError):
        client.update("DELETE_ALL")


async def test_agents_without_asyncio(tmp_path: Path) -> None:
    async with chatting(tmp_path) as (_, profile):
        await asyncio.to_thread(use_without_asyncio, profile)


async def test_rows_queries_text_and_delay(tmp_path: Path) -> None:
    async with chatting(tmp_path) as (gateway, profile), AsyncClient(profile, PATIENCE) as client:
        people = [{"person": f"urn:{name}", "userName": name} for name in ("ann", "bob")]
        await client.update_all("REGISTER_USER", people)
        assert (await client.update_all("REGISTER_USER", [])).status == 204
        users = await client.query("USERS")
        assert isinstance(users, list)
        assert len(users) == 2
        assert {"person": ANN, "userName": Literal("ann")} in users
        assert (await client.query_text("USERS", accept="CSV")).startswith("person,userName")
        assert json.loads(await client.query_text("USERS"))["head"]["vars"] == [
            "person",
            "userName",
        ]
        later = await client.update("SEND", HELLO, due=timedelta(hours=1))
        assert later.status == 202
        assert later.delayed_id is not None
        [waiting] = gateway.scheduler.engine.delayed()
        assert waiting.id.endswith(later.delayed_id)


async def test_forms_of_answers_and_methods(tmp_path: Path) -> None:
    async with chatting(tmp_path) as (gateway, _):
        sent = {"host": LOOPBACK, "port": gateway.http_port}
        profile = Profile.parse(
            {
                "sparql11protocol": {**sent, "query": {"method": "GET", "format": "XML"}},
                "updates": {
                    "ADD": {
                        "sparql": "INSERT { ?s <urn:p> 1 } WHERE { ?s ?p ?o }",
                        "graphs": {"using-graph-uri": ["urn:g"]},
                        "sparql11protocol": {"update": {"method": "URL_ENCODED_POST"}},
                    },
                    "G": {"sparql": "INSERT DATA { GRAPH <urn:g> { <urn:ann> <urn:b> 'é+%' } }"},
                },
                "queries": {
                    "ASK": {"sparql": "ASK { ?s <urn:p> 1 }"},
                    "ALL": {
                        "sparql": "SELECT * { ?s ?p ?o }",
                        "graphs": {"default-graph-uri": ["urn:g"]},
                    },
                    "GRAPH": {"sparql": "CONSTRUCT WHERE { ?s ?p ?o }"},
                },
            }
        )
        async with AsyncClient(profile, PATIENCE) as client:
            assert await client.query("ASK") is False
            await client.update("G")
            await client.update("ADD")
            assert await client.query("ASK") is True
            assert await client.query("ALL") == [
                {"s": ANN, "p": NamedNode("urn:b"), "o": Literal("é+%")}
            ]
            triples = await client.query("GRAPH")
            assert isinstance(triples, list)
            assert len(triples) == 1
            assert Triple(ANN, NamedNode("urn:p"), Literal(1)) in triples


@pytest.mark.parametrize("agent", [Producer, AsyncProducer])
def test_an_unknown_entry_is_told_with_those_that_there_are(agent: Callable[..., object]) -> None:
    profile = Profile.parse({"updates": {"ADD": {"sparql": "INSERT DATA {}"}}})
    with pytest.raises(UnknownEntryError, match=r"no update ADDD \(it has ADD\)"):
        agent(profile, "ADDD")


async def test_what_the_broker_refuses_is_an_error_at_once(tmp_path: Path) -> None:
    async with chatting(tmp_path) as (gateway, profile):
        wrong = {
            "host": LOOPBACK,
            "sparql11protocol": {"port": gateway.http_port},
            "sparql11seprotocol": {
                "availableProtocols": {"ws": {"port": gateway.http_port, "path": "subscribe"}}
            },
            "queries": {"Q": {"sparql": "SELECT * { ?s ?p }"}},
            "updates": {"U": {"sparql": "INSERT { ?s ?p ?o }"}},
        }
        async with AsyncClient(Profile.parse(wrong), PATIENCE) as client:
            for work in (client.query("Q"), client.update("U"), client.subscribe("Q").__aenter__()):
                with pytest.raises(RefusedError) as caught:
                    await work
                assert (caught.value.status, caught.value.code) == (400, "sparql_syntax")
        async with AsyncClient(profile, PATIENCE) as client:
            with pytest.raises(BindingError, match=r"SEND, \?text: no value"):
                await client.update("SEND", {"sender": ANN, "receiver": BOB})
            with pytest.raises(BindingError, match=r"\?sender: .* not an IRI"):
                await client.update("SEND", {**HELLO, "sender": Literal("ann")})


async def test_nobody_there_is_told_at_once(tmp_path: Path) -> None:
    port = free_port()
    profile = Profile.parse(
        {
            "host": LOOPBACK,
            "sparql11protocol": {"port": port},
            "sparql11seprotocol": {"availableProtocols": {"ws": {"port": port}}},
            "queries": {"Q": {"sparql": "SELECT * { ?s ?p ?o }"}},
        }
    )
    async with AsyncClient(profile, PATIENCE) as client:
        with pytest.raises(UnreachableError, match="is the broker running there"):
            await client.query("Q")
        with pytest.raises(UnreachableError, match=f"ws://{LOOPBACK}:{port}/"):
            await client.subscribe("Q").__aenter__()
    with pytest.raises(ClosedError):
        await client.query("Q")
