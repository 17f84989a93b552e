"""Updates and queries of a profile as HTTP requests, and their answers as values; no I/O here.

Place: between a bound template and whoever sends it. Source: SPARQL 1.1 Protocol (W3C, 2013),
sections 2.1 and 2.2; `at` and `delay` of an UPDATE and `infer` are the gateway's.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, cast

from pyoxigraph import (
    QueryBoolean,
    QueryResultsFormat,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
    serialize,
)

from gateway.client.errors import ProtocolError, RefusedError, refusal
from gateway.rdf.solutions import Solution, solution
from jsap.endpoints import Endpoint
from jsap.file_format import Method
from jsap.template import Graphs

Answer = list[Solution] | bool | list[Triple]
"""What a SELECT, an ASK, and a CONSTRUCT or DESCRIBE are answered with."""

Due = datetime | timedelta | None
Parameters = tuple[tuple[str, str], ...]

_RESULTS = {
    "JSON": "application/sparql-results+json",
    "XML": "application/sparql-results+xml",
    "CSV": "text/csv",
    "TSV": "text/tab-separated-values",
}
_GRAPHS = "application/n-triples, text/turtle;q=0.9"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to be sent as it is."""

    method: str
    url: str
    parameters: Parameters = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Mapping[str, Sequence[str]] | None = None
    """Bytes, or the fields of a form."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a broker said of an UPDATE: its status, and its JSON body where it has one.

    `delayed_id` is the id of an UPDATE that waits.
    """

    status: int
    body: Any = None

    @property
    def delayed_id(self) -> str | None:
        """The id by which the gateway shows and cancels it at /update/delayed."""
        found = self.body.get("id") if isinstance(self.body, Mapping) else None
        return found if self.status == 202 and isinstance(found, str) else None


def query_request(
    endpoint: Endpoint,
    text: str,
    graphs: Graphs,
    infer: bool | None = None,
    over: Mapping[str, object] = MappingProxyType({}),
) -> HttpRequest:
    """A QUERY; its answer is wanted with all of its terms, so CSV and TSV are asked for as JSON.

    Of the members `over` the `gateways` are asked, in mode `each` each for itself; windows and
    events are for those who subscribe.
    """
    results = _RESULTS["XML" if endpoint.format == "XML" else "JSON"]
    dataset = _pairs("default-graph-uri", graphs.default_graph_uri)
    dataset += _pairs("named-graph-uri", graphs.named_graph_uri)
    dataset += _view(infer) + _asked_of(over)
    return _request(endpoint, "query", text, dataset, {"Accept": f"{results}, {_GRAPHS}"})


def _asked_of(over: Mapping[str, object]) -> Parameters:
    """The gateways that are asked, as docs/federation.md has them; nothing where it is one."""
    names = over.get("gateways")
    if names is None:
        return ()
    told = names if isinstance(names, str) else ",".join(cast(Sequence[str], names))
    each = (("mode", "each"),) if over.get("mode") == "each" else ()
    return (("gateways", told), *each)


def accepting(request: HttpRequest, format_or_type: str) -> HttpRequest:
    """The same request for another form of the answer: JSON, XML, CSV, TSV or a media type."""
    accept = _RESULTS.get(format_or_type.upper(), format_or_type)
    return replace(request, headers={**request.headers, "Accept": accept})


def update_request(
    endpoint: Endpoint, text: str, graphs: Graphs, due: Due = None, infer: bool | None = None
) -> HttpRequest:
    """An UPDATE, which waits where `due` says so; a GET is sent as POST."""
    dataset = _pairs("using-graph-uri", graphs.using_graph_uri)
    dataset += _pairs("using-named-graph-uri", graphs.using_named_graph_uri)
    if endpoint.method is Method.GET:
        endpoint = Endpoint(endpoint.url, Method.POST, endpoint.format)
    headers = {"Accept": "application/json, */*;q=0.5"}
    parameters = dataset + _waiting(due) + _view(infer)
    return _request(endpoint, "update", text, parameters, headers)


