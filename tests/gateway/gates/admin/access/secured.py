"""Gateways that ask who their clients are, and people who have tokens."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from gateway.app.gateway import Gateway
from gateway.config.settings import Config, SecuritySettings
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING, Capability, Policy
from tests.gateway.security.clients import identity
from tests.kit.gateways import LOOPBACK, running, settings, write_profile

POLICIES = {
    "boss": EVERYTHING,
    "reader": Policy(query=None, subscribe=None),
    "operator": Policy(capabilities=frozenset({Capability.OPERATIONS, Capability.MAPPINGS})),
    "nearly": Policy(None, None, None, None, None),
}


def secured(folder: Path, **security: object) -> Config:
    """The settings of a gateway with [security]."""
    config = settings(folder, write_profile(folder))
    section = SecuritySettings.model_validate({"enabled": True, **security})
    return config.model_copy(update={"security": section})


def identities(folder: Path) -> IdentityStore:
    """The file of a gateway in `folder`, as the command line finds it."""
    return IdentityStore(folder / "data" / "security" / "identities.sqlite")


@dataclass(frozen=True, slots=True)
class House:
    """A gateway with [security], asked over HTTP."""

    gateway: Gateway
    http: httpx.AsyncClient
    store: IdentityStore

    async def ask(self, who: str, method: str, path: str, **options: Any) -> httpx.Response:
        """As a client of `POLICIES`, with a token that is taken for it."""
        return await self.http.request(method, path, headers=await self.token(who), **options)

    async def token(self, who: str, secret: str = "") -> Mapping[str, str]:
        """The header of a client by its id, of POLICIES by its name."""
        credentials = (who, secret) if secret else (f"{who}-id", f"{who}-secret")
        form = {"grant_type": "client_credentials"}
        answer = await self.http.post("/oauth/token", data=form, auth=credentials)
        assert answer.status_code == 200, answer.text
        return {"Authorization": f"Bearer {answer.json()['access_token']}"}


@asynccontextmanager
async def open_house(folder: Path, *names: str, **security: object) -> AsyncIterator[House]:
    """A gateway that runs, with these of POLICIES."""
    store = identities(folder)
    known = store.snapshot().identities
    for name in names:
        if name not in known:
            store.add(identity(name, POLICIES[name], Kind.USER))
    async with running(secured(folder, **security)) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=30) as http:
            yield House(gateway, http, store)
