"""Streams against the definitions: after each step each window has what it should, and said so."""

from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Triple

from gateway.errors import WindowFullError
from gateway.windows import Content, Element, Streams, Window
from tests.gateway.windows.model import Model, RangeModel, StreamModel, as_past, span
from tests.gateway.windows.script import (
    HOUR,
    STREAMS,
    Arrive,
    Close,
    Draft,
    Jump,
    Open,
    Operation,
    counted,
    plain_ranges,
    ranges,
    scripts,
    zoned,
)

pytestmark = pytest.mark.property
BEGIN = 1_000
_FEW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
_MANY = settings(max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class World:
    """The streams and their models, side by side."""

    def __init__(self, windows: Sequence[Window], begin: int = BEGIN, scale: int = 1) -> None:
        self.windows = windows
        self.now = begin
        self.scale = scale
        self.streams = Streams()
        self.models: dict[str, StreamModel] = {}
        self.open: dict[Content, tuple[Model, set[Triple], int]] = {}
        self.journal: dict[str, list[tuple[Element, int]]] = defaultdict(list)
        self.order = 0

    def run(self, script: Sequence[Operation]) -> None:
        for operation in script:
            if isinstance(operation, Open):
                self.begin(self.windows[operation.number], operation.past)
            elif isinstance(operation, Close):
                self.end(self.windows[operation.number])
            elif isinstance(operation, Jump):
                self.jump(operation.by)
            else:
                self.step(operation)
        for content in list(self.open):
            while content in self.open:
                self.end(content.window)
        assert self.streams.is_idle
        assert (self.streams.elements, self.streams.bytes) == (0, 0)
        assert self.streams.next_due() is None

    def begin(self, window: Window, part: float | None) -> None:
        self.step(Arrive(0, ()))
        journal = self.journal[window.stream]
        past = [] if part is None else journal[int(part * len(journal)) :]
        elements = [as_past(element, arrival) for element, arrival in past]
        since = None if part is None else 0
        found = next((each for each in self.open if each.window == window), None)
        if found is not None:
            assert self.streams.open(window, self.now, elements) is found
            model, triples, users = self.open[found]
            self.open[found] = model, triples, users + 1
            return
        stream = self.models.setdefault(window.stream, StreamModel())
        model = stream.open(window, elements, self.now)
        if model.is_full:
            with pytest.raises(WindowFullError):
                self.streams.open(window, self.now, elements, complete_since=since)
            self.forget(window, model)
            self.compare_streams()
            return
        content = self.streams.open(window, self.now, elements, complete_since=since)
        self.open[content] = model, model.triples(self.now), 1
        self.compare()

    def end(self, window: Window) -> None:
        for content, (model, triples, users) in list(self.open.items()):
            if content.window == window:
                self.streams.close(content)
                self.open[content] = model, triples, users - 1
                if users == 1:
                    del self.open[content]
                    self.forget(window, model)
                    assert content not in self.streams.contents
                    self.compare_streams()

    def forget(self, window: Window, model: Model) -> None:
        stream = self.models[window.stream]
        stream.models.remove(model)
        if not stream.models:
            del self.models[window.stream]

    def jump(self, by: int) -> None:
        self.now += by
        self.streams.jumped(by)
        for stream in self.models.values():
            stream.jump(by)
        if self.models and any(isinstance(model, RangeModel) for model, _, _ in self.open.values()):
            due = self.streams.next_due()
            assert not by or (due is not None and due <= self.now)

    def step(self, operation: Arrive) -> None:
        self.now += operation.after
        arrived: dict[str, list[Element]] = defaultdict(list)
        for name, draft in operation.elements:
            element = draft.element(self.now)
            arrived[name].append(element)
            self.journal[name].append((element, self.now))
        changes = self.streams.step(self.now, arrived)
        for name, elements in arrived.items():
            for element in elements:
                self.order += 1
                if name in self.models:
                    self.models[name].arrive(element, self.now, self.order)
        told = {change.content: change for change in changes}
        assert len(told) == len(changes)
        for content, (model, before, users) in list(self.open.items()):
            is_reached = model.settle(self.now)
            after = model.triples(self.now)
            change = told.pop(content, None)
            if model.is_full:
                assert change is not None, content.window
                assert change.full is not None, content.window
                assert list(content) == []
                assert len(content) == 0
                self.streams.close(content)
                del self.open[content]
                self.forget(content.window, model)
                continue
            self.open[content] = model, after, users
            if before == after and not is_reached:
                assert change is None, (content.window, change)
                continue
            assert change is not None, (content.window, before, after)
            assert change.full is None
            assert change.is_boundary == is_reached, content.window
            assert sorted(change.added, key=str) == sorted(after - before, key=str), content.window
            assert sorted(change.removed, key=str) == sorted(before - after, key=str)
        assert not told
        self.compare()
        self.look_ahead()

    def compare_streams(self) -> None:
        for stream in STREAMS:
            assert self.streams.wants(stream) == (stream in self.models)

    def compare(self) -> None:
        self.compare_streams()
        for content, (model, triples, _) in self.open.items():
            assert sorted(content, key=str) == sorted(triples, key=str), content.window
            assert len(content) == len(triples)
            assert all(triple in content for triple in triples)
            info = content.info()
            assert info.triples == len(triples)
            assert info.elements == model.count(self.now), content.window

    def look_ahead(self) -> None:
        """Nothing comes, goes or is reached before `next_due`, and something then."""
        due = self.streams.next_due()
        last = self.now + 20 * self.scale
        assert due is None or due > self.now
        states = self.states(self.now)
        if due is not None:
            assert self.states(due) != states
            last = min(last, due - 1)
        for time in range(self.now + self.scale, last + 1, self.scale):
            assert self.states(time) == states, (time, due)

    def states(self, now: int) -> list[object]:
        found: list[object] = []
        for model, _, _ in self.open.values():
            if isinstance(model, RangeModel):
                watermark = model.watermark(now)
                is_stepped = model.window.step is not None
                upper = None if watermark is None else span(model.window, watermark)[1]
                found.append((model.content(now), upper if is_stepped else None))
        return found


@_FEW
@given(st.lists(ranges(), min_size=1, max_size=5), scripts(5))
def test_windows_by_range(windows: list[Window], script: list[Operation]) -> None:
    World([*windows, *windows[:1] * 5][:5]).run(script)


@_FEW
@given(st.lists(plain_ranges(), min_size=5, max_size=5), scripts(5))
def test_windows_of_several_ranges_over_one_stream(
    windows: list[Window], script: list[Operation]
) -> None:
    World(windows).run(script)


@_FEW
@given(st.lists(counted(), min_size=3, max_size=3), scripts(3))
def test_windows_by_triples_and_elements(windows: list[Window], script: list[Operation]) -> None:
    World(windows).run(script)


def test_a_step_stays_due_where_a_window_goes_behind_a_jump() -> None:
    """Shrunk by Hypothesis: closing one forgot that the others had something to look at."""
    nothing = ("urn:a", Draft((), None, None, None, is_gateway_time=False, own=None))
    windows = [Window("urn:a", range=length) for length in (1, 2, 3)]
    script: list[Operation] = [Open(1, None), Open(2, None), Arrive(0, (nothing, nothing))]
    script += [Jump(1), Close(1), Open(0, None)]
    World(windows).run(script)


SPRING = 1_774_742_400_000_000 - 40 * HOUR
AUTUMN = 1_792_886_400_000_000 - 40 * HOUR


@settings(_FEW, max_examples=60)
@given(
    st.lists(zoned(), min_size=3, max_size=3),
    scripts(3, 5 * HOUR),
    st.sampled_from((SPRING, AUTUMN)),
)
def test_windows_that_move_with_days_of_a_zone(
    windows: list[Window], script: list[Operation], begin: int
) -> None:
    World(windows, begin, 5 * HOUR).run(script)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@_MANY
@given(st.lists(st.one_of(ranges(), plain_ranges(), counted()), min_size=4, max_size=4), scripts(4))
def test_all_windows_at_length(windows: list[Window], script: list[Operation]) -> None:
    World(windows).run(script)
