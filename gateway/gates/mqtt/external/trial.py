"""Whether an external broker takes us, tried once, with the settings of a gateway.

Place: asked by `sosa-gateway check` before a gateway runs. It has a client id of its own and a
clean start, so it takes no session away and leaves none. Source: MQTT 5.0, 3.1 and 3.2.
"""

import errno
import socket
import ssl
from time import monotonic

from paho.mqtt.client import Client, ConnectFlags
from paho.mqtt.enums import MQTTErrorCode
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from gateway.errors import ConfigurationError
from gateway.gates.mqtt.external.settings import ExternalSettings

_TURN_S = 0.1
_LOGIN = "correct [mqtt] username and password_file, or let this user in at the broker"


def refusal(settings: ExternalSettings, timeout_s: float) -> ConfigurationError | None:
    """Why the broker cannot be used now, by its cause; None: it took us."""
    try:
        reason = _answer(settings, timeout_s)
    except OSError as error:
        return unreachable(settings, error)
    place = _place(settings)
    if reason is None:
        other = "say tls = false" if settings.tls else "say [mqtt] tls = true where it wants TLS"
        return ConfigurationError(
            f"what listens at {place} does not answer as an MQTT 5 broker does",
            f"name its MQTT port; {other}",
        )
    if reason.is_failure:
        return ConfigurationError(f"the broker at {place} refuses us: {reason}", _LOGIN)
    return None


def _answer(settings: ExternalSettings, timeout_s: float) -> ReasonCode | None:
    """The reason code of its CONNACK, None where none comes. Raises OSError."""
    answers: list[ReasonCode] = []

    def connected(
        _client: Client,
        _userdata: object,
        _flags: ConnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        answers.append(reason)

    client = settings.client("check")
    client.connect_timeout = timeout_s
    client.on_connect = connected
    deadline = monotonic() + timeout_s
    try:
        client.connect(settings.host, settings.port, clean_start=True)
        while not answers and monotonic() < deadline:
            if client.loop(_TURN_S) != MQTTErrorCode.MQTT_ERR_SUCCESS:
                break
    finally:
        client.disconnect()
        client.loop(0)
    return answers[0] if answers else None


def unreachable(settings: ExternalSettings, error: OSError) -> ConfigurationError:
    """Why it could not be dialled, by the cause."""
    place = _place(settings)
    if isinstance(error, ssl.SSLCertVerificationError):
        return ConfigurationError(
            f"the broker at {place} has a certificate that is not trusted: {error.verify_message}",
            "name the CA that has signed it: [mqtt] ca_file; and the name that it has: [mqtt] host",
        )
    if isinstance(error, ssl.SSLError | ConnectionResetError | ssl.SSLEOFError) and settings.tls:
        return ConfigurationError(
            f"what listens at {place} does not speak TLS ({error.strerror or error})",
            "name the port at which it does, usually 8883, or say [mqtt] tls = false",
        )
    if isinstance(error, socket.gaierror):
        return ConfigurationError(f"there is no host {settings.host}", "correct [mqtt] host")
    if isinstance(error, ConnectionRefusedError):
        return ConfigurationError(
            f"nothing listens at {place}", "start the broker, or correct [mqtt] host and port"
        )
    if isinstance(error, TimeoutError) or error.errno == errno.EHOSTUNREACH:
        return ConfigurationError(
            f"{place} does not answer", "see whether the machine is on and a firewall lets us pass"
        )
    return ConfigurationError(f"{place} cannot be reached: {error}", "correct [mqtt] host and port")


def _place(settings: ExternalSettings) -> str:
    return f"{settings.host}:{settings.port}"
