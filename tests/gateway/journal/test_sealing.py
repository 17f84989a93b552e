"""Sealed segments: the contract of docs/segments.md, gaps, room, and what a damaged disk costs."""

import gzip
import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from gateway.errors import StorageError
from gateway.journal import Journal, JournalLimits, Origin, read_journal
from gateway.journal.events import Events
from gateway.journal.labels import MOST_BYTES, Labels
from gateway.journal.names import SegmentName, raw_segments
from gateway.journal.record import SCHEMA
from gateway.journal.sealing import inspect
from gateway.journal.status import read_status
from tests.gateway.shipping.journals import ORIGIN, fill, observe, sealed_journal


def names(folder: Path, ending: str = ".jsonl.gz") -> list[SegmentName]:
    return sorted(
        (SegmentName.parse(path.name) for path in folder.glob(f"*{ending}")),
        key=lambda name: name.start,
    )


def fill_until_refused(journal: Journal) -> None:
    """Write as ingest does, which waits where sealing will make room."""
    for value in range(1, 100_000):
        record = observe(journal, value)
        try:
            journal.append([record])
            journal.sync()
        except StorageError:
            assert not journal.alarm
            journal.seal()
            journal.append([record])
            journal.sync()


def test_a_sealed_segment_is_what_its_name_says(tmp_path: Path) -> None:
    with sealed_journal(tmp_path, segments=2) as journal:
        epoch = journal.epoch
    for number, name in enumerate(names(tmp_path)):
        data = (tmp_path / str(name)).read_bytes()
        assert hashlib.sha256(data).hexdigest().startswith(name.sha12)
        header, *lines = gzip.decompress(data).decode().splitlines()
        assert json.loads(header) == {
            "schema": SCHEMA,
            "gateway": "kitchen",
            "base": "https://example.org/id/",
            "epoch": epoch,
            "first": 10 * number + 1,
        }
        assert [json.loads(line)["q"] for line in lines] == [
            *range(10 * number + 1, 10 * number + 11)
        ]
        assert (name.gateway, name.count, name.start.epoch) == ("kitchen", 10, epoch)
    assert len(raw_segments(tmp_path)) == 1


def test_the_documented_pipe_reads_a_segment(tmp_path: Path) -> None:
    with sealed_journal(tmp_path, segments=1):
        pass
    (path,) = tmp_path.glob("*.jsonl.gz")
    unpacked = subprocess.run(["zcat", str(path)], capture_output=True, check=True).stdout
    rows = [json.loads(line) for line in unpacked.splitlines()]
    assert [(row["v"], (row.get("t") or row["i"]) / 1e6) for row in rows if "q" in row] == [
        (str(n), 1772436160.0 + n) for n in range(10)
    ]


def test_sealing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    """So that what was sealed before a kill and after it is one segment."""
    with Journal(tmp_path, ORIGIN, JournalLimits(segment_observations=5)) as journal:
        fill(journal, 6)
        (raw, _) = raw_segments(tmp_path)
        kept = raw.read_bytes()
        journal.seal()
        (first,) = names(tmp_path)
    (tmp_path / str(first)).unlink()
    (tmp_path / "manifest.jsonl").unlink()
    raw.write_bytes(kept)
    with Journal(tmp_path, ORIGIN) as journal:
        journal.seal()
    assert names(tmp_path)[0] == first


def test_replay_reads_sealed_and_raw_segments_once_and_in_order(tmp_path: Path) -> None:
    with Journal(tmp_path, ORIGIN, JournalLimits(segment_observations=4)) as journal:
        records = fill(journal, 11)
        raw = {path: path.read_bytes() for path in raw_segments(tmp_path)}
        journal.seal()
    for path, data in raw.items():  # as after a kill between sealing and removing
        path.write_bytes(data)
    assert list(read_journal(tmp_path)) == records
    with Journal(tmp_path, ORIGIN) as journal:
        assert list(journal.after(None)) == records
        assert list(journal.after(records[5].position)) == records[6:]
        for count in (1, 3, 4, 7, 11, 50):
            assert journal.tail(count) == records[-count:]
        journal.seal()
        assert list(journal.after(None)) == records
    assert sum(name.count for name in names(tmp_path)) == 11


