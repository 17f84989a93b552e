"""Windows oracle: what is told of queries over windows is what evaluating them again says.

Random queries, whose graph `urn:g` is a window, or `urn:h` one as well, run beside random UPDATEs,
elements and the passing of time; docs/windows.md says what is exact.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, NamedNode, Quad, Triple

from gateway.rdf.canonical import canonical_quad
from gateway.rdf.dataset import Dataset
from gateway.windows.window import OUTPUTS, Window
from tests.gateway.engine.engine_strategies import COMMON, ODD, queries, requests
from tests.gateway.engine.windowed.windowed_session import (
    Pass,
    Push,
    Step,
    Subscribe,
    Unsubscribe,
    Update,
    play,
)

pytestmark = pytest.mark.property

_ALL_CHECKS = list(HealthCheck)
quick = settings(
    max_examples=150, derandomize=True, deadline=None, suppress_health_check=_ALL_CHECKS
)
long = settings(max_examples=10_000, deadline=None, suppress_health_check=_ALL_CHECKS)

_S = 1_000_000
_STREAMS = ("urn:s1", "urn:s2")
_G, _H = NamedNode("urn:g"), NamedNode("urn:h")
_TRIPLES = sorted({Triple(q.subject, q.predicate, q.object) for q in (*COMMON, *ODD)}, key=str)
_STORED = [canonical_quad(q) for q in COMMON if q.graph_name in (DefaultGraph(), _H)]

_sizes = st.one_of(
    st.builds(lambda n: {"triples": n}, st.integers(1, 9)),
    st.builds(lambda n: {"elements": n}, st.integers(1, 4)),
    st.builds(lambda n: {"range": n * _S}, st.integers(1, 6)),
    st.builds(lambda n: {"range": n * _S, "step": n * _S}, st.integers(1, 4)),
    st.builds(lambda n, m: {"range": n * _S, "step": m * _S}, st.integers(1, 6), st.integers(1, 4)),
    st.builds(lambda n, m: {"triples": n, "step": m}, st.integers(1, 6), st.integers(1, 4)),
    st.builds(lambda n: {"range": n * _S, "lateness": _S}, st.integers(1, 6)),
    st.builds(lambda n: {"range": n * _S, "time": "arrival"}, st.integers(1, 6)),
    st.builds(lambda n: {"range": n * _S, "clock": "stream"}, st.integers(1, 6)),
)
windows = st.builds(lambda stream, size: Window(stream, **size), st.sampled_from(_STREAMS), _sizes)
declared = st.one_of(
    *[st.builds(lambda g: {"urn:g": g}, windows)] * 3,
    st.builds(lambda g, h: {"urn:g": g, "urn:h": h}, windows, windows),
)
_datasets = st.sampled_from(
    [None] * 6
    + [
        Dataset((_G,), ()),
        Dataset((DefaultGraph(), _G), (_H,)),
        Dataset((_H,), (_G,)),
        Dataset((), (_G, _H)),
    ]
)
subscribes = st.builds(
    Subscribe, st.integers(0, 5), st.integers(0, 2), st.sampled_from(OUTPUTS), _datasets
)
pushes = st.builds(
    Push,
    st.sampled_from(_STREAMS),
    st.lists(st.sampled_from(_TRIPLES), max_size=6).map(tuple),
    st.one_of(st.none(), st.integers(-3, 8).map(lambda s: s * _S)),
)
steps = st.one_of(
    *[pushes] * 6,
    *[st.builds(Pass, st.integers(0, 5).map(lambda s: s * _S // 2))] * 3,
    *[st.builds(Update, requests(most=2))] * 2,
    *[subscribes] * 2,
    st.builds(Unsubscribe, st.integers(0, 9)),
)
stores = st.lists(st.sampled_from(_STORED), max_size=16, unique=True)
texts = st.lists(queries(), min_size=2, max_size=6)
scripts = st.tuples(
    st.lists(subscribes, min_size=1, max_size=5), st.lists(steps, min_size=3, max_size=14)
).map(lambda two: [*two[0], *two[1]])


@quick
@given(stores, texts, st.lists(declared, min_size=1, max_size=3), scripts)
def test_what_is_told_over_windows_is_what_queries_say(
    quads: list[Quad], asked: list[str], over: list[dict[str, Window]], script: list[Step]
) -> None:
    play(quads, asked, over, script)


@settings(quick, max_examples=15)
@given(stores, texts, st.lists(declared, min_size=1, max_size=3), scripts)
def test_it_is_so_without_tiers(
    quads: list[Quad], asked: list[str], over: list[dict[str, Window]], script: list[Step]
) -> None:
    play(quads, asked, over, script, oracle=True)


@settings(quick, max_examples=5)
@given(stores, texts, st.lists(declared, min_size=1, max_size=3), scripts)
def test_it_is_so_in_parallel_mode(
    quads: list[Quad], asked: list[str], over: list[dict[str, Window]], script: list[Step]
) -> None:
    play(quads, asked, over, script, workers=1)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@long
@given(stores, texts, st.lists(declared, min_size=1, max_size=3), scripts)
def test_what_is_told_over_windows_is_what_queries_say_in_the_long_run(
    quads: list[Quad], asked: list[str], over: list[dict[str, Window]], script: list[Step]
) -> None:
    play(quads, asked, over, script)
