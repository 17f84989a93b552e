"""`JsonRouter`: routes of the JSON interface, with what FastAPI is to know of each.

Place on the way of the data: where a gate declares its JSON routes. Answers are pydantic models: a
member that a handler did not set is left out, one that it set to None is null.
"""

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from gateway.gates.http.dependencies import AnyCaller

Dependency = Callable[..., Coroutine[Any, Any, object]]
Answers = Mapping[int, Mapping[str, object]]
"""By status, as FastAPI's `responses`."""

DESCRIPTIONS = {
    400: "a request that cannot be understood, or SPARQL that is none",
    401: "no token, or one that is not valid (any more)",
    403: "the rights, the Host or the Origin do not allow it",
    404: "there is no such thing, or it may not be read",
    406: "no format that Accept names",
    408: "the body came too slowly",
    409: "it is not as this request takes it to be",
    413: "the body or the result is beyond a limit",
    415: "a Content-Type or Content-Encoding that cannot be read",
    429: "a queue is full, or this client asks for too much at once",
    500: "a file on the gateway that is wrong, or a defect",
    503: "the gateway has no room, no time or no disk for it",
}
ERRORS = (400, 401, 403, 408, 413, 415, 429, 503)
"""The errors of almost every route."""


class Answer(BaseModel):
    """What a handler answers with, or a part of it."""

    model_config = ConfigDict(frozen=True)


class Error(Answer):
    """What is wrong, and what to do about it."""

    error: str
    error_description: str
    status_code: int


class JsonRouter:
    """Routes that the same `dependencies` stand before: rights first, then bodies are read.

    `api` is what FastAPI serves. Without dependencies the guard alone is asked.
    """

    def __init__(
        self, *dependencies: Dependency, is_public: bool = False, errors: tuple[int, ...] = ERRORS
    ) -> None:
        """Whoever asks is not even asked for a token where the router `is_public`."""
        guards = dependencies if is_public else (_known, *dependencies)
        self.api = APIRouter(
            dependencies=[Depends(each) for each in guards],
            generate_unique_id_function=_operation_id,
        )
        self._errors = errors

    def get(
        self, path: str, summary: str, told: str, *errors: int, answers: Answers | None = None
    ) -> Callable[[Dependency], Dependency]:
        """A handler of GET; `told` describes its answer, `errors` are some besides the usual."""
        return self._json("GET", path, summary=summary, told=told, errors=errors, answers=answers)

    def post(
        self,
        path: str,
        summary: str,
        told: str,
        *errors: int,
        answers: Answers | None = None,
        raw_body: str = "",
    ) -> Callable[[Dependency], Dependency]:
        """A handler of POST, as by `get`; one that reads its body itself says its media type."""
        return self._json(
            "POST", path, summary=summary, told=told, errors=errors, answers=answers, takes=raw_body
        )

    def put(
        self, path: str, summary: str, told: str, *errors: int
    ) -> Callable[[Dependency], Dependency]:
        """A handler of PUT, as by `get`."""
        return self._json("PUT", path, summary=summary, told=told, errors=errors, answers=None)

    def delete(
        self, path: str, summary: str, told: str, *errors: int
    ) -> Callable[[Dependency], Dependency]:
        """A handler of DELETE, as by `get`."""
        return self._json("DELETE", path, summary=summary, told=told, errors=errors, answers=None)

    def silent(
        self, method: str, path: str, summary: str, told: str, *errors: int
    ) -> Callable[[Dependency], Dependency]:
        """A handler that answers nothing, with 204."""
        return self.api.api_route(
            path,
            methods=[method],
            status_code=204,
            response_class=Response,
            summary=summary,
            response_description=told,
            responses=self._failures(errors),
        )

    def _json(
        self,
        method: str,
        path: str,
        *,
        summary: str,
        told: str,
        errors: tuple[int, ...],
        answers: Answers | None,
        takes: str = "",
    ) -> Callable[[Dependency], Dependency]:
        others: dict[int | str, dict[str, Any]] = {
            status: dict(each) for status, each in (answers or {}).items()
        }
        return self.api.api_route(
            path,
            methods=[method],
            summary=summary,
            response_description=told,
            responses={**self._failures(errors), **others},
            response_model_exclude_unset=True,
            openapi_extra={"requestBody": {"content": {takes: {}}}} if takes else None,
        )

    def _failures(self, errors: tuple[int, ...]) -> dict[int | str, dict[str, Any]]:
        every = sorted({*self._errors, *errors})
        return {each: {"description": DESCRIPTIONS[each], "model": Error} for each in every}


async def _known(_: AnyCaller) -> None:
    """Ask the guard who it is."""


def _operation_id(route: APIRoute) -> str:
    """A name for clients that are generated, by method and path.

    >>> async def list_all() -> None: ...
    >>> _operation_id(APIRoute("/quarantine/{id}", list_all, methods=["GET"]))
    'get_quarantine_id'
    """
    method = min(route.methods or ()).lower()
    return method + re.sub(r"\W+", "_", route.path_format).rstrip("_")
