"""`JsonInterface`: the JSON routes of all gates as one FastAPI application, beside the raw routes.

People and scripts look at the gateway and set it up here. The data does not come this way: SPARQL,
graphs and subscriptions are plain routes of Starlette, which pay nothing for FastAPI. Source:
OpenAPI Specification 3.1.0.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway.errors import BadRequestError
from gateway.gates.http.dependencies import Served
from gateway.gates.http.endpoint import SECURE, allowed
from gateway.gates.http.json_body import JSON, Body, JsonBody
from gateway.gates.http.responses import EXCEPTION_HANDLERS, error_response
from jsap.file_format import json_path

Json = dict[str, Any]

_SCHEMAS = "#/components/schemas/{model}"


class JsonInterface:
    """The routers of the gates that are served."""

    def __init__(self, routers: Sequence[APIRouter], served: Served) -> None:
        self._routers = routers
        # Neither pages with scripts from elsewhere, nor a document that lacks the raw routes.
        self._api = FastAPI(openapi_url=None)
        for kind, answer in EXCEPTION_HANDLERS.items():
            self._api.add_exception_handler(kind, answer)
        self._api.add_exception_handler(RequestValidationError, _answer_invalid)
        self._api.state.served = served
        for router in routers:
            self._api.include_router(router)

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        methods: dict[str, set[str]] = {}
        for route in _routes(self._routers):
            methods.setdefault(route.path, set()).update(route.methods or ())
        return [
            Route(f"{prefix}{path}", _Path(self._api, each, prefix), methods=sorted(each))
            for path, each in ((path, allowed(each)) for path, each in methods.items())
            for prefix in ("", SECURE)
        ]


def _answer_invalid(_: Request, error: Exception) -> Response:
    """What no dependency of ours has refused already."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    (_, *steps), reason = error.errors()[0]["loc"], error.errors()[0]["msg"]
    place = json_path("", tuple(steps))
    return error_response(BadRequestError(f"{place}: {reason}", "/openapi.json shows each request"))


class _Path:
    """One path of the interface, below `prefix`; an ASGI application."""

    def __init__(self, api: FastAPI, methods: Iterable[str], prefix: str) -> None:
        self._api = api
        self._allow = {"Allow": ", ".join(sorted(methods))}
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer OPTIONS; hand over anything else, HEAD as GET."""
        method = scope["method"]
        if method == "OPTIONS":
            await Response(status_code=204, headers=self._allow)(scope, receive, send)
            return
        handed = {**scope, "root_path": scope.get("root_path", "") + self._prefix}
        handed["method"] = "GET" if method == "HEAD" else method
        await self._api(handed, receive, send)


def described(routers: Sequence[APIRouter], title: str, version: str) -> Json:
    """The routes in OpenAPI, as they are declared."""
    routes = list(_routes(routers))
    document: Json = get_openapi(title=title, version=version, routes=routes)
    paths, schemas = document["paths"], document["components"]["schemas"]
    bodies: set[type[Body]] = set()
    for route in routes:
        for method in route.methods or ():
            operation = paths[route.path_format][method.lower()]
            operation["responses"].pop("422", None)  # which FastAPI takes for granted
            for model in _bodies(route):
                bodies.add(model)
                operation["requestBody"] = _request_body(model)
    every = sorted(bodies, key=lambda model: model.__name__)
    _, found = models_json_schema([(model, "validation") for model in every], ref_template=_SCHEMAS)
    schemas |= found.get("$defs", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    return document


def _request_body(model: type[Body]) -> Json:
    schema = {"$ref": _SCHEMAS.format(model=model.__name__)}
    return {"required": True, "content": {JSON: {"schema": schema}}}


def _bodies(route: APIRoute) -> Iterator[type[Body]]:
    for dependency in route.dependant.dependencies:
        if isinstance(dependency.call, JsonBody):
            yield dependency.call.model


def _routes(routers: Iterable[APIRouter]) -> Iterator[APIRoute]:
    for router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute):
                yield route
