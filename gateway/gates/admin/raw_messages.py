"""The last messages by HTTP, as they came.

docs/mappings.md shows the request. A client sees those of
topics that it may receive.
"""

from typing import Annotated

from fastapi import Depends, Query
from pydantic import Field

from gateway.gates.http.dependencies import AnyCaller, GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.gates.http.query_parameters import Before, Limit, Parameters, Topic
from gateway.gates.protocol.payload_json import payload_members
from gateway.ingest.raw_messages import RawMessage, RawMessages
from gateway.ingest.sosa import Identity
from gateway.security.policy import Capability, Policy, covers

PATH = "/messages"

_USUAL = 20


class Listing(Parameters):
    """Which messages: of topics, older than `before`, so many of them."""

    topic: Annotated[Topic, Field(description="MQTT topic filter")] = None
    before: Annotated[Before, Field(description="number: older ones alone")] = None
    limit: Annotated[Limit, Field(description="most of them")] = _USUAL

    def has(self, raw: RawMessage) -> bool:
        """Whether it is one of them."""
        return (self.before is None or raw.number < self.before) and (
            self.topic is None or covers(self.topic, raw.message.topic)
        )


class MessageTold(Answer):
    """A message as it came; `observation` is the IRI of the first that it gave, or null."""

    number: int
    received_at: str
    topic: str
    retained: bool
    qos: int
    observations: int
    observation: str | None
    payload: str = ""
    payload_base64: str = ""


class Messages(Answer):
    """The newest first; `next` is what `before` is on the next page, null on the last one."""

    messages: list[MessageTold]
    next: int | None


class RawMessagesGate:
    """The last messages, as far as a policy lets its client receive them."""

    def __init__(self, raw: RawMessages, identity: Identity) -> None:
        self._raw = raw
        self._identity = identity

    def list(self, listing: Listing, policy: Policy) -> Messages:
        """The newest first."""
        most = listing.limit
        found = [
            raw
            for raw in reversed(self._raw.all())
            if policy.may_receive(raw.message.topic) and listing.has(raw)
        ]
        following = found[most - 1].number if len(found) > most else None
        return Messages(
            messages=[_described(raw, self._identity) for raw in found[:most]], next=following
        )


router = JsonRouter(Requires(Capability.OPERATIONS))

_Gate = Annotated[RawMessagesGate, Depends(GateOf(RawMessagesGate))]


@router.get(PATH, "the last messages, the newest first", "they")
async def list_messages(
    caller: AnyCaller, gate: _Gate, listing: Annotated[Listing, Query()]
) -> Messages:
    """On topics that the client may receive."""
    return gate.list(listing, caller.principal.policy)


def _described(raw: RawMessage, identity: Identity) -> MessageTold:
    message = raw.message
    return MessageTold(
        number=raw.number,
        received_at=message.received_at.isoformat(),
        topic=message.topic,
        retained=message.retained,
        qos=message.qos,
        observations=raw.observations,
        observation=None if raw.first is None else identity.observation(raw.first),
        **payload_members(message.payload),
    )
