"""Which repetition is the same observation, and which is a new one."""

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.values.message import Message
from adapters.values.observation import XSD, Circumstances, Observation, TimeSource
from gateway.ingest.duplicates import WINDOW, Duplicates, Novelty, delivery_of
from gateway.ingest.inbox import Replay
from gateway.journal import Position, Record

NOW = datetime(2026, 3, 2, tzinfo=UTC)
BARE = Observation("urn:s", "urn:p", "urn:f", "21.5", XSD + "decimal")
TIMED = replace(BARE, phenomenon_time=NOW)
COUNTED = replace(BARE, device_sequence="7")
CLOSED = replace(TIMED, lexical="false", datatype=XSD + "boolean")
OPEN = replace(CLOSED, lexical="true")
MESSAGE = Message("t", b"21.5", NOW, client_id="c", packet_id=5, qos=1)
REDELIVERED = replace(MESSAGE, duplicate=True)
NEW, REVISED, KNOWN = Novelty


def later(message: Message, by: timedelta) -> Message:
    return replace(message, received_at=message.received_at + by)


def sent(packet_id: int, *, again: bool = False) -> Message:
    return replace(MESSAGE, packet_id=packet_id, duplicate=again)


def record(number: int, seen: Observation, message: Message = MESSAGE) -> Record:
    return Record(Position(1, number), number, seen, message.received_at, delivery_of(message))


def replay() -> Replay:
    return Replay(frozenset())


def judged(duplicates: Duplicates, *said: tuple[Observation, Message]) -> list[Novelty]:
    return [duplicates.judge(seen, message) for seen, message in said]


def test_same_time_and_value_is_the_same_observation_however_late() -> None:
    duplicates = Duplicates()
    assert duplicates.judge(TIMED, MESSAGE) is NEW
    assert duplicates.judge(TIMED, later(MESSAGE, timedelta(days=3))) is KNOWN
    assert duplicates.judge(replace(TIMED, feature_of_interest="urn:g"), MESSAGE) is NEW
    assert duplicates.judge(replace(TIMED, device_sequence="8"), MESSAGE) is NEW


@pytest.mark.parametrize("seen", [TIMED, COUNTED], ids=["time", "counter"])
def test_another_value_under_the_same_time_or_counter_is_another_observation(
    seen: Observation,
) -> None:
    duplicates = Duplicates()
    other = replace(seen, lexical="9")
    told = [(each, MESSAGE) for each in (seen, other, other, seen, seen, other)]
    assert judged(duplicates, *told) == [NEW, REVISED, KNOWN, REVISED, KNOWN, REVISED]


def test_value_is_compared_as_a_value() -> None:
    duplicates = Duplicates()
    same = replace(TIMED, lexical="21.50")
    whole = [replace(TIMED, lexical="21.0"), replace(TIMED, lexical="21", datatype=XSD + "integer")]
    assert judged(duplicates, (TIMED, MESSAGE), (same, MESSAGE)) == [NEW, KNOWN]
    assert [duplicates.judge(each, MESSAGE) for each in whole] == [REVISED, KNOWN]
    hundred = replace(TIMED, lexical="210", datatype=XSD + "integer")
    assert duplicates.judge(hundred, MESSAGE) is REVISED
    assert duplicates.judge(replace(hundred, datatype=XSD + "string"), MESSAGE) is REVISED
    assert duplicates.judge(replace(hundred, unit="urn:kelvin"), MESSAGE) is REVISED


def test_what_mqtt_delivers_again_is_known_whatever_came_in_between() -> None:
    duplicates = Duplicates()
    assert judged(duplicates, (CLOSED, sent(5)), (OPEN, sent(6))) == [NEW, REVISED]
    again = [(CLOSED, sent(5, again=True)), (OPEN, sent(6, again=True))]
    assert judged(duplicates, *again, *again) == [KNOWN] * 4
    assert duplicates.judge(CLOSED, replace(sent(5, again=True), client_id="d")) is REVISED


@pytest.mark.parametrize("packet_id", [7, 6], ids=["its own packet id", "one that was used before"])
def test_first_delivery_that_was_lost_is_no_duplicate(packet_id: int) -> None:
    """A packet id is free for another message once the one before is acknowledged."""
    duplicates = Duplicates()
    judged(duplicates, (CLOSED, sent(6)), (OPEN, later(sent(6), timedelta(seconds=1))))
    lost = (CLOSED, sent(packet_id, again=True))
    assert judged(duplicates, lost, lost) == [REVISED, KNOWN]


def test_message_with_several_values_of_one_time_is_known_whole_or_new_whole() -> None:
    values = [CLOSED, OPEN, CLOSED]
    duplicates, mute = Duplicates(), Duplicates()
    assert judged(duplicates, *((each, sent(5)) for each in values)) == [NEW, REVISED, REVISED]
    again = sent(5, again=True)
    assert judged(duplicates, *((each, again) for each in values)) == [KNOWN] * 3
    assert judged(mute, *((each, again) for each in values)) == [NEW, REVISED, REVISED]
    again = sent(5, again=True)
    assert judged(mute, *((each, again) for each in values)) == [KNOWN] * 3


