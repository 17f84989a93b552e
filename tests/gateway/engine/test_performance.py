"""Where an UPDATE's time goes: components add up, KPIs are those of the paper's Table 1."""

from collections.abc import Callable, Iterator
from itertools import accumulate, cycle

import pytest
from prometheus_client import generate_latest

from gateway.engine import Engine
from gateway.engine.measures import performance_measures
from gateway.engine.options import EngineOptions
from gateway.engine.performance import Components, Kpi, LuttColumn, Performance
from gateway.errors import SparqlSyntaxError
from gateway.runtime.metrics import Measures
from gateway.store.quad_store import QuadStore

ONE = "SELECT ?o { <urn:s> <urn:p> ?o }"
JOIN = "SELECT ?o ?t { <urn:s> <urn:p> ?o . ?o <urn:q> ?t }"
OTHER = "SELECT ?o { <urn:other> <urn:p> ?o }"


def ticking(*steps: int) -> Callable[[], int]:
    """A clock that goes on by these steps, over and over."""
    readings: Iterator[int] = accumulate(cycle(steps))
    return lambda: next(readings)


def engine_with(performance: Performance, *queries: str) -> Engine:
    engine = Engine(QuadStore.open(None), options=EngineOptions(performance=performance))
    for query in queries:
        engine.subscribe(query)
    return engine


def test_components_add_up_to_what_has_elapsed() -> None:
    performance = Performance(ticking(1000), reading=100)
    engine = engine_with(performance, ONE, OTHER)
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    assert performance.totals == Components(900, 900, 900, 900, 400)
    assert performance.totals.elapsed == 4000
    assert performance.totals.total == 3600
    assert list(performance.recent) == [performance.totals]


def test_kpis_are_those_of_table_1() -> None:
    performance = Performance(ticking(1_000_000), reading=0)
    engine = engine_with(performance, ONE, OTHER)
    engine.update("INSERT DATA { <urn:s> <urn:p> 1, 2 }")
    # T_UPDATE, T_LUTT, T_BOOSTER and T_NOTIFY are 1 ms each.
    assert performance.kpi(subscriptions=2) == Kpi(
        ups=250, sps=500, tps=1000, nl_min_ms=3, nl_max_ms=3, e2e=3
    )


def test_latencies_are_of_the_quickest_spu_and_of_the_slowest_update() -> None:
    # Readings: begin, stored 1, matched 2, two units 3 and 4, end 5.
    performance = Performance(ticking(0, 1, 2, 3, 4, 5), reading=0)
    engine = engine_with(performance, ONE, "SELECT ?s { ?s <urn:p> ?o }")
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    kpi = performance.kpi(subscriptions=2)
    assert kpi.nl_min_ms * 1e6 == 2 + 3 + 5 // 2
    assert kpi.nl_max_ms * 1e6 == 2 + 3 + 4 + 5


def test_an_spu_that_finds_nothing_is_no_notification() -> None:
    performance = Performance(ticking(1000), reading=0)
    engine = engine_with(performance, JOIN)
    engine.update("INSERT DATA { <urn:s> <urn:p> <urn:o> }")
    assert performance.totals.booster == 1000
    assert performance.kpi(1).nl_min_ms == performance.kpi(1).nl_max_ms == 0


def test_lutt_hit_rate_is_of_pairs_of_update_and_spu() -> None:
    performance = Performance()
    engine = engine_with(performance, ONE, OTHER)
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    engine.update("INSERT DATA { <urn:nobody> <urn:p> 1 }")
    assert performance.lutt_hit_rate == pytest.approx(1 / 4)


def test_lutt_columns_are_of_every_spu_since_it_is_there() -> None:
    performance = Performance()
    engine = engine_with(performance, ONE)
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    engine.update("INSERT DATA { <urn:nobody> <urn:p> 1 }")
    last = engine.subscribe(OTHER)
    engine.update("INSERT DATA { <urn:s> <urn:p> 2 . <urn:other> <urn:p> 2 }")
    assert performance.lutt_columns() == [LuttColumn(ONE, 2, 1), LuttColumn(OTHER, 1, 0)]
    performance.reset()
    engine.unsubscribe(last.spuid)
    engine.update("INSERT DATA { <urn:nobody> <urn:p> 2 }")
    assert performance.lutt_columns() == [LuttColumn(ONE, 0, 1)]


def test_update_without_effect_is_all_t_update() -> None:
    performance = Performance(ticking(1000), reading=0)
    engine_with(performance).update("DELETE DATA { <urn:s> <urn:p> 1 }")
    assert performance.totals == Components(update=1000)


def test_update_that_fails_counts_nothing() -> None:
    performance = Performance()
    engine = engine_with(performance)
    with pytest.raises(SparqlSyntaxError):
        engine.update("INSERT NOTHING")
    assert performance.updates == 0
    assert performance.totals == Components()


def test_only_the_last_updates_are_kept_one_by_one() -> None:
    performance = Performance(keep=2)
    engine = engine_with(performance)
    for number in range(3):
        engine.update(f"INSERT DATA {{ <urn:s> <urn:p> {number} }}")
    assert performance.updates == 3
    assert len(performance.recent) == 2


def test_reset_begins_anew() -> None:
    performance = Performance()
    engine = engine_with(performance, ONE)
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    performance.reset()
    assert performance.kpi(1) == Kpi()
    assert performance.lutt_hit_rate == 0


@pytest.mark.parametrize("lutt", [True, False])
def test_notifications_are_the_same_without_lutt(lutt: bool) -> None:
    engine = Engine.open(lutt=lutt)
    names = {engine.subscribe(query).spuid: query for query in (ONE, JOIN, OTHER)}
    outcome = engine.update("INSERT DATA { <urn:s> <urn:p> <urn:o> . <urn:o> <urn:q> 1 }")
    assert {names[each.spuid] for each in outcome.notifications} == {ONE, JOIN}
    assert engine.statistics.lutt_misses == (1 if lutt else 0)


def test_metrics_tell_components_and_kpis() -> None:
    engine = engine_with(Performance(ticking(1_000_000), reading=0), ONE, OTHER)
    engine.update("INSERT DATA { <urn:s> <urn:p> 1, 2 }")
    text = generate_latest(Measures(performance_measures(engine)).registry).decode()
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert samples["sosa_gateway_updates_timed_total"] == "1.0"
    assert samples['sosa_gateway_update_seconds_total{component="booster"}'] == "0.001"
    assert samples['sosa_gateway_kpi{indicator="sps"}'] == "500.0"
    assert samples["sosa_gateway_lutt_hit_rate"] == "0.5"


def test_metrics_of_an_engine_that_is_not_measured_are_none() -> None:
    assert performance_measures(Engine.open()) == ()
