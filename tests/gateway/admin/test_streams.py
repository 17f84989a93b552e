"""Buckets of a history, page by page, are those of a naive walk; values are what JSON can say."""

import tempfile
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.values.observation import XSD, Circumstances, Observation
from gateway.admin import streams as streams_module
from gateway.admin.streams import BEGIN, LONGEST_TEXT, HistoryAsked, Page, Point, Streams
from gateway.errors import NotFoundError, StorageError
from gateway.ingest.sosa import stream_id
from gateway.ingest.sparklines import Sparklines
from gateway.journal import Record, read_journal
from gateway.journal.history import time_of
from gateway.journal.record import micros
from tests.gateway.journal.test_history import NOW, A, B, last_times, write


def streams_of(folder: Path) -> Streams:
    times = last_times(folder)
    return Streams(lambda: [A, B], Sparklines(), folder, lambda: times)


def all_pages(streams: Streams, every_ms: int, limit: int) -> list[Page]:
    pages: list[Page] = []
    cursor = BEGIN
    while True:
        asked = HistoryAsked(every_ms=every_ms, limit=limit, cursor=cursor)
        pages.append(streams.history(A, asked))
        assert len(pages[-1].points) <= limit
        following = pages[-1].next
        if following is None:
            return pages
        cursor = following


def added_up(pages: list[Page]) -> dict[tuple[int, str | None], list[float]]:
    """Count, sum, least and most of each bucket; one that is on two pages is put together."""
    found: dict[tuple[int, str | None], list[float]] = {}
    for page in pages:
        assert [each.time_ms for each in page.points] == sorted(e.time_ms for e in page.points)
        for point in page.points:
            assert isinstance(point.value, float)
            assert point.least is not None
            assert point.most is not None
            total = point.value * point.count
            count, before, least, most = found.get((point.time_ms, point.unit), [0, 0, 1e9, -1e9])
            found[point.time_ms, point.unit] = [
                count + point.count,
                before + total,
                min(least, point.least),
                max(most, point.most),
            ]
    return found


def naive(records: list[Record], every_ms: int) -> dict[tuple[int, str | None], list[float]]:
    groups: dict[tuple[int, str | None], list[float]] = defaultdict(list)
    for record in records:
        time_ms = micros(time_of(record)) // 1000
        seen = record.observation
        groups[time_ms // every_ms * every_ms, seen.unit].append(float(seen.lexical))
    return {
        key: [len(values), sum(values), min(values), max(values)] for key, values in groups.items()
    }


@settings(deadline=None, max_examples=60)
@given(
    told=st.lists(
        st.tuples(
            st.integers(-50, 50),
            st.sampled_from(["urn:C", "urn:F", None]),
            st.one_of(st.none(), st.integers(-4000, 0)),
            st.integers(0, 200),
        ),
        max_size=60,
    ),
    every_s=st.sampled_from([1, 60, 900]),
    limit=st.integers(1, 7),
    most=st.integers(1, 20),
)
def test_buckets_of_all_pages_are_those_of_a_naive_walk(
    told: list[tuple[int, str | None, int | None, int]], every_s: int, limit: int, most: int
) -> None:
    came, seen = NOW, []
    for value, unit, device_s, passed_s in told:
        came += timedelta(seconds=passed_s)
        time = None if device_s is None else came + timedelta(seconds=device_s)
        lexical = f"{value}.5"
        seen.append((Observation(*A, lexical, XSD + "decimal", unit, time), came))
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams_module, "MOST_RECORDS", most)
        write(Path(name), seen, size=7)
        pages = all_pages(streams_of(Path(name)), every_s * 1000, limit)
        expected = naive(list(read_journal(Path(name))), every_s * 1000)
    found = added_up(pages)
    assert found.keys() == expected.keys()
    for key, numbers in expected.items():
        assert found[key] == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("lexical", "datatype", "value", "flags"),
    [
        ("21.50", "decimal", 21.5, []),
        ("-3", "integer", -3, []),
        (str(2**60), "integer", float(2**60), []),
        ("true", "boolean", True, []),
        ("0", "boolean", False, []),
        ("NaN", "double", "NaN", []),
        ("INF", "double", "INF", []),
        ("open", "string", "open", []),
        ("21", "string", "21", []),
        ("x" * (LONGEST_TEXT + 1), "string", "x" * LONGEST_TEXT, ["cut"]),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_value_is_what_json_can_say(
    lexical: str, datatype: str, value: object, flags: list[str], tmp_path: Path
) -> None:
    write(tmp_path, [(Observation(*A, lexical, XSD + datatype), NOW)])
    (point,) = streams_of(tmp_path).history(A, HistoryAsked()).points
    assert (point.value, type(point.value), sorted(point.flags)) == (value, type(value), flags)


def test_flags_tell_what_the_journal_does(tmp_path: Path) -> None:
    records = [
        Observation(*A, "1", XSD + "decimal", None, NOW, None, Circumstances(historical=True)),
        Observation(*A, "2", XSD + "decimal", None, NOW),
    ]
    write(tmp_path, [(each, NOW) for each in records])
    points = streams_of(tmp_path).history(A, HistoryAsked()).points
    assert [sorted(each.flags) for each in points] == [["buffered"], ["revised"]]
    (bucket,) = streams_of(tmp_path).history(A, HistoryAsked(every_ms=1000)).points
    assert sorted(bucket.flags) == ["buffered", "revised"]


def test_texts_in_a_bucket_are_counted(tmp_path: Path) -> None:
    told = [("open", "string"), ("closed", "string"), ("3", "integer")]
    write(tmp_path, [(Observation(*A, text, XSD + kind), NOW) for text, kind in told])
    texts, numbers = streams_of(tmp_path).history(A, HistoryAsked(every_ms=1000)).points
    time_ms = micros(NOW) // 1000
    assert texts == Point(time_ms, None, None, count=2)
    assert numbers == Point(time_ms, 3.0, None, least=3.0, most=3.0, count=1)


def test_gaps_stay_gaps(tmp_path: Path) -> None:
    at = [0, 60, 7200]
    seen = [(Observation(*A, "1", XSD + "integer"), NOW + timedelta(seconds=each)) for each in at]
    write(tmp_path, seen)
    points = streams_of(tmp_path).history(A, HistoryAsked(every_ms=60_000)).points
    begin_ms = micros(NOW) // 1000
    assert [(each.time_ms - begin_ms) // 1000 for each in points] == at


def test_a_stream_is_found_by_its_id_and_no_other(tmp_path: Path) -> None:
    streams = streams_of(tmp_path)
    assert streams.find(stream_id(B)).stream == B
    with pytest.raises(NotFoundError):
        streams.find("0" * 24)


def test_a_journal_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    gone = Streams(lambda: [A], Sparklines(), tmp_path / "gone", dict)
    with pytest.raises(StorageError, match="cannot be read"):
        gone.history(A, HistoryAsked())
