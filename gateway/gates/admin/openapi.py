"""The OpenAPI 3.1 document: what FastAPI tells of the JSON routes, and the raw routes by hand.

tests/gateway/gates/http/test_openapi.py fuzzes the gateway by it.

Tools read it before their first request. Source: OpenAPI Specification 3.1.0.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from gateway import __version__
from gateway.engine.windowed.over import ABSENT, MODES
from gateway.gates.admin.routers import ROUTERS
from gateway.gates.http.json_interface import Json, described
from gateway.gates.http.json_router import DESCRIPTIONS, ERRORS
from gateway.gates.protocol.media_types import GRAPHS, RESULTS
from gateway.windows.window import OUTPUTS

_TITLE = "sosa-gateway"
_DESCRIPTION = (
    "SPARQL 1.1 Protocol, Graph Store HTTP Protocol, subscriptions, delayed UPDATEs, mappings, OGC "
    "SensorThings API. "
    "Every path is also served below /secure. /subscribe is a WebSocket too, where SPARQL 1.1 "
    "Subscribe is spoken."
)
_TEXT: Json = {"type": "string"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_GRAPH_NAMES: Json = {"type": "array", "items": {"type": "string", "format": "iri"}}
_FORM = "application/x-www-form-urlencoded"
_CHANGED: Json = {
    "type": "object",
    "required": ["response"],
    "properties": {
        "response": {
            "type": "object",
            "properties": {
                "body": {
                    "type": "object",
                    "required": ["added", "removed"],
                    "properties": {"added": _COUNT, "removed": _COUNT},
                }
            },
        },
        "warnings": {
            "type": "array",
            "description": "what is wrong with mappings, rules and actuators that it wrote",
            "items": {
                "type": "object",
                "required": ["where", "what", "what_to_do"],
                "properties": {"where": _TEXT, "what": _TEXT, "what_to_do": _TEXT},
            },
        },
    },
}

_TIMES: Sequence[Json] = (
    {
        "name": "delay",
        "in": "query",
        "description": "seconds to wait before the UPDATE is executed",
        "schema": {"type": "string", "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"},
    },
    {
        "name": "at",
        "in": "query",
        "description": "when to execute the UPDATE: an xsd:dateTime with time zone",
        "schema": {"type": "string", "format": "date-time"},
    },
)

_VIEW: Json = {
    "name": "infer",
    "in": "query",
    "description": "whether what follows by axioms counts; the gateway must reason for true",
    "schema": {"type": "string", "enum": ["true", "false"]},
}

_OVER: Sequence[Json] = (
    {
        "name": "windows",
        "in": "query",
        "description": "JSON: declarations of windows by their IRIs (docs/windows.md)",
        "schema": {"type": "string"},
    },
    {
        "name": "output",
        "in": "query",
        "description": "what is told of rows",
        "schema": {"type": "string", "enum": list(OUTPUTS)},
    },
    {
        "name": "mode",
        "in": "query",
        "description": "union: on the store; event: on each compound event; each: of each gateway",
        "schema": {"type": "string", "enum": list(MODES)},
    },
    {
        "name": "gateways",
        "in": "query",
        "description": "all, or ids with commas: asked of these gateways together",
        "schema": {"type": "string"},
    },
    {
        "name": "after",
        "in": "query",
        "description": "JSON: positions by gateway, after which all events are told too",
        "schema": {"type": "string"},
    },
    {
        "name": "absent",
        "in": "query",
        "description": "what a gateway had that is away: kept, or left out of the answer",
        "schema": {"type": "string", "enum": list(ABSENT)},
    },
)

_OVER_GATEWAYS: Sequence[Json] = (
    *(each for each in _OVER if each["name"] in ("mode", "gateways", "after")),
    {
        "name": "missing",
        "in": "query",
        "description": "allow: answer without the gateways that are missing",
        "schema": {"type": "string", "enum": ["allow"]},
    },
)

_STA_OPTIONS: Sequence[Json] = tuple(
    {"name": f"${name}", "in": "query", "description": what, "schema": schema}
    for name, what, schema in (
        ("filter", "which entities: an expression of OData", _TEXT),
        ("orderby", "expressions, each with asc or desc", _TEXT),
        ("select", "names of properties", _TEXT),
        ("expand", "related entities, each with options in parentheses", _TEXT),
        ("top", "how many", _COUNT),
        ("skip", "how many are left out", _COUNT),
        ("count", "whether all are counted", {"type": "string", "enum": ["true", "false"]}),
        ("resultFormat", "", {"type": "string", "enum": ["dataArray", "GeoJSON"]}),
    )
)
_STA_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "description": "what is wrong; a text where the request did not get to the service",
            "anyOf": [
                _TEXT,
                {
                    "type": "object",
                    "required": ["code", "message"],
                    "properties": {"code": _TEXT, "message": _TEXT},
                },
            ],
        }
    },
}


@cache
def document() -> Json:
    """The document, complete; made once, which takes a while."""
    told = described(ROUTERS, _TITLE, __version__)
    told["info"] |= {
        "description": _DESCRIPTION,
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    }
    told["security"] = [{}, {"bearer": []}]
    raw = {
        **_sparql(),
        **_graph_store(),
        **_elements(),
        **_subscribe(),
        **_explain(),
        **_sensorthings(),
        **_operations(),
        **_oauth(),
    }
    told["paths"] = {**raw, **told["paths"]}
    told["components"]["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    }
    return told


def _sparql() -> Json:
    asked = {"200": _answer("the result", [*RESULTS, *GRAPHS])}
    changed = {
        "200": _answer("executed", ["application/json"], _CHANGED),
        "202": _located("it waits for its time", _reference("Delayed")),
    }
    names = [*_asked_of(), *_OVER_GATEWAYS]
    query = _operation("QUERY", names, asked, ERRORS)
    update = _operation(
        "UPDATE",
        [*_dataset("using-graph-uri", "using-named-graph-uri"), *_TIMES, _VIEW],
        changed,
        ERRORS,
    )
    either = _operation("QUERY or UPDATE", names, asked | changed, ERRORS)
    text: Json = {"name": "query", "in": "query", "schema": _TEXT}
    get = _operation(
        "QUERY, or the service description",
        [text, *names],
        asked,
        ERRORS,
    )
    return {
        "/query": {
            "get": get,
            "post": query | _body({**_sparql_text("query"), _FORM: _form("query")}),
        },
        "/update": {"post": update | _body({**_sparql_text("update"), _FORM: _form("update")})},
        "/sparql": {
            "get": get,
            "post": either
            | _body({**_sparql_text("query"), **_sparql_text("update"), _FORM: _form()}),
        },
    }


def _graph_store() -> Json:
    names: Sequence[Json] = (
        {"name": "graph", "in": "query", "schema": {"type": "string", "format": "iri"}},
        {"name": "default", "in": "query", "allowEmptyValue": True, "schema": {"const": ""}},
    )
    direct: Json = {"name": "graph", "in": "path", "required": True, "schema": _TEXT}
    return {
        "/rdf-graph-store": _graph_methods(names),
        "/rdf-graph-store/{graph}": _graph_methods([direct]),
    }


def _graph_methods(names: Sequence[Json]) -> Json:
    documents = {name: {"schema": _TEXT} for name in [*GRAPHS, "multipart/form-data"]}
    written = {"201": {"description": "made"}, "204": {"description": "done"}}
    found = {"200": _answer("the graph", [*GRAPHS])}
    return {
        "get": _operation("the graph", [*names, _VIEW], found, (*ERRORS, 404, 406)),
        "put": _operation("replace the graph", names, written, (*ERRORS, 404)) | _body(documents),
        "post": _operation("add to the graph", names, written, (*ERRORS, 404)) | _body(documents),
        "delete": _operation("delete the graph", names, written, (*ERRORS, 404)),
    }


def _elements() -> Json:
    counted: Json = {
        "type": "object",
        "required": ["stream", "elements", "triples"],
        "properties": {"stream": _TEXT, "elements": _COUNT, "triples": _COUNT},
    }
    names: Sequence[Json] = (
        {
            "name": "stream",
            "in": "query",
            "required": True,
            "schema": {"type": "string", "format": "iri"},
        },
        {"name": "each", "in": "query", "schema": {"type": "string", "enum": ["request", "line"]}},
        {
            "name": "time",
            "in": "query",
            "description": "when it happened: an xsd:dateTime with time zone, or Unix time",
            "schema": {"type": "string", "format": "date-time"},
        },
    )
    answers = {"200": _answer("they have entered", ["application/json"], counted)}
    summary = "elements for a stream of clients, of which windows alone know"
    post = _operation(summary, names, answers, (*ERRORS, 404))
    return {"/elements": {"post": post | _body({"application/n-triples": {"schema": _TEXT}})}}


def _subscribe() -> Json:
    text: Json = {"name": "query", "in": "query", "required": True, "schema": _TEXT}
    names = [*_asked_of(), *_OVER]
    told = {"200": _answer("notifications, until one of both ends", ["text/event-stream"])}
    get = _operation("SUBSCRIBE, answered by server-sent events", [text, *names], told, ERRORS)
    post = _operation("the same, with the query in the body", names, told, ERRORS)
    content = {**_sparql_text("query"), _FORM: _form("query")}
    flow = {"200": _answer("numbers, until one of both ends", ["text/event-stream"])}
    return {
        "/subscribe": {"get": get, "post": post | _body(content)},
        "/flow": {"get": _operation("what goes through, once a second", (), flow, ERRORS)},
    }


def _explain() -> Json:
    explained: Json = {
        "type": "object",
        "required": ["query", "tier", "lutt", "costs", "is_subscribed"],
        "properties": {"tier": _TEXT, "hits": _COUNT, "members": _COUNT},
    }
    text: Json = {"name": "query", "in": "query", "required": True, "schema": _TEXT}
    content = {"text/plain": {"schema": _TEXT}, "application/json": {"schema": explained}}
    answers = {"200": {"description": "as the engine is now", "content": content}}
    names = [*_asked_of(), *_OVER]
    summary = "how a subscription is served, or would be"
    body = _body({**_sparql_text("query"), _FORM: _form("query")})
    return {
        "/explain": {
            "get": _operation(summary, [text, *names], answers, ERRORS),
            "post": _operation(summary, names, answers, ERRORS) | body,
        }
    }


def _sensorthings() -> Json:
    """OGC SensorThings API 1.1, section 9; errors of its own are OData's (docs/sensorthings.md)."""
    path: Json = {
        "name": "resource",
        "in": "path",
        "required": True,
        "description": "a set, an entity, or what is behind it: Datastreams('ID')/Observations",
        "schema": _TEXT | {"minLength": 1},
    }
    told = {"200": _answer("it", ["application/json", "application/geo+json", "text/plain"])}
    made = {"201": _answer("made and committed", ["application/json"], {})}
    errors = (*ERRORS, 404)
    root = _operation("SensorThings: the sets, and what is supported", (), told, errors)
    get = _operation("SensorThings: a resource", [path, *_STA_OPTIONS], told, errors)
    post = _operation("SensorThings: create in a collection", [path], made, (*errors, 409))
    for each in (root, get, post):
        for status in (*errors, 409):
            if answer := each["responses"].get(str(status)):
                answer["content"]["application/json"] = {"schema": _STA_ERROR}
    body = _body({"application/json": {"schema": {"type": ["object", "array"]}}})
    return {
        "/sta/v1.1": {"get": root},
        "/sta/v1.1/{resource}": {"get": get, "post": post | body},
    }


