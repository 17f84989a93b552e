"""The paths of the OpenAPI document that look into ingest; see `openapi`.

Place on the way of the data: beside it.
"""

from collections.abc import Sequence

from gateway.gates.admin.openapi_parts import COUNT, READ, TEXT, Json, answer, body, operation

_JSON = ["application/json"]
_TEXTS: Json = {"type": "array", "items": TEXT}


def inspection_paths() -> Json:
    """Their paths."""
    return {**_profiles(), **_quarantine(), **_messages(), **_why(), **_rehearse()}


def _profiles() -> Json:
    state: Json = {
        "type": "object",
        "required": ["files", "loaded_at", "error"],
        "properties": {"files": _TEXTS, "loaded_at": TEXT, "error": TEXT},
    }
    changes: Json = {
        "type": "object",
        "required": ["changed", "updates", "queries", "mappings"],
        "properties": {
            "changed": {"type": "boolean"},
            "updates": _TEXTS,
            "queries": _TEXTS,
            "mappings": _TEXTS,
        },
    }
    found = {"200": answer("as they are in force", _JSON, state)}
    taken = {"200": answer("what has changed", _JSON, changes)}
    return {
        "/profiles": {"get": operation("the JSAP profiles", (), found, READ)},
        "/profiles/reload": {
            "post": operation("read the JSAP files again", (), taken, (*READ, 500))
        },
    }


_FAULTS: Json = {
    "type": "array",
    "items": {"type": "object", "required": ["reason", "detail", "mapping"]},
}


def _parameter(name: str, description: str, schema: Json | None = None) -> Json:
    return {"name": name, "in": "query", "description": description, "schema": schema or TEXT}


_CHOICE: Sequence[Json] = (
    _parameter("reason", "of the faults"),
    _parameter("mapping", "IRI of the mapping that a fault hit", {**TEXT, "format": "iri"}),
    _parameter("topic", "MQTT topic filter"),
    _parameter("before", "id: older ones alone", {"type": "integer", "minimum": 1}),
)
_LIMIT = _parameter("limit", "most of them", {"type": "integer", "minimum": 1, "maximum": 1000})
_ENTRY: Json = {
    "type": "object",
    "required": ["id", "received_at", "topic", "payload_bytes", "is_whole", "faults"],
    "properties": {
        "id": TEXT,
        "received_at": {**TEXT, "format": "date-time"},
        "topic": TEXT,
        "payload_bytes": COUNT,
        "is_whole": {"type": "boolean"},
        "payload": TEXT,
        "payload_base64": TEXT,
        "faults": _FAULTS,
    },
}
_REPLAYED: Json = {
    "type": "object",
    "required": ["id", "done", "observations", "faults"],
    "properties": {"id": TEXT, "observations": COUNT, "faults": _FAULTS},
}


def _quarantine() -> Json:
    id_: Json = {"name": "id", "in": "path", "required": True, "schema": TEXT}
    one = (*READ, 404)
    return {
        "/quarantine": {
            "get": operation(
                "messages with a fault, the newest first",
                [*_CHOICE, _LIMIT],
                {"200": answer("they", _JSON, _list_of("entries", _ENTRY))},
                READ,
            ),
            "delete": operation(
                "discard them",
                _CHOICE,
                {"200": answer("how many there were", _JSON, {"type": "object"})},
                READ,
            ),
        },
        "/quarantine/replay": {
            "post": operation(
                "send them through ingest again, the oldest first",
                _CHOICE,
                {"200": answer("what became of each", _JSON, _list_of("replayed", _REPLAYED))},
                READ,
            )
        },
        "/quarantine/{id}": {
            "get": operation(
                "one, with its payload", [id_], {"200": answer("it", _JSON, _ENTRY)}, one
            ),
            "delete": operation("discard it", [id_], {"204": {"description": "it is gone"}}, one),
        },
        "/quarantine/{id}/replay": {
            "post": operation(
                "send it through ingest again",
                [id_],
                {"200": answer("what became of it", _JSON, _REPLAYED)},
                one,
            )
        },
    }


def _messages() -> Json:
    message: Json = {
        "type": "object",
        "required": ["number", "received_at", "topic", "observations", "observation"],
        "properties": {"number": COUNT, "topic": TEXT, "payload": TEXT, "payload_base64": TEXT},
    }
    chosen = [each for each in _CHOICE if each["name"] in {"topic", "before"}]
    answers = {"200": answer("they", _JSON, _list_of("messages", message))}
    return {
        "/messages": {
            "get": operation(
                "the last messages, the newest first", [*chosen, _LIMIT], answers, READ
            )
        }
    }


def _why() -> Json:
    parameters = [
        _parameter("iri", "an observation, its result, its instant, or what one is about"),
        *(
            _parameter(name, "of a triple, as in N-Triples")
            for name in ("subject", "predicate", "object", "graph")
        ),
    ]
    origin: Json = {
        "type": "object",
        "required": ["iri", "journal", "template", "message", "mappings", "certain"],
    }
    answers = {"200": answer("where it came from", _JSON, _list_of("observations", origin))}
    return {"/mappings/why": {"get": operation("why is this here?", parameters, answers, READ)}}


def _rehearse() -> Json:
    items: Json = {"type": "array", "items": {"type": "object"}}
    body_: Json = {
        "type": "object",
        "properties": {
            "add": items,
            "replace": items,
            "remove": _TEXTS,
            "profile": {"type": "object"},
            "topic": TEXT,
            "queries": _TEXTS,
        },
    }
    report: Json = {
        "type": "object",
        "required": ["messages", "kept", "same", "counts", "observations", "faults", "triples"],
        "properties": {"messages": COUNT, "kept": COUNT, "same": COUNT, "subscriptions": items},
    }
    answers = {"200": answer("what would differ", _JSON, report)}
    made = operation(
        "the last messages by changed mappings", (), answers, (*READ, 404, 409)
    ) | body({"application/json": {"schema": body_}})
    return {"/mappings/rehearse": {"post": made}}


def _list_of(name: str, item: Json) -> Json:
    return {
        "type": "object",
        "required": [name],
        "properties": {name: {"type": "array", "items": item}},
    }
