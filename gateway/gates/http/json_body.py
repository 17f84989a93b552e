"""The body of a request to the JSON interface: read within limits, checked by a pydantic model.

Place on the way of the data: behind the rights of a JSON route, before its handler. Bodies are JSON
(RFC 8259) of the media type application/json; nothing in them is coerced: "1" is no number, 1 no
truth value.

A handler takes a body as a dependency, not as FastAPI's body parameter: FastAPI reads that one
before anybody has asked who sends it, and without a limit.
"""

from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request

from gateway.errors import BadRequestError, UnsupportedMediaTypeError
from gateway.gates.http.dependencies import AnyCaller, served_by
from gateway.gates.http.request_body import media_type, read_body, utf_8
from gateway.gates.protocol.json_text import read_json
from jsap.file_format import json_path

JSON = "application/json"


class Body(BaseModel):
    """The body of a request.

    Numbers with a fraction come as `fractions`; a request without Content-Type has `usual_type`;
    `hint` says what to do about a body that is wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    fractions: ClassVar[type] = float
    usual_type: ClassVar[str] = JSON
    hint: ClassVar[str] = "docs/mappings.md shows the members"


_Some = TypeVar("_Some", bound=Body)


class JsonBody(Generic[_Some]):
    """A dependency: the body as `model`, by which the OpenAPI document tells it too."""

    def __init__(self, model: type[_Some]) -> None:
        self.model = model

    async def __call__(self, request: Request, _: AnyCaller) -> _Some:
        """Read it, once it is known who sends it; raises as `read` does."""
        return await self.read(request)

    async def read(self, request: Request) -> _Some:
        """The body, checked; an empty one is {}.

        Raises UnsupportedMediaTypeError, BadRequestError with the JSON path of what is wrong, and
        what `read_body` raises.
        """
        model = self.model
        body_type = media_type(request.headers.get("content-type", model.usual_type))
        if body_type != JSON:
            raise UnsupportedMediaTypeError(
                f"cannot read a body of type {body_type or 'unknown'}", f"use Content-Type {JSON}"
            )
        text = utf_8(await read_body(request, served_by(request).limits))
        try:
            members = read_json(text or "{}", model.fractions, _refuse)
        except (ValueError, ArithmeticError, RecursionError) as error:
            raise BadRequestError(f"the body is not JSON: {error}", "send a JSON object") from error
        return checked(model, members)


class PublicBody(JsonBody[_Some]):
    """As `JsonBody`, of anybody: behind other bounds than rights."""

    async def __call__(self, request: Request) -> _Some:  # type: ignore[override]
        """Read it; raises as `read` does."""
        return await self.read(request)


def checked(model: type[_Some], members: object) -> _Some:
    """The members as a body. Raises BadRequestError."""
    try:
        return model.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        path = json_path("", first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        raise BadRequestError(f"{path}: {reason}" if path else reason, model.hint) from error


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")
