"""kill -9 under UPDATEs of data and axioms: the view of the next start is the naive fixpoint.

A writer in a process of its own changes both, some of it deferred. What is derived is a function of
what is asserted, so there is nothing to repair, and nothing derived is on the disk.

    python -m tests.gateway.engine.views.test_views_crash FOLDER SEED
"""

import random
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from pyoxigraph import Quad

from gateway.engine import Engine, UpdateRequest
from gateway.rdf.namespaces import ONTOLOGY_GRAPH
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.views.reasoned import JOINT, PLAIN, PREFIXES, opened
from tests.kit.reasoning.naive import NaiveReasoner
from tests.paths import ROOT

pytestmark = pytest.mark.alone

_SCHEMA = (
    "<urn:C0> rdfs:subClassOf <urn:C1>",
    "<urn:C1> rdfs:subClassOf <urn:C2>",
    "<urn:p> rdfs:domain <urn:C0>",
    "<urn:p> owl:inverseOf <urn:q>",
    "<urn:q> a owl:TransitiveProperty",
)


def _some(chance: random.Random) -> str:
    """An UPDATE of one axiom, or of some data."""
    verb = chance.choice(["INSERT", "INSERT", "DELETE"])
    if chance.random() < 0.3:
        graph, triples = ONTOLOGY_GRAPH.value, chance.choice(_SCHEMA)
    else:
        graph = chance.choice(["urn:g", "urn:h"])
        nodes = [f"<urn:n{chance.randrange(8)}>" for _ in range(6)]
        kinds = [f"{node} a <urn:C{chance.randrange(3)}>" for node in nodes[:2]]
        triples = " . ".join(
            [*kinds, *(f"{nodes[at]} <urn:{'pq'[at % 2]}> {nodes[at + 1]}" for at in (2, 3, 4))]
        )
    return f"{PREFIXES}{verb} DATA {{ GRAPH <{graph}> {{ {triples} }} }}"


def _write_for_ever(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    engine = opened(JOINT if seed % 2 else PLAIN, folder)
    while True:
        engine.update(UpdateRequest(_some(chance), is_deferred=chance.random() < 0.5))
        if chance.random() < 0.2:
            engine.flush()
        sys.stdout.write("done\n")
        sys.stdout.flush()


def _killed(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    module = "tests.gateway.engine.views.test_views_crash"
    command = [sys.executable, "-m", module, str(folder), str(seed)]
    with Popen(command, stdout=PIPE, text=True, cwd=ROOT) as writer:
        try:
            assert writer.stdout is not None
            for _ in range(chance.randint(1, 200)):
                assert writer.stdout.readline() == "done\n"
            # The time that this takes: no sleep, no clock.
            sum(range(chance.randint(0, 300_000)))
        finally:
            writer.kill()


def _derived(engine: Engine) -> set[Quad]:
    assert engine.reasoner is not None
    return set(engine.reasoner.derived.match(None, None, None, None))


def _started_again(folder: Path, seed: int) -> int:
    """How much follows; asserts that it is what follows from what is asserted."""
    with_nothing = QuadStore.open(folder)
    asserted = set(with_nothing.match(None, None, None, None))
    with_nothing.close()
    engine = opened(JOINT if seed % 2 else PLAIN, folder)
    assert set(engine.store.match(None, None, None, None)) == asserted
    assert engine.view is not None
    naive = NaiveReasoner(engine.store, engine.view.domains, bound=10_000)
    naive.start()
    derived = _derived(engine)
    assert derived == set(naive.derived.match(None, None, None, None))
    assert not derived & asserted
    engine.close()
    return len(derived)


def test_the_view_after_a_kill_follows_from_what_is_asserted(tmp_path: Path) -> None:
    _killed(tmp_path, 1)
    _started_again(tmp_path, 1)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_view_after_twenty_kills_follows_from_what_is_asserted(tmp_path: Path) -> None:
    """On two folders that go on where they were."""
    found = 0
    for seed in range(20):
        folder = tmp_path / str(seed % 2)
        _killed(folder, seed)
        found += _started_again(folder, seed)
    assert found > 0


if __name__ == "__main__":
    _write_for_ever(Path(sys.argv[1]), int(sys.argv[2]))
