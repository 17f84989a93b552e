"""Registration, tokens and TLS: an agent that has a name, against a gateway with [security]."""

import asyncio
import stat
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from gateway.app.gateway import Gateway
from gateway.app.security import identities_path
from gateway.client import (
    AgentError,
    AsyncClient,
    AsyncConsumer,
    Backoff,
    Credentials,
    Settings,
    UnauthorizedError,
    UnreachableError,
)
from gateway.config.settings import SecuritySettings, TlsSettings
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING
from jsap import Profile
from tests.gateway.client.places import shipped
from tests.gateway.security.clients import identity
from tests.kit.gateways import LOOPBACK, running, settings, write_profile

SECURITY = SecuritySettings(enabled=True, sepatest=True)
HELLO = {"text": "hi", "sender": "urn:ann", "receiver": "urn:bob"}


def profile_of(gateway: Gateway, scheme: str = "http") -> Profile:
    socket = {"http": "ws", "https": "wss"}[scheme]
    place = f"{scheme}://localhost:{gateway.http_port}/oauth"
    members = shipped("chat.jsap")
    members["host"] = "localhost"
    members["sparql11protocol"] |= {"protocol": scheme, "port": gateway.http_port}
    members["sparql11seprotocol"] = {
        "protocol": socket,
        "availableProtocols": {
            socket: {"port": gateway.websocket_port, "path": "/subscribe", "scheme": socket}
        },
    }
    members["oauth"] = {
        "enable": True,
        "register": f"{place}/register",
        "tokenRequest": f"{place}/token",
    }
    return Profile.parse(members)


async def secured(stack: AsyncExitStack, folder: Path, tls: TlsSettings | None = None) -> Gateway:
    config = settings(folder, write_profile(folder))
    changes = {"security": SECURITY, "tls": tls or config.tls}
    return await stack.enter_async_context(running(config.model_copy(update=changes)))


async def test_an_identity_registers_gets_tokens_and_uses_them(tmp_path: Path) -> None:
    kept = tmp_path / "credentials.json"
    async with AsyncExitStack() as stack:
        profile = profile_of(await secured(stack, tmp_path))
        known = Settings(identity="SEPATest", credentials_file=kept, backoff=Backoff(first_s=0.01))
        async with (
            AsyncClient(profile, known) as client,
            client.subscribe("SENT", {"receiver": "urn:bob"}) as sent,
        ):
            await client.update("SEND", HELLO)
            assert (await sent.receive()).added == ()
            assert len((await sent.receive()).added) == 1
            connection = client._open
            assert connection._tokens is not None
            connection._tokens._bearer = "Bearer a.forged.token"
            answer = await client.query("SENT", {"receiver": "urn:bob"})
            assert isinstance(answer, list)
            assert len(answer) == 1
            connection._tokens._bearer = "Bearer a.forged.token"
            async with AsyncConsumer(client, "SENT", {"receiver": "urn:bob"}) as another:
                assert len((await another.receive()).added) == 1
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        again = Settings(credentials_file=kept)
        async with AsyncClient(profile, again) as client:
            await client.update("DELETE_ALL")
        assert "secret" not in repr(Credentials("x", "a secret")).replace("client_secret", "")


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (Settings(), "nobody says who asks"),
        (Settings(identity="nobody"), "not_authorized_identity"),
        (Settings(credentials=Credentials("x", "y")), "unauthorized_client"),
    ],
)
async def test_who_is_unknown_is_told_what_to_do(
    tmp_path: Path, known: Settings, told: str
) -> None:
    async with AsyncExitStack() as stack:
        profile = profile_of(await secured(stack, tmp_path))
        client = await stack.enter_async_context(AsyncClient(profile, known))
        with pytest.raises(AgentError, match=told):
            await client.update("SEND", HELLO)
        with pytest.raises(AgentError, match=told):
            await client.subscribe("USERS").__aenter__()


async def test_no_token_at_all_is_unauthorized(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        gateway = await secured(stack, tmp_path)
        open_to_all = Profile.parse(
            {
                **shipped("chat.jsap"),
                "host": LOOPBACK,
                "sparql11protocol": {"port": gateway.http_port},
            }
        )
        client = await stack.enter_async_context(AsyncClient(open_to_all))
        with pytest.raises(UnauthorizedError) as caught:
            await client.update("SEND", HELLO)
        assert caught.value.status == 401


async def test_a_certificate_of_its_own_is_trusted_by_its_ca(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        tls = TlsSettings(mode="own", http_port=0, websocket_port=0, mqtt_port=0)
        gateway = await secured(stack, tmp_path, tls)
        profile = profile_of(gateway, "https")
        ca = tmp_path / "data" / "tls" / "ca.crt"
        trusting = Settings(identity="SEPATest", ca_file=ca)
        async with (
            AsyncClient(profile, trusting) as client,
            client.subscribe("SENT", {"receiver": "urn:bob"}) as sent,
        ):
            await client.update("SEND", HELLO)
            await sent.receive()
            assert len((await sent.receive()).added) == 1
        async with AsyncClient(profile, Settings(identity="SEPATest")) as stranger:
            with pytest.raises(UnreachableError, match="name the certificate of its CA"):
                await stranger.update("SEND", HELLO)


def test_a_ca_file_and_credentials_that_are_none_are_told(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    with pytest.raises(AgentError, match="no file of certificates"):
        Settings(ca_file=file).tls()
    with pytest.raises(AgentError, match="has no credentials"):
        Credentials.load(file)


async def test_a_subscription_goes_on_with_a_new_token(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        config = settings(tmp_path, write_profile(tmp_path))
        store = IdentityStore(identities_path(config))
        store.add(identity("ann", EVERYTHING, Kind.USER))
        security = SecuritySettings(enabled=True, user_token_s=1)
        gateway = await stack.enter_async_context(
            running(config.model_copy(update={"security": security}))
        )
        known = Settings(
            credentials=Credentials("ann-id", "ann-secret"), backoff=Backoff(first_s=0.01)
        )
        client = await stack.enter_async_context(AsyncClient(profile_of(gateway), known))
        sent = await stack.enter_async_context(client.subscribe("SENT", {"receiver": "urn:bob"}))
        assert (await sent.receive()).added == ()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.2):
                await sent.receive()
        await client.update("SEND", HELLO)
        async with asyncio.timeout(20):
            told = await sent.receive()
        assert len(told.added) == 1
