"""Which repetition is the same observation, and which is a new one."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from adapters.values.message import Message
from adapters.values.observation import XSD, Circumstances, Observation, TimeSource
from gateway.ingest.duplicates import WINDOW, Duplicates, delivery_of
from gateway.journal import Position, Record

NOW = datetime(2026, 3, 2, tzinfo=UTC)
BARE = Observation("urn:s", "urn:p", "urn:f", "21.5", XSD + "decimal")
TIMED = replace(BARE, phenomenon_time=NOW)
COUNTED = replace(BARE, device_sequence="7")
MESSAGE = Message("t", b"21.5", NOW, client_id="c", packet_id=5, qos=1)
REDELIVERED = replace(MESSAGE, duplicate=True)


def later(message: Message, by: timedelta) -> Message:
    return replace(message, received_at=message.received_at + by)


def test_same_time_is_the_same_observation_however_late() -> None:
    duplicates = Duplicates()
    assert not duplicates.is_known(TIMED, MESSAGE)
    assert duplicates.is_known(TIMED, later(MESSAGE, timedelta(days=3)))
    assert duplicates.is_known(replace(TIMED, lexical="9"), MESSAGE)
    assert not duplicates.is_known(replace(TIMED, feature_of_interest="urn:g"), MESSAGE)


def test_same_counter_and_value_is_the_same_within_the_window_only() -> None:
    duplicates = Duplicates()
    assert not duplicates.is_known(COUNTED, MESSAGE)
    assert duplicates.is_known(COUNTED, later(MESSAGE, WINDOW / 2))
    assert not duplicates.is_known(replace(COUNTED, lexical="9"), MESSAGE)
    assert not duplicates.is_known(COUNTED, later(MESSAGE, WINDOW * 2))


def test_time_of_the_network_is_no_identity_where_there_is_a_counter() -> None:
    network = Circumstances(TimeSource.NETWORK)
    uplink = replace(COUNTED, phenomenon_time=NOW, circumstances=network)
    copy = replace(uplink, phenomenon_time=NOW + timedelta(milliseconds=250))
    duplicates = Duplicates()
    assert not duplicates.is_known(uplink, MESSAGE)
    assert duplicates.is_known(copy, MESSAGE)
    assert not duplicates.is_known(replace(copy, device_sequence="8"), MESSAGE)
    assert not duplicates.is_known(uplink, later(MESSAGE, WINDOW * 2))


def test_time_of_the_network_is_all_there_is_without_a_counter() -> None:
    told = replace(TIMED, circumstances=Circumstances(TimeSource.NETWORK))
    duplicates = Duplicates()
    assert not duplicates.is_known(told, MESSAGE)
    assert duplicates.is_known(told, later(MESSAGE, timedelta(days=3)))


def test_bare_value_is_the_same_only_when_mqtt_says_so() -> None:
    duplicates = Duplicates()
    assert not duplicates.is_known(BARE, MESSAGE)
    assert not duplicates.is_known(BARE, MESSAGE)
    assert duplicates.is_known(BARE, REDELIVERED)
    assert not duplicates.is_known(BARE, replace(REDELIVERED, packet_id=6))
    assert not duplicates.is_known(BARE, later(REDELIVERED, WINDOW * 2))


def test_recall_knows_what_the_journal_has() -> None:
    records = [
        Record(Position(1, 1), 1, TIMED, NOW),
        Record(Position(1, 2), 2, BARE, NOW, delivery_of(BARE, MESSAGE)),
    ]
    duplicates = Duplicates()
    duplicates.recall(records)
    assert duplicates.is_known(TIMED, MESSAGE)
    assert duplicates.is_known(BARE, REDELIVERED)


def test_memory_is_bounded_and_forgets_the_oldest() -> None:
    duplicates = Duplicates(capacity=10)
    times = [NOW + timedelta(seconds=n) for n in range(20)]
    for time in times:
        duplicates.is_known(replace(TIMED, phenomenon_time=time), MESSAGE)
    assert duplicates.is_known(replace(TIMED, phenomenon_time=times[-1]), MESSAGE)
    assert not duplicates.is_known(replace(TIMED, phenomenon_time=times[0]), MESSAGE)
