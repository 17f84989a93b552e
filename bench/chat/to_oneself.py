"""A client that sends messages to itself: sender, receiver and remover at once, and their times.

Place on the way of the data: from an UPDATE by HTTP to a notification by WebSocket. Source: Roffia
et al., "Dynamic Linked Data: A SPARQL Event Processing Architecture", 2018, section 5.4 and Figure
8; section 5.5, the second experiment.
"""

import asyncio
from dataclasses import dataclass, field
from time import perf_counter

from pyoxigraph import Literal

from gateway.client import AsyncClient, AsyncConsumer
from gateway.client.asynchronous import Values
from gateway.rdf.terms import Term
from jsap import Profile

_ME = "urn:ann"
_PATIENCE_S = 120.0


@dataclass(slots=True)
class Times:
    """How long updates took, how long after their sending they were notified, in ms."""

    elapsed_s: float = 0.0
    updates_ms: list[float] = field(default_factory=list)
    notified_ms: list[float] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)


async def send_to_oneself(profile: Profile, messages: int) -> Times:
    """So many messages, without a break; done when all are removed."""
    async with (
        AsyncClient(profile) as client,
        client.subscribe("SENT", {"receiver": _ME}) as sent,
        client.subscribe("RECEIVED", {"sender": _ME}) as received,
    ):
        await sent.receive()
        await received.receive()
        agents = _Agents(client, messages)
        began = perf_counter()
        async with asyncio.timeout(_PATIENCE_S), asyncio.TaskGroup() as tasks:
            tasks.create_task(agents.send(), name="sender")
            tasks.create_task(agents.receive(sent), name="receiver")
            tasks.create_task(agents.remove(received), name="remover")
        agents.times.elapsed_s = perf_counter() - began
        return agents.times


class _Agents:
    """The three agents of one client, and the times of what they send and hear."""

    def __init__(self, client: AsyncClient, messages: int) -> None:
        self.times = Times()
        self._client = client
        self._messages = messages
        self._began: dict[tuple[str, str], float] = {}
        self._numbers: dict[Term, str] = {}

    async def send(self) -> None:
        """SEND, one after another."""
        for number in range(self._messages):
            values: Values = {"text": str(number), "sender": _ME, "receiver": _ME}
            await self._update("SEND", str(number), values)

    async def receive(self, sent: AsyncConsumer) -> None:
        """SET_RECEIVED for what is added, until all is removed."""
        removed = 0
        while removed < self._messages:
            notification = await sent.receive()
            for message in notification.added:
                text = message["text"]
                number = text.value if isinstance(text, Literal) else ""
                self._heard("received", "SEND", number)
                self._numbers[message["message"]] = number
                await self._update("SET_RECEIVED", number, {"message": message["message"]})
            for message in notification.removed:
                self._heard("removed", "REMOVE", self._numbers[message["message"]])
                removed += 1

    async def remove(self, received: AsyncConsumer) -> None:
        """REMOVE for what was confirmed."""
        confirmed = 0
        while confirmed < self._messages:
            for message in (await received.receive()).added:
                number = self._numbers[message["message"]]
                self._heard("confirmed", "SET_RECEIVED", number)
                await self._update("REMOVE", number, {"message": message["message"]})
                confirmed += 1

    async def _update(self, entry: str, number: str, values: Values) -> None:
        began = self._began[entry, number] = perf_counter()
        await self._client.update(entry, values)
        self.times.updates_ms.append(1e3 * (perf_counter() - began))

    def _heard(self, word: str, entry: str, number: str) -> None:
        self.times.notified_ms.append(1e3 * (perf_counter() - self._began[entry, number]))
        self.times.rows.append(f"{word} {number}")
