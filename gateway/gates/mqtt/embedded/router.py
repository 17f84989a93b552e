"""`Router`: what becomes of a message that a client publishes to the embedded broker.

Place on the way of the data: between the embedded broker and those whom messages are for. A SPARQL
request is answered, a command becomes an actuation, anything else is a reading for ingest.
"""

from typing import Protocol

from adapters.values.message import Message


class Destination(Protocol):
    """One of those whom messages are for."""

    def takes(self, topic: str) -> bool:
        """Whether the messages of a topic are for it."""

    async def accept(self, message: Message) -> None:
        """Take a message; returns when it may be acknowledged, raises where it may not."""


class Router:
    """Asks its destinations in order: the first one that takes a topic gets the message.

    What nobody takes is acknowledged, and for subscribers alone.
    """

    def __init__(self) -> None:
        self._destinations: tuple[Destination, ...] = ()

    def route_to(self, *destinations: Destination) -> None:
        """Have messages go there; before the broker listens."""
        self._destinations = destinations

    async def accept(self, message: Message) -> None:
        """Hand a message over; what its destination raises is raised."""
        for destination in self._destinations:
            if destination.takes(message.topic):
                await destination.accept(message)
                return
