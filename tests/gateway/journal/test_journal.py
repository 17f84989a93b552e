"""The journal: what was synced is there after any end, what was not never half."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from adapters.values.observation import XSD, Circumstances, Observation, TimeSource
from gateway.errors import StorageError
from gateway.journal import (
    Actuation,
    Journal,
    JournalLimits,
    Position,
    Record,
    read_journal,
    read_segment,
)
from gateway.journal.names import raw_segments
from gateway.journal.reading import records_after, segments

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


def write(folder: Path, count: int, segment_observations: int = 100_000) -> list[Record]:
    limits = JournalLimits(fsync=False, segment_observations=segment_observations)
    with Journal(folder, limits=limits) as journal:
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


@pytest.mark.parametrize("source", TimeSource)
@pytest.mark.parametrize("historical", [False, True])
def test_record_keeps_whose_clock_it_was(source: TimeSource, historical: bool) -> None:
    observation = Observation("urn:s", "urn:p", "urn:f", "1", XSD + "integer", None, NOW, "7")
    observation = replace(observation, circumstances=Circumstances(source, historical))
    written = Record(Position(3, 9), 9, observation, NOW)
    assert Record.decode(3, written.encode()) == written


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"7", b'{"q":1}', b'{"q":1,"m":1,"s":2}\n'])
def test_record_decode_of_a_foreign_line_raises_value_error(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Record.decode(1, line)


def test_tail_gives_what_an_earlier_epoch_wrote(tmp_path: Path) -> None:
    first = write(tmp_path, 3)
    second = write(tmp_path, 2)
    with Journal(tmp_path) as journal:
        assert first[0].position.epoch < second[0].position.epoch < journal.epoch
        assert journal.tail(4) == [*first[1:], *second]
        assert list(journal.after(None)) == [*first, *second]
        assert list(journal.after(first[1].position)) == [first[2], *second]
        assert list(journal.after(second[-1].position)) == []


def test_segments_end_when_full(tmp_path: Path) -> None:
    records = write(tmp_path, 7, segment_observations=3)
    assert len(list(tmp_path.glob("*-*.jsonl"))) == 3
    with Journal(tmp_path) as journal:
        assert list(journal.after(records[3].position)) == records[4:]


@pytest.mark.parametrize("torn", [1, 5, 40, 10_000])
def test_torn_tail_is_cut_at_the_next_start(tmp_path: Path, torn: int) -> None:
    records = write(tmp_path, 5)
    (segment,) = tmp_path.glob("*-*.jsonl")
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
    (segment,) = tmp_path.glob("*-*.jsonl")
    assert segment.read_bytes() == b""
    journal.sync()
    assert len(list(read_segment(segment))) == 1
    assert (journal.records, journal.syncs) == (1, 1)
    journal.close()


def test_epoch_without_observations_leaves_no_file(tmp_path: Path) -> None:
    write(tmp_path, 0)
    assert {path.name for path in tmp_path.iterdir()} == {"manifest.jsonl", "lock", "lineage"}


def test_a_journal_is_that_of_one_process(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(StorageError, match="another process"):
        Journal(tmp_path)
    Journal(tmp_path).close()


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
    journal = Journal(tmp_path, limits=JournalLimits(fsync=False))
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


def test_a_journal_of_before_schema_1_is_migrated(tmp_path: Path) -> None:
    """Lines as version 0.1 wrote them; the second file has the wrong first sequence in its name."""

    def line(sequence: int) -> str:
        return (
            f'{{"q":{sequence},"m":{sequence},"s":"urn:sensor","p":"urn:property","f":"urn:room",'
            '"v":"21.5","d":"http://www.w3.org/2001/XMLSchema#decimal",'
            '"i":"2026-03-02T07:22:40.310000+00:00","u":"urn:unit",'
            '"t":"2026-03-02T07:22:40.310000+00:00","n":"17"}\n'
        )

    (tmp_path / "00000003-000000000001.jsonl").write_text(line(1) + line(2))
    (tmp_path / "00000003-000000000009.jsonl").write_text(line(3) + line(4) + line(5)[:30])
    with Journal(tmp_path) as journal:
        found = list(journal.after(None))
        assert journal.epoch > 3
    assert [each.position for each in found] == [Position(3, n) for n in (1, 2, 3, 4)]
    assert {each.ingested_at for each in found} == {NOW}
    assert {each.observation.phenomenon_time for each in found} == {NOW}
    names = sorted(path.name for path in tmp_path.glob("*-*.jsonl"))
    assert names == ["00000003-000000000001.jsonl", "00000003-000000000003.jsonl"]
    with Journal(tmp_path) as journal:
        assert list(journal.after(None)) == found


def test_a_lone_surrogate_does_not_break_the_journal() -> None:
    observation = Observation("urn:s", "urn:p", "urn:f", "a\ud800", XSD + "string")
    written = Record(Position(3, 9), 9, observation, NOW)
    assert Record.decode(3, written.encode()) == written


def test_actuations_are_numbered_between_groups_and_not_replayed(tmp_path: Path) -> None:
    command = Actuation("urn:fan", "fan/set", "on", XSD + "string", NOW, "urn:rule")
    with Journal(tmp_path) as journal:
        journal.note(command)
        first = record(journal)
        journal.settle()
        assert journal.actuations == 0
        journal.append([first])
        journal.sync()
        journal.note(command)
        journal.settle()
        second = record(journal)
        journal.append([second])
        journal.sync()
    assert (first.position.sequence, second.position.sequence) == (1, 4)
    assert list(read_journal(tmp_path)) == [first, second]
    (segment,) = tmp_path.glob("*-*.jsonl")
    lines = segment.read_text().splitlines()
    assert [line[:11] for line in lines[2:4]] == ['{"q":2,"a":', '{"q":3,"a":']


def test_a_longer_fsync_interval_saves_fsyncs(tmp_path: Path) -> None:
    with Journal(tmp_path, limits=JournalLimits(fsync_interval_s=3600)) as journal:
        for _ in range(5):
            journal.append([record(journal)])
            journal.sync()
        assert (journal.records, journal.writes, journal.syncs) == (5, 5, 0)
    assert journal.syncs == 1


@pytest.mark.parametrize("seed", range(10))
def test_what_is_behind_a_position_is_what_is_found_from_the_start_on(
    tmp_path: Path, seed: int
) -> None:
    """Also between lines that are damaged, and behind what is in no line."""
    random = Random(seed)
    write(tmp_path, random.randrange(30))
    for path in raw_segments(tmp_path):
        lines = path.read_bytes().splitlines(keepends=True)
        damaged = [line if random.random() < 0.8 else b"{}\n" for line in lines[1:]]
        path.write_bytes(lines[0] + b"".join(damaged) + b'{"q": 9')
    whole = list(read_journal(tmp_path))
    for position in [Position(0, 0), *(each.position for each in whole), Position(2**40, 0)]:
        found = list(records_after(segments(tmp_path), position))
        assert found == [each for each in whole if each.position > position]
