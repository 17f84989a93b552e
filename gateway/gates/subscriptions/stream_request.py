"""SUBSCRIBE as an HTTP request: the parameters of a QUERY, and Last-Event-ID.

Place on the way of the data: from a request of the event stream to what its `Subscriber` does.
"""

from dataclasses import dataclass, replace

from starlette.requests import Request

from gateway.errors import BadRequestError
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.protocol.messages import Resume, Subscribe
from gateway.gates.sparql.protocol_request import QUERY, read_operation

_OFFERED = (QUERY, replace(QUERY, parameter="sparql"))
_OFFERED_NAMES = {names.parameter for names in _OFFERED}
_HOW = "GET /subscribe?query=<SPARQL text>, or connect a WebSocket to it"


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """What a stream is to show: go on with `resume`; where that cannot be, `subscribe`."""

    subscribe: Subscribe | None
    resume: Resume | None


def event_id(spuid: str, sequence: int) -> str:
    """The id of an event, which comes back as Last-Event-ID.

    >>> event_id("sepa://subscription/1", 3)
    'sepa://subscription/1#3'
    """
    return f"{spuid}#{sequence}"


async def read_request(request: Request, limits: RequestLimits) -> StreamRequest:
    """Raises BadRequestError, and what `read_operation` raises."""
    authorization = request.headers.get("authorization")
    last_id = request.headers.get("last-event-id") or request.query_params.get("last-event-id")
    resume = _resume(last_id, authorization) if last_id else None
    if request.method == "GET" and not _OFFERED_NAMES & request.query_params.keys():
        if resume is None:
            raise BadRequestError("there is no parameter 'query'", _HOW)
        return StreamRequest(None, resume)
    operation = await read_operation(request, _OFFERED, limits)
    subscribe = Subscribe(
        operation.text,
        operation.parameter("alias"),
        operation.dataset,
        authorization,
        operation.infer,
        operation.over,
    )
    return StreamRequest(subscribe, resume)


def _resume(last_id: str, authorization: str | None) -> Resume | None:
    """None where it is no id of ours: then the stream starts again."""
    spuid, _, sequence = last_id.rpartition("#")
    if not spuid or not sequence.isascii() or not sequence.isdecimal() or len(sequence) > 18:
        return None
    return Resume(spuid, int(sequence), None, authorization)
