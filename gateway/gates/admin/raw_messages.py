"""The last messages by HTTP, as they came.

Place on the way of the data: beside it; docs/mappings.md shows the request. A client sees those of
topics that it may receive.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import BadRequestError
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.protocol.payload_json import number_of, payload_members, topic_of
from gateway.gates.protocol.wire import JsonObject
from gateway.ingest.raw_messages import RawMessage, RawMessages
from gateway.ingest.sosa import Identity
from gateway.security.guard import Guard
from gateway.security.policy import Capability, covers

PATH = "/messages"

_MOST = 1000
_USUAL = 20


class RawMessagesGate:
    """The endpoint /messages; it needs the capability `operations`."""

    def __init__(self, raw: RawMessages, identity: Identity, guard: Guard) -> None:
        self._raw = raw
        self._identity = identity
        self._guard = guard

    def routes(self) -> list[Route]:
        """The endpoint, for `operations.application`."""
        return endpoint(PATH, {"GET": self._list})

    async def _list(self, request: Request) -> Response:
        principal = Caller.of(request, self._guard).principal
        principal.require(Capability.OPERATIONS)
        asked = request.query_params
        unknown = set(asked) - {"topic", "before", "limit"}
        if unknown:
            raise BadRequestError(f"there is no parameter {min(unknown)!r}", "topic, before, limit")
        topic, before = topic_of(asked), number_of(asked, "before", 1, 10**18)
        most = number_of(asked, "limit", 1, _MOST) or _USUAL
        found = [
            raw
            for raw in reversed(self._raw.all())
            if principal.policy.may_receive(raw.message.topic)
            and (before is None or raw.number < before)
            and (topic is None or covers(topic, raw.message.topic))
        ]
        following = found[most - 1].number if len(found) > most else None
        shown = [described(raw, self._identity) for raw in found[:most]]
        return JSONResponse({"messages": shown, "next": following})


def described(raw: RawMessage, identity: Identity) -> JsonObject:
    """A raw message as JSON; `observation` is the IRI of the first that it gave."""
    message = raw.message
    return {
        "number": raw.number,
        "received_at": message.received_at.isoformat(),
        "topic": message.topic,
        "retained": message.retained,
        "qos": message.qos,
        "observations": raw.observations,
        "observation": None if raw.first is None else identity.observation(raw.first),
        **payload_members(message.payload),
    }
