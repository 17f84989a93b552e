"""Messages of devices in the JSON of a gate, and the topic filter that chooses among them.

Place on the way of the data: under the gates that show messages.
"""

from base64 import b64encode

from adapters.values.topic_filter import TopicFilter
from gateway.errors import BadRequestError


def payload_members(payload: bytes) -> dict[str, str]:
    """A payload as JSON can have it: as text where it is one.

    >>> payload_members(b"21.5"), payload_members(b"\\xff")
    ({'payload': '21.5'}, {'payload_base64': '/w=='})
    """
    try:
        return {"payload": payload.decode()}
    except UnicodeDecodeError:
        return {"payload_base64": b64encode(payload).decode()}


def topic_filter(text: str) -> str:
    """An MQTT topic filter. Raises BadRequestError."""
    try:
        return TopicFilter.parse(text).text
    except ValueError as error:
        raise BadRequestError(f"topic={text!r}: {error}", "give an MQTT topic filter") from error
