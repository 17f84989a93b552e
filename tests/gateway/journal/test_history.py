"""The history of a stream is what a naive walk over the journal finds, whatever the pages."""

import gzip
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.values.observation import XSD, Circumstances, Observation, StreamKey
from gateway.journal import Journal, JournalLimits, Position, Record, history, read_journal, reading
from gateway.journal.history import AHEAD, Window, stretch, time_of
from gateway.journal.names import raw_segments

NOW = datetime(2026, 3, 2, 7, tzinfo=UTC)
A: StreamKey = ("urn:s:a", "urn:p", "urn:f")
B: StreamKey = ("urn:s:b", "urn:p", "urn:f")
STREAMS = (
    A,
    B,
    ("urn:s:a", "urn:q", "urn:f"),
    ("urn:s:a", "urn:p", "urn:g"),
    ("urn:ü", "urn:p", "x"),
)


def observed(stream: StreamKey, lexical: str, time: datetime | None = None) -> Observation:
    return Observation(*stream, lexical, XSD + "decimal", "urn:unit", time, None, Circumstances())


def write(
    folder: Path, seen: Sequence[tuple[Observation, datetime]], *, seal: bool = True, size: int = 4
) -> list[Record]:
    """By one life of a gateway, in segments of `size` lines."""
    records = []
    with Journal(folder, limits=JournalLimits(segment_observations=size)) as journal:
        for observation, came in seen:
            position = journal.next_position()
            records.append(Record(position, position.sequence, observation, came))
            journal.append(records[-1:])
            journal.sync()
        if seal:
            journal.rotate()
            journal.seal()
    return records


def last_times(folder: Path) -> dict[str, int]:
    """As the manifest of a running gateway tells them."""
    with Journal(folder) as journal:
        return journal.manifest.last_times()


EVER = Window()


def pages(
    folder: Path,
    stream: StreamKey,
    window: Window = EVER,
    most: int = 1000,
    budget_s: float = history.BUDGET_S,
) -> list[history.Stretch]:
    """All of them, the newest first."""
    found, before, times = [], None, last_times(folder)
    while True:
        page = stretch(
            folder,
            stream,
            window,
            before=before,
            most=most,
            last_times=times,
            budget_s=budget_s,
        )
        assert len(page.seen) <= most
        found.append(page)
        if page.before is None:
            return found
        assert before is None or page.before < before
        before = page.before


def walked(found: Sequence[history.Stretch]) -> list[Record]:
    return [each.record for page in reversed(found) for each in page.seen]


times = st.one_of(st.none(), st.integers(-4000, 4000))
readings = st.lists(
    st.tuples(st.sampled_from(STREAMS), st.integers(0, 3), times, st.integers(0, 300)),
    max_size=40,
)


@settings(deadline=None, max_examples=60)
@given(
    lives=st.lists(readings, min_size=1, max_size=3),
    most=st.integers(1, 9),
    asked=st.tuples(
        st.one_of(st.none(), st.integers(-2000, 4000)), st.one_of(st.none(), st.integers(0, 8000))
    ),
    budget_s=st.sampled_from([0.0, 60.0]),
)
def test_pages_are_the_naive_walk(
    lives: list[list[tuple[StreamKey, int, int | None, int]]],
    most: int,
    asked: tuple[int | None, int | None],
    budget_s: float,
) -> None:
    came, (begin, end) = NOW, asked
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for life in lives:
            seen = []
            for stream, value, device_s, passed_s in life:
                came += timedelta(seconds=passed_s)
                time = None if device_s is None else came + timedelta(seconds=device_s)
                seen.append((observed(stream, str(value), time), came))
            write(folder, seen, seal=bool(seen) and seen[0][1] < NOW + timedelta(seconds=200))
        window = Window(
            None if begin is None else NOW + timedelta(seconds=begin),
            None if end is None else NOW + timedelta(seconds=end),
        )
        for stream in STREAMS:
            naive = [
                record
                for record in read_journal(folder)
                if record.observation.stream == stream
                and (window.begin is None or time_of(record) >= window.begin)
                and (window.begin is None or record.ingested_at >= window.begin - AHEAD)
                and (window.end is None or time_of(record) < window.end)
            ]
            assert walked(pages(folder, stream, window, most, budget_s)) == naive


def test_an_empty_journal_has_no_history(tmp_path: Path) -> None:
    with Journal(tmp_path):
        pass
    (page,) = pages(tmp_path, A)
    assert (page.seen, page.before, page.damaged) == ((), None, ())


def test_a_request_reads_one_segment_at_least_and_ends_in_its_time(tmp_path: Path) -> None:
    write(tmp_path, [(observed(B, str(n)), NOW) for n in range(20)])
    found = stretch(tmp_path, A, Window(), before=None, most=5, last_times={}, budget_s=0.0)
    assert (found.seen, found.before is None) == ((), False)
    count = 1
    while found.before is not None:
        found = stretch(
            tmp_path, A, Window(), before=found.before, most=5, last_times={}, budget_s=0.0
        )
        count += 1
    assert count == 5


