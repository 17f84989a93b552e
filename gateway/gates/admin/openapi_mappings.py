"""The part of the OpenAPI document about mappings.

Place: under `gateway.gates.admin.openapi`; what it says is what `gateway.gates.admin.mappings`
does.
"""

from gateway.gates.admin.openapi_parts import READ, TEXT, Json, answer, body, operation

_TYPE = "application/json"
_FLAG: Json = {"type": "boolean"}
_MAPPING: Json = {"type": "object", "required": ["id"], "properties": {"id": TEXT}}
_CHANGE: Json = {
    "type": "object",
    "required": ["id", "kind", "at", "by", "nodes", "before", "after"],
    "properties": {
        **dict.fromkeys(("id", "kind", "at", "by", "undoes"), TEXT),
        "nodes": {"type": "array", "items": TEXT},
        "before": {"type": "array", "items": _MAPPING},
        "after": {"type": "array", "items": _MAPPING},
    },
}
_CHANGED: Json = {
    "type": "object",
    "required": ["changed"],
    "properties": {"changed": _FLAG, "change": _CHANGE},
}
_PROPOSAL: Json = {
    "type": "object",
    "required": ["id", "status", "family", "device", "label", "mapping"],
    "properties": {
        **dict.fromkeys(("id", "family", "device", "label", "question", "error"), TEXT),
        "status": {"enum": ["proposed", "confirmed", "rejected", "withdrawn"]},
        "mapping": _MAPPING,
    },
}
_TOPIC: Json = {
    "type": "object",
    "required": ["topic", "count", "first", "last", "family", "guesses"],
    "properties": {"topic": TEXT, "count": {"type": "integer"}, "payloads": {"type": "array"}},
}
_TRIAL_MEMBERS = ("observations", "triples", "violations", "faults", "notices")
_TRIAL: Json = {
    "type": "object",
    "required": ["matched", *_TRIAL_MEMBERS],
    "properties": {"matched": _FLAG, **{name: {"type": "array"} for name in _TRIAL_MEMBERS}},
}
_MESSAGE: Json = {
    "type": "object",
    "required": ["topic"],
    "properties": {
        "topic": {"type": "string", "minLength": 1, "pattern": "^[^+#\\u0000]+$"},
        "payload": TEXT,
        "payloadBase64": {"type": "string", "format": "byte"},
        "retained": _FLAG,
        "time": {"type": "string", "format": "date-time"},
    },
    "oneOf": [{"required": ["payload"]}, {"required": ["payloadBase64"]}],
    "additionalProperties": False,
}
_ID: Json = {"name": "id", "in": "path", "required": True, "schema": TEXT}
_IDS: Json = {"type": "array", "minItems": 1, "maxItems": 500, "items": TEXT}
_GIVEN: Json = {"type": "object", "description": "as in extended.mappings of a JSAP profile"}
_FILTERS: list[Json] = [
    {"name": "status", "in": "query", "schema": TEXT},
    {"name": "device", "in": "query", "schema": TEXT},
]


def mapping_paths() -> Json:
    """The paths below /mappings."""
    changed: Json = {"200": answer("done, or nothing to do", [_TYPE], _CHANGED)}
    rejected: Json = {"204": {"description": "it is not proposed again"}}
    one = "/mappings/proposals/{id}"
    return {
        "/mappings": {"get": _listing("all mappings", "mappings", _MAPPING)},
        "/mappings/unknown": {"get": _listing("topics that no mapping reads", "topics", _TOPIC)},
        "/mappings/history": {"get": _listing("changes of mappings", "changes", _CHANGE)},
        "/mappings/proposals": {"get": _listing("proposals", "proposals", _PROPOSAL, _FILTERS)},
        one: {"get": _asking("a proposal", {"200": answer("it", [_TYPE], _PROPOSAL)}, [_ID])},
        "/mappings/proposals/confirm": {
            "post": _asking("make proposals mappings", changed)
            | _json({"ids": _IDS, "mapping": _GIVEN}, "ids")
        },
        "/mappings/proposals/reject": {
            "post": _asking("never accept proposals", rejected) | _json({"ids": _IDS}, "ids")
        },
        f"{one}/confirm": {
            "post": _asking("make it a mapping", changed, [_ID]) | _json({"mapping": _GIVEN})
        },
        f"{one}/reject": {"post": _asking("never accept it", rejected, [_ID])},
        "/mappings/try": {"post": _trying()},
        "/mappings/apply": {"post": _applying(changed)},
        "/mappings/undo": {
            "post": _asking("take a change back", changed)
            | _json({"id": TEXT, "force": _FLAG}, "id")
        },
    }


def _listing(summary: str, member: str, item: Json, parameters: list[Json] | None = None) -> Json:
    every: Json = {
        "type": "object",
        "required": [member],
        "properties": {member: {"type": "array", "items": item}},
    }
    return operation(summary, parameters or [], {"200": answer("all", [_TYPE], every)}, READ)


def _asking(summary: str, answers: Json, parameters: list[Json] | None = None) -> Json:
    return operation(summary, parameters or [], answers, (*READ, 404, 409))


def _trying() -> Json:
    tried: Json = {"200": answer("what it would be", [_TYPE], _TRIAL)}
    mappings: Json = {"type": "array", "maxItems": 500, "items": _GIVEN}
    members: Json = {"message": _MESSAGE, "mappings": mappings, "mapping": _GIVEN}
    return _asking("try a message; nothing is changed", tried) | _json(members, "message")


def _applying(changed: Json) -> Json:
    several: Json = {"type": "array", "maxItems": 500, "items": _GIVEN}
    members: Json = {
        **dict.fromkeys(("add", "replace"), several),
        "remove": {"type": "array", "maxItems": 500, "items": TEXT},
    }
    return _asking("add, replace, remove mappings", changed) | _json(members)


def _json(properties: Json, *required: str) -> Json:
    schema: Json = {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }
    return body({_TYPE: {"schema": schema}})