def elements_request(
    update: Endpoint,
    stream: str,
    triples: Iterable[Triple],
    time: datetime | None = None,
    *,
    by_line: bool = False,
) -> HttpRequest:
    """Triples for a stream of the gateway that takes UPDATEs there (docs/http.md, "Elements")."""
    moment = () if time is None else (("time", time.isoformat()),)
    each = (("each", "line"),) if by_line else ()
    body = serialize(triples, format=RdfFormat.N_TRIPLES) or b""
    headers = {"Accept": "application/json", "Content-Type": RdfFormat.N_TRIPLES.media_type}
    url = f"{update.url.rpartition('/')[0]}/elements"
    return HttpRequest("POST", url, (("stream", stream), *each, *moment), headers, body)


def entered(url: str, body: bytes) -> Mapping[str, Any]:
    """What the gateway says of elements. Raises ProtocolError."""
    try:
        found = json.loads(body)
    except ValueError as error:
        raise ProtocolError(url, f"the answer is no JSON: {error}") from error
    if not isinstance(found, Mapping):
        raise ProtocolError(url, "the answer is no JSON object")
    return found


def _request(
    endpoint: Endpoint, kind: str, text: str, dataset: Parameters, headers: dict[str, str]
) -> HttpRequest:
    match endpoint.method:
        case Method.GET:
            return HttpRequest("GET", endpoint.url, ((kind, text), *dataset), headers)
        case Method.URL_ENCODED_POST:
            form: dict[str, list[str]] = {kind: [text]}
            for name, value in dataset:
                form.setdefault(name, []).append(value)
            return HttpRequest("POST", endpoint.url, (), headers, form)
        case Method.POST:
            media_type = f"application/sparql-{kind}; charset=utf-8"
            headers = {**headers, "Content-Type": media_type}
            return HttpRequest("POST", endpoint.url, dataset, headers, text.encode())


def _pairs(name: str, values: Sequence[str]) -> Parameters:
    return tuple((name, value) for value in values)


def _view(infer: bool | None) -> Parameters:
    return () if infer is None else (("infer", str(infer).lower()),)


def _waiting(due: Due) -> Parameters:
    if due is None:
        return ()
    if isinstance(due, timedelta):
        return (("delay", f"{due / timedelta(seconds=1):.6f}".rstrip("0").rstrip(".")),)
    return (("at", due.isoformat()),)


def refused(url: str, status: int, body: bytes, retry_after: str | None) -> RefusedError:
    """The error for an answer of 400 and more; any body will do."""
    seconds = float(retry_after) if retry_after and retry_after.isdecimal() else 1.0
    try:
        members = json.loads(body)
        code, description = str(members["error"]), str(members.get("error_description", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        code, description = "http", body.decode(errors="replace").strip()[:500]
    return refusal(url, code, status, description, seconds)


def outcome(status: int, body: bytes) -> Outcome:
    """What an UPDATE was answered; a body that is no JSON says nothing."""
    try:
        return Outcome(status, json.loads(body)) if body else Outcome(status)
    except ValueError:
        return Outcome(status)


def answer(url: str, media_type: str, body: bytes) -> Answer:
    """The answer to a QUERY. Raises ProtocolError for a body that is none."""
    try:
        if (results := QueryResultsFormat.from_media_type(media_type)) is not None:
            found = parse_query_results(body, format=results)
            if isinstance(found, QueryBoolean):
                return bool(found)
            variables = tuple(variable.value for variable in found.variables)
            return [solution(variables, tuple(row)) for row in found]
        if (graph := RdfFormat.from_media_type(media_type)) is not None:
            return [quad.triple for quad in parse(body, format=graph)]
    except (SyntaxError, ValueError) as error:
        raise ProtocolError(url, f"not {media_type}: {error}") from error
    raise ProtocolError(url, f"the answer is {media_type or 'of no type'}, no SPARQL result")
