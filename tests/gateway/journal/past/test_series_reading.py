"""Pages of a stream's past: what is read ahead for a walk is what would be read for each page."""

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from adapters.values.observation import StreamKey
from gateway.journal.past.archive import Archive
from gateway.journal.past.series import Bucket, SeriesAsked, StateAsked
from gateway.journal.past.series_reading import SeriesReader
from tests.gateway.journal.past.pasts import ORIGIN, Past
from tests.kit.archives import roll_up

MEMORY = 64 << 20
STREAMS: list[StreamKey] = [
    (f"urn:s:{n}", f"urn:p:{p}", f"urn:room:{n}") for n in (0, 1) for p in (0, 1)
]
EVERYTHING = 1_000_000


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    past = Past(tmp_path_factory.mktemp("past"))
    chance = Random(24)
    for _ in range(3):
        past.live(chance, 200)
    past.ingest(past.sealed())
    roll_up(past.archive)
    return Archive(past.archive, MEMORY)


@dataclass
class Walk:
    """One that asks page by page; `rest` is what it has not seen yet, all at once."""

    asked: SeriesAsked
    rest: list[Bucket]

    def step(self, reader: SeriesReader, most: int) -> bool:
        """The next page, which must be the newest of the rest; whether there are more."""
        page = reader.page(replace(self.asked, most=most))
        first = page.buckets[0][0] if page.buckets else 0
        newest = [each for each in self.rest if each[0] >= first]
        assert sorted(page.buckets, key=str) == sorted(newest, key=str)  # of a time in any order
        self.rest = [each for each in self.rest if each[0] < first]
        assert len(page.buckets) >= most or not self.rest
        if page.until_ms is None:
            assert not self.rest
            return False
        assert page.until_ms == first
        self.asked = replace(self.asked, high=page.until_ms * 1000)
        return True


def walks(archive: Archive, every_ms: int) -> list[Walk]:
    """One for each stream, and a second one of the first."""
    asked = [
        SeriesAsked(
            StateAsked(archive.folder, MEMORY, every_ms, archive.log("rollup").version()),
            ORIGIN.gateway,
            stream,
            None,
            None,
            EVERYTHING,
        )
        for stream in [*STREAMS, STREAMS[0]]
    ]
    return [Walk(each, SeriesReader(archive).page(each).buckets) for each in asked]


@pytest.mark.parametrize("every_ms", [60_000, 3_600_000, 86_400_000])
@pytest.mark.parametrize("seed", range(4))
def test_pages_of_walks_in_any_order_are_the_newest_of_the_rest(
    archive: Archive, every_ms: int, seed: int
) -> None:
    chance, reader = Random(seed), SeriesReader(archive)
    waiting = walks(archive, every_ms)
    assert sum(len(walk.rest) for walk in waiting) > 5
    steps = 0
    while waiting:
        walk = chance.choice(waiting)
        if not walk.step(reader, chance.choice((1, 2, 3, 50))):
            waiting.remove(walk)
        steps += 1
    assert steps > len(STREAMS)


def test_a_walk_that_goes_on_reads_no_file_for_each_page(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    execute = archive.execute

    def counted(text: str, parameters: dict[str, object]) -> list[tuple[object, ...]]:
        reads.append(text)
        return execute(text, parameters)

    walk = max(walks(archive, 60_000), key=lambda each: len(each.rest))
    assert len(walk.rest) >= 18
    reader = SeriesReader(archive)
    monkeypatch.setattr(archive, "execute", counted)
    pages = 1
    while walk.step(reader, 2):
        pages += 1
    assert pages >= 9
    assert len(reads) < pages


def test_what_is_gone_meanwhile_is_not_asked_for(archive: Archive, tmp_path: Path) -> None:
    """Another stream, window or version is another walk."""
    reader = SeriesReader(archive)
    walk = walks(archive, 60_000)[0]
    assert walk.step(reader, 1)
    assert walk.step(reader, 1)
    other = replace(walk.asked, stream=("urn:none", *STREAMS[0][1:]), most=1)
    assert reader.page(other).buckets == []
    late = replace(walk.asked, low=walk.asked.high, most=1)
    assert reader.page(late).buckets == []
