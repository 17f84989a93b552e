"""A broker that refuses a connection again and again is told of once."""

from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.mqtt.external.side_connection import LIVE, SideConnection


def test_a_refusal_is_told_once_until_it_is_another() -> None:
    told: list[str] = []
    connection = SideConnection(
        ExternalSettings("127.0.0.1", 1883, "test"),
        "commands",
        ["x"],
        options=LIVE,
        on_message=lambda _: None,
        on_refused=lambda reason: told.append(str(reason)),
    )

    def answer(name: str) -> None:
        reason = ReasonCode(PacketTypes.CONNACK, name)
        connection.client.on_connect(connection.client, None, None, reason, None)  # type: ignore[misc, arg-type, call-arg]

    for name in ("Not authorized", "Not authorized", "Server busy", "Server busy", "Success"):
        answer(name)
    assert told == ["Not authorized", "Server busy"]
    answer("Server busy")
    assert len(told) == 3