def test_segments_that_ended_before_the_window_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, [(observed(A, str(n)), NOW + timedelta(hours=n)) for n in range(12)])
    times = last_times(tmp_path)
    opened: list[str] = []
    original = gzip.open

    def told(path: Path, mode: str) -> object:
        opened.append(path.name)
        return original(path, mode)

    monkeypatch.setattr("gateway.journal.history.gzip.open", told)
    window = Window(begin=NOW + timedelta(hours=8))
    found = stretch(tmp_path, A, window, before=None, most=100, last_times=times)
    assert [each.record.observation.lexical for each in found.seen] == ["8", "9", "10", "11"]
    assert (len(opened), found.before) == (1, None)


@pytest.mark.parametrize("cut", [30, 60], ids=["in its head", "in its body"])
def test_a_damaged_segment_is_named_and_costs_itself(tmp_path: Path, cut: int) -> None:
    records = write(tmp_path, [(observed(A, str(n)), NOW) for n in range(12)])
    middle = sorted(tmp_path.glob("*.gz"))[1]
    middle.write_bytes(middle.read_bytes()[:cut])
    (page,) = pages(tmp_path, A)
    assert page.damaged == (middle.name,)
    kept = [each.record for each in page.seen]
    assert kept[:4] == records[:4]
    assert kept[-4:] == records[-4:]


def test_a_line_that_is_none_is_told(tmp_path: Path) -> None:
    records = write(tmp_path, [(observed(A, "1"), NOW), (observed(A, "2"), NOW)], seal=False)
    (raw,) = raw_segments(tmp_path)
    lines = raw.read_bytes().splitlines(keepends=True)
    raw.write_bytes(lines[0] + lines[1][:-3] + b"\n" + lines[2])
    found = stretch(tmp_path, A, Window(), before=None, most=5, last_times={})
    assert [each.record for each in found.seen] == records[1:]
    assert found.damaged == (raw.name,)


def test_a_segment_that_goes_meanwhile_costs_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = write(tmp_path, [(observed(A, str(n)), NOW) for n in range(12)])
    original = reading.segments

    def listed(folder: Path) -> list[tuple[Position, Path]]:
        found = original(folder)
        for path in folder.glob("*.gz"):
            if f"{records[4].position.sequence:012d}-4" in path.name:
                path.unlink()
        return found

    monkeypatch.setattr("gateway.journal.history.segments", listed)
    found = stretch(tmp_path, A, Window(), before=None, most=100, last_times={})
    assert [each.record for each in found.seen] == records[:4] + records[8:]


def test_a_segment_that_is_sealed_meanwhile_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = write(tmp_path, [(observed(A, str(n)), NOW) for n in range(12)], seal=False)
    original, listings = reading.segments, 0

    def listed(folder: Path) -> list[tuple[Position, Path]]:
        nonlocal listings
        found = original(folder)
        listings += 1
        if listings == 1:
            with Journal(folder) as journal:
                journal.seal()
        return found

    monkeypatch.setattr("gateway.journal.history.segments", listed)
    found = stretch(tmp_path, A, Window(), before=None, most=100, last_times={})
    assert [each.record for each in found.seen] == records
    assert listings > 1


def test_what_is_told_again_under_one_time_is_revised(tmp_path: Path) -> None:
    told = [("1", 0), ("1", 0), ("2", 0), ("2", 60), ("3", 60)]
    seen = [(observed(A, value, NOW + timedelta(seconds=at)), NOW) for value, at in told]
    seen += [(observed(A, "4"), NOW), (observed(A, "5"), NOW)]
    write(tmp_path, seen, size=100)
    (page,) = pages(tmp_path, A)
    flags = [each.is_revised for each in page.seen]
    assert flags == [False, False, True, False, True, False, False]


def test_who_has_left_is_not_read_for(tmp_path: Path) -> None:
    write(tmp_path, [(observed(A, "1"), NOW)])

    def look() -> None:
        raise RuntimeError("left")

    with pytest.raises(RuntimeError, match="left"):
        stretch(tmp_path, A, Window(), before=None, most=5, last_times={}, look=look)


def test_a_lone_surrogate_in_a_value_hides_nothing(tmp_path: Path) -> None:
    stream = STREAMS[-1]
    records = write(tmp_path, [(observed(stream, "\ud800"), NOW), (observed(stream, "1"), NOW)])
    (page,) = pages(tmp_path, stream)
    assert [each.record.observation.lexical for each in page.seen] == ["\ud800", "1"]
    assert len(records) == 2
