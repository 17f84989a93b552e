"""The paths of the OpenAPI document that look into ingest; see `openapi`.

Place on the way of the data: beside it.
"""

from gateway.gates.openapi_parts import READ, TEXT, Json, answer, operation

_JSON = ["application/json"]
_TEXTS: Json = {"type": "array", "items": TEXT}


def inspection_paths() -> Json:
    """Their paths."""
    return _profiles()


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
