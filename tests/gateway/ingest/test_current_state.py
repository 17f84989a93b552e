"""The journal position in the store: every request moves it, as the SPARQL text ADVANCE says."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from adapters.values.observation import Observation
from gateway.config.settings import SHIPPED_PROFILES
from gateway.ingest.current_state import ADVANCE, CurrentState
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Position, Record
from gateway.profiles import Profiles
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import GW, STATE_GRAPH, XSD
from gateway.store.quad_store import QuadStore
from gateway.store.update import BoundUpdate, compile_update, evaluate

IDENTITY = Identity("https://gateway.example/", "test")
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def present() -> CurrentState:
    profiles = Profiles.load((SHIPPED_PROFILES / "observations.jsap",))
    return CurrentState(ObservationTemplates(profiles, IDENTITY), IDENTITY, latest=1)


def record(sequence: int) -> Record:
    seen = Observation("urn:s", "urn:p", "urn:f", str(sequence), XSD + "decimal")
    return Record(Position(7, sequence), sequence, seen, NOW)


def state(position: str) -> Quad:
    applied = NamedNode(GW + "appliedJournal")
    return Quad(IDENTITY.node, applied, Literal(position), STATE_GRAPH)


def by_text(update: BoundUpdate) -> BoundUpdate:
    """The same by the text of the plan, as anybody would evaluate it."""
    plan, bindings = update
    assert plan.text == ADVANCE
    return compile_update(ADVANCE), bindings


@pytest.mark.parametrize("kind", ["memory", "disk"])
@pytest.mark.parametrize(
    ("stored", "before"),
    [
        ([], None),
        ([], "7-1"),
        (["7-1"], "7-1"),
        (["7-1", "7-2"], "7-1"),
        (["6-9"], "7-1"),
    ],
    ids=["first", "dropped", "there", "there already", "another's"],
)
def test_the_position_moves_as_the_text_says(
    tmp_path: Path, kind: str, stored: list[str], before: str | None
) -> None:
    store = QuadStore.open(tmp_path if kind == "disk" else None)
    store.apply(Delta(added=tuple(map(state, stored))))
    requests = present()
    requests.applied = None if before is None else Position.parse(before)
    position = requests.request([record(2)]).position
    found, expected = (evaluate(store, [each]) for each in (position, by_text(position)))
    assert found == expected
    assert requests.applied == Position(7, 2)
    store.close()


def test_a_request_begins_where_the_one_before_ended() -> None:
    store, requests = QuadStore.open(None), present()
    for sequence in (1, 2, 3):
        store.defer(evaluate(store, requests.request([record(sequence)]).updates))
    assert list(store.match(None, NamedNode(GW + "appliedJournal"), None, None)) == [state("7-3")]
    store.close()
