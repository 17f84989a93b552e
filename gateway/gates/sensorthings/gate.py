"""The HTTP gate of the SensorThings API: /sta/v1.1 and all below it.

Place: first step of its requests: rights before anything is read, then the URL, within bounds. It
is for who may QUERY the default graph, where all of it is. Errors are told as OData has them.
Source: OGC SensorThings API Part 1: Sensing, version 1.1, sections 9 and 10.
"""

from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.errors import (
    BadRequestError,
    ForbiddenError,
    GatewayError,
    NotFoundError,
    UnsupportedMediaTypeError,
)
from gateway.exchange.sensorthings import encoding
from gateway.exchange.sensorthings.conformance import service_root
from gateway.exchange.sensorthings.creation import linked_id, observations_of
from gateway.exchange.sensorthings.entities import Entities
from gateway.exchange.sensorthings.index import Index
from gateway.exchange.sensorthings.model import Set, set_named
from gateway.exchange.sensorthings.url.bounds import wrong
from gateway.exchange.sensorthings.url.options_parser import parse_options
from gateway.exchange.sensorthings.url.resource_path import parse_resource_path
from gateway.exchange.sensorthings.url.syntax import ResourcePath
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import SECURE, endpoint
from gateway.gates.http.json_body import JSON
from gateway.gates.http.rendering import Answer, BoundedBody
from gateway.gates.http.request_body import RequestLimits, media_type, read_body, utf_8
from gateway.gates.http.responses import answer_response, error_response
from gateway.gates.protocol.json_text import read_json
from gateway.gates.sensorthings.indexing import Indexing
from gateway.gates.sensorthings.measures import Counted
from gateway.gates.sensorthings.reading import JournalFolder, Service, answer
from gateway.gates.sensorthings.writing import Writing, require_stream
from gateway.gates.sparql.query_pool import QueryPool
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.security.guard import Guard, OpenGuard

PATH = "/sta/v1.1"

_CREATE = "CreateObservations"
_MOST_CREATED = 1_000

