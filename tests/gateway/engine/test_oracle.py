"""The oracle engine beside the real one: the same requests, the same notifications.

`Engine.open(oracle=True)` evaluates every query again after every UPDATE. Both engines get the
same texts; UPDATEs that would make blank nodes, which are fresh in each store, are not drawn.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from gateway.engine import Engine, Notification
from gateway.errors import GatewayError
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import SolutionBag
from tests.gateway.engine.engine_strategies import State, plain_requests, queries, states

pytestmark = pytest.mark.property

_GRAPHS = (NamedNode("urn:g"), NamedNode("urn:h"))
datasets = st.sampled_from([((), ())] * 3 + [((), _GRAPHS[:1]), (_GRAPHS[1:], _GRAPHS[:1])])
subscribed = st.lists(st.tuples(queries(), datasets), min_size=1, max_size=6)


@dataclass(frozen=True, slots=True)
class Told:
    """What a notification says, the names that the engine gave left out."""

    alias: str | None
    sequence: int
    form: str
    variables: tuple[str, ...]
    added: SolutionBag
    removed: SolutionBag

    def __hash__(self) -> int:
        return hash((self.alias, self.sequence))


def told(notifications: Sequence[Notification]) -> set[Told]:
    return {
        Told(
            each.alias,
            each.sequence,
            each.form,
            each.results.variables,
            Counter(each.results.added),
            Counter(each.results.removed),
        )
        for each in notifications
    }


def filled(engine: Engine, state: State) -> Engine:
    quads = tuple(dict.fromkeys(map(canonical_quad, state.quads)))
    engine.store.apply(Delta(added=quads, graphs_created=state.graphs))
    return engine


def run(engine: Engine, text: str, deferred: bool) -> set[Told] | None:
    try:
        return told(engine.update(text, deferred=deferred).notifications)
    except GatewayError:
        return None


@settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    states,
    subscribed,
    st.lists(st.tuples(plain_requests(most=2), st.booleans()), min_size=1, max_size=6),
)
def test_engine_tells_what_the_oracle_tells(
    state: State,
    wanted: list[tuple[str, tuple[tuple[NamedNode, ...], tuple[NamedNode, ...]]]],
    updates: list[tuple[str, bool]],
) -> None:
    engine, oracle = (filled(Engine.open(oracle=oracle), state) for oracle in (False, True))
    for number, (text, (default, named)) in enumerate(wanted):
        first, expected = (
            each.subscribe(
                text, default_graphs=default, named_graphs=named, alias=f"query {number}"
            )
            for each in (engine, oracle)
        )
        assert told([first]) == told([expected])
    for text, deferred in updates:
        assert run(engine, text, deferred) == run(oracle, text, False), text


def test_oracle_evaluates_every_query_again() -> None:
    engine = Engine.open(oracle=True)
    engine.subscribe("SELECT * { ?s <urn:p> ?o }")
    engine.subscribe("SELECT * { ?s <urn:p> ?o . ?o <urn:q> ?z }")
    assert engine.statistics.spus == {"requery": 2}
    engine.update("INSERT DATA { <urn:s> <urn:nobody-asks> 1 }")
    assert engine.statistics.lutt_hits == 2
