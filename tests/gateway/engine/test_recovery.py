"""A unit that fails costs itself a re-query: nobody is told anything else, no writer is refused.

The units here fail at random: before they begin, and when their work is done, which leaves what
they keep half changed.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from random import Random
from unittest.mock import patch

import pytest

from gateway.engine import Engine
from gateway.engine.delayed import DelayedUpdates
from gateway.engine.incremental.family import Family
from gateway.engine.incremental.unit import IncrementalUnit
from gateway.engine.join.join import JoinUnit
from gateway.engine.limits import Limits
from gateway.engine.lutt import Artq
from gateway.engine.requery import RequeryUnit
from gateway.engine.spu import Change, Spu, Unit
from gateway.engine.workers.placement import is_order_dependent
from gateway.errors import GatewayError, SubscriptionFailedError, TooManySolutionsError
from gateway.rdf.solutions import ResultsDelta
from tests.gateway.engine.engine_session import check
from tests.gateway.engine.scripts import written
from tests.gateway.engine.test_parallel import nothing_is_cheap, run
from tests.kit.worker_threads import ThreadLink

pytestmark = pytest.mark.property

UNITS = (IncrementalUnit, JoinUnit, RequeryUnit)
ROOMS = "SELECT ?room ?t { ?room <urn:t> ?t }"
WARM = "SELECT ?room (COUNT(?t) AS ?n) { ?room <urn:t> ?t FILTER(?t > 20) } GROUP BY ?room"
TWO = "SELECT DISTINCT ?a { ?a <urn:t> ?t . ?a <urn:in> ?floor }"


class DefectError(Exception):
    """What no unit should raise."""


@contextmanager
def fragile(random: Random, often: float = 0.2) -> Iterator[None]:
    """Units and families that fail so often."""

    def fail() -> None:
        if random.random() < often:
            raise DefectError

    def fragile_process(kind: type) -> Callable[[Unit, Artq], Iterable[Change]]:
        process = kind.process  # type: ignore[attr-defined]

        def failing(self: Unit, artq: Artq) -> Iterable[Change]:
            fail()
            changes = list(process(self, artq))
            if all(self.told(spu) is None for spu in self.members):
                fail()
            return changes

        return failing

    def fragile_initial(kind: type) -> Callable[[object, Spu], ResultsDelta]:
        initial = kind.initial  # type: ignore[attr-defined]

        def failing(self: object, spu: Spu) -> ResultsDelta:
            fail()
            results: ResultsDelta = initial(self, spu)
            return results

        return failing

    concerned = Family.concerned

    def fragile_concerned(self: Family, artq: Artq) -> Iterable[IncrementalUnit]:
        fail()
        return concerned(self, artq)

    with ExitStack() as patches:
        for kind in UNITS:
            patches.enter_context(patch.object(kind, "process", fragile_process(kind)))
            patches.enter_context(patch.object(kind, "initial", fragile_initial(kind)))
        patches.enter_context(patch.object(Family, "concerned", fragile_concerned))
        yield


@contextmanager
def silence() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.parametrize("often", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(12))
def test_answers_add_up_however_often_units_fail(seed: int, often: float) -> None:
    with silence(), closing(Engine.open()) as engine, fragile(Random(seed), often):
        script = written(seed)
        check(engine, script.state, script.texts, script.steps, may_fail=True)
        assert engine.statistics.failures > 0


@pytest.mark.parametrize("seed", range(12))
def test_workers_units_may_fail_too(seed: int) -> None:
    script = written(seed)
    texts = ["ASK {}" if is_order_dependent(text) else text for text in script.texts]
    with silence(), nothing_is_cheap(), fragile(Random(seed)):
        run(ThreadLink, script.state, texts, script.steps)


def failing(*_: object) -> None:
    raise DefectError


@pytest.mark.parametrize("kind", UNITS)
def test_writer_and_the_others_notice_nothing(kind: type, caplog: pytest.LogCaptureFixture) -> None:
    queries = [ROOMS, WARM, TWO, "SELECT (MAX(?t) AS ?m) { ?r <urn:t> ?t } LIMIT 1"]
    with closing(Engine.open()) as engine:
        spuids = [engine.subscribe(query).spuid for query in queries]
        with patch.object(kind, "process", failing):
            outcome = engine.update("INSERT DATA { <urn:a> <urn:t> 21 ; <urn:in> 1 }")
        assert {each.spuid for each in outcome.notifications} == set(spuids)
        assert engine.statistics.failures > 0
        assert any("DefectError" in (each.exc_text or "") for each in caplog.records)
        caplog.clear()
        outcome = engine.update("INSERT DATA { <urn:b> <urn:t> 22 ; <urn:in> 1 }")
        assert {each.spuid for each in outcome.notifications} == set(spuids)
        assert not caplog.records


@pytest.mark.parametrize("kind", UNITS)
def test_subscribe_whose_unit_fails_is_answered_all_the_same(kind: type) -> None:
    texts = [ROOMS, WARM, TWO, "SELECT ?room { ?room <urn:t> ?t } ORDER BY ?t LIMIT 1"]
    with silence(), closing(Engine.open()) as engine:
        engine.update("INSERT DATA { <urn:a> <urn:t> 21 ; <urn:in> 1 }")
        with patch.object(kind, "initial", failing):
            first = {text: engine.subscribe(text) for text in texts}
            again = {text: engine.subscribe(text) for text in texts}
            outcome = engine.update("INSERT DATA { <urn:b> <urn:t> 20.5 }")
        for text in texts:
            assert len(first[text].added) == len(again[text].added) == 1
        told = {each.spuid for each in outcome.notifications}
        assert {first[ROOMS].spuid, again[ROOMS].spuid, first[WARM].spuid} <= told
        for each in (*first.values(), *again.values()):
            engine.unsubscribe(each.spuid)
        assert nobody_is_left(engine)


def nobody_is_left(engine: Engine) -> bool:
    hits = engine.statistics.lutt_hits
    engine.update("INSERT DATA { <urn:z> <urn:t> 30 ; <urn:in> 9 }")
    return engine.statistics.lutt_hits == hits and not any(engine.statistics.spus.values())


def test_answer_too_large_leaves_no_orphan() -> None:
    limits = Limits(solutions=1)
    with closing(Engine.open(limits=limits)) as engine:
        engine.update("INSERT DATA { <urn:a> <urn:t> 21 . <urn:b> <urn:t> 22 }")
        for text in (ROOMS, WARM, TWO.replace("?a <urn:in> ?floor", "")):
            with pytest.raises(TooManySolutionsError):
                engine.subscribe(text)
        assert nobody_is_left(engine)


def test_unit_of_which_nobody_knows_what_it_told_is_ended() -> None:
    ended: list[tuple[str, GatewayError]] = []
    with silence(), closing(Engine.open()) as engine:
        engine.delivery.on_end = lambda spuid, error: ended.append((spuid, error))
        spuid = engine.subscribe(ROOMS).spuid
        with (
            patch.object(JoinUnit, "process", failing),
            patch("gateway.engine.recovery.evaluate", failing),
        ):
            engine.update("INSERT DATA { <urn:a> <urn:t> 21 }")
    assert [(each, type(error)) for each, error in ended] == [(spuid, SubscriptionFailedError)]
    assert [failed.error.code for failed in engine.delivery.failed] == ["subscription_failed"]


def test_what_cannot_be_evaluated_now_is_told_later() -> None:
    with silence(), closing(Engine.open()) as engine:
        engine.subscribe("SELECT ?r { ?r <urn:t> ?t } ORDER BY ?t LIMIT 2")
        with (
            patch("gateway.engine.requery.evaluate", failing),
            patch("gateway.engine.recovery.evaluate", failing),
        ):
            assert not engine.update("INSERT DATA { <urn:a> <urn:t> 21 }").notifications
        (told,) = engine.update("INSERT DATA { <urn:b> <urn:t> 22 }").notifications
        assert len(told.added) == 2


def test_delayed_updates_are_read_again() -> None:
    with silence(), closing(Engine.open(clock=lambda: 1)) as engine:
        with patch.object(DelayedUpdates, "process", failing):
            engine.update("INSERT DATA { <urn:a> <urn:t> 21 }", at=5)
        assert engine.waiting_delayed == 1
