"""Messages of devices in the JSON of a gate, and the parameters that choose among them.

Place on the way of the data: under the gates that show messages.
"""

from base64 import b64encode

from starlette.datastructures import QueryParams

from adapters.values.topic_filter import TopicFilter
from gateway.errors import BadRequestError
from gateway.gates.protocol.wire import JsonObject


def payload_members(payload: bytes) -> JsonObject:
    """A payload as JSON can have it: as text where it is one.

    >>> payload_members(b"21.5"), payload_members(b"\\xff")
    ({'payload': '21.5'}, {'payload_base64': '/w=='})
    """
    try:
        return {"payload": payload.decode()}
    except UnicodeDecodeError:
        return {"payload_base64": b64encode(payload).decode()}


def number_of(asked: QueryParams, name: str, least: int, most: int) -> int | None:
    """A parameter that is a whole number. Raises BadRequestError."""
    text = asked.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
        raise BadRequestError(f"{name}={text!r}", f"give a number from {least} to {most}")
    return int(text)


def topic_of(asked: QueryParams) -> str | None:
    """The parameter `topic`, an MQTT topic filter. Raises BadRequestError."""
    text = asked.get("topic")
    return None if text is None else topic_filter(text)


def topic_filter(text: str) -> str:
    """An MQTT topic filter. Raises BadRequestError."""
    try:
        return TopicFilter.parse(text).text
    except ValueError as error:
        raise BadRequestError(f"topic={text!r}: {error}", "give an MQTT topic filter") from error