Handler = Callable[[Request, Caller], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Told:
    """What the service says of itself: MQTT brokers and prefix, and how far back it reaches."""

    endpoints: Callable[[], list[str]]
    topics: str
    reaches_back_to: Callable[[], str | None]


class SensorThingsGate:
    """The endpoints below PATH."""

    def __init__(
        self,
        indexing: Indexing,
        pool: QueryPool,
        journal: JournalFolder,
        writing: Writing,
        told: Told,
        *,
        guard: Guard | None = None,
        limits: RequestLimits | None = None,
        counted: Counted | None = None,
    ) -> None:
        self.counted = counted or Counted()
        self._indexing = indexing
        self._pool = pool
        self._journal = journal
        self._writing = writing
        self._told = told
        self._guard = guard or OpenGuard()
        self._limits = limits or RequestLimits()

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        root = {"GET": partial(self._handled, self._root)}
        all_below = {
            "GET": partial(self._handled, self._read),
            "POST": partial(self._handled, self._create),
        }
        return [
            *endpoint(PATH, root),
            *endpoint(f"{PATH}/", root),
            *endpoint(f"{PATH}/{{path:path}}", all_below),
        ]

    async def _handled(self, handler: Handler, request: Request) -> Response:
        """The handler's answer, or its error."""
        try:
            caller = _caller(request, self._guard)
            self.counted.requests += 1
            return await handler(request, caller)
        except GatewayError as error:
            self.counted.refused += 1
            return _refused(error)

    async def _root(self, request: Request, caller: Caller) -> Response:
        may = caller.principal.policy.query_rights.may_read(DEFAULT_GRAPH)
        back = await self._pool.run(lambda _: self._told.reaches_back_to(), caller) if may else None
        found = service_root(_root(request), self._told.endpoints(), self._told.topics, back)
        return answer_response(Answer(encoding.JSON, encoding.encoded(found)))

    async def _read(self, request: Request, caller: Caller) -> Response:
        _require_readable(caller)
        path, options = _path(request), parse_options(request.url.query)
        _require_set(path)
        index = await self._indexing.index()
        rights, root = caller.principal.policy.query_rights, _root(request)
        service = Service(index, self._pool, self._journal)

        def work(body: BoundedBody) -> Answer:
            found = answer(service, (path, options), rights, root, body)
            return found.packed() if caller.takes_gzip else found

        return answer_response(await self._pool.run(work, caller))

    async def _create(self, request: Request, caller: Caller) -> Response:
        """POST: 201 with the address of what is made, once it is committed."""
        _require_readable(caller)
        if request.url.query:
            raise wrong("the query string", "a POST has no options")
        body = await read_body(request, self._limits)
        document = _document(request, body)
        index = await self._indexing.index()
        entities = Entities(index, _root(request))
        if _below(request) == _CREATE:
            return await self._create_several(document, index, entities, caller)
        if not isinstance(document, dict):
            raise BadRequestError("an entity is an object", "send one JSON object")
        path = _path(request)
        of, id_ = await self._created(path, document, body, index, caller)
        address = f"{entities.root}/{of.value}('{id_}')"
        key = index.find(of, id_)
        found = {} if key is None else entities.document(of, key)
        headers = {"Location": address} if id_ else {}
        return Response(encoding.encoded(found), 201, headers=headers, media_type=encoding.JSON)

    async def _created(
        self,
        path: ResourcePath,
        document: Mapping[str, Any],
        body: bytes,
        index: Index,
        caller: Caller,
    ) -> tuple[Set, str]:
        """The set and id of what is made."""
        names = [segment.name for segment in path.segments]
        first = path.segments[0]
        if path.property or path.is_refs:
            raise wrong("the path", "entities are POSTed to a collection")
        if names == ["Observations"]:
            stream = require_stream(index, linked_id(document, "Datastream"))
            return Set.OBSERVATIONS, await self._writing.observation(stream, body, index, caller)
        if names == ["Datastreams", "Observations"] and first.id is not None:
            stream = require_stream(index, first.id)
            return Set.OBSERVATIONS, await self._writing.observation(stream, body, index, caller)
        if names == ["Things", "Locations"] and first.id is not None:
            thing = index.find(Set.THINGS, first.id)
            if not isinstance(thing, str):
                raise wrong("the path", f"there is no Things({first.id[:80]!r})")
            return Set.LOCATIONS, await self._writing.placed(thing, document, index, caller)
        if names == ["Things", "Datastreams"] and first.id is not None:
            document = {**document, "Thing": {"@iot.id": first.id}}
            return Set.DATASTREAMS, await self._writing.entity(
                Set.DATASTREAMS, document, index, caller
            )
        if len(names) != 1 or first.id is not None:
            raise wrong("the path", "entities are POSTed to their set", "docs/sensorthings.md")
        of = set_named(first.name)
        return of, await self._writing.entity(of, document, index, caller)

    async def _create_several(
        self, document: object, index: Index, entities: Entities, caller: Caller
    ) -> Response:
        """Observations of a dataArray: for each its address, or "error" with why."""
        told: list[str] = []
        given = observations_of(document)
        if len(given) > _MOST_CREATED:
            raise BadRequestError(f"more than {_MOST_CREATED} Observations", "send fewer at once")
        for id_, each in given:
            try:
                stream = require_stream(index, id_)
                payload = encoding.encoded(each)
                made = await self._writing.observation(stream, payload, index, caller)
                told.append(f"{entities.root}/Observations('{made}')")
            except GatewayError as error:
                if error.http_status >= 500:
                    raise
                told.append(f"error: {error}")
        return Response(encoding.encoded(told), 201, media_type=encoding.JSON)


def _caller(request: Request, guard: Guard) -> Caller:
    """Who asks; clients that know no tokens show one as the password of Basic (RFC 7617).

    Raises what the guard raises.
    """
    shown = request.headers.getlist("authorization")
    scheme, _, told = shown[0].partition(" ") if len(shown) == 1 else ("", "", "")
    if scheme.lower() != "basic":
        return Caller.of(request, guard)
    try:
        password = b64decode(told.strip(), validate=True).decode().partition(":")[2]
    except ValueError:
        password = ""
    return Caller(guard.principal(f"Bearer {password}"), request)


def _require_readable(caller: Caller) -> None:
    if not caller.principal.policy.query_rights.may_read(DEFAULT_GRAPH):
        raise ForbiddenError(
            "this needs the right to query the default graph, where all of it is",
            "ask the gateway's administrator for --query default",
        )


def _root(request: Request) -> str:
    """The address of the service as the client calls it."""
    prefix = SECURE if request.url.path.startswith(f"{SECURE}/") else ""
    return f"{request.url.scheme}://{request.url.netloc}{prefix}{PATH}"


def _below(request: Request) -> str:
    """What is behind the root, decoded. Raises BadRequestError."""
    raw = request.scope.get("raw_path") or request.url.path.encode()
    try:
        path = unquote(raw.decode("ascii"), errors="strict")
    except UnicodeDecodeError as error:
        raise wrong("the path", "is not percent-encoded UTF-8") from error
    return path.partition(f"{PATH}/")[2]


def _path(request: Request) -> ResourcePath:
    return parse_resource_path(_below(request))


def _require_set(path: ResourcePath) -> None:
    """Raise NotFoundError for a path that begins with no set."""
    name = path.segments[0].name
    if name not in {each.value for each in Set}:
        names = ", ".join(each.value for each in Set)
        raise NotFoundError(f"there is no {name[:80]!r}", f"those are {names}")


def _document(request: Request, body: bytes) -> object:
    """The body as JSON. Raises UnsupportedMediaTypeError, BadRequestError."""
    told = media_type(request.headers.get("content-type", JSON))
    if told != JSON:
        raise UnsupportedMediaTypeError(f"cannot read a body of type {told}", f"send {JSON}")
    try:
        return read_json(utf_8(body) or "{}", float, _refuse)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"the body is not JSON: {error}", "send a JSON object") from error


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def _refused(error: GatewayError) -> Response:
    """The error as OData tells it, with the status and headers that it has everywhere."""
    usual = error_response(error)
    told = encoding.error(error.code, str(error))
    headers = {
        name: value
        for name, value in usual.headers.items()
        if name.lower() in {"retry-after", "www-authenticate"}
    }
    return Response(encoding.encoded(told), usual.status_code, headers, encoding.JSON)