def test_same_counter_is_the_same_within_the_window_only() -> None:
    duplicates = Duplicates()
    assert duplicates.judge(COUNTED, MESSAGE) is NEW
    assert duplicates.judge(COUNTED, later(MESSAGE, WINDOW / 2)) is KNOWN
    assert duplicates.judge(COUNTED, later(MESSAGE, WINDOW * 2)) is NEW
    other = replace(COUNTED, lexical="9")
    assert duplicates.judge(other, later(MESSAGE, WINDOW * 4)) is NEW


def test_time_of_the_network_is_no_identity_where_there_is_a_counter() -> None:
    network = Circumstances(TimeSource.NETWORK)
    uplink = replace(COUNTED, phenomenon_time=NOW, circumstances=network)
    copy = replace(uplink, phenomenon_time=NOW + timedelta(milliseconds=250))
    duplicates = Duplicates()
    assert duplicates.judge(uplink, MESSAGE) is NEW
    assert duplicates.judge(copy, MESSAGE) is KNOWN
    assert duplicates.judge(replace(copy, device_sequence="8"), MESSAGE) is NEW
    assert duplicates.judge(uplink, later(MESSAGE, WINDOW * 2)) is NEW


def test_time_of_the_network_is_all_there_is_without_a_counter() -> None:
    told = replace(TIMED, circumstances=Circumstances(TimeSource.NETWORK))
    duplicates = Duplicates()
    assert duplicates.judge(told, MESSAGE) is NEW
    assert duplicates.judge(told, later(MESSAGE, timedelta(days=3))) is KNOWN


def test_bare_value_is_the_same_only_when_mqtt_says_so() -> None:
    duplicates = Duplicates()
    assert duplicates.judge(BARE, MESSAGE) is NEW
    assert duplicates.judge(BARE, MESSAGE) is NEW
    assert duplicates.judge(BARE, REDELIVERED) is KNOWN
    assert duplicates.judge(BARE, replace(REDELIVERED, packet_id=6)) is NEW
    assert duplicates.judge(BARE, later(REDELIVERED, WINDOW * 2)) is NEW


def test_replayed_message_revises_nothing_and_is_itself_at_its_very_time() -> None:
    duplicates = Duplicates()
    judged(duplicates, (CLOSED, sent(5)), (OPEN, sent(6)), (BARE, MESSAGE))
    ancient = replace(MESSAGE, packet_id=0, received_at=NOW - timedelta(days=1))
    for seen in (CLOSED, replace(CLOSED, lexical="2")):
        assert duplicates.judge(seen, ancient, replay()) is KNOWN
    assert duplicates.judge(BARE, MESSAGE, replay()) is KNOWN
    assert duplicates.judge(BARE, later(MESSAGE, WINDOW), replay()) is NEW


def test_replayed_message_with_several_values_of_one_time_gives_them_once() -> None:
    duplicates = Duplicates()
    for expected in ([NEW, REVISED, REVISED], [KNOWN] * 3):
        again = replay()
        told = [duplicates.judge(seen, MESSAGE, again) for seen in (CLOSED, OPEN, CLOSED)]
        assert told == expected


def test_recall_knows_what_the_journal_has() -> None:
    duplicates = Duplicates()
    beside = replace(BARE, sensor="urn:beside")
    second = replace(record(4, beside), message=3, delivery="")
    said = [record(1, CLOSED, sent(5)), record(2, OPEN, sent(6)), record(3, BARE), second]
    duplicates.recall(said)
    assert duplicates.judge(OPEN, sent(9)) is KNOWN
    assert duplicates.judge(CLOSED, sent(5, again=True)) is KNOWN
    assert duplicates.judge(BARE, REDELIVERED) is KNOWN
    assert duplicates.judge(beside, REDELIVERED) is KNOWN
    assert duplicates.judge(CLOSED, sent(7, again=True)) is REVISED


def test_journals_without_deliveries_are_told_by_value() -> None:
    duplicates = Duplicates()
    duplicates.recall([replace(record(n, s), delivery="") for n, s in ((1, CLOSED), (2, OPEN))])
    assert duplicates.judge(CLOSED, sent(7, again=True)) is KNOWN
    assert duplicates.judge(CLOSED, sent(7)) is REVISED


def test_memory_is_bounded_and_forgets_the_oldest() -> None:
    duplicates = Duplicates(capacity=10)
    times = [NOW + timedelta(seconds=n) for n in range(20)]
    for time in times:
        duplicates.judge(replace(TIMED, phenomenon_time=time), MESSAGE)
    assert duplicates.judge(replace(TIMED, phenomenon_time=times[-1]), MESSAGE) is KNOWN
    assert duplicates.judge(replace(TIMED, phenomenon_time=times[0]), MESSAGE) is NEW


@pytest.mark.parametrize(
    "told",
    [
        [replace(TIMED, lexical=str(n)) for n in range(20_000)],
        [
            replace(TIMED, lexical=str(n % 40), phenomenon_time=NOW + timedelta(seconds=n // 40))
            for n in range(20_000)
        ],
    ],
    ids=["one time for ever", "forty values a time"],
)
def test_memory_is_bounded_where_a_clock_stands_still(told: Sequence[Observation]) -> None:
    duplicates = Duplicates(capacity=5000)
    tracemalloc.start()
    try:
        assert KNOWN not in [duplicates.judge(seen, MESSAGE) for seen in told]
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
    assert duplicates.judge(told[-1], MESSAGE) is KNOWN
