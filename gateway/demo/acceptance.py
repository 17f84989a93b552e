"""`Acceptance`: the person of the demo, who accepts what devices propose with one command.

Place on the way of the data: after discovery. A subscription tells of proposals; when every device
that introduces itself has been heard, all are confirmed over HTTP, as `sosa-gateway mapping confirm
--all` does it (docs/mappings.md).
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import httpx
from pyoxigraph import Literal

from gateway.engine import Notification
from gateway.errors import StorageError

CONFIRM = "sosa-gateway mapping confirm --all"
PROPOSALS_QUERY = """\
PREFIX gw: <https://sosa-gateway.example/ns#>
SELECT DISTINCT ?topic { GRAPH <https://sosa-gateway.example/graph/proposals> {
  ?proposal gw:announcedOn ?topic } }"""
_HEARD_S = 20.0
_CONFIRMED_S = 60.0


@dataclass(frozen=True, slots=True)
class Accepted:
    """How many proposals became mappings, and the labels of those that have a question."""

    count: int
    left: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line for people."""
        left = f"; left with a question: {', '.join(self.left)}" if self.left else ""
        return f"{CONFIRM}: {self.count} accepted{left}"


class Acceptance:
    """Waits for proposals on `topics`; made on the event loop, its sink is called in any thread."""

    def __init__(self, topics: Iterable[str]) -> None:
        self._missing = set(topics)
        self._heard = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def sink(self, notification: Notification) -> None:
        """The sink of PROPOSALS_QUERY."""
        for (topic,) in notification.results.added:
            if isinstance(topic, Literal):
                self._missing.discard(topic.value)
        if not self._missing:
            self._loop.call_soon_threadsafe(self._heard.set)

    async def accept_all(self, http_port: int) -> Accepted:
        """Confirm all once each topic had a proposal. Raises StorageError where one has none."""
        try:
            async with asyncio.timeout(_HEARD_S):
                await self._heard.wait()
        except TimeoutError:
            silent = ", ".join(sorted(self._missing))
            raise StorageError(f"no proposals from {silent}", "this is a defect") from None
        async with httpx.AsyncClient(timeout=_CONFIRMED_S) as client:
            url = f"http://127.0.0.1:{http_port}/mappings/proposals/confirm"
            answer = await client.post(url, json={"all": True})
        if answer.is_error:
            raise StorageError(f"proposals were not confirmed: {answer.text[:200]}")
        told = answer.json()
        after = told.get("change", {}).get("after", ())
        mappings = sum("format" in node for node in after)  # the others are actuators
        return Accepted(mappings, tuple(each["label"] for each in told.get("left", ())))
