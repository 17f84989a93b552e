"""kill -9 while UPDATEs are delayed and executed: each that was accepted is executed exactly once.

A writer in a process of its own delays UPDATEs that count how often they are executed, and executes
those that are due. After the kill the store is opened again and the rest is executed.

    python -m tests.gateway.engine.test_delayed_crash FOLDER
"""

import random
import sys
from collections import Counter
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions

from gateway.engine import Engine
from tests.paths import ROOT

pytestmark = pytest.mark.alone


def _count_up(number: int) -> str:
    node = f"<urn:update{number}>"
    return (
        f"DELETE {{ {node} <urn:ran> ?n }} INSERT {{ {node} <urn:ran> ?m }} WHERE {{ "
        f"OPTIONAL {{ {node} <urn:ran> ?n }} BIND(COALESCE(?n, 0) + 1 AS ?m) }}"
    )


def _write_for_ever(folder: Path) -> None:
    now = [0]
    engine = Engine.open(folder, clock=lambda: now[0])
    number = 0
    while True:
        for _ in range(3):
            engine.update(_count_up(number), at=now[0] + number % 5)
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
            number += 1
        now[0] += 1
        while engine.run_due() is not None:
            pass


def _accepted_until_killed(folder: Path, least: int, steps_more: int) -> set[int]:
    command = [sys.executable, "-m", "tests.gateway.engine.test_delayed_crash", str(folder)]
    root = ROOT
    with Popen(command, stdout=PIPE, text=True, cwd=root) as writer:
        try:
            assert writer.stdout is not None
            lines = [writer.stdout.readline() for _ in range(least)]
            # The time that this takes: no sleep, no clock.
            sum(range(steps_more))
        finally:
            writer.kill()
        return {int(line) for line in (*lines, *writer.stdout.readlines()) if line.endswith("\n")}


def _runs(engine: Engine) -> Counter[int]:
    runs: Counter[int] = Counter()
    found = engine.query("SELECT ?u ?n { ?u <urn:ran> ?n }")
    assert isinstance(found, QuerySolutions)
    for row in found:
        update, times = row["u"], row["n"]
        assert isinstance(update, NamedNode)
        assert isinstance(times, Literal)
        runs[int(update.value.removeprefix("urn:update"))] += int(times.value)
    return runs


@pytest.mark.parametrize("seed", range(3))
def test_accepted_update_is_executed_exactly_once_whatever_is_killed(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    accepted = _accepted_until_killed(tmp_path, chance.randint(1, 60), chance.randint(0, 300_000))
    engine = Engine.open(tmp_path, clock=lambda: 10**9)
    waiting = engine.waiting_delayed
    while engine.run_due() is not None:
        pass
    runs = _runs(engine)
    assert set(runs.values()) == {1}
    assert accepted <= set(runs)
    assert len(set(runs) - accepted) <= 1
    assert engine.statistics.delayed_late == waiting
    engine.close()


if __name__ == "__main__":
    _write_for_ever(Path(sys.argv[1]))
