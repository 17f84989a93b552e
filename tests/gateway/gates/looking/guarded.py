"""A gateway with security and some clients, asked by any of them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from gateway.app.gateway import Gateway
from gateway.config.settings import Config, SecuritySettings
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import Policy
from tests.gateway.security.clients import identity
from tests.kit.gateways import LOOPBACK, WAIT_S, running

Ask = Callable[..., Awaitable[httpx.Response]]
"""`ask(who, method, path, **options of httpx)`."""


@asynccontextmanager
async def guarded(
    config: Config, folder: Path, policies: Mapping[str, Policy]
) -> AsyncIterator[tuple[Gateway, Ask]]:
    store = IdentityStore(folder / "data" / "security" / "identities.sqlite")
    for name, policy in policies.items():
        store.add(identity(name, policy, Kind.APPLICATION))
    secured = config.model_copy(update={"security": SecuritySettings(enabled=True)})
    async with running(secured) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=WAIT_S) as client:
            headers = {who: await _header(client, who) for who in policies}

            async def ask(who: str, method: str, path: str, **options: object) -> httpx.Response:
                return await client.request(
                    method,
                    path,
                    headers=headers.get(who),
                    **options,  # type: ignore[arg-type]
                )

            yield gateway, ask


async def _header(client: httpx.AsyncClient, who: str) -> dict[str, str]:
    answer = await client.post(
        "/oauth/token",
        data={"grant_type": "client_credentials"},
        auth=(f"{who}-id", f"{who}-secret"),
    )
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}
