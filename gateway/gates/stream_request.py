"""SUBSCRIBE as an HTTP request: the parameters of a QUERY, and Last-Event-ID.

Place on the way of the data: from a request of the event stream to what its `Subscriber` does.
"""

from dataclasses import dataclass

from starlette.requests import Request

from gateway.errors import BadRequestError
from gateway.gates.messages import Resume, Subscribe, graph_names

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


async def read_request(request: Request) -> StreamRequest:
    """Raises BadRequestError."""
    parameters = request.query_params.multi_items()
    texts = [value for name, value in parameters if name in {"query", "sparql"}]
    authorization = request.headers.get("authorization")
    last_id = request.headers.get("last-event-id") or request.query_params.get("last-event-id")
    resume = _resume(last_id, authorization) if last_id else None
    if len(texts) > 1 or not (texts or resume):
        raise BadRequestError(f"{len(texts)} parameters 'query' instead of one", _HOW)
    return StreamRequest(_subscribe(texts[0], parameters, authorization) if texts else None, resume)


def _subscribe(
    text: str, parameters: list[tuple[str, str]], authorization: str | None
) -> Subscribe:
    return Subscribe(
        text,
        dict(parameters).get("alias"),
        graph_names(value for name, value in parameters if name == "default-graph-uri"),
        graph_names(value for name, value in parameters if name == "named-graph-uri"),
        authorization,
    )


def _resume(last_id: str, authorization: str | None) -> Resume | None:
    """None where it is no id of ours: then the stream starts again."""
    spuid, _, sequence = last_id.rpartition("#")
    if not spuid or not sequence.isascii() or not sequence.isdecimal() or len(sequence) > 18:
        return None
    return Resume(spuid, int(sequence), None, authorization)