@pytest.mark.parametrize("line", [b"{broken}\n", b'{"q":3,"i":1\n', b"\x00\xff\n"])
def test_a_line_that_the_disk_damaged_becomes_a_gap(tmp_path: Path, line: bytes) -> None:
    with Journal(tmp_path, ORIGIN) as journal:
        records = fill(journal, 6)
    (raw,) = raw_segments(tmp_path)
    lines = raw.read_bytes().splitlines(keepends=True)
    lines[3] = line  # the header, 1, 2, and this was 3
    raw.write_bytes(b"".join(lines))
    with Journal(tmp_path, ORIGIN) as journal:
        journal.seal()
        assert list(journal.after(None)) == [*records[:2], *records[3:]]
    assert [(n.start.sequence, n.count) for n in names(tmp_path)] == [(1, 2), (4, 3)]
    ((gap),) = names(tmp_path, ".gap.json")
    assert (gap.start.sequence, gap.count) == (3, 1)
    assert json.loads((tmp_path / str(gap)).read_text())["reason"] == "damaged"
    assert [path.suffix for path in tmp_path.glob("*.damaged")] == [".damaged"]


def test_a_sealed_segment_without_a_manifest_line_is_adopted(tmp_path: Path) -> None:
    with sealed_journal(tmp_path, segments=2) as journal:
        before = journal.manifest.sealed()
    manifest = tmp_path / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes().splitlines(keepends=True)[0] + b'{"event":"sea')
    with Journal(tmp_path, ORIGIN) as journal:
        assert journal.manifest.sealed() == before


def test_a_damaged_or_missing_sealed_segment_is_told_as_a_gap(tmp_path: Path) -> None:
    with sealed_journal(tmp_path, segments=2) as journal:
        first, second = journal.manifest.sealed()
    (tmp_path / str(first.name)).unlink()
    with Journal(tmp_path, ORIGIN) as journal:
        gap, left = journal.manifest.sealed()
        assert (gap.reason, gap.name.start, gap.count) == ("damaged", first.name.start, 10)
        assert left == second


def test_of_what_is_gone_the_last_is_remembered_whatever_the_gateway_was_called() -> None:
    """A way back to an older store asks whether the journal has all since."""
    events, again = Events(), Events()
    for gateway, epoch in (("zeta", 1_700_000_000), ("alpha", 1_800_000_000), ("alpha", 99)):
        events.forget(f"{gateway}-{epoch:08d}-000000000001-5-0123456789ab.jsonl.gz")
    for line in events.summary():
        again.learn(json.loads(line))
    assert {SegmentName.parse(each).start.epoch for each in again.gone} == {1_800_000_000}


def test_an_epoch_is_never_used_again(tmp_path: Path) -> None:
    """Also when all that it left is shipped and removed, and the clock goes back."""
    with sealed_journal(tmp_path, segments=1) as journal:
        journal.epoch += 10_000_000
        journal._rotate()
        fill(journal, 1, 100)
        journal._rotate()
        journal.seal()
        last = journal.epoch
        for item in journal.manifest.sealed():
            journal.manifest.ship(item, "there")
            journal.manifest.remove(item)
    with Journal(tmp_path, ORIGIN) as journal:
        assert journal.epoch == last + 1


def test_a_full_journal_takes_nothing_until_segments_are_shipped(tmp_path: Path) -> None:
    with sealed_journal(tmp_path, 0, length=50, max_bytes=16_384) as journal:
        with pytest.raises(StorageError, match="not shipped"):
            fill_until_refused(journal)
        refused = journal._sequence
        assert journal.alarm
        assert journal.space.taken <= 16_384
        oldest = journal.manifest.unshipped()[:5]
        for item in oldest:
            journal.manifest.ship(item, "there")
        journal._sequence -= 1
        again = observe(journal, 0)
        assert again.position.sequence == refused
        journal.append([again])
        journal.sync()
        assert not journal.alarm
        assert oldest[0] not in journal.manifest.sealed()
        assert journal.space.dropped == 0
    assert [each.position.sequence for each in read_journal(tmp_path)][-1] == refused


def test_dropping_unshipped_segments_is_allowed_only_when_said_and_leaves_gaps(
    tmp_path: Path,
) -> None:
    with sealed_journal(tmp_path, 0, length=50, max_bytes=16_384, drop_unshipped=True) as journal:
        for value in range(0, 4_000, 50):
            fill(journal, 50, value)
            journal.seal()
        assert journal.space.dropped > 0
        assert journal.space.taken <= 16_384
        last = journal._sequence
    there = {each.position.sequence for each in read_journal(tmp_path)}
    gone: set[int] = set()
    for gap in names(tmp_path, ".gap.json"):
        gone |= {*range(gap.start.sequence, gap.start.sequence + gap.count)}
    assert there.isdisjoint(gone)
    assert there | gone == {*range(1, last + 1)}


