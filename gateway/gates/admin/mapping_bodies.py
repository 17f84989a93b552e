"""What requests below /mappings have in their bodies.

Place on the way of the data: between the HTTP gate of mappings and `gateway.admin.onboarding`.
"""

import base64
import binascii
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from adapters.values.message import Message
from gateway.errors import BadRequestError
from gateway.gates.http.json_body import Body

MOST_ITEMS = 500
"""Mappings, edits or proposals of one request."""

Members = dict[str, Any]
Id = Annotated[str, Field(min_length=1, max_length=2000)]


class MessageBody(Body):
    """An MQTT message: `payload` is text, `payloadBase64` bytes; `time` is when it came."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["payload"]}, {"required": ["payloadBase64"]}]}
    )

    topic: Annotated[
        str,
        Field(
            min_length=1,
            max_length=65_535,
            json_schema_extra={"pattern": "^[^+#\\u0000]+$"},
        ),
    ]
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
    mappings: Annotated[list[Members], Field(max_length=MOST_ITEMS)] = Field(default_factory=list)
    mapping: Members | None = None

    @property
    def given(self) -> list[Members]:
        """All mappings that were given."""
        return [*self.mappings, *([] if self.mapping is None else [self.mapping])]


class ApplyBody(Body):
    """Mappings to add and to replace, ids of those to remove."""

    add: Annotated[list[Members], Field(max_length=MOST_ITEMS)] = Field(default_factory=list)
    replace: Annotated[list[Members], Field(max_length=MOST_ITEMS)] = Field(default_factory=list)
    remove: Annotated[list[Id], Field(max_length=MOST_ITEMS)] = Field(default_factory=list)


class UndoBody(Body):
    """The id of a change to undo."""

    id: Id
    force: bool = False


class ConfirmBody(Body):
    """The ids of proposals, and members of their mappings that are to be others.

    What is another for each mapping cannot be given for several proposals at once. `all` is for
    every proposal that is open and has no question.
    """

    ids: Annotated[list[Id], Field(max_length=MOST_ITEMS)] = Field(default_factory=list)
    all: bool = False
    mapping: Members = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits_all(self) -> "ConfirmBody":
        if self.all and (self.ids or self.mapping):
            raise ValueError("all takes neither ids nor members of a mapping")
        if not self.all and not self.ids:
            raise ValueError("give ids, or all")
        if "id" in self.mapping:
            raise ValueError("the id of a proposal's mapping is given")
        own = sorted(set(self.mapping) - _SHARED)
        if own and len(self.ids) > 1:
            raise ValueError(f"{', '.join(own)} cannot be the same for several proposals")
        return self


class MigrateBody(Body):
    """Whether to tell only what would be done."""

    dry_run: Annotated[bool, Field(alias="dryRun")] = False


class OneConfirmBody(Body):
    """As `ConfirmBody`, for the proposal that the path names."""

    mapping: Members = Field(default_factory=dict)


class RejectBody(Body):
    """The ids of proposals."""

    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST_ITEMS)]


_SHARED = frozenset({"feature", "retained", "expiresAfter", "availability", "availabilities"})
