"""The OpenAPI 3.1 document of the HTTP gates, as they are.

tests/gateway/gates/http/test_openapi.py fuzzes the gateway by it.

Place on the way of the data: beside it; what tools read before their first request. Source: OpenAPI
Specification 3.1.0.
"""

from collections.abc import Sequence

from gateway import __version__
from gateway.gates.admin.openapi_actuators import actuator_paths
from gateway.gates.admin.openapi_inspection import inspection_paths
from gateway.gates.admin.openapi_mappings import mapping_paths
from gateway.gates.admin.openapi_parts import COUNT as _COUNT
from gateway.gates.admin.openapi_parts import READ as _READ
from gateway.gates.admin.openapi_parts import TEXT as _TEXT
from gateway.gates.admin.openapi_parts import Json
from gateway.gates.admin.openapi_parts import answer as _answer
from gateway.gates.admin.openapi_parts import body as _body
from gateway.gates.admin.openapi_parts import operation as _operation
from gateway.gates.admin.openapi_parts import reference as _reference
from gateway.gates.protocol.media_types import GRAPHS, RESULTS

_GRAPH_NAMES: Json = {"type": "array", "items": {"type": "string", "format": "iri"}}
_FORM = "application/x-www-form-urlencoded"
_ERROR: Json = {
    "type": "object",
    "required": ["error", "error_description", "status_code"],
    "properties": {
        "error": _TEXT,
        "error_description": _TEXT,
        "status_code": {"type": "integer"},
    },
}
_DELAYED: Json = {
    "type": "object",
    "required": ["id", "due"],
    "properties": {
        "id": _TEXT,
        "due": {"type": "string", "description": "xsd:dateTime"},
        "sparql": _TEXT,
        "using-graph-uri": {"type": "array", "items": _TEXT},
        "using-named-graph-uri": {"type": "array", "items": _TEXT},
    },
}
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
        }
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


def document() -> Json:
    """The document, complete."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "sosa-gateway",
            "version": __version__,
            "description": "SPARQL 1.1 Protocol, Graph Store HTTP Protocol, delayed UPDATEs, "
            "mappings. "
            "Every path is also served below /secure.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{}, {"bearer": []}],
        "paths": {
            **_sparql(),
            **_graph_store(),
            **_delayed(),
            **_explain(),
            **_operations(),
            **mapping_paths(),
            **inspection_paths(),
            **actuator_paths(),
        },
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
            "schemas": {"Error": _ERROR, "Delayed": _DELAYED},
        },
    }


def _sparql() -> Json:
    asked = {"200": _answer("the result", [*RESULTS, *GRAPHS])}
    changed = {
        "200": _answer("executed", ["application/json"], _CHANGED),
        "202": _located("it waits for its time", _reference("Delayed")),
    }
    query = _operation("QUERY", _dataset("default-graph-uri", "named-graph-uri"), asked, _READ)
    update = _operation(
        "UPDATE", [*_dataset("using-graph-uri", "using-named-graph-uri"), *_TIMES], changed, _READ
    )
    either = _operation(
        "QUERY or UPDATE", _dataset("default-graph-uri", "named-graph-uri"), asked | changed, _READ
    )
    text: Json = {"name": "query", "in": "query", "schema": _TEXT}
    get = _operation(
        "QUERY, or the service description",
        [text, *_dataset("default-graph-uri", "named-graph-uri")],
        asked,
        _READ,
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
        "get": _operation("the graph", names, found, (*_READ, 404, 406)),
        "put": _operation("replace the graph", names, written, (*_READ, 404)) | _body(documents),
        "post": _operation("add to the graph", names, written, (*_READ, 404)) | _body(documents),
        "delete": _operation("delete the graph", names, written, (*_READ, 404)),
    }


def _delayed() -> Json:
    id_: Json = {"name": "id", "in": "path", "required": True, "schema": _TEXT}
    waiting: Json = {
        "type": "object",
        "required": ["delayed"],
        "properties": {"delayed": {"type": "array", "items": _reference("Delayed")}},
    }
    every = {"200": _answer("those that this client may see", ["application/json"], waiting)}
    one = {"200": _answer("it", ["application/json"], _reference("Delayed"))}
    gone: Json = {"204": {"description": "it will not be executed"}}
    return {
        "/update/delayed": {"get": _operation("UPDATEs that wait", (), every, _READ)},
        "/update/delayed/{id}": {
            "get": _operation("an UPDATE that waits", [id_], one, (*_READ, 404)),
            "delete": _operation("cancel it", [id_], gone, (*_READ, 404)),
        },
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
    names = _dataset("default-graph-uri", "named-graph-uri")
    summary = "how a subscription is served, or would be"
    body = _body({**_sparql_text("query"), _FORM: _form("query")})
    return {
        "/explain": {
            "get": _operation(summary, [text, *names], answers, _READ),
            "post": _operation(summary, names, answers, _READ) | body,
        }
    }


def _operations() -> Json:
    health: Json = {
        "type": "object",
        "required": ["status"],
        "properties": {"status": {"enum": ["ok", "alarm"]}},
    }
    ready: Json = {
        "type": "object",
        "required": ["ready"],
        "properties": {"ready": {"type": "boolean"}},
    }
    metrics = ["text/plain", "application/openmetrics-text"]
    return {
        "/health": {"get": _state("whether it does its work", health)},
        "/ready": {"get": _state("whether it takes requests", ready)},
        "/metrics": {
            "get": _operation("for Prometheus", (), {"200": _answer("now", metrics)}, _READ)
        },
        "/openapi.json": {
            "get": _operation(
                "this document", (), {"200": _answer("it", ["application/json"])}, (403, 429, 503)
            )
        },
    }


def _state(summary: str, schema: Json) -> Json:
    answers = {
        "200": _answer("yes", ["application/json"], schema),
        "503": _answer("no", ["application/json"], {"anyOf": [schema, _reference("Error")]}),
    }
    return _operation(summary, (), answers, (400, 403, 429))


def _located(description: str, schema: Json) -> Json:
    header = {"Location": {"required": True, "schema": _TEXT}}
    return _answer(description, ["application/json"], schema) | {"headers": header}


def _dataset(*names: str) -> list[Json]:
    return [{"name": name, "in": "query", "schema": _GRAPH_NAMES} for name in names]


def _sparql_text(operation: str) -> Json:
    return {f"application/sparql-{operation}": {"schema": _TEXT}}


def _form(*required: str) -> Json:
    properties = dict.fromkeys(required or ("query", "update"), _TEXT)
    return {"schema": {"type": "object", "required": list(required), "properties": properties}}
