"""Counts by names of windows: they go on, names are bounded, what is shared counts once each."""

from gateway.engine.windowed.window_counts import MOST_NAMES, WindowCounts
from gateway.windows import Content, Streams, Window
from gateway.windows.streams import OTHERS


def contents(number: int) -> list[Content]:
    streams = Streams()
    return [streams.open(Window("urn:s", triples=each), 0) for each in range(1, number + 1)]


class Counted:
    """A gateway's windows, and what is counted of them."""

    def __init__(self) -> None:
        self.late: dict[Content, int] = {}
        self.declared: set[str] = set()
        self.counts = WindowCounts(
            lambda content: {"late": self.late.get(content, 0)}, self.declared.__contains__
        )


def test_counts_go_on_over_closing_and_opening_again() -> None:
    counted, (one,) = Counted(), contents(1)
    counts, late = counted.counts, counted.late
    late[one] = 5  # before anybody called it so
    counts.opened([("urn:w", one)])
    counts.opened([("urn:w", one)])
    late[one] = 8
    assert counts.total("late") == {"urn:w": 3}
    counts.closed([("urn:w", one)])
    assert list(counts.open()) == [("urn:w", one)]
    counts.closed([("urn:w", one)])
    late[one] = 20  # meanwhile
    assert counts.total("late") == {"urn:w": 3}
    assert list(counts.open()) == []
    counts.opened([("urn:w", one)])
    late[one] = 21
    assert counts.total("late") == {"urn:w": 4}


def test_two_windows_of_one_name_are_added() -> None:
    counted, (one, two) = Counted(), contents(2)
    counted.counts.opened([("urn:w", one)])
    counted.counts.opened([("urn:w", two), ("urn:v", two)])
    counted.late |= {one: 1, two: 2}
    assert counted.counts.total("late") == {"urn:w": 3, "urn:v": 2}
    counted.counts.ended(two)
    assert counted.counts.total("full") == {"urn:w": 1, "urn:v": 1}


def test_names_are_bounded_but_for_declared_ones() -> None:
    counted, (one,) = Counted(), contents(1)
    counts = counted.counts
    for number in range(MOST_NAMES + 5):
        counts.opened([(f"urn:{number}", one)])
    counted.late[one] = 1
    found = counts.total("late")
    assert len(found) == MOST_NAMES + 1
    assert found[OTHERS] == 5
    last = f"urn:{MOST_NAMES + 4}"
    counted.declared.add(last)
    counts.opened([(last, one)])
    assert counts.total("late")[last] == 1
    for number in range(MOST_NAMES + 5):
        counts.closed([(f"urn:{number}", one)])
    counts.closed([(last, one)])
    assert list(counts.open()) == []
    assert sum(counts.total("late").values()) == MOST_NAMES + 5