def _operations() -> Json:
    metrics = ["text/plain", "application/openmetrics-text"]
    return {
        "/metrics": {
            "get": _operation("for Prometheus", (), {"200": _answer("now", metrics)}, ERRORS)
        },
        "/openapi.json": {
            "get": _operation(
                "this document", (), {"200": _answer("it", ["application/json"])}, (403, 429, 503)
            )
        },
    }


def _oauth() -> Json:
    """Served where clients are asked who they are; 404 elsewhere."""
    errors = (400, 401, 403, 404, 408, 413, 429, 503)
    object_: Json = {"schema": {"type": "object"}}
    given = {"201": _answer("for SEPA's clients", ["application/json"])}
    tokens = given | {"200": _answer("as RFC 6749 has it", ["application/json"])}
    keys = {"200": _answer("they", ["application/json"])}
    register = _operation("credentials for an identity", (), given, errors)
    token = _operation("a token for credentials", (), tokens, errors)
    revoke = _operation("revoke a token", (), {"200": {"description": "it is void"}}, errors)
    jwks = {"get": _operation("the keys that verify tokens", (), keys, (403, 404, 429, 503))}
    return {
        "/oauth/register": {"post": register | _body({"application/json": object_})},
        "/oauth/token": {
            "post": token | _body({"application/json": object_, _FORM: _form("grant_type")})
        },
        "/oauth/revoke": {"post": revoke | _body({_FORM: _form("token")})},
        "/oauth/jwks": jwks,
        "/.well-known/jwks.json": jwks,
    }


