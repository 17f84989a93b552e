"""POST of a SensorThings entity: statements of the graph, a mapping, or a message of the inbox.

Place: between the gate, which knows HTTP, and scheduler, onboarding and ingest. An Observation goes
the way of a device's message on the topic of its Datastream: journal, identity, duplicates; it is
answered when it is in the store.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from adapters.values.message import Message
from adapters.values.observation import StreamKey
from gateway.admin.onboarding.onboarding import Onboarding
from gateway.engine import UpdateRequest
from gateway.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    StorageError,
    TooLargeError,
)
from gateway.exchange.sensorthings.creation import Creation, insertion, observations_topic
from gateway.exchange.sensorthings.entities import stamp_of
from gateway.exchange.sensorthings.index import Index
from gateway.exchange.sensorthings.model import Set
from gateway.exchange.sensorthings.seen import micros_of
from gateway.gates.http.caller import Caller
from gateway.ingest.inbox import Delivery, Inbox, Outcome
from gateway.ingest.mappings import MappingTable
from gateway.ingest.sosa import Identity
from gateway.journal.record import micros
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.runtime.clocks import Clocks
from gateway.scheduler.scheduler import Scheduler
from gateway.security.policy import Capability

_HELD_S = 30.0
"""How long journal and store may take."""

Json = Mapping[str, object]


class Receives(Protocol):
    """Where messages come in."""

    @property
    def inbox(self) -> Inbox:
        """To ingest."""
        ...

    @property
    def mappings(self) -> MappingTable:
        """What messages mean."""
        ...


@dataclass(frozen=True, slots=True)
class Writing:
    """Creates entities and Observations; `payload_bytes` is the longest of a message."""

    scheduler: Scheduler
    onboarding: Onboarding
    reception: Receives
    identity: Identity
    clocks: Clocks
    payload_bytes: int

    async def entity(self, of: Set, body: Json, index: Index, caller: Caller) -> str:
        """An entity that is no Observation; its id. Raises a ClientError."""
        creation = Creation(index, self.identity)
        if of is Set.DATASTREAMS:
            caller.principal.require(Capability.MAPPINGS)
            id_ = index.id_of(of, creation.datastream(body))
        elif of in {Set.OBSERVATIONS, Set.HISTORICAL_LOCATIONS}:
            raise BadRequestError(f"{of.value} are not POSTed here", "docs/sensorthings.md has all")
        else:
            iri = creation.entity(of, body)
            id_ = index.id_of(of, iri)
        await self._made(creation, caller)
        return id_

    async def placed(self, thing: str, body: Json, index: Index, caller: Caller) -> str:
        """A Location of a Thing; its id. Raises a ClientError."""
        creation = Creation(index, self.identity)
        location = creation.entity(Set.LOCATIONS, body)
        creation.at(thing, location)
        await self._made(creation, caller)
        return index.id_of(Set.LOCATIONS, location)

    async def _made(self, creation: Creation, caller: Caller) -> None:
        """Write all of it as one change; nothing of it where that is refused."""
        principal = caller.principal
        rights, identity = principal.policy.update_rights, principal.identity
        if not creation.mappings:
            text = insertion(creation.quads)
            await self.scheduler.update(UpdateRequest(text, rights=rights, owner=identity))
            return
        principal.require(Capability.MAPPINGS)
        if not rights.may_write(DEFAULT_GRAPH):
            raise ForbiddenError(
                "this needs the right to write the default graph, where its entities are",
                "ask the gateway's administrator for --update default",
            )
        quads = [canonical_quad(each) for each in creation.quads]
        await self.onboarding.declare(creation.mappings, quads, identity)

    async def observation(
        self, stream: StreamKey, payload: bytes, index: Index, caller: Caller
    ) -> str:
        """An Observation; its id, "" for one that was told before and is no longer in the store.

        Raises ForbiddenError, ConflictError for a Datastream that takes none, BadRequestError for
        what is no Observation or cannot be, StorageError.
        """
        topic = observations_topic(index.id_of(Set.DATASTREAMS, stream))
        if not caller.principal.policy.may_publish(topic):
            raise ForbiddenError(
                "you may not publish Observations of this Datastream",
                f"ask the gateway's administrator for --publish {topic!r}",
            )
        if len(payload) > self.payload_bytes:
            raise TooLargeError(
                f"the Observation is longer than {self.payload_bytes} bytes",
                "send less, or raise [limits] payload_bytes",
            )
        message = Message(
            topic=topic,
            payload=payload,
            received_at=self.clocks.now(),
            client_id=f"sensorthings {caller.client}",
            qos=1,
        )
        self._require_taken(message, stream)
        outcome = await self._settled(message)
        if outcome.faults:
            raise BadRequestError(
                f"{outcome.faults[0].reason.value}: {outcome.faults[0].detail}",
                "it is in the quarantine; correct it",
            )
        if outcome.records:
            return str(outcome.records[0].position)
        return _told_before(index, stream, self._decoded_time(message))

    def _require_taken(self, message: Message, stream: StreamKey) -> None:
        """Raise ConflictError unless a mapping makes an Observation of this stream of it."""
        decoded = self.reception.mappings.registry.decode(message)
        if decoded.matched and all(each.stream == stream for each in decoded.observations):
            return
        raise ConflictError(
            "no mapping takes Observations of this Datastream here: its devices tell them",
            "POST a Datastream, or map the topic (docs/sensorthings.md)",
        )

    def _decoded_time(self, message: Message) -> datetime | None:
        found = self.reception.mappings.registry.decode(message).observations
        return found[0].phenomenon_time if found else None

    async def _settled(self, message: Message) -> Outcome:
        """What ingest made of it, once that is in journal and store."""
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # who waits no longer does not stop it
        outcome = Outcome()

        def settle(error: Exception | None) -> None:
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

        if not await self.reception.inbox.put_soon(Delivery(message, settle, outcome=outcome)):
            raise StorageError("the gateway is stopping", "try again when it is up")
        try:
            async with asyncio.timeout(_HELD_S):
                await asyncio.wrap_future(done)
        except TimeoutError as error:
            raise StorageError("ingest waits for the disk", "see the log; try again") from error
        return outcome


def _told_before(index: Index, stream: StreamKey, time: datetime | None) -> str:
    """The id of the observation that a copy is of, where the store has it."""
    found = index.stream(stream)
    if found is None or time is None:
        return ""
    wanted = micros_of(stamp_of(micros(time)))
    same: Sequence[str] = [each.iri for each in found.seen if micros_of(each.time) == wanted]
    return index.id_of(Set.OBSERVATIONS, same[0]) if same else ""


def require_stream(index: Index, id_: str) -> StreamKey:
    """The Datastream with an id. Raises NotFoundError."""
    found = index.find(Set.DATASTREAMS, id_)
    if not isinstance(found, tuple):
        raise NotFoundError(f"there is no Datastreams({id_[:80]!r})", "GET Datastreams has them")
    return found
