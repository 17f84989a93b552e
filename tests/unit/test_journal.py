"""The journal: what was synced is there after any end, what was not never half."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.observation import XSD, Observation
from gateway.errors import StorageError
from gateway.journal import Journal, Position, Record, read_segment

NOW = datetime(2026, 3, 2, 7, 22, 40, 310000, tzinfo=UTC)


def record(journal: Journal, value: str = "21.5", **changes: object) -> Record:
    position = journal.next_position()
    observation = Observation(
        "urn:sensor",
        "urn:property",
        "urn:room",
        value,
        XSD + "decimal",
        "urn:unit",
        NOW,
        "17",
    )
    return Record(position, position.sequence, observation, NOW, **changes)  # type: ignore[arg-type]


def write(folder: Path, count: int, **options: int) -> list[Record]:
    with Journal(folder, fsync=False, **options) as journal:
        records = []
        for _ in range(count):
            records.append(record(journal))
            journal.append(records[-1:])
            journal.sync()
    return records


def test_record_round_trips_with_every_member() -> None:
    observation = Observation("urn:s", "urn:p", "urn:f", 'a"\n\u2028', XSD + "string")
    written = Record(Position(3, 9), 8, observation, NOW, "client/7", clock_suspect=True)
    assert Record.decode(3, written.encode()) == written


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"7", b'{"q":1}', b'{"q":1,"m":1,"s":2}\n'])
def test_record_decode_of_a_foreign_line_raises_value_error(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Record.decode(1, line)


def test_tail_gives_what_an_earlier_epoch_wrote(tmp_path: Path) -> None:
    first = write(tmp_path, 3)
    second = write(tmp_path, 2)
    with Journal(tmp_path) as journal:
        assert journal.epoch == 3
        assert journal.tail(4) == [*first[1:], *second]
        assert list(journal.after(None)) == [*first, *second]
        assert list(journal.after(first[1].position)) == [first[2], *second]
        assert list(journal.after(second[-1].position)) == []


def test_segments_end_when_full(tmp_path: Path) -> None:
    records = write(tmp_path, 7, segment_observations=3)
    assert len(list(tmp_path.glob("*.jsonl"))) == 3
    with Journal(tmp_path) as journal:
        assert list(journal.after(records[3].position)) == records[4:]


@pytest.mark.parametrize("torn", [1, 5, 40, 10_000])
def test_torn_tail_is_cut_at_the_next_start(tmp_path: Path, torn: int) -> None:
    records = write(tmp_path, 5)
    (segment,) = tmp_path.glob("*.jsonl")
    data = segment.read_bytes()
    segment.write_bytes(data[: max(0, len(data) - torn)])
    with Journal(tmp_path) as journal:
        left = list(journal.after(None))
        assert left == records[: len(left)]
        assert len(left) < len(records)
        if left:
            assert segment.read_bytes().endswith(b"\n")


def test_append_is_in_the_file_only_after_sync(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append([record(journal)])
    (segment,) = tmp_path.glob("*.jsonl")
    assert segment.stat().st_size == 0
    journal.sync()
    assert len(list(read_segment(segment))) == 1
    assert (journal.records, journal.syncs) == (1, 1)
    journal.close()


def test_epoch_without_observations_leaves_no_file(tmp_path: Path) -> None:
    write(tmp_path, 0)
    assert list(tmp_path.iterdir()) == []


class FullDisk:
    """A raw file on which the next write fails after `room` bytes."""

    def __init__(self, file: object, room: int) -> None:
        self._file = file
        self.room: int | None = room

    def write(self, data: bytes) -> int:
        room, self.room = self.room, None
        written: int = self._file.write(data if room is None else data[:room])  # type: ignore[attr-defined]
        return written

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


def test_full_disk_leaves_whole_lines_and_the_records_can_be_appended_again(
    tmp_path: Path,
) -> None:
    journal = Journal(tmp_path, fsync=False)
    first, second = record(journal), record(journal)
    journal.append([first])
    journal.sync()
    journal._segment._file = FullDisk(journal._segment._file, room=10)  # type: ignore[assignment]
    journal.append([second])
    with pytest.raises(StorageError, match="cannot be written"):
        journal.sync()
    journal.append([second])
    journal.sync()
    journal.close()
    with Journal(tmp_path) as reopened:
        assert list(reopened.after(None)) == [first, second]


def test_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StorageError, match="journal"):
        Journal(file / "journal")
