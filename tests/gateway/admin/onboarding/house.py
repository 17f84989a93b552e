"""A real gateway, and a client of its API."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from gateway.app.gateway import Gateway
from gateway.config.settings import Config
from tests.kit.gateways import LOOPBACK, running, settings, write_profile


def config(folder: Path, **discovery: object) -> Config:
    plain = settings(folder, write_profile(folder), kind="disk")
    return plain.model_copy(update={"discovery": plain.discovery.model_validate(discovery)})


class Api(httpx.AsyncClient):
    """A client of the gateway's API."""

    async def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = await self.request(method, path, json=body)
        assert answer.status_code in {200, 204}, answer.text
        return answer.json() if answer.content else None

    async def proposals(self, **query: str) -> list[dict[str, Any]]:
        answer = await self.get("/mappings/proposals", params=query)
        found: list[dict[str, Any]] = answer.json()["proposals"]
        return found

    async def until(self, count: int, **query: str) -> list[dict[str, Any]]:
        """The proposals, once there are so many."""
        async with asyncio.timeout(20):
            while len(found := await self.proposals(**query)) != count:
                await asyncio.sleep(0.02)
        return found


@asynccontextmanager
async def a_house(given: Config) -> AsyncIterator[tuple[Gateway, Api]]:
    async with (
        running(given) as gateway,
        Api(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as api,
    ):
        yield gateway, api
