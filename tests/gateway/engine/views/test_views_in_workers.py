"""Workers of either view: each has the quads of one, and both tell what one process would tell."""

from collections.abc import Mapping, Sequence

import pytest
from pyoxigraph import NamedNode

from gateway.engine import Engine, EngineOptions, Notification, Outcome, UpdateRequest
from gateway.engine.request import DueTime, Update
from gateway.engine.workers import placement, worker
from gateway.rdf.rights import Rights
from gateway.rdf.terms import Term
from gateway.reasoning.domains import Domains
from gateway.reasoning.reasoning import Reasoning
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.engine_session import check
from tests.gateway.engine.views.reasoned import (
    ABOVE,
    MEMBERS,
    PLAIN,
    answered,
    axioms,
    subscribed,
    told,
)
from tests.gateway.engine.views.test_views_oracle import scripted
from tests.kit.worker_threads import ThreadLink


@pytest.fixture(autouse=True)
def _nothing_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "_CHEAP", frozenset())
    monkeypatch.setattr(worker, "_DEATHS", 1000)


class Drained(Engine):
    """Has in an Outcome what the listener was told of by workers too."""

    heard: list[Notification]

    @classmethod
    def of(cls, domains: Domains, launch: type[ThreadLink] | None = None) -> "Drained":
        heard: list[Notification] = []
        options = EngineOptions(
            launch=launch or ThreadLink, reasoning=Reasoning(domains, at_once=False)
        )
        engine = cls(QuadStore.open(None), 1, options=options, on_notification=heard.append)
        engine.heard = heard
        return engine

    def update(
        self,
        update: Update | UpdateRequest,
        bindings: Mapping[str, Term] | None = None,
        *,
        using_graphs: Sequence[NamedNode] = (),
        using_named_graphs: Sequence[NamedNode] = (),
        rights: Rights | None = None,
        at: DueTime | None = None,
        deferred: bool = False,
    ) -> Outcome:
        outcome = super().update(update)
        self.drain()
        notifications = tuple(self.heard)
        self.heard.clear()
        return outcome._replace(notifications=notifications)


@pytest.mark.property
@pytest.mark.parametrize("seed", range(5))
def test_script_adds_up_to_the_answers_on_either_view(seed: int) -> None:
    domains, script = scripted(100 + seed)
    engine = Drained.of(domains)
    check(engine, script.state, script.texts, script.steps, before=engine.start_reasoning)


def test_each_view_has_workers_of_its_own() -> None:
    engine = Drained.of(PLAIN)
    engine.start_reasoning()
    first, plain = subscribed(engine), subscribed(engine, infer=False)
    assert engine.view is not None
    assert engine.workers is not None
    assert engine.view.workers is not None
    assert (engine.workers.statistics.spus, engine.view.workers.statistics.spus) == (1, 0)
    engine.update("INSERT DATA { <urn:x> a <urn:A> }")
    assert told(engine.update(axioms(ABOVE)), first) == ({"x"}, set())
    assert (engine.workers.statistics.spus, engine.view.workers.statistics.spus) == (1, 1)
    outcome = engine.update("INSERT DATA { <urn:y> a <urn:B> }")
    assert told(outcome, first) == told(outcome, plain) == ({"y"}, set())
    assert told(engine.update(axioms(ABOVE, "DELETE DATA")), first) == (set(), {"x"})
    assert (engine.workers.statistics.spus, engine.view.workers.statistics.spus) == (1, 0)
    engine.close()


def test_a_worker_of_the_entailed_view_that_dies_is_filled_from_it() -> None:
    engine = Drained.of(PLAIN)
    engine.start_reasoning()
    engine.update(axioms(ABOVE))
    engine.update("INSERT DATA { <urn:x> a <urn:A> . <urn:x> <urn:p> 1 }")
    text = "SELECT ?s (COUNT(?o) AS ?n) { ?s a <urn:B> OPTIONAL { ?s <urn:p> ?o } } GROUP BY ?s"
    first = subscribed(engine, text)
    assert len(first.added) == 1
    assert engine.view is not None
    assert engine.view.workers is not None
    (dying,) = engine.view.workers
    dying.link.kill()
    outcome = engine.update("INSERT DATA { <urn:y> a <urn:A> }")
    assert engine.view.workers.restarts == 1
    assert [each.spuid for each in outcome.notifications] == [first.spuid]
    assert answered(engine, MEMBERS) == {"x", "y"}
    engine.close()