def test_what_the_store_has_not_taken_stays_though_it_is_shipped(tmp_path: Path) -> None:
    with sealed_journal(tmp_path, segments=3) as journal:
        items = journal.manifest.sealed()
        for item in items:
            journal.manifest.ship(item, "there")
    with Journal(tmp_path, ORIGIN, JournalLimits(keep_s=0, max_bytes=1)) as journal:
        journal.space.applied = items[1].name.last
        journal.make_room()
        assert journal.manifest.sealed() == items[2:]


def test_status_tells_what_is_there_beside_a_running_journal(tmp_path: Path) -> None:
    assert read_status(tmp_path / "none", JournalLimits()).sealed == 0
    with sealed_journal(tmp_path, segments=3) as journal:
        journal.manifest.ship(journal.manifest.sealed()[0], "there")
        status = read_status(tmp_path, journal.limits)
    assert (status.raw, status.sealed, status.unshipped, status.count) == (1, 3, 2, 30)
    assert status.oldest_unshipped == 1772436160_000_000 + 10_000_000
    assert status.hours_left is not None
    assert status.hours_left > 100


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../a-00000001-000000000001-1-0123456789ab.jsonl.gz",
        "a/b-00000001-000000000001-1-0123456789ab.jsonl.gz",
        "a-00000001-000000000001-1-0123456789ab.jsonl.gz\n",
        "a-00000001-000000000001-1-0123456789AB.jsonl.gz",
        "a-00000001-000000000001-0-0123456789ab.jsonl.gz",
        "a-00000001-000000000001-01-0123456789ab.jsonl.gz",
        "a-1-1-1-0123456789ab.jsonl.gz",
        ".a-00000001-000000000001-1-0123456789ab.jsonl.gz",
        "a-00000001-٠٠٠٠٠٠٠٠٠٠٠١-1-0123456789ab.jsonl.gz",
        "a-00000001-000000000001-1-0123456789ab.jsonl.gz.part",
    ],
)
def test_names_are_taken_whole(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a segment"):
        SegmentName.parse(name)


def test_lines_of_a_gateway_whose_id_looks_like_a_name_are_read_one_way() -> None:
    text = "a-00000001-000000000001-1-0123456789ab-00000002-000000000007-3-ba9876543210.jsonl.gz"
    name = SegmentName.parse(text)
    assert (name.gateway, name.start.epoch, name.count) == (
        "a-00000001-000000000001-1-0123456789ab",
        2,
        3,
    )


def test_a_segment_tells_what_its_things_are_called(tmp_path: Path) -> None:
    called = {"urn:lamp": "the lamp"}
    with Journal(tmp_path, ORIGIN) as journal:
        journal.labels.source = lambda: called
        fill(journal, 3)
        journal.labels.ask()
        journal.rotate()
        fill(journal, 3)
        called["urn:lamp"] = "another one"
        journal.labels.ask()
        journal.rotate()
        journal.seal()
    headers = [
        json.loads(gzip.decompress((tmp_path / str(each)).read_bytes()).splitlines()[0])
        for each in names(tmp_path)
    ]
    assert [header.get("labels") for header in headers] == [None, {"urn:lamp": "the lamp"}]
    assert [record.position.sequence for record in read_journal(tmp_path)] == [1, 2, 3, 4, 5, 6]


def test_labels_that_do_not_fit_into_a_header_are_in_the_next_ones() -> None:
    labels, called = Labels(), {f"urn:{n:04d}": "x" * 90 for n in range(700)}
    labels.source = lambda: called | {"urn:long": "x" * MOST_BYTES}
    labels.ask()
    told = [labels.next_ones() for _ in range(5)]
    assert all(len(json.dumps(each)) <= MOST_BYTES for each in told)
    assert {iri: label for each in told[:3] for iri, label in each.items()} == called
    assert told[3] != told[4]


def test_what_was_seen_under_another_id_keeps_it(tmp_path: Path) -> None:
    with Journal(tmp_path, ORIGIN) as journal:
        fill(journal, 3)
    with Journal(tmp_path, Origin("cellar")) as journal:
        journal.seal()
    (name,) = names(tmp_path)
    assert name.gateway == "kitchen"


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b'{"q":1}\n'), gzip.compress(b"x" * 99)[:20], b"\x1f\x8b\x08\0" * 9],
    ids=["no gzip", "no header", "cut off", "no gzip inside"],
)
def test_what_is_no_segment_is_told_as_a_value_error(tmp_path: Path, content: bytes) -> None:
    digest = hashlib.sha256(content).hexdigest()[:12]
    path = tmp_path / f"kitchen-1795276800-000000000001-1-{digest}.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="kitchen"):
        inspect(path)
