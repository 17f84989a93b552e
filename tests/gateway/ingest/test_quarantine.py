"""The quarantine: bounded in memory and on disk, whole again after torn lines and full disks."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.values.fault import Fault, FaultReason
from adapters.values.message import Message
from adapters.values.observation import Observation
from gateway.ingest.quarantine import Entry, Quarantine, QuarantineLimits, trace_of, was_accepted

START = datetime(2026, 3, 2, 7, 0, 0, 123456, tzinfo=UTC)
NULL = Fault("urn:m", FaultReason.NULL, "null")
JUMP = Fault(None, FaultReason.JUMP, "from 1 to 9")
SEEN = Observation("urn:s", "urn:p", "urn:f", "1", "urn:d")


def message(number: int = 0, payload: bytes = b"?", topic: str = "lab/t") -> Message:
    when = START + timedelta(seconds=number)
    return Message(topic, payload, when, "device", number, False, True, 1)


def filled(
    folder: Path | None, count: int = 3, limits: QuarantineLimits | None = None
) -> Quarantine:
    quarantine = Quarantine(folder, limits)
    for number in range(count):
        quarantine.add(message(number), [NULL, JUMP], [SEEN])
    return quarantine


def lines_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "quarantine.jsonl").read_bytes().splitlines()]


def test_entries_are_the_same_after_a_restart(tmp_path: Path) -> None:
    before = list(filled(tmp_path))
    assert before[0] == Entry(
        "1772434800123", message(), (NULL, JUMP), frozenset({trace_of(SEEN)}), 1
    )
    for _ in range(3):
        assert list(Quarantine(tmp_path)) == before
    assert (tmp_path / "quarantine.jsonl").stat().st_mode & 0o077 == 0


def test_what_was_discarded_or_judged_again_stays_so(tmp_path: Path) -> None:
    quarantine = filled(tmp_path)
    first, second, third = quarantine
    assert quarantine.discard([first.id, first.id, "7"]) == 1
    other = Observation("urn:s2", "urn:p", "urn:f", "1", "urn:d")
    quarantine.judge_again(second.id, [JUMP], [other])
    quarantine.judge_again(third.id, [])
    quarantine.judge_again(first.id, [JUMP])
    for again in (quarantine, Quarantine(tmp_path)):
        (left,) = again
        assert (left.id, left.faults) == (second.id, (JUMP,))
        assert was_accepted(SEEN, left.accepted)
        assert was_accepted(other, left.accepted)


def test_an_id_is_never_given_twice(tmp_path: Path) -> None:
    ids = {entry.id for entry in filled(tmp_path)}
    for _ in range(3):
        quarantine = Quarantine(tmp_path)
        quarantine.discard([entry.id for entry in quarantine])
        quarantine.add(message(-1000), [NULL])  # a clock that was set back
        (entry,) = quarantine
        assert entry.id not in ids
        ids.add(entry.id)


def test_a_message_that_is_delivered_again_is_kept_once(tmp_path: Path) -> None:
    quarantine = filled(tmp_path)
    quarantine.add(replace(message(1), duplicate=True), [NULL, JUMP])
    assert len(quarantine) == 3
    for other in (
        replace(message(1), payload=b"!", duplicate=True),
        replace(message(1), packet_id=77, duplicate=True),
        replace(message(1), client_id="another", duplicate=True),
        replace(message(1), received_at=START + timedelta(hours=1), duplicate=True),
        message(1),
    ):
        quarantine.add(other, [NULL])
    assert len(quarantine) == 8
    assert quarantine.reasons["null"] == 3 + 6


@pytest.mark.parametrize("cut", [1, 7, 60, 250])
def test_a_torn_last_line_costs_itself(tmp_path: Path, cut: int) -> None:
    filled(tmp_path)
    path = tmp_path / "quarantine.jsonl"
    os.truncate(path, path.stat().st_size - cut)
    quarantine = Quarantine(tmp_path)
    assert len(quarantine) == 2
    quarantine.add(message(9), [NULL])
    assert [entry.message.packet_id for entry in Quarantine(tmp_path)] == [0, 1, 9]


@given(st.data())
def test_any_bytes_in_the_file_cost_their_lines_only(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    filled(folder)
    path = folder / "quarantine.jsonl"
    whole = path.read_bytes()
    junk = data.draw(st.binary(max_size=40) | st.sampled_from(JUNK)) + b"\n"
    place = data.draw(st.sampled_from([0, whole.index(b"\n") + 1, len(whole)]))
    path.write_bytes(whole[:place] + junk + whole[place:])
    assert len(Quarantine(folder)) == 3


JUNK = [
    b"{}",
    b"[]",
    b"null",
    b'{"last": "x"}',
    b'{"gone": 7}',
    b'{"gone": ["x"]}',
    b'{"id": "1", "topic": "t"}',
    b'{"id": "' + b"9" * 5000 + b'"}',
    b"[" * 100_000,
]


def test_the_oldest_go_first_and_the_file_is_bounded(tmp_path: Path) -> None:
    limits = QuarantineLimits(messages=5, total_bytes=4000, payload_bytes=500)
    quarantine = Quarantine(tmp_path, limits)
    path = tmp_path / "quarantine.jsonl"
    for number in range(200):
        quarantine.add(message(number, bytes([number]) * (number * 7)), [NULL])
        assert len(quarantine) <= 5
        assert quarantine.size_bytes <= 4000
        assert path.stat().st_size <= 8000 + 1200
    last = [entry.message.packet_id for entry in quarantine]
    assert last == list(range(200))[-len(last) :]
    cut = list(quarantine)[-1]
    assert (len(cut.message.payload), cut.payload_bytes, cut.is_whole) == (500, 1393, False)
    assert list(Quarantine(tmp_path, limits)) == list(quarantine)


@pytest.mark.parametrize(
    "limits", [QuarantineLimits(messages=40), QuarantineLimits(total_bytes=16_000)], ids=str
)
def test_a_device_that_floods_it_pushes_out_its_own_entries(
    tmp_path: Path, limits: QuarantineLimits
) -> None:
    quarantine = Quarantine(tmp_path, limits)
    for number in range(5):
        quarantine.add(message(number, topic=f"good/{number}"), [NULL])
    for number in range(5, 300):
        quarantine.add(message(number, topic="bad"), [NULL])
    topics = [entry.message.topic for entry in quarantine]
    assert topics[:5] == [f"good/{number}" for number in range(5)]
    assert topics.count("bad") > 25
    assert [entry.message.packet_id for entry in quarantine][-1] == 299
    assert list(Quarantine(tmp_path, limits)) == list(quarantine)


def test_one_that_fits_no_limit_is_counted_and_forgotten(tmp_path: Path) -> None:
    quarantine = Quarantine(tmp_path, QuarantineLimits(total_bytes=10))
    quarantine.add(message(), [NULL])
    assert (len(quarantine), quarantine.reasons["null"]) == (0, 1)
    assert len(Quarantine(tmp_path)) <= 1


def test_a_disk_that_is_full_costs_the_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A write that fails halfway leaves a torn line, as a full disk does."""
    quarantine = filled(tmp_path)
    path = tmp_path / "quarantine.jsonl"
    path.write_bytes(path.read_bytes() + b'{"id": "torn')
    path.rename(tmp_path / "aside")
    path.mkdir()
    for number in range(3, 9):
        quarantine.add(message(number), [NULL])
    assert quarantine.alarm
    assert len(quarantine) == 9
    assert len([each for each in caplog.records if each.levelname == "ERROR"]) == 1
    path.rmdir()
    (tmp_path / "aside").rename(path)
    assert quarantine._file is not None
    monkeypatch.setattr(quarantine._file, "_tried_at", 0.0)
    quarantine.add(message(9), [NULL])
    assert quarantine.alarm == ""
    assert list(Quarantine(tmp_path)) == list(quarantine)
    assert len(quarantine) == 10


def test_a_folder_that_is_gone_costs_the_file_alone(tmp_path: Path) -> None:
    quarantine = filled(tmp_path / "nowhere")
    assert len(quarantine) == 3
    assert quarantine.alarm


def test_an_observation_is_known_again_by_its_stream_and_time() -> None:
    def seen(time: datetime | None, lexical: str = "1", sensor: str = "urn:s") -> Observation:
        return Observation(sensor, "urn:p", "urn:f", lexical, "urn:d", None, time)

    later = START + timedelta(seconds=1)
    accepted = frozenset({trace_of(seen(START))})
    assert was_accepted(seen(START, "2"), accepted)
    assert not was_accepted(seen(later), accepted)
    assert not was_accepted(seen(START, sensor="urn:x"), accepted)
    assert was_accepted(seen(later), frozenset({trace_of(seen(None))})), "its time was not usable"
