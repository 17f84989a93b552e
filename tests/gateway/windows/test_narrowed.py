"""A window that is told what is wanted of it tells that exactly, and may tell more.

One of which nothing is wanted tells nothing, and knows what it has.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from gateway.windows import Change, Content, Streams, Window, taking_out
from gateway.windows.items import Items
from gateway.windows.parted import MADE_BYTES, Spo
from gateway.windows.timeline import Timeline
from tests.gateway.windows.script import (
    KEYS,
    NODE,
    OWN,
    STREAMS,
    TRIPLES,
    UNITS,
    Apart,
    Arrive,
    Draft,
    Jump,
    Operation,
    plain_ranges,
    scripts,
)

pytestmark = pytest.mark.property

BEGIN = 1_000


@given(
    st.lists(plain_ranges(), min_size=2, max_size=2, unique=True),
    scripts(2),
    st.lists(st.sets(st.sampled_from((*OWN, NODE, None)))),
)
@settings(max_examples=150, deadline=None)
def test_what_is_wanted_is_told_exactly(
    windows: list[Window], script: list[Operation], wanted: list[set[NamedNode | None]]
) -> None:
    whole, narrowed = Streams(), Streams()
    pairs = [(whole.open(w, BEGIN), narrowed.open(w, BEGIN)) for w in windows]
    now, turns = BEGIN, iter(wanted)
    wants: list[set[NamedNode | None]] = [set() for _ in windows]
    for operation in script:
        for number, (_, content) in enumerate(pairs):
            content.want(more := next(turns, set()))
            content.unwant(wants[number])
            wants[number] = more
        if isinstance(operation, Jump):
            now = max(now + operation.by, 1)
            whole.jumped(operation.by)
            narrowed.jumped(operation.by)
        elif isinstance(operation, Arrive):
            now += operation.after
        arrived = _arrived(operation, now)
        expected = {each.content: each for each in whole.step(now, arrived)}
        told = {each.content: each for each in narrowed.step(now, arrived)}
        for (of_all, content), each in zip(pairs, wants, strict=True):
            assert _sides(told.get(content), each) == _sides(expected.get(of_all), each)
            assert set(content) == set(of_all)
            assert len(content) == len(of_all)
            assert set(content.having(frozenset(OWN[:1]))) == {
                triple for triple in of_all if triple.predicate == OWN[0]
            }
    for of_all, content in pairs:
        whole.close(of_all)
        narrowed.close(content)
    assert (narrowed.elements, narrowed.bytes) == (0, 0)


def _arrived(operation: Operation, now: int) -> dict[str, list]:  # type: ignore[type-arg]
    arrived: dict[str, list] = {}  # type: ignore[type-arg]
    if isinstance(operation, Arrive):
        for stream, draft in operation.elements:
            arrived.setdefault(stream, []).append(draft.element(now))
    return arrived


def _sides(change: Change | None, wanted: set[NamedNode | None]) -> tuple[list[str], list[str]]:
    sides: list[list[str]] = [[], []]
    if change is not None:
        for side, triples in zip(sides, (change.added, change.removed), strict=True):
            side += [str(each) for each in triples if _is_told(each, wanted)]
    return sorted(sides[0]), sorted(sides[1])


def _is_told(triple: Spo, wanted: set[NamedNode | None]) -> bool:
    _, predicate, _ = triple
    return None in wanted or predicate in wanted


def test_only_more_that_elements_share_costs_what_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def step(after: int, *, arriving: bool = False) -> tuple[list[str], list[str]]:
        draft = Draft(tuple(TRIPLES[:2]), 0, None, None, False, own=2)
        arrived = [draft.element(BEGIN + after)] if arriving else []
        (change,) = streams.step(BEGIN + after, {STREAMS[0]: arrived})
        return tuple([str(p) for _, p, _ in side] for side in (change.added, change.removed))  # type: ignore[return-value]

    even, odd, shared = map(str, (*OWN, NODE))
    streams = Streams()
    content = streams.open(Window(STREAMS[0], 10), BEGIN, complete_since=0)
    content.want([OWN[0]])
    assert step(0, arriving=True) == ([even], [])
    with monkeypatch.context() as patch:
        patch.setattr(Timeline, "_own", lambda *_: pytest.fail("all are looked at"))
        content.want([OWN[1]])
        assert step(1, arriving=True) == ([even, odd], [])
    content.want([NODE])
    assert step(10) == ([], [even, odd])  # another element has the rest of what it had
    assert step(11) == ([], [shared, shared, even, odd])
    assert len(content) == 0


def test_what_is_wanted_is_weighed() -> None:
    streams = Streams()
    content: Content = streams.open(Window(STREAMS[0], 10), BEGIN)
    element = Draft((), None, None, None, False, own=4).element(BEGIN)
    assert isinstance(element.triples, Apart)
    streams.step(BEGIN, {STREAMS[0]: [element]})
    held = streams.bytes
    content.want([OWN[0]])
    assert streams.bytes == held + 2 * MADE_BYTES
    content.want([None])
    assert streams.bytes == held + 4 * MADE_BYTES
    content.unwant([None, OWN[0]])
    assert streams.bytes == held


def test_a_unit_that_changes_costs_what_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams()
    content = streams.open(Window(STREAMS[0], 1_000), BEGIN, complete_since=0)
    others = [Draft(tuple(TRIPLES[:1]), -1, KEYS[2], "urn:C", False, own=1) for _ in range(300)]
    streams.step(BEGIN, {STREAMS[0]: [each.element(BEGIN) for each in others]})
    monkeypatch.setattr(taking_out, "_close_up", lambda *_: pytest.fail("all are looked at"))
    for turn in range(40):
        element = Draft(tuple(TRIPLES[:2]), 0, KEYS[0], UNITS[turn % 2], False, own=1).element(
            BEGIN
        )
        streams.step(BEGIN, {STREAMS[0]: [element]})
        assert content.info().elements == len(others) + 1
        assert set(element.triples) <= set(content)
        assert len(content) == len(others) + len(element.triples)
    assert content.expired == 39


@pytest.mark.parametrize(
    "window",
    [
        Window(STREAMS[0], elements=400),
        Window(STREAMS[0], triples=900),
    ],
)
def test_a_unit_that_changes_costs_no_more_in_a_window_that_counts(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = Streams()
    content = streams.open(window, BEGIN, complete_since=0)
    others = [Draft((triple,), -1, KEYS[2], "urn:C", False) for triple in TRIPLES[:3] * 100]
    streams.step(BEGIN, {STREAMS[0]: [each.element(BEGIN) for each in others]})
    with monkeypatch.context() as patch:
        patch.setattr(Items, "__iter__", lambda _: pytest.fail("all are looked at"))
        for turn in range(40):
            element = Draft((TRIPLES[3 + turn % 2],), 0, KEYS[0], UNITS[turn % 2], False)
            streams.step(BEGIN, {STREAMS[0]: [element.element(BEGIN)]})
    for turn in range(200):
        element = Draft((TRIPLES[3 + turn % 2],), 0, KEYS[0], UNITS[turn % 2], False)
        streams.step(BEGIN, {STREAMS[0]: [element.element(BEGIN)]})
        assert set(content) == {*TRIPLES[:3], TRIPLES[3 + turn % 2]}
        assert content.info().elements == len(others) + 1
    assert content.expired == 239


def test_windows_that_are_opened_later_leave_others_where_the_clock_is() -> None:
    streams = Streams()
    early = streams.open(Window(STREAMS[0], 1), BEGIN, complete_since=0)
    streams.open(Window(STREAMS[0], 2), BEGIN + 1, complete_since=0)
    late = Draft((), -1, None, None, False).element(BEGIN + 1)
    streams.step(BEGIN + 1, {STREAMS[0]: [late]})
    assert early.info().elements == 0


def test_a_window_that_nothing_enters_is_complete_once_its_range_has_passed() -> None:
    streams = Streams()
    sensor, observed, feature = KEYS[0]
    content = streams.open(Window(STREAMS[0], 10, sensor=(sensor,)), BEGIN)
    other = Draft((), None, ("urn:another", observed, feature), None, False)
    assert not content.info().complete
    streams.step(BEGIN + 8, {STREAMS[0]: [other.element(BEGIN + 8)]})
    assert not content.info().complete
    streams.step(BEGIN + 10, {STREAMS[0]: [other.element(BEGIN + 10)]})
    info = content.info()
    assert (info.complete, info.to, info.watermark) == (True, BEGIN + 10, BEGIN + 10)
