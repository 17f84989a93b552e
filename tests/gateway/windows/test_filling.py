"""A window that is filled bit by bit ends as one that was open all the time."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine import Engine, SubscribeRequest
from gateway.windows import Element, Filling, Streams, Window, WindowLimits

pytestmark = pytest.mark.property

STREAM = "urn:stream"
SECOND = 1_000_000
BEGIN = 1_000_000 * SECOND
KEYS = [("urn:s:1", "urn:p", "urn:f"), ("urn:s:2", "urn:p", "urn:f"), None]

windows = st.builds(
    lambda seconds, step, lateness, late, time, sensor: Window(
        STREAM,
        range=seconds * SECOND,
        step=step and step * SECOND,
        lateness=lateness * SECOND,
        late="drop" if late and lateness else "admit",
        time=time,
        sensor=sensor,
    ),
    st.integers(1, 20),
    st.sampled_from([None, 1, 3, 10]),
    st.sampled_from([0, 2]),
    st.booleans(),
    st.sampled_from(["event", "arrival"]),
    st.sampled_from([(), ("urn:s:1",)]),
)
others = st.one_of(
    st.builds(
        lambda size, step, per: Window(STREAM, elements=size, step=step, per=per),
        st.integers(1, 6),
        st.sampled_from([None, 1, 3]),
        st.sampled_from([None, "stream"]),
    ),
    st.builds(lambda size: Window(STREAM, triples=size, sensor="urn:s:1"), st.integers(1, 6)),
    st.builds(
        lambda seconds, step, lateness, late: Window(
            STREAM,
            range=seconds * SECOND,
            step=step and step * SECOND,
            lateness=lateness * SECOND,
            late="drop" if late and lateness else "admit",
            clock="stream",
        ),
        st.integers(1, 20),
        st.sampled_from([None, 3]),
        st.sampled_from([0, 2]),
        st.booleans(),
    ),
)
arrivals = st.lists(
    st.tuples(
        st.integers(0, 2),  # passes before it
        st.integers(-15, 4),  # its time, from when it arrives
        st.sampled_from(KEYS),
        st.sampled_from([None, "urn:celsius", "urn:fahrenheit"]),
        st.lists(st.integers(0, 5), max_size=3, unique=True),
    ),
    max_size=40,
)


def element(now: int, told: tuple) -> Element:  # type: ignore[type-arg]
    _, ago, key, unit, values = told
    node = NamedNode("urn:n")
    triples = tuple(Triple(node, node, Literal(value)) for value in values)
    unit = unit if key else None
    return Element(triples, now + ago * SECOND, key, unit, arrival=now)


@given(windows, arrivals, st.integers(0, 40), st.integers(1, 7), st.integers(0, 10))
@settings(max_examples=300, deadline=None)
def test_it_has_what_it_would_have(
    window: Window,
    told: list,  # type: ignore[type-arg]
    opened: int,
    bit: int,
    meanwhile: int,
) -> None:
    always, late = Streams(WindowLimits()), Streams(WindowLimits())
    expected = always.open(window, BEGIN, complete_since=0)
    past: list[Element] = []
    filling: Filling | None = None
    content = None
    now = BEGIN
    for number, each in enumerate([*told, (40, 0, None, None, [9])]):
        now += each[0] * SECOND
        arriving = element(now, each)
        always.step(now, {STREAM: (arriving,)})
        if number < opened and number < len(told):
            past.append(arriving)
            continue
        if content is None:
            filling = Filling(window, past[:meanwhile], 0)
            filling.add(past[meanwhile:])
            last = now - each[0] * SECOND
            content = late.open_filling(filling, last)
        assert filling is not None
        late.step(now, {STREAM: (arriving,)})
        for change in late.fill(content, filling, bit):
            assert change.full is None
        if filling.is_done:
            assert set(content) == set(expected)
            assert content.info().elements == expected.info().elements
    assert filling is not None
    assert content is not None
    while not filling.is_done:
        late.fill(content, filling, bit)
    assert set(content) == set(expected)
    late.close(content)
    assert (late.elements, late.bytes) == (0, 0)


@given(
    others | windows, arrivals, st.integers(0, 40), st.integers(1, 7), st.sampled_from([None, 0])
)
@settings(max_examples=300, deadline=None)
def test_it_has_what_it_would_have_at_once(
    window: Window,
    told: list,  # type: ignore[type-arg]
    opened: int,
    bit: int,
    since: int | None,
) -> None:
    now, times = BEGIN, []
    for each in told:
        now += each[0] * SECOND
        times.append((now, element(now, each)))
    past, meanwhile = times[:opened], times[opened:]
    began = past[-1][0] if past else BEGIN
    filling = Filling(window, [each for _, each in past], since)
    late, at_once = Streams(), Streams()
    expected = at_once.open(window, began, [each for _, each in past], complete_since=since)
    content = late.open_filling(filling, began)
    for moment, arriving in meanwhile:
        for streams in (at_once, late):
            streams.step(moment, {STREAM: (arriving,)})
        late.fill(content, filling, bit)
    while not filling.is_done:
        late.fill(content, filling, bit)
    assert set(content) == set(expected)
    info, known = content.info(), expected.info()
    assert (info.elements, info.triples) == (known.elements, known.triples)
    assert (info.complete, info.bytes) == (known.complete, known.bytes)
    assert (late.elements, late.bytes) == (at_once.elements, at_once.bytes)
    late.close(content)
    assert (late.elements, late.bytes) == (0, 0)


@pytest.mark.parametrize("by", [5 * SECOND, -5 * SECOND])
def test_a_jump_moves_what_waits_to_be_put_in(by: int) -> None:
    window = Window(STREAM, range=20 * SECOND)
    node = NamedNode("urn:n")
    past = [
        Element(
            (Triple(node, node, Literal(ago)),),
            BEGIN - ago * SECOND,
            is_gateway_time=bool(ago % 2),
            arrival=BEGIN - ago * SECOND,
        )
        for ago in range(30, 0, -1)
    ]
    always, late = Streams(), Streams()
    expected = always.open(window, BEGIN, past, complete_since=0)
    filling = Filling(window, past, 0)
    content = late.open_filling(filling, BEGIN)
    late.fill(content, filling, 12)
    for streams in (always, late):
        streams.jumped(by)
        streams.step(BEGIN + by)
    other = late.open(Window(STREAM, range=10 * SECOND), BEGIN + by)
    assert not set(other)  # it shares nothing with what is not filled
    while not filling.is_done:
        late.fill(content, filling, 12)
    gone = {each.value for each in (t.object for t in set(expected) ^ set(content))}  # type: ignore[union-attr]
    assert not gone


def test_a_window_that_somebody_has_opened_meanwhile_is_not_filled_again() -> None:
    window = Window(STREAM, range=20 * SECOND)
    request = SubscribeRequest(
        "SELECT ?o { GRAPH <urn:w> { ?s ?p ?o } }", windows=(("urn:w", window),)
    )
    past = [element(BEGIN, (0, -1, None, None, [1])), element(BEGIN, (0, -2, None, None, [2]))]
    engine = Engine.open(clock=lambda: BEGIN)
    first = engine.warm(request, {window: Filling(window, past, 0)})
    second = engine.warm(
        replace(request, text=f"{request.text} #"), {window: Filling(window, past, 0)}
    )
    assert second.is_done
    while not first.is_done:
        first.fill(1)
    for warming in (first, second):
        notification = engine.finish(warming)
        assert len(notification.added) == 2
        assert notification.windows is not None
        assert notification.windows["urn:w"].elements == 2
    engine.close()
