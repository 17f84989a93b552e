"""A window that is filled bit by bit ends as one that was open all the time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

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
