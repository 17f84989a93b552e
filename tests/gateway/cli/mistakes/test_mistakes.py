"""Each mistake of the table says what is wrong and what to do, as read at a terminal."""

import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.gateway.cli.mistakes.page import PAGE, page
from tests.gateway.cli.mistakes.places import Places, environment
from tests.gateway.cli.mistakes.row import Row
from tests.gateway.cli.mistakes.table import CHAPTERS
from tests.kit.warmed import Warmed

pytestmark = pytest.mark.xdist_group("mistakes")

ROWS = [
    pytest.param(row, id=row.name, marks=[pytest.mark.slow] if row.is_slow else [])
    for rows in CHAPTERS.values()
    for row in rows
]


@pytest.fixture(scope="module", params=["warmed", pytest.param("anew", marks=pytest.mark.slow)])
def places(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Places]:
    """Commands are copies of a process that has loaded all of them, or begun anew each."""
    with ExitStack() as ends:
        warmed = ends.enter_context(Warmed(environment())) if request.param == "warmed" else None
        yield Places(tmp_path_factory.mktemp("mistakes"), ends, warmed)


def is_told(text: str, told: str) -> bool:
    """Whether a line of what was told has the text; an ellipsis is anything."""
    pattern = ".*".join(map(re.escape, text.split("…")))
    return any(re.search(pattern, line) for line in told.splitlines() or [""])


@pytest.mark.parametrize("row", ROWS)
def test_a_mistake_says_what_is_wrong_and_what_to_do(row: Row, places: Places) -> None:
    place, code, told = places.read(row)
    assert "Traceback" not in told
    assert code == row.code, told
    assert is_told(place.here(row.wrong), told), told
    assert is_told(place.here(row.to_do), told), told
    if not row.wrong:
        assert told == ""


def test_the_page_is_that_of_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.gateway.cli.mistakes.page"
