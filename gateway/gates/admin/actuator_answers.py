"""What the HTTP gate of actuators reads and answers: a command, actuators, actuations.

Place on the way of the data: between that gate and `gateway.actuation`. docs/actuators.md shows
each request.
"""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema
from pyoxigraph import Literal, NamedNode

from gateway.actuation.commands import LONGEST_WAIT_S
from gateway.actuation.values import is_boolean, is_number, number_literal, number_of
from gateway.errors import BadRequestError
from gateway.gates.http.json_body import Body
from gateway.gates.http.json_router import Answer
from gateway.rdf.namespaces import XSD

_BOOLEAN = NamedNode(XSD + "boolean")
_MOST_DIGITS = 64
_EXAMPLE = 'send {"value": true}, a number or a text'


def _literal(value: object) -> Literal:
    if isinstance(value, bool):
        return Literal("true" if value else "false", datatype=_BOOLEAN)
    if isinstance(value, int | Decimal):
        number = Decimal(value)
        if abs(number.adjusted()) < _MOST_DIGITS:
            return number_literal(number)
    if isinstance(value, str):
        return Literal(value)
    raise BadRequestError("value is no truth value, number or text", _EXAMPLE)


def _seconds(wait_s: object) -> float:
    is_number = isinstance(wait_s, int | Decimal) and not isinstance(wait_s, bool)
    if is_number and 0 <= wait_s <= LONGEST_WAIT_S:  # type: ignore[operator]  # told above
        return float(wait_s)  # type: ignore[arg-type]
    raise BadRequestError("wait is no number of seconds", f"send one of 0 to {LONGEST_WAIT_S:g}")


class CommandBody(Body):
    """The value that a property is to have, and how long to wait for its confirmation."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    fractions: ClassVar[type] = Decimal
    usual_type: ClassVar[str] = ""
    hint: ClassVar[str] = _EXAMPLE

    value: Annotated[
        Literal,
        PlainValidator(_literal),
        WithJsonSchema({"type": ["boolean", "number", "string"]}),
    ]
    wait: Annotated[
        float,
        PlainValidator(_seconds),
        WithJsonSchema({"type": "number", "minimum": 0, "maximum": LONGEST_WAIT_S}),
        Field(description="seconds"),
    ] = 0


class ActuationTold(Answer):
    """What became of a command, as far as it has come."""

    id: str
    status: Annotated[
        str,
        WithJsonSchema({"enum": ["requested", "sent", "confirmed", "failed", "superseded"]}),
    ]
    actuator: str = ""
    value: bool | int | float | str = ""
    requested_at: Annotated[str, Field(serialization_alias="requestedAt")] = ""
    sent_at: Annotated[str, Field(serialization_alias="sentAt")] = ""
    ended_at: Annotated[str, Field(serialization_alias="endedAt")] = ""
    reason: str = ""
    observation: str = ""


class ActuatorTold(Answer):
    """What can be set, to what, and what was asked for last."""

    id: str
    name: str
    property: str
    feature: str
    topic: str
    command_topic: Annotated[str, Field(serialization_alias="commandTopic")]
    sensor: str = ""
    format: str = ""
    values: list[str] = Field(default_factory=list)
    true_value: Annotated[str, Field(serialization_alias="trueValue")] = ""
    false_value: Annotated[str, Field(serialization_alias="falseValue")] = ""
    minimum: int | float = 0
    maximum: int | float = 0
    step: int | float = 0
    unit: str = ""
    time_limit: Annotated[float, Field(serialization_alias="timeLimit")] = 0
    last: ActuationTold | None = None


class ActuatorList(Answer):
    """Actuators that the client may see."""

    actuators: list[ActuatorTold]


def json_value(value: Literal) -> bool | int | float | str:
    """A literal as JSON has it."""
    if is_boolean(value):
        return value.value in {"true", "1"}
    number = number_of(value) if is_number(value) else None
    return value.value if number is None else plain(number)


def plain(number: Decimal) -> int | float:
    """A number as JSON has it.

    >>> plain(Decimal("21.0")), plain(Decimal("21.5"))
    (21, 21.5)
    """
    return int(number) if number == number.to_integral_value() else float(number)


def written(time: datetime) -> str:
    """An instant as xsd:dateTime."""
    return time.isoformat().replace("+00:00", "Z")
