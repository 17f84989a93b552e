"""When a connection's thread is woken for what is settled, and when it looks by itself."""

from gateway.gates.mqtt.external.acknowledgements import Acknowledgements


def test_what_is_settled_while_messages_come_wakes_nobody() -> None:
    woken: list[int] = []
    acknowledgements = Acknowledgements(lambda: woken.append(0), 1000)
    arrived = [acknowledgements.expect(number) for number in (7, 3, 5)]
    acknowledgements.settle(arrived[1], None)
    assert acknowledgements.take() == []
    acknowledgements.settle(arrived[0], None)
    assert (acknowledgements.take(), woken) == ([7, 3], [])


def test_what_is_settled_late_wakes_the_thread_until_a_message_comes() -> None:
    woken: list[int] = []
    acknowledgements = Acknowledgements(lambda: woken.append(0), 1000)
    first, second = map(acknowledgements.expect, (1, 2))
    acknowledgements.soon = False
    acknowledgements.settle(first, None)
    assert len(woken) == 1
    third, _ = map(acknowledgements.expect, (3, 4))
    acknowledgements.settle(second, None)
    acknowledgements.settle(third, None)
    assert (acknowledgements.take(), len(woken)) == ([1, 2, 3], 1)


def test_a_broker_that_sends_few_ahead_is_not_kept_waiting() -> None:
    woken: list[int] = []
    acknowledgements = Acknowledgements(lambda: woken.append(0), 4)
    arrived = [acknowledgements.expect(number) for number in range(2)]
    acknowledgements.settle(arrived[0], None)
    assert woken == []
    arrived += map(acknowledgements.expect, (2, 3))
    acknowledgements.settle(arrived[1], None)
    assert len(woken) == 1


def test_an_error_is_no_settlement() -> None:
    woken: list[int] = []
    acknowledgements = Acknowledgements(lambda: woken.append(0), 1)
    unsettled = acknowledgements.expect(1)
    acknowledgements.settle(unsettled, OSError("the disk is full"))
    assert (acknowledgements.take(), woken) == ([], [])
