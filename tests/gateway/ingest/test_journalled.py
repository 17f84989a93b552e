"""What the journal has for windows that are being opened, however its segments lie."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.values.observation import XSD, Observation
from gateway.config.settings import SHIPPED_PROFILES
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.ingest.windows.elements import ObservationElements
from gateway.ingest.windows.journalled import Journalled, needed_s
from gateway.journal import Journal, JournalLimits, Position, Record
from gateway.journal.record import micros
from gateway.profiles import Profiles
from gateway.rdf.namespaces import OBSERVATIONS
from gateway.windows import Element, Window

BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
NOW = BEGIN + timedelta(seconds=99)
SECOND = 1_000_000
TEMPLATES = ObservationTemplates(
    Profiles.load((SHIPPED_PROFILES / "observations.jsap",)),
    Identity("https://gateway.example/", "test"),
)
KEYS = [(f"urn:s:{n}", "urn:p", "urn:f") for n in range(2)]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """A hundred observations, one a second, in raw and sealed segments of ten."""
    with Journal(tmp_path, limits=JournalLimits(segment_observations=10)) as made:
        for number in range(100):
            position, came = made.next_position(), BEGIN + timedelta(seconds=number)
            seen = Observation(*KEYS[number % 2], str(number), XSD + "integer")
            made.append([Record(position, position.sequence, seen, came)])
            made.sync()
            if number == 54:
                made.seal()
        yield made


def read(
    journal: Journal, window: Window, until: int = 100, first: Position | None = None
) -> tuple[list[int], int | None]:
    """The seconds of the past of a window, and since when it is complete."""
    journalled = Journalled(journal, ObservationElements(), 1_000, first)
    position = Position(journal.epoch, until)
    filling = journalled.read([window], position, micros(NOW), TEMPLATES, KEYS)[window]
    taken = [element for element, _, _ in filling.take(1_000)]
    return seconds(taken), filling.since


def seconds(elements: list[Element]) -> list[int]:
    return [((each.time or 0) - micros(BEGIN)) // SECOND for each in elements]


def test_a_range_has_what_is_in_it_in_order_and_no_more(journal: Journal) -> None:
    assert read(journal, Window(OBSERVATIONS, range="PT60S")) == ([*range(39, 100)], 0)
    narrowed = Window(OBSERVATIONS, range="PT60S", sensor="urn:s:1")
    assert read(journal, narrowed, until=90) == ([*range(39, 90, 2)], 0)


def test_counted_ones_have_at_least_what_they_count(journal: Journal) -> None:
    found, _ = read(journal, Window(OBSERVATIONS, elements=15))
    assert found == [*range(found[0], 100)]
    assert 15 <= len(found) <= 30
    each, _ = read(journal, Window(OBSERVATIONS, elements=8, per="stream"))
    assert 16 <= len(each) <= 30


def test_what_is_removed_is_not_there_and_that_is_said(journal: Journal) -> None:
    journal.seal()
    for item in journal.manifest.sealed()[:5]:
        journal.manifest.remove(item)
    found, since = read(journal, Window(OBSERVATIONS, range="PT90S"))
    assert found == [*range(50, 100)]
    assert since == micros(BEGIN + timedelta(seconds=50))
    assert read(journal, Window(OBSERVATIONS, range="PT1S"))[0] == [98, 99]


def test_a_gap_within_is_said(journal: Journal) -> None:
    journal.seal()
    journal.manifest.drop(journal.manifest.sealed()[6])
    found, since = read(journal, Window(OBSERVATIONS, range="PT90S"))
    assert found == [*range(9, 60), *range(70, 100)]
    assert since == micros(BEGIN + timedelta(seconds=70))


def test_a_journal_that_begins_behind_what_the_store_had_was_lost(journal: Journal) -> None:
    window = Window(OBSERVATIONS, range="PT1H")
    assert read(journal, window, first=Position(7, 1))[1] == micros(BEGIN)
    assert read(journal, window, first=Position(journal.epoch, 5))[1] == 0


def test_how_long_the_journal_is_kept_for_windows() -> None:
    windows = [Window(OBSERVATIONS, range="PT1H", lateness="PT1M"), Window("urn:s", elements=5)]
    assert needed_s(windows) == 3600 + 60 + 300
    assert needed_s([]) == 0
