"""What the paths of the OpenAPI document are made of; see `openapi`.

Place on the way of the data: beside it. Source: OpenAPI Specification 3.1.0.
"""

from collections.abc import Mapping, Sequence

Json = dict[str, object]

TEXT: Json = {"type": "string"}
COUNT: Json = {"type": "integer", "minimum": 0}

DESCRIPTIONS = {
    400: "a request that cannot be understood, or SPARQL that is none",
    401: "no token, or one that is not valid (any more)",
    403: "the rights, the Host or the Origin do not allow it",
    404: "there is no such thing, or it may not be read",
    409: "it is not as this request takes it to be",
    406: "no format that Accept names",
    408: "the body came too slowly",
    413: "the body or the result is beyond a limit",
    415: "a Content-Type or Content-Encoding that cannot be read",
    429: "a queue is full, or this client asks for too much at once",
    500: "a file on the gateway that is wrong, or a defect",
    503: "the gateway has no room, no time or no disk for it",
}
READ = (400, 401, 403, 408, 413, 415, 429, 503)
"""The errors of almost every path."""


def operation(
    summary: str, parameters: Sequence[Json], answers: Mapping[str, object], errors: Sequence[int]
) -> Json:
    """One method of a path; each of `errors` is answered with the error object."""
    failed = {
        str(status): answer(DESCRIPTIONS[status], ["application/json"], reference("Error"))
        for status in sorted(errors)
    }
    return {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {**failed, **answers},
    }


def answer(description: str, media_types: Sequence[str], schema: Json | None = None) -> Json:
    """An answer in any of the media types."""
    content = {name: {} if schema is None else {"schema": schema} for name in media_types}
    return {"description": description, "content": content}


def body(content: Mapping[str, object]) -> Json:
    """The body of a request, by media type."""
    return {"requestBody": {"required": True, "content": dict(content)}}


def reference(name: str) -> Json:
    """A schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}
