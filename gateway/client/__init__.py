"""Agents of the SEPA design pattern: producer, consumer, aggregator, for any broker of a profile.

Place: outside of a gateway, on the other end of its gates, and of any SPARQL 1.1 endpoint or SEPA
broker; docs/client.md shows how to use it. Source: Roffia et al., "Dynamic Linked Data: A SPARQL
Event Processing Architecture", 2018, sections 5.2 (APCI) and 5.3 (JSAP).
"""

from gateway.client.asynchronous import AsyncAggregator, AsyncClient, AsyncConsumer, AsyncProducer
from gateway.client.errors import (
    AgentError,
    BusyError,
    ClosedError,
    ProtocolError,
    RefusedError,
    SubscriptionEndedError,
    UnauthorizedError,
    UnknownEntryError,
    UnreachableError,
)
from gateway.client.notification import Event, Notification
from gateway.client.requests import Outcome
from gateway.client.settings import Backoff, Credentials, Settings
from gateway.client.synchronous import Aggregator, Client, Consumer, Producer

__all__ = [
    "AgentError",
    "Aggregator",
    "AsyncAggregator",
    "AsyncClient",
    "AsyncConsumer",
    "AsyncProducer",
    "Backoff",
    "BusyError",
    "Client",
    "ClosedError",
    "Consumer",
    "Credentials",
    "Event",
    "Notification",
    "Outcome",
    "Producer",
    "ProtocolError",
    "RefusedError",
    "Settings",
    "SubscriptionEndedError",
    "UnauthorizedError",
    "UnknownEntryError",
    "UnreachableError",
]
