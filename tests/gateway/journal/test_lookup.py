"""Looking up observations by position, in raw and sealed segments, of now and of earlier lives."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.values.observation import Observation
from gateway.journal import Journal, JournalLimits, Position, Record
from gateway.journal.lookup import look_up
from gateway.journal.reading import segments

NOW = datetime(2026, 3, 2, 7, tzinfo=UTC)


def written(folder: Path, count: int) -> list[Record]:
    """By one life of a gateway, ten to a segment; those that are full are sealed."""
    records = []
    with Journal(folder, limits=JournalLimits(segment_observations=10)) as journal:
        for number in range(count):
            seen = Observation("urn:s", "urn:p", "urn:f", str(number), "urn:d")
            position = journal.next_position()
            records.append(Record(position, position.sequence, seen, NOW))
            journal.append(records[-1:])
            journal.sync()
        journal.seal()
    return records


def test_each_is_found_where_it_is(tmp_path: Path) -> None:
    records = written(tmp_path, 25) + written(tmp_path, 13)
    found = look_up(tmp_path, [record.position for record in records])
    assert [found[record.position].record for record in records] == records
    assert {each.segment.endswith(".gz") for each in found.values()} == {True, False}


def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    assert look_up(tmp_path, [Position(1, 1)]) == {}
    records = written(tmp_path, 12)
    epoch = records[0].position.epoch
    absent = [Position(epoch, 13), Position(epoch + 1, 1), Position(1, 1), Position(epoch, 0)]
    assert look_up(tmp_path, absent) == {}
    for path in tmp_path.glob("*.gz"):
        path.unlink()
    assert set(look_up(tmp_path, [record.position for record in records])) == {
        Position(epoch, 11),
        Position(epoch, 12),
    }


def test_a_segment_that_goes_meanwhile_costs_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = written(tmp_path, 12)
    gone = tmp_path / "gone.jsonl"
    located = sorted([*segments(tmp_path), (records[0].position, gone)])
    monkeypatch.setattr("gateway.journal.lookup.segments", lambda _: located)
    positions = [records[0].position, records[-1].position]
    assert set(look_up(tmp_path, positions)) == set(positions)