def _operation(
    summary: str, parameters: Sequence[Json], answers: Mapping[str, object], errors: Sequence[int]
) -> Json:
    """One method of a path; each of `errors` is answered with the error object."""
    failed = {
        str(status): _answer(DESCRIPTIONS[status], ["application/json"], _reference("Error"))
        for status in sorted(errors)
    }
    return {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {**failed, **answers},
    }


def _answer(description: str, media_types: Sequence[str], schema: Json | None = None) -> Json:
    """An answer in any of the media types."""
    content = {name: {} if schema is None else {"schema": schema} for name in media_types}
    return {"description": description, "content": content}


def _body(content: Mapping[str, object]) -> Json:
    """The body of a request, by media type."""
    return {"requestBody": {"required": True, "content": dict(content)}}


def _reference(name: str) -> Json:
    """A schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def _located(description: str, schema: Json) -> Json:
    header = {"Location": {"required": True, "schema": _TEXT}}
    return _answer(description, ["application/json"], schema) | {"headers": header}


def _dataset(*names: str) -> list[Json]:
    return [{"name": name, "in": "query", "schema": _GRAPH_NAMES} for name in names]


def _asked_of() -> list[Json]:
    """What a QUERY or SUBSCRIBE is about."""
    return [*_dataset("default-graph-uri", "named-graph-uri"), _VIEW]


def _sparql_text(operation: str) -> Json:
    return {f"application/sparql-{operation}": {"schema": _TEXT}}


def _form(*required: str) -> Json:
    properties = dict.fromkeys(required or ("query", "update"), _TEXT)
    return {"schema": {"type": "object", "required": list(required), "properties": properties}}
