"""The parameters of a JSON route, in its URL: no others, and numbers that are whole.

Place on the way of the data: behind the rights of a JSON route, before its handler.
"""

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from gateway.errors import BadRequestError
from gateway.gates.protocol.payload_json import topic_filter


class Parameters(BaseModel):
    """All parameters of a route, each at most once in effect: the last one counts."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, asked: Any) -> Any:
        """Raise BadRequestError for a parameter that is none."""
        known = {field.alias or name for name, field in cls.model_fields.items()}
        for name in asked:
            if name not in known:
                raise BadRequestError(f"there is no parameter {name!r}", ", ".join(sorted(known)))
        return asked


class WholeNumber:
    """A validator of a parameter in digits, from `least` to `most`."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most

    def __call__(self, text: str | int | None, info: ValidationInfo) -> int | None:
        """Raise BadRequestError."""
        if not isinstance(text, str):
            return text  # the default, which some versions of FastAPI hand over
        is_number = text.isascii() and text.isdigit() and len(text) < 20
        if not (is_number and self._least <= int(text) <= self._most):
            raise BadRequestError(
                f"{info.field_name}={text!r}", f"give a number from {self._least} to {self._most}"
            )
        return int(text)


MOST = 1000
"""What one answer lists."""

Limit = Annotated[
    int,
    PlainValidator(WholeNumber(1, MOST)),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST}),
]
Before = Annotated[
    int | None,
    PlainValidator(WholeNumber(1, 10**18)),
    WithJsonSchema({"type": "integer", "minimum": 1}),
]
Topic = Annotated[
    str | None, AfterValidator(lambda text: None if text is None else topic_filter(text))
]
