"""The history of a stream goes on in an archive: each observation on one page, anywhere."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from adapters.values.observation import StreamKey
from gateway.admin.streams import HistoryAsked, Page, Streams
from gateway.errors import TooLargeError
from gateway.gates.sparql.history_job import MODULE, WORK
from gateway.ingest.sosa import result_time
from gateway.ingest.sparklines import Sparklines, number
from gateway.journal import Record
from gateway.journal.history import Window
from gateway.journal.past.series import ArchivedSeries
from gateway.journal.record import micros
from gateway.runtime.confined import ConfinedProcesses, Confinement
from tests.gateway.journal.past.pasts import ORIGIN, START, Past
from tests.kit.archives import roll_up

STREAM: StreamKey = ("urn:s:1", "urn:p:0", "urn:room:1")
MEMORY = 64 << 20
EVER = Window()


@pytest.fixture(scope="module")
def processes() -> Iterator[ConfinedProcesses]:
    confinement = Confinement(MODULE, 512 << 20, WORK, "[archive] memory_bytes")
    with closing(ConfinedProcesses(confinement)) as made:
        yield made


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Past:
    """Two lives; half of the segments are ingested, of these some are gone from the journal."""
    chance = Random(8)
    made = Past(tmp_path_factory.mktemp("past"))
    made.live(chance, 150)
    made.live(chance, 150, seal=False)
    taken = chance.sample(made.sealed(), len(made.sealed()) // 2)
    made.ingest(taken)
    roll_up(made.archive)
    for path in taken[::2]:
        made.remove(path)
    return made


def streams(past: Past, processes: ConfinedProcesses) -> Streams:
    archive = ArchivedSeries(processes, past.archive, ORIGIN.gateway, MEMORY)
    return Streams(lambda: [STREAM], Sparklines(), past.journal, dict, archive)


def pages(of: Streams, asked: HistoryAsked) -> list[Page]:
    found = [of.history(STREAM, asked)]
    while (cursor := found[-1].next) is not None:
        found.append(of.history(STREAM, replace(asked, cursor=cursor)))
        assert len(found) < 500
    return found


def seen(past: Past, window: Window = EVER) -> list[Record]:
    """What there ever was of the stream in a window."""
    begin, end = window.begin, window.end
    return [
        each
        for each in past.records
        if each.observation.stream == STREAM
        and (begin is None or result_time(each) >= begin)
        and (end is None or result_time(each) < end)
    ]


WINDOWS = [
    EVER,
    Window(START - timedelta(hours=3), START + timedelta(hours=40)),
    Window(START + timedelta(hours=2)),
]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_each_observation_is_on_one_page(
    past: Past, processes: ConfinedProcesses, window: Window, limit: int
) -> None:
    found = pages(streams(past, processes), HistoryAsked(window, 0, limit))
    points = Counter(point.time_ms for page in found for point in page.points)
    assert points == Counter(micros(result_time(each)) // 1000 for each in seen(past, window))
    assert sum(points.values()) > 10
    assert all(page.missing == "" and not page.damaged for page in found)


@pytest.mark.parametrize("every_s", [7, 60, 300, 3600, 86_400])
@pytest.mark.parametrize("limit", [1, 4, 1000])
def test_buckets_add_up_to_all_observations(
    past: Past, processes: ConfinedProcesses, every_s: int, limit: int
) -> None:
    found = pages(streams(past, processes), HistoryAsked(EVER, every_s * 1000, limit))
    points = [point for page in found for point in page.points]
    every = every_s * 1000
    counts: Counter[tuple[int, str | None]] = Counter()
    for point in points:
        counts[point.time_ms, point.unit] += point.count
    expected: Counter[tuple[int, str | None]] = Counter()
    for each in seen(past):
        time_ms = micros(result_time(each)) // 1000
        expected[time_ms - time_ms % every, each.observation.unit] += 1
    assert counts == expected
    numbers = [
        value
        for each in seen(past)
        if (value := number(each.observation.lexical, each.observation.datatype)) is not None
    ]
    assert min(p.least for p in points if p.least is not None) == min(numbers)
    assert max(p.most for p in points if p.most is not None) == max(numbers)


def test_what_is_ingested_between_two_pages_is_on_one_of_them(
    tmp_path: Path, processes: ConfinedProcesses
) -> None:
    past = Past(tmp_path)
    past.live(Random(3), 100)
    past.ingest(past.sealed()[:4])
    of = streams(past, processes)
    found = [of.history(STREAM, HistoryAsked(EVER, 0, 2))]
    waiting = past.sealed()[4:]
    while (cursor := found[-1].next) is not None:
        if waiting:
            past.ingest([waiting.pop()])
        found.append(of.history(STREAM, HistoryAsked(EVER, 0, 2, cursor)))
    points = Counter(point.time_ms for page in found for point in page.points)
    assert points == Counter(micros(result_time(each)) // 1000 for each in seen(past))


def test_what_is_ingested_and_not_rolled_up_is_told_at_the_begin_of_a_walk(
    tmp_path: Path, processes: ConfinedProcesses
) -> None:
    past = Past(tmp_path)
    past.live(Random(3), 100)
    past.ingest(past.sealed()[:4])
    roll_up(past.archive)
    for segment in past.sealed()[4:6]:
        past.ingest([segment])
    of = streams(past, processes)
    found = pages(of, HistoryAsked(EVER, 60_000, 3))
    assert found[0].missing.startswith("2 ingested batches")
    assert len(found) > 2
    assert all(page.missing == "" for page in found[1:])
    assert sum(point.count for page in found for point in page.points) == len(seen(past))
    assert of.history(STREAM, HistoryAsked(EVER, 0, 3)).missing == ""
    roll_up(past.archive)
    assert of.history(STREAM, HistoryAsked(EVER, 60_000, 3)).missing == ""


def test_an_archive_that_is_away_is_told_and_the_journal_answers(
    tmp_path: Path, processes: ConfinedProcesses
) -> None:
    past = Past(tmp_path)
    past.live(Random(3), 40)
    page = streams(past, processes).history(STREAM, HistoryAsked())
    assert "is not there" in page.missing
    assert len(page.points) == len(seen(past))


def test_a_history_that_takes_too_much_memory_is_refused_in_words(
    past: Past, processes: ConfinedProcesses
) -> None:
    archive = ArchivedSeries(processes, past.archive, ORIGIN.gateway, 1 << 20)
    of = Streams(lambda: [STREAM], Sparklines(), past.journal, dict, archive)
    with pytest.raises(TooLargeError, match="takes more memory than its 512 MiB") as refused:
        pages(of, HistoryAsked(EVER, 7000, 1000))
    assert "[archive] memory_bytes" in refused.value.hint
    assert pages(streams(past, processes), HistoryAsked(EVER, 7000, 1000))[-1].points
