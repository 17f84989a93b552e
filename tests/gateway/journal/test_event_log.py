"""The log of events: what is cut, what goes, what can be told again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from gateway.errors import StorageError
from gateway.journal import event_log, record
from gateway.journal.event_log import EventLog, EventLogLimits, LoggedEvent, newest_epoch
from gateway.journal.event_position import EventPosition
from gateway.journal.record import Fields
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName

START = EventPosition(1763, 0)
END = EventPosition(9999, 0)


def event(request: int, graph: GraphName = DEFAULT_GRAPH, text: str = "v") -> LoggedEvent:
    triple = Triple(
        NamedNode("urn:s"), NamedNode("urn:p"), Literal(f'{text} "{request}"\n', language="en")
    )
    nameless = Triple(BlankNode("b1"), NamedNode("urn:p"), BlankNode("b2"))
    return LoggedEvent(
        EventPosition(1763, 8, request), 5_000_000 + request, graph, (triple, nameless)
    )


@contextmanager
def opened(
    folder: Path,
    recorded: EventPosition | None = None,
    start: EventPosition = START,
    limits: EventLogLimits | None = None,
) -> Iterator[EventLog]:
    log = EventLog(folder, start, recorded, limits)
    try:
        yield log
    finally:
        log.close()


def told(log: EventLog, after: EventPosition = START, until: EventPosition = END) -> Sequence[int]:
    return [each.position.request for each in log.after(after, until)]


def test_what_is_logged_comes_back_as_it_was(tmp_path: Path) -> None:
    events = [event(1), event(2, NamedNode("urn:g")), event(3, BlankNode("g"))]
    with opened(tmp_path) as log:
        for each in events:
            log.append([each])
        assert list(log.after(START, END)) == events
        assert list(log.after(events[0].position, events[1].position)) == [events[1]]
    with opened(tmp_path, events[-1].position, EventPosition(1764, 0)) as log:
        assert list(log.after(START, END)) == events
        assert log.oldest == START
    assert newest_epoch(tmp_path) == 1764


def test_several_graphs_of_one_request_come_together(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        log.append([event(1), event(1, NamedNode("urn:g"))])
        assert told(log) == [1, 1]
        assert told(log, EventPosition(1763, 8, 1)) == []


@pytest.mark.parametrize("recorded", [0, 1, 2, 3])
def test_what_the_store_does_not_know_is_cut(tmp_path: Path, recorded: int) -> None:
    with opened(tmp_path) as log:
        for request in (1, 2, 3):
            log.append([event(request)])
    with opened(tmp_path, EventPosition(1763, 8, recorded), EventPosition(1764, 0)) as log:
        assert told(log) == list(range(1, recorded + 1))
        log.append([LoggedEvent(EventPosition(1764, 0, 1), 1, DEFAULT_GRAPH, ())])
        assert told(log) == [*range(1, recorded + 1), 1]


def test_torn_line_is_cut(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        log.append([event(1)])
        log.append([event(2)])
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes()[:-3])
    with opened(tmp_path, start=EventPosition(1764, 0)) as log:
        assert told(log) == [1]


def test_what_the_store_did_not_take_is_taken_back(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        log.append([event(1)])
        log.append([event(2)])
        log.take_back()
        assert told(log) == [1]
        log.append([event(3)])
        assert told(log) == [1, 3]


def test_the_oldest_go_where_it_is_too_long(tmp_path: Path) -> None:
    limits = EventLogLimits(bytes=32_000)
    with opened(tmp_path, limits=limits) as log:
        for request in range(1, 400):
            log.append([event(request)])
            assert log.size < 36_000
        kept = told(log)
        assert kept == list(range(kept[0], 400))
        assert kept[0] > 1
        assert log.oldest == EventPosition(1763, 8, kept[0] - 1)
        assert told(log, log.oldest) == kept


def test_the_oldest_go_where_they_are_too_old(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        log.append([event(1)])
    limits = EventLogLimits(seconds=0.000_001)
    with opened(tmp_path, start=EventPosition(1764, 0), limits=limits) as log:
        assert told(log) == []
        assert log.oldest == EventPosition(1764, 0)


def test_damaged_line_is_passed_over(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        for request in (1, 2, 3):
            log.append([event(request)])
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b"1763-8.2", b"1763_8.2"))
    with opened(tmp_path, start=EventPosition(1764, 0)) as log:
        assert told(log) == [1, 3]


def test_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "events").write_text("in the way")
    with pytest.raises(StorageError, match="events") as raised:
        EventLog(tmp_path / "events", START)
    assert raised.value.hint


@pytest.mark.parametrize(
    "text", ["", "1-2", "1.2", "1-2.x", "-1-2.3", "1-2.3.4", "1" * 99 + "-1.1"]
)
def test_text_that_is_no_position(text: str) -> None:
    with pytest.raises(ValueError, match="no position"):
        EventPosition.parse(text)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_behind_any_position_is_found_without_what_is_before(
    tmp_path: Path, seed: int
) -> None:
    """Whatever the lines' lengths are, with damaged ones between and several of one position."""
    random, places = Random(seed), list[int]()
    with opened(tmp_path) as log:
        request = 0
        for _ in range(random.randrange(40)):
            request += random.randrange(1, 3)
            graphs = [NamedNode(f"urn:g{n}") for n in range(random.randrange(1, 4))]
            text = "v" * random.choice((1, 5, 300))
            log.append([event(request, graph, text) for graph in graphs])
            places += [request for _ in graphs]
    (path,) = tmp_path.glob("*.jsonl")
    header, *lines = path.read_bytes().splitlines(keepends=True)
    for damaged in [each for each in range(len(lines)) if random.random() < 0.2]:
        lines[damaged] = random.choice((b"\n", b"no event\n", b'{"p": "x"}\n'))
    path.write_bytes(header + b"".join(lines))
    kept = [place for place, line in zip(places, lines, strict=True) if b'"n"' in line]
    with opened(tmp_path) as log:
        for after in range(-1, request + 2):
            position = START if after < 0 else EventPosition(1763, 8, after)
            assert told(log, position) == [place for place in kept if place > after]


def test_what_is_behind_the_end_of_a_long_log_is_found_by_few_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as log:
        for request in range(2_000):
            log.append([event(request)])
        looked_at: list[bytes] = []

        def read_fields(line: bytes) -> Fields:
            looked_at.append(line)
            return record.read_fields(line)

        monkeypatch.setattr(event_log, "read_fields", read_fields)
        assert told(log, EventPosition(1763, 8, 1_990)) == list(range(1_991, 2_000))
        assert len(looked_at) < 40
