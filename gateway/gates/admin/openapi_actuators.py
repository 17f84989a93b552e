"""The paths of the OpenAPI document about actuators; see `openapi`.

Place on the way of the data: beside it.
"""

from gateway.gates.admin.openapi_parts import READ, TEXT, Json, answer, body, operation

_JSON = ["application/json"]
_VALUE: Json = {"type": ["boolean", "number", "string"]}
_ACTUATION: Json = {
    "type": "object",
    "required": ["id", "status"],
    "properties": {
        "id": TEXT,
        "status": {"enum": ["requested", "sent", "confirmed", "failed", "superseded"]},
        "actuator": TEXT,
        "value": _VALUE,
        "requestedAt": TEXT,
        "sentAt": TEXT,
        "endedAt": TEXT,
        "reason": TEXT,
        "observation": TEXT,
    },
}
_ACTUATOR: Json = {
    "type": "object",
    "required": ["id", "name", "property", "feature", "topic", "commandTopic"],
    "properties": {
        **dict.fromkeys(
            ["id", "name", "property", "feature", "topic", "commandTopic", "sensor", "unit"], TEXT
        ),
        "values": {"type": "array", "items": TEXT},
        "minimum": {"type": "number"},
        "maximum": {"type": "number"},
        "step": {"type": "number"},
        "timeLimit": {"type": "number"},
        "last": _ACTUATION,
    },
}
_COMMAND: Json = {
    "type": "object",
    "required": ["value"],
    "additionalProperties": False,
    "properties": {
        "value": _VALUE,
        "wait": {"type": "number", "minimum": 0, "maximum": 300, "description": "seconds"},
    },
}


def actuator_paths() -> Json:
    """Their paths."""
    name: Json = {"name": "name", "in": "path", "required": True, "schema": TEXT}
    id_: Json = {"name": "id", "in": "path", "required": True, "schema": TEXT}
    listed: Json = {
        "type": "object",
        "required": ["actuators"],
        "properties": {"actuators": {"type": "array", "items": _ACTUATOR}},
    }
    every = {"200": answer("those that this client may see", _JSON, listed)}
    one = {"200": answer("it", _JSON, _ACTUATOR)}
    found = {"200": answer("it", _JSON, _ACTUATION)}
    header = {"headers": {"Location": {"required": True, "schema": TEXT}}}
    commanded = {
        "200": answer("it has ended", _JSON, _ACTUATION) | header,
        "202": answer("it goes on", _JSON, _ACTUATION) | header,
    }
    errors = (*READ, 404)
    return {
        "/actuators": {"get": operation("what can be set", (), every, READ)},
        "/actuators/{name}": {"get": operation("an actuator", [name], one, errors)},
        "/actuators/{name}/command": {
            "post": operation("set it", [name], commanded, errors)
            | body({"application/json": {"schema": _COMMAND}})
        },
        "/actuations/{id}": {"get": operation("what became of a command", [id_], found, errors)},
    }
