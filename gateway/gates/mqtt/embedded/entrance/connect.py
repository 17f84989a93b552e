"""CONNECT: what a client asks for, and what it is answered.

Place: the first packet of a stream → `decode_connect` → `HardenedBroker`. Stands in for amqtt's
decoder, which is lenient. Source: MQTT 3.1.1, sections 3.1 and 3.2; MQTT 5.0, section 3.2.
"""

from secrets import token_hex

from amqtt.mqtt.packet import CONNECT
from amqtt.session import Session

from gateway.errors import BadRequestError, GatewayError
from gateway.gates.mqtt.embedded.fields import Fields
from gateway.gates.mqtt.embedded.frames import Frame, require_topic
from gateway.gates.mqtt.embedded.session import ClientSession

ACCEPTED, UNACCEPTABLE_VERSION, IDENTIFIER_REJECTED, UNAVAILABLE, _, NOT_AUTHORIZED = range(6)
MAX_CONNECT_BYTES = 10 + 5 * (2 + 65_535)
"""The variable header, and the five fields of the payload at their longest."""

_LEVEL = 4
_LEVEL_OF_5 = 5
_UNSUPPORTED_VERSION_OF_5 = b"\x20\x03\x00\x84\x00"
_RESERVED, _CLEAN, _WILL, _WILL_QOS, _WILL_RETAIN, _PASSWORD, _USER = 1, 2, 4, 24, 32, 64, 128


class RefusedError(BadRequestError):
    """A CONNECT that has an answer, `connack`, and no more. `mqtt_5` names a client of MQTT 5."""

    def __init__(self, reason: str, connack: bytes, mqtt_5: str | None = None) -> None:
        super().__init__(reason)
        self.connack = connack
        self.mqtt_5 = mqtt_5


def connack(code: int, session_present: bool = False) -> bytes:
    """The answer to a CONNECT of MQTT 3.1.1."""
    return bytes((0x20, 2, session_present, code))


def decode_connect(frame: Frame) -> Session:
    """The session that a CONNECT asks for, with the will, user name and password of its connection.

    An empty client identifier becomes one of its own. A password that is not UTF-8 is none that
    anybody has, and None. RefusedError where the specification has an answer, else BadRequestError:
    the connection ends without one [MQTT-3.1.4-1].
    """
    if frame.packet_type != CONNECT or frame.flags:
        raise BadRequestError("the first packet is not CONNECT [MQTT-3.1.0-1]")
    fields = Fields(frame.body)
    if fields.text() != "MQTT":
        raise BadRequestError("another protocol [MQTT-3.1.2-1]")
    level, flags, keep_alive = fields.number(1), fields.number(1), fields.number(2)
    _require_version(level, fields)
    _require_flags(flags)
    session = ClientSession()
    session.keep_alive = keep_alive
    session.clean_session = bool(flags & _CLEAN)
    session.client_id = fields.text()
    if flags & _WILL:
        _read_will(session, flags, fields)
    session.username = fields.text() if flags & _USER else None
    session.password = _password(fields.data()) if flags & _PASSWORD else None
    fields.end()
    if not session.client_id:
        if not session.clean_session:
            reason = "a session to keep, and no client identifier [MQTT-3.1.3-8]"
            raise RefusedError(reason, connack(IDENTIFIER_REJECTED))
        session.client_id = f"auto-{token_hex(16)}"
    return session


def _require_version(level: int, fields: Fields) -> None:
    if level == _LEVEL_OF_5:
        name = _name_of_5(fields)
        raise RefusedError("MQTT 5 is not spoken here", _UNSUPPORTED_VERSION_OF_5, name)
    if level != _LEVEL:
        reason = f"protocol level {level} [MQTT-3.1.2-2]"
        raise RefusedError(reason, connack(UNACCEPTABLE_VERSION))


def _name_of_5(fields: Fields) -> str:
    """The client identifier, behind properties of which we know the length alone; "" is none."""
    try:
        size, shift, more = 0, 0, True
        while more and shift <= 21:
            digit = fields.number(1)
            size, shift, more = size | (digit & 0x7F) << shift, shift + 7, digit > 0x7F
        fields.take(size)
        return fields.text()
    except GatewayError:
        return ""


def _require_flags(flags: int) -> None:
    if flags & _RESERVED:
        raise BadRequestError("the reserved flag of CONNECT is set [MQTT-3.1.2-3]")
    if flags & _WILL_QOS == _WILL_QOS:
        raise BadRequestError("a will with QoS 3 [MQTT-3.1.2-14]")
    if not flags & _WILL and flags & (_WILL_QOS | _WILL_RETAIN):
        raise BadRequestError("QoS or RETAIN of a will that is none [MQTT-3.1.2-13, 3.1.2-15]")
    if flags & _PASSWORD and not flags & _USER:
        raise BadRequestError("a password without a user name [MQTT-3.1.2-22]")


def _read_will(session: Session, flags: int, fields: Fields) -> None:
    session.will_flag = True
    session.will_topic = fields.text()
    session.will_message = fields.data()
    session.will_qos = (flags & _WILL_QOS) >> 3
    session.will_retain = bool(flags & _WILL_RETAIN)
    require_topic(session.will_topic)


def _password(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
