"""Commands to an external broker: the flows of QoS 0, 1 and 2, and what a reconnection repeats."""

from gateway.gates.mqtt5_commands import Commands
from gateway.gates.mqtt5_packets import (
    Answer,
    Kind,
    Name,
    PacketReader,
    Properties,
    Publish,
    encode_pubrel,
)


def terms(**numbers: int) -> Properties:
    return Properties({Name[name]: number for name, number in numbers.items()})


def decoded(packets: list[bytes]) -> list[Publish]:
    found = PacketReader(1 << 20).feed(b"".join(packets))
    assert all(isinstance(each, Publish) for each in found)
    return [each for each in found if isinstance(each, Publish)]


def sent(commands: Commands) -> list[Publish]:
    return decoded(list(commands.sendable()))


def filled(*qos: int, limit: int = 10) -> Commands:
    commands = Commands(limit)
    for number, each in enumerate(qos):
        commands.add(Publish(f"t/{number}", b"x", each))
    return commands


def test_commands_leave_in_order_each_with_its_own_packet_id() -> None:
    found = sent(filled(0, 1, 2, 1))
    assert [each.topic for each in found] == ["t/0", "t/1", "t/2", "t/3"]
    assert [each.qos for each in found] == [0, 1, 2, 1]
    assert found[0].packet_id == 0
    assert len({each.packet_id for each in found[1:]}) == 3


def test_commands_beyond_the_limit_are_dropped_and_counted() -> None:
    commands = filled(1, 1, limit=2)
    sent(commands)
    assert not commands.add(Publish("t/2", b"x", 0))
    assert (commands.dropped, len(commands)) == (1, 2)


def test_no_more_are_in_flight_than_the_broker_takes() -> None:
    commands = filled(1, 1, 1)
    assert list(commands.reconnect(terms(RECEIVE_MAXIMUM=2))) == []
    first, second = sent(commands)
    assert sent(commands) == []
    commands.answered(Answer(Kind.PUBACK, first.packet_id))
    assert [each.topic for each in sent(commands)] == ["t/2"]
    assert second.packet_id


def test_qos_2_is_released_after_pubrec_and_done_after_pubcomp() -> None:
    commands = filled(2)
    (message,) = sent(commands)
    packet_id = message.packet_id
    assert commands.answered(Answer(Kind.PUBREC, packet_id)) == encode_pubrel(packet_id)
    assert list(commands.reconnect(terms())) == [encode_pubrel(packet_id)]
    assert commands.answered(Answer(Kind.PUBCOMP, packet_id)) is None
    assert len(commands) == 0


def test_a_command_that_the_broker_refuses_is_not_repeated() -> None:
    commands = filled(1, 2)
    for message, kind in zip(sent(commands), (Kind.PUBACK, Kind.PUBREC), strict=True):
        assert commands.answered(Answer(kind, message.packet_id, (0x87,))) is None
    assert list(commands.reconnect(terms())) == []


def test_a_reconnection_repeats_what_was_not_acknowledged_as_duplicate() -> None:
    commands = filled(1, 1, 0)
    first, second, _ = sent(commands)
    commands.answered(Answer(Kind.PUBACK, first.packet_id))
    (again,) = decoded(list(commands.reconnect(terms())))
    assert (again.topic, again.packet_id, again.duplicate) == ("t/1", second.packet_id, True)


def test_a_broker_of_qos_1_gets_no_qos_2() -> None:
    commands = filled(2)
    assert list(commands.reconnect(terms(MAXIMUM_QOS=1))) == []
    assert [each.qos for each in sent(commands)] == [1]


def test_a_command_larger_than_the_broker_takes_costs_itself_only() -> None:
    commands = filled(1)
    commands.add(Publish("t/large", b"x" * 100, 1))
    commands.add(Publish("t/last", b"x", 1))
    assert list(commands.reconnect(terms(MAXIMUM_PACKET=50))) == []
    assert [each.topic for each in sent(commands)] == ["t/0", "t/last"]
    assert commands.dropped == 1
