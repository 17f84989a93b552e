"""A window that many elements pass: sums are those of what it has, and nothing is left behind."""

import gc
import os
from collections import deque
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from pyoxigraph import Literal, Triple

from gateway.engine import Engine
from gateway.engine.request import SubscribeRequest
from gateway.windows.window import Window
from tests.gateway.engine.sliding.sliding_strategies import urn
from tests.gateway.engine.windowed.windowed_session import Hand

_ELEMENTS, _SENSORS = 1000, 7
_MOST_MORE = 24 << 20
_TEXT = """PREFIX : <urn:> SELECT ?s (SUM(?v) AS ?sum) (AVG(?v) AS ?mean) (MIN(?v) AS ?least)
(MAX(?v) AS ?most) (COUNT(*) AS ?count) { GRAPH <urn:g> { ?o :sensor ?s ; :value ?v } }
GROUP BY ?s"""
_ASKED = SubscribeRequest(_TEXT, windows=(("urn:g", Window("urn:s", triples=2 * _ELEMENTS)),))


def _resident() -> int:
    gc.collect()
    pages = Path(f"/proc/{os.getpid()}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    "passing",
    [10_000, pytest.param(10_000_000, marks=[pytest.mark.slow, pytest.mark.timeout(7200)])],
)
def test_sums_are_those_of_fresh_windows_and_memory_is_flat(passing: int) -> None:
    random = Random(3)
    kept: deque[tuple[int, float]] = deque(maxlen=_ELEMENTS)
    halfway = 0
    with closing(Engine.open(clock=Hand())) as engine:
        engine.subscribe(_ASKED)
        for number in range(passing):
            value = random.gauss(0, 1) * 10.0 ** random.randint(-9, 9)
            kept.append((number % _SENSORS, value))
            node = urn(f"o{number}")
            engine.push(
                "urn:s",
                [
                    Triple(node, urn("sensor"), urn(f"s{number % _SENSORS}")),
                    Triple(node, urn("value"), Literal(value)),
                ],
            )
            if number == passing // 2:
                halfway = _resident()
        assert _resident() < halfway + _MOST_MORE
        told = {row["s"]: row for row in engine.subscribe(_ASKED).added}
        for sensor in range(_SENSORS):
            values = [value for its, value in kept if its == sensor]
            total = float(sum(map(Fraction, values)))
            assert told[urn(f"s{sensor}")] == {
                "s": urn(f"s{sensor}"),
                "sum": Literal(total),
                "mean": Literal(total / len(values)),
                "least": Literal(min(values)),
                "most": Literal(max(values)),
                "count": Literal(len(values)),
            }
        assert engine.statistics.spus["sliding"] == 1
