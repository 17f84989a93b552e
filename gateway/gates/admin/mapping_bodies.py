"""What requests below /mappings have in their bodies, checked; and answers as JSON.

Place on the way of the data: between the HTTP gate of mappings and `gateway.admin.onboarding`.
Bodies are JSON (RFC 8259) of the media type application/json.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.requests import Request

from adapters.values.message import Message
from gateway.errors import BadRequestError, UnsupportedMediaTypeError
from gateway.gates.http.request_body import RequestLimits, media_type, read_body, utf_8
from jsap.file_format import json_path

MOST_ITEMS = 500
"""Mappings, edits or proposals of one request."""

Members = dict[str, Any]
Id = Annotated[str, Field(min_length=1, max_length=2000)]


class Body(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class MessageBody(Body):
    """An MQTT message: `payload` is text, `payloadBase64` bytes; `time` is when it came."""

    topic: Annotated[str, Field(min_length=1, max_length=65_535)]
    payload: str | None = None
    payload_base64: str | None = Field(default=None, alias="payloadBase64")
    retained: bool = False
    time: datetime | None = Field(default=None, strict=False)

    @model_validator(mode="after")
    def _one_payload(self) -> "MessageBody":
        if (self.payload is None) == (self.payload_base64 is None):
            raise ValueError("give one of payload and payloadBase64")
        if any(sign in self.topic for sign in "+#\0"):
            raise ValueError("topic has a wildcard or a null character; no message comes there")
        if self.time is not None and self.time.tzinfo is None:
            raise ValueError("time has no zone; end it with Z or +01:00")
        return self

    def message(self, now: datetime) -> Message:
        """As it would have come. Raises BadRequestError."""
        received_at = now if self.time is None else self.time.astimezone(UTC)
        return Message(self.topic, self._bytes(), received_at, retained=self.retained)

    def _bytes(self) -> bytes:
        if self.payload is not None:
            try:
                return self.payload.encode()
            except UnicodeEncodeError as error:
                raise BadRequestError(f"payload: {error}", "send payloadBase64") from error
        try:
            return base64.b64decode(self.payload_base64 or "", validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadRequestError(
                f"payloadBase64: {error}", "encode it as RFC 4648 has it"
            ) from error


class TryBody(Body):
    """A message to try, by the mappings of now or by those given alone."""

    message: MessageBody
    mappings: Annotated[list[Members], Field(max_length=MOST_ITEMS)] = []
    mapping: Members | None = None

    @property
    def given(self) -> list[Members]:
        """All mappings that were given."""
        return [*self.mappings, *([] if self.mapping is None else [self.mapping])]


class ApplyBody(Body):
    """Mappings to add and to replace, ids of those to remove."""

    add: Annotated[list[Members], Field(max_length=MOST_ITEMS)] = []
    replace: Annotated[list[Members], Field(max_length=MOST_ITEMS)] = []
    remove: Annotated[list[Id], Field(max_length=MOST_ITEMS)] = []


class UndoBody(Body):
    """The id of a change to undo."""

    id: Id
    force: bool = False


class ConfirmBody(Body):
    """The ids of proposals, and members of their mappings that are to be others.

    What is another for each mapping cannot be given for several proposals at once.
    """

    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST_ITEMS)]
    mapping: Members = {}

    @model_validator(mode="after")
    def _fits_all(self) -> "ConfirmBody":
        if "id" in self.mapping:
            raise ValueError("the id of a proposal's mapping is given")
        own = sorted(set(self.mapping) - _SHARED)
        if own and len(self.ids) > 1:
            raise ValueError(f"{', '.join(own)} cannot be the same for several proposals")
        return self


class OneConfirmBody(Body):
    """As `ConfirmBody`, for the proposal that the path names."""

    mapping: Members = {}


class RejectBody(Body):
    """The ids of proposals."""

    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST_ITEMS)]


_SHARED = frozenset({"feature", "retained", "expiresAfter", "availability"})

_Some = TypeVar("_Some", bound=Body)


async def read_json(request: Request, model: type[_Some], limits: RequestLimits) -> _Some:
    """The body of a request, an empty one as {}.

    Raises UnsupportedMediaTypeError, BadRequestError with the JSON path of what is wrong, and what
    `read_body` raises.
    """
    body_type = media_type(request.headers.get("content-type", "application/json"))
    if body_type != "application/json":
        raise UnsupportedMediaTypeError(
            f"cannot read a body of type {body_type}", "use Content-Type application/json"
        )
    text = utf_8(await read_body(request, limits))
    try:
        members = json.loads(text or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"the body is not JSON: {error}", "send a JSON object") from error
    return checked(model, members)


def checked(model: type[_Some], members: object) -> _Some:
    """The members as a body. Raises BadRequestError."""
    try:
        return model.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        path = json_path("", first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        raise BadRequestError(
            f"{path}: {reason}" if path else reason, "docs/mappings.md shows the members"
        ) from error


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def payload_members(payload: bytes) -> Mapping[str, object]:
    """A payload as JSON has it: as text where it is one."""
    try:
        return {"payload": payload.decode()}
    except UnicodeDecodeError:
        return {"payloadBase64": base64.b64encode(payload).decode()}
