"""Sliding oracle: what is told of aggregates over windows is what evaluating them again says."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Quad

from gateway.rdf.terms import Term
from gateway.windows.window import OUTPUTS, Window
from tests.gateway.engine.sliding.sliding_strategies import (
    double_values,
    exact_values,
    families,
    pushes,
    stored,
    updates,
    values,
)
from tests.gateway.engine.windowed.windowed_session import (
    Pass,
    Step,
    Subscribe,
    Unsubscribe,
    play,
)

pytestmark = pytest.mark.property

_ALL_CHECKS = list(HealthCheck)
quick = settings(
    max_examples=200, derandomize=True, deadline=None, suppress_health_check=_ALL_CHECKS
)
long = settings(max_examples=10_000, deadline=None, suppress_health_check=_ALL_CHECKS)

_S = 1_000_000
declared = st.sampled_from(
    [
        Window("urn:s", triples=7),
        Window("urn:s", triples=30),
        Window("urn:s", elements=4),
        Window("urn:s", range=3 * _S),
        Window("urn:s", range=6 * _S),
        Window("urn:s", range=4 * _S, step=2 * _S),
        Window("urn:s", triples=9, step=3),
    ]
).map(lambda window: {"urn:g": window})
subscribes = st.builds(Subscribe, st.integers(0, 5), st.integers(0, 2), st.sampled_from(OUTPUTS))


@st.composite
def scripts(draw: st.DrawFn) -> list[Step]:
    """Who subscribes, readings, time and UPDATEs."""
    of: st.SearchStrategy[Term] = draw(st.sampled_from([exact_values, double_values, values]))
    steps = st.one_of(
        *[pushes(of, "urn:s")] * 6,
        *[st.builds(Pass, st.integers(0, 5).map(lambda s: s * _S // 2))] * 2,
        *[updates()] * 3,
        subscribes,
        st.builds(Unsubscribe, st.integers(0, 9)),
    )
    first = draw(st.lists(subscribes, min_size=1, max_size=5))
    return [*first, *draw(st.lists(steps, min_size=3, max_size=16))]


asked = families()
over = st.lists(declared, min_size=1, max_size=2)


@quick
@given(stored(), asked, over, scripts())
def test_what_is_told_of_aggregates_is_what_queries_say(
    quads: list[Quad], asked: list[str], over: list[dict[str, Window]], script: list[Step]
) -> None:
    play(quads, asked, over, script)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@long
@given(stored(), asked, over, scripts())
def test_what_is_told_of_aggregates_is_what_queries_say_in_the_long_run(
    quads: list[Quad], asked: list[str], over: list[dict[str, Window]], script: list[Step]
) -> None:
    play(quads, asked, over, script)
