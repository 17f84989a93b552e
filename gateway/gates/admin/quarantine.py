"""The quarantine by HTTP: list, show, replay, discard.

Place on the way of the data: beside it; docs/quarantine.md shows each request. A client sees the
messages of those topics that it may receive, and replays or discards those that it may publish.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, Self

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.admin.quarantine_replay import Replayed
from gateway.errors import BadRequestError, ForbiddenError, NotFoundError
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.protocol.payload_json import number_of, payload_members, topic_of
from gateway.gates.protocol.wire import JsonObject
from gateway.ingest.quarantine import Entry, Quarantine
from gateway.security.guard import Guard
from gateway.security.policy import Capability, Policy, covers

PATH = "/quarantine"

MOST = 1000
"""Entries of one answer, and of one replay."""

_USUAL = 100


class Replaying(Protocol):
    """What sends messages through ingest again."""

    async def replay(self, entries: Sequence[Entry]) -> Sequence[Replayed]:
        """What became of each. Raises StorageError."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """Which entries: of a reason, of a mapping (its IRI), of topics; older than `before`.

    >>> Choice.of(QueryParams("reason=null&topic=lab/%2B"), {"limit"}).topic
    'lab/+'
    """

    reason: str | None = None
    mapping: str | None = None
    topic: str | None = None
    before: int | None = None

    @classmethod
    def of(cls, asked: QueryParams, others: Iterable[str] = ()) -> Self:
        """Raises BadRequestError for a parameter that is none, or has another value."""
        known = {"reason", "mapping", "topic", "before", *others}
        for name in asked:
            if name not in known:
                raise BadRequestError(f"there is no parameter {name!r}", ", ".join(sorted(known)))
        before = number_of(asked, "before", 1, 10**18)
        return cls(asked.get("reason"), asked.get("mapping"), topic_of(asked), before)

    def has(self, entry: Entry) -> bool:
        """Whether it is one of them."""
        return (
            (self.before is None or int(entry.id) < self.before)
            and (self.reason in {None, *(each.reason.value for each in entry.faults)})
            and (self.mapping in {None, *(each.mapping for each in entry.faults)})
            and (self.topic is None or covers(self.topic, entry.message.topic))
        )


class QuarantineGate:
    """The endpoints below /quarantine; all need the capability `operations`."""

    def __init__(self, quarantine: Quarantine, replaying: Replaying, guard: Guard) -> None:
        self._quarantine = quarantine
        self._replaying = replaying
        self._guard = guard

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        return [
            *endpoint(PATH, {"GET": self._list, "DELETE": self._discard_all}),
            *endpoint(f"{PATH}/replay", {"POST": self._replay_all}),
            *endpoint(f"{PATH}/{{id}}", {"GET": self._show, "DELETE": self._discard}),
            *endpoint(f"{PATH}/{{id}}/replay", {"POST": self._replay}),
        ]

    async def _list(self, request: Request) -> Response:
        policy = self._policy(request)
        asked = request.query_params
        choice = Choice.of(asked, {"limit"})
        most = number_of(asked, "limit", 1, MOST) or _USUAL
        newest = reversed(self._chosen(choice, policy.may_receive))
        found = list(islice(newest, most + 1))
        shown = found[:most]
        return JSONResponse(
            {
                "entries": [_described(entry) for entry in shown],
                "next": shown[-1].id if len(found) > most else None,
            }
        )

    async def _show(self, request: Request) -> Response:
        entry = self._find(request, self._policy(request))
        return JSONResponse(_described(entry) | payload_members(entry.message.payload))

    async def _replay(self, request: Request) -> Response:
        policy = self._policy(request)
        entry = self._writable(request, policy)
        if not entry.is_whole:
            raise BadRequestError(
                f"of the message {entry.id} only the beginning was kept",
                "raise [limits] quarantine_payload_bytes for the next ones",
            )
        outcomes = await self._replaying.replay([entry])
        if not outcomes:
            raise _unknown(entry.id)
        return JSONResponse(_outcome(outcomes[0]))

    async def _replay_all(self, request: Request) -> Response:
        """The oldest first, as they came."""
        entries = self._writables(request)[:MOST]
        outcomes = await self._replaying.replay(entries)
        return JSONResponse({"replayed": [_outcome(each) for each in outcomes]})

    async def _discard(self, request: Request) -> Response:
        entry = self._writable(request, self._policy(request))
        self._quarantine.discard([entry.id])
        return Response(status_code=204)

    async def _discard_all(self, request: Request) -> Response:
        entries = self._writables(request)
        count = self._quarantine.discard([entry.id for entry in entries])
        return JSONResponse({"discarded": count})

    def _policy(self, request: Request) -> Policy:
        principal = Caller.of(request, self._guard).principal
        principal.require(Capability.OPERATIONS)
        return principal.policy

    def _chosen(self, choice: Choice, may: Callable[[str], bool]) -> list[Entry]:
        return [
            entry for entry in self._quarantine if may(entry.message.topic) and choice.has(entry)
        ]

    def _writables(self, request: Request) -> list[Entry]:
        policy = self._policy(request)
        choice = Choice.of(request.query_params)
        return self._chosen(
            choice, lambda topic: policy.may_receive(topic) and policy.may_publish(topic)
        )

    def _find(self, request: Request, policy: Policy) -> Entry:
        id_ = request.path_params["id"]
        entry = self._quarantine.get(id_)
        if entry is None or not policy.may_receive(entry.message.topic):
            raise _unknown(id_)
        return entry

    def _writable(self, request: Request, policy: Policy) -> Entry:
        entry = self._find(request, policy)
        if not policy.may_publish(entry.message.topic):
            raise ForbiddenError(
                f"this needs the right to publish to {entry.message.topic!r}",
                "ask the gateway's administrator for --publish",
            )
        return entry


def _unknown(id_: str) -> NotFoundError:
    return NotFoundError(f"there is no message {id_[:40]!r} in quarantine", "it may have left it")


def _described(entry: Entry) -> JsonObject:
    message = entry.message
    return {
        "id": entry.id,
        "received_at": message.received_at.isoformat(),
        "topic": message.topic,
        "retained": message.retained,
        "qos": message.qos,
        "payload_bytes": entry.payload_bytes,
        "is_whole": entry.is_whole,
        "faults": _faults(entry),
    }


def _faults(told: Entry | Replayed) -> list[JsonObject]:
    return [
        {"reason": each.reason.value, "detail": each.detail, "mapping": each.mapping}
        for each in told.faults
    ]


def _outcome(replayed: Replayed) -> JsonObject:
    return {
        "id": replayed.id,
        "done": replayed.is_done,
        "observations": replayed.observations,
        "faults": _faults(replayed),
    }
