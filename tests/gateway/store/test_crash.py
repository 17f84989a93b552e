"""kill -9 while a disk store is being updated: each UPDATE is there whole or not at all.

A writer in a process of its own runs UPDATEs of every kind (insertions alone, text, blank nodes,
also as graphs, graphs that come, go, move and are copied) and says after each one that it is done.
After the kill the store must open and be as after some number of whole UPDATEs, at least those that
it said were done: the operating system has what a killed process wrote. Of UPDATEs that are
deferred, those since the last flush may be missing, whole ones from the end.

    python -m tests.gateway.store.test_crash FOLDER FLUSH_EVERY
"""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Quad

from gateway.engine import Engine
from tests.paths import ROOT

pytestmark = pytest.mark.alone

_FAST_ROUNDS, _LONG_ROUNDS = 3, 60


def _update(number: int) -> str:
    """The UPDATE with this number; the state tells after how many it is."""
    mark = (
        "DELETE { <urn:last> <urn:is> ?n } "
        f"INSERT {{ <urn:last> <urn:is> {number} . {_row(number)} _:new <urn:made> {number} }} "
        "WHERE { OPTIONAL { <urn:last> <urn:is> ?n } }"
    )
    match number % 7:
        case 0:
            return f"INSERT DATA {{ {_row(number)} GRAPH <urn:rows> {{ {_row(number)} }} }}"
        case 1:
            return f"{mark} ; DROP SILENT GRAPH <urn:odd> ; CREATE SILENT GRAPH <urn:even>"
        case 2:
            return (
                f"{mark} ; INSERT DATA {{ GRAPH <urn:odd> {{ {_row(number)} }} }} ; "
                "DELETE { ?s ?p ?o } INSERT { GRAPH <urn:old> { ?s ?p ?o } } "
                f"WHERE {{ ?s <urn:made> ?o ; ?p ?o FILTER(?o < {number}) }}"
            )
        case 3:
            return f"{mark} ; MOVE SILENT <urn:odd> TO <urn:even>"
        case 4:
            return f"{mark} ; COPY <urn:rows> TO <urn:copy> ; ADD DEFAULT TO <urn:even>"
        case 5:
            return f"INSERT {{ GRAPH ?s {{ ?s <urn:in> {number} }} }} WHERE {{ ?s <urn:made> ?o }}"
        case _:
            return f"{mark} ; CLEAR SILENT GRAPH <urn:copy> ; DROP SILENT GRAPH <urn:even>"


def _row(number: int) -> str:
    return "".join(f"<urn:row{number}> <urn:cell{cell}> {number} . " for cell in range(20))


def _write_for_ever(folder: Path, flush_every: int) -> None:
    """Without an interval, each UPDATE is written before the next."""
    engine = Engine.open(folder)
    number = 0
    while True:
        engine.update(_update(number), deferred=flush_every > 0)
        if flush_every and number % flush_every == 0:
            engine.flush()
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        number += 1


@contextmanager
def _writer(folder: Path, flush_every: int) -> Iterator[Popen[str]]:
    command = [
        sys.executable,
        "-m",
        "tests.gateway.store.test_crash",
        str(folder),
        str(flush_every),
    ]
    with Popen(command, stdout=PIPE, text=True, cwd=ROOT) as writer:
        try:
            yield writer
        finally:
            writer.kill()


def _killed_after(folder: Path, updates: int, bytes_more: int, flush_every: int) -> int:
    """Let the writer do some updates, kill it within a later one; how many it said were done."""
    with _writer(folder, flush_every) as writer:
        assert writer.stdout is not None
        for _ in range(updates):
            assert writer.stdout.readline()
        # The time that this takes is about that of `bytes_more` loop steps: no sleep, no clock.
        sum(range(bytes_more))
        writer.kill()
        return updates + len(writer.stdout.readlines())


Picture = tuple[Dataset, tuple[str, ...]]


def _picture(engine: Engine) -> Picture:
    quads: list[Quad] = list(engine.store.match(None, None, None, None))
    dataset = Dataset(quads)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    graphs = engine.store.named_graphs()
    names = sorted("_:" if isinstance(graph, BlankNode) else str(graph) for graph in graphs)
    return dataset, tuple(names)


def _assert_whole(folder: Path, done: int, least: int) -> None:
    """The store is as after `least` to `done` updates, or the next one, which was on its way."""
    found = _picture(Engine.open(folder))
    replayed = Engine.open()
    after = []
    for number in range(done + 1):
        if number >= least:
            after.append(_picture(replayed))
        replayed.update(_update(number))
    after.append(_picture(replayed))
    assert found in after


def _round(folder: Path, seed: int, flush_every: int = 0) -> None:
    chance = random.Random(seed)
    done = _killed_after(folder, chance.randint(1, 40), chance.randint(0, 100_000), flush_every)
    lost = (done - 1) % flush_every if flush_every and done else 0
    _assert_whole(folder, done, done - lost)


@pytest.mark.parametrize("seed", range(_FAST_ROUNDS))
def test_update_is_there_whole_or_not_at_all_after_a_kill(tmp_path: Path, seed: int) -> None:
    _round(tmp_path, seed)


@pytest.mark.parametrize("seed", range(_FAST_ROUNDS))
def test_deferred_updates_are_there_whole_up_to_some_point(tmp_path: Path, seed: int) -> None:
    _round(tmp_path, seed, flush_every=9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(_FAST_ROUNDS, _LONG_ROUNDS))
def test_update_is_whole_after_many_kills(tmp_path: Path, seed: int) -> None:
    _round(tmp_path, seed, flush_every=seed % 3 * 5)


if __name__ == "__main__":
    _write_for_ever(Path(sys.argv[1]), int(sys.argv[2]))
