"""The quarantine by HTTP: list, show, replay, discard.

docs/quarantine.md shows each request. A client sees the
messages of those topics that it may receive, and replays or discards those that it may publish.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Annotated, Protocol

from fastapi import Depends, Path, Query
from pydantic import Field

from gateway.admin.quarantine_replay import Replayed
from gateway.errors import BadRequestError, ForbiddenError, NotFoundError
from gateway.gates.admin.mapping_answers import FaultTold, fault_answer
from gateway.gates.http.dependencies import AnyCaller, GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.gates.http.query_parameters import MOST, Before, Limit, Parameters, Topic
from gateway.gates.protocol.payload_json import payload_members
from gateway.ingest.quarantine import Entry, Quarantine
from gateway.security.policy import Capability, Policy, covers

PATH = "/quarantine"

_USUAL = 100


class Replaying(Protocol):
    """What sends messages through ingest again."""

    async def replay(self, entries: Sequence[Entry]) -> Sequence[Replayed]:
        """What became of each. Raises StorageError."""
        ...


class Choice(Parameters):
    """Which entries: of a reason, of a mapping (its IRI), of topics; older than `before`.

    >>> Choice(reason="null", topic="lab/+").topic
    'lab/+'
    """

    reason: Annotated[str | None, Field(description="of the faults")] = None
    mapping: Annotated[str | None, Field(description="IRI of the mapping that a fault hit")] = None
    topic: Annotated[Topic, Field(description="MQTT topic filter")] = None
    before: Annotated[Before, Field(description="id: older ones alone")] = None

    def has(self, entry: Entry) -> bool:
        """Whether it is one of them."""
        return (
            (self.before is None or int(entry.id) < self.before)
            and (self.reason in {None, *(each.reason.value for each in entry.faults)})
            and (self.mapping in {None, *(each.mapping for each in entry.faults)})
            and (self.topic is None or covers(self.topic, entry.message.topic))
        )


class Listing(Choice):
    """As `Choice`, and so many of them."""

    limit: Annotated[Limit, Field(description="most of them")] = _USUAL


class EntryTold(Answer):
    """A message with a fault; its payload where one was asked for."""

    id: str
    received_at: str
    topic: str
    retained: bool
    qos: int
    payload_bytes: int
    is_whole: bool
    faults: list[FaultTold]
    payload: str = ""
    payload_base64: str = ""


class Entries(Answer):
    """The newest first; `next` is what `before` is on the next page, null on the last one."""

    entries: list[EntryTold]
    next: str | None


class Outcome(Answer):
    """What became of a message that was sent through ingest again."""

    id: str
    done: bool
    observations: int
    faults: list[FaultTold]


class Outcomes(Answer):
    """In order of the messages."""

    replayed: list[Outcome]


class Discarded(Answer):
    """How many messages are gone."""

    discarded: int


class QuarantineGate:
    """The messages with a fault, as far as a policy lets its client see and change them."""

    def __init__(self, quarantine: Quarantine, replaying: Replaying) -> None:
        self._quarantine = quarantine
        self._replaying = replaying

    def list(self, listing: Listing, policy: Policy) -> Entries:
        """The newest first."""
        most = listing.limit
        newest = reversed(self._chosen(listing, policy.may_receive))
        found = list(islice(newest, most + 1))
        shown = found[:most]
        return Entries(
            entries=[_described(entry) for entry in shown],
            next=shown[-1].id if len(found) > most else None,
        )

    def show(self, id_: str, policy: Policy) -> EntryTold:
        """One, with its payload. Raises NotFoundError."""
        entry = self._find(id_, policy)
        return _described(entry, **payload_members(entry.message.payload))

    async def replay(self, id_: str, policy: Policy) -> Outcome:
        """Send one through ingest again. Raises NotFoundError, ForbiddenError, BadRequestError."""
        entry = self._writable(id_, policy)
        if not entry.is_whole:
            raise BadRequestError(
                f"of the message {entry.id} only the beginning was kept",
                "raise [limits] quarantine_payload_bytes for the next ones",
            )
        outcomes = await self._replaying.replay([entry])
        if not outcomes:
            raise _unknown(entry.id)
        return _outcome(outcomes[0])

    async def replay_all(self, choice: Choice, policy: Policy) -> Outcomes:
        """The oldest first, as they came."""
        entries = self._writables(choice, policy)[:MOST]
        outcomes = await self._replaying.replay(entries)
        return Outcomes(replayed=[_outcome(each) for each in outcomes])

    def discard(self, id_: str, policy: Policy) -> None:
        """Discard one. Raises NotFoundError, ForbiddenError."""
        self._quarantine.discard([self._writable(id_, policy).id])

    def discard_all(self, choice: Choice, policy: Policy) -> Discarded:
        """Discard several."""
        ids = [entry.id for entry in self._writables(choice, policy)]
        return Discarded(discarded=self._quarantine.discard(ids))

    def _chosen(self, choice: Choice, may: Callable[[str], bool]) -> Sequence[Entry]:
        return [
            entry for entry in self._quarantine if may(entry.message.topic) and choice.has(entry)
        ]

    def _writables(self, choice: Choice, policy: Policy) -> Sequence[Entry]:
        return self._chosen(
            choice, lambda topic: policy.may_receive(topic) and policy.may_publish(topic)
        )

    def _find(self, id_: str, policy: Policy) -> Entry:
        entry = self._quarantine.get(id_)
        if entry is None or not policy.may_receive(entry.message.topic):
            raise _unknown(id_)
        return entry

    def _writable(self, id_: str, policy: Policy) -> Entry:
        entry = self._find(id_, policy)
        if not policy.may_publish(entry.message.topic):
            raise ForbiddenError(
                f"this needs the right to publish to {entry.message.topic!r}",
                "ask the gateway's administrator for --publish",
            )
        return entry


router = JsonRouter(Requires(Capability.OPERATIONS))

_Gate = Annotated[QuarantineGate, Depends(GateOf(QuarantineGate))]
_Id = Annotated[str, Path(alias="id")]
_Chosen = Annotated[Choice, Query()]


@router.get(PATH, "messages with a fault, the newest first", "they")
async def list_entries(
    caller: AnyCaller, gate: _Gate, listing: Annotated[Listing, Query()]
) -> Entries:
    """On topics that the client may receive."""
    return gate.list(listing, caller.principal.policy)


@router.delete(PATH, "discard them", "how many there were")
async def discard_entries(caller: AnyCaller, gate: _Gate, choice: _Chosen) -> Discarded:
    """On topics that the client may publish to."""
    return gate.discard_all(choice, caller.principal.policy)


@router.post(
    f"{PATH}/replay", "send them through ingest again, the oldest first", "what became of each"
)
async def replay_entries(caller: AnyCaller, gate: _Gate, choice: _Chosen) -> Outcomes:
    """On topics that the client may publish to."""
    return await gate.replay_all(choice, caller.principal.policy)


@router.get(f"{PATH}/{{id}}", "one, with its payload", "it", 404)
async def show_entry(caller: AnyCaller, gate: _Gate, id_: _Id) -> EntryTold:
    """As text where it is one."""
    return gate.show(id_, caller.principal.policy)


@router.silent("DELETE", f"{PATH}/{{id}}", "discard it", "it is gone", 404)
async def discard_entry(caller: AnyCaller, gate: _Gate, id_: _Id) -> None:
    """Where the client may publish to its topic."""
    gate.discard(id_, caller.principal.policy)


@router.post(f"{PATH}/{{id}}/replay", "send it through ingest again", "what became of it", 404)
async def replay_entry(caller: AnyCaller, gate: _Gate, id_: _Id) -> Outcome:
    """Where the client may publish to its topic."""
    return await gate.replay(id_, caller.principal.policy)


def _unknown(id_: str) -> NotFoundError:
    return NotFoundError(f"there is no message {id_[:40]!r} in quarantine", "it may have left it")


def _described(entry: Entry, **payload: str) -> EntryTold:
    message = entry.message
    return EntryTold(
        id=entry.id,
        received_at=message.received_at.isoformat(),
        topic=message.topic,
        retained=message.retained,
        qos=message.qos,
        payload_bytes=entry.payload_bytes,
        is_whole=entry.is_whole,
        faults=[fault_answer(each) for each in entry.faults],
        **payload,
    )


def _outcome(replayed: Replayed) -> Outcome:
    return Outcome(
        id=replayed.id,
        done=replayed.is_done,
        observations=replayed.observations,
        faults=[fault_answer(each) for each in replayed.faults],
    )
