"""The city has the shape of the paper's Tables 2 and 3."""

import json
from collections import Counter
from functools import cache

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Store

from bench.city import experiments
from bench.city.profile import Lamps, Model, Profile, Update
from bench.city.streets import (
    CITY,
    ROADS,
    UROAD_TEMPLATE,
    city,
    lamp_iri,
    posts,
    road_iri,
    slamp,
    sroad,
    ulamp,
    uroad,
)
from bench.city.ways import WAYS
from bench.command import run
from gateway.engine import Engine
from gateway.engine.compile import TierCompiler
from gateway.engine.spu import Subject
from gateway.rdf.delta import Delta
from gateway.rdf.terms import Term
from gateway.store.quad_store import QuadStore

DIMMING_VALUE = NamedNode(CITY + "hasDimmingValue")


FEW = 4
JSON_MEMBERS = {
    "experiment",
    "updates",
    "subscriptions",
    "notifications",
    "lutt_hit_rate_percent",
    "kpi",
    "e2e_raw",
    "components_ms",
    "cpu_ms_per_update",
    "memory_bytes",
    "versions",
}


@cache
def quads() -> frozenset[Quad]:
    """The whole city, made when the first test looks at it."""
    return frozenset(city())


def of_predicate(name: str) -> list[Quad]:
    return [quad for quad in quads() if quad.predicate.value == CITY + name]


def loaded() -> Store:
    store = Store()
    store.bulk_extend(quads())
    return store


def test_city_has_334_thousand_triples_and_35_a_post() -> None:
    assert len(quads()) == sum(1 for _ in city()) == 333_740
    assert len(quads()) == 9_500 * 35 + ROADS * 4


def test_roads_have_as_many_posts_as_table_2_says() -> None:
    connected = Counter(quad.subject for quad in of_predicate("isConnectedTo"))
    assert Counter(connected.values()) == {10: 100, 25: 100, 50: 100, 100: 10}
    assert sum(map(posts, range(1, ROADS + 1))) == 9_500


def test_every_post_has_a_lamp_and_two_sensors() -> None:
    assert len(of_predicate("hasLamp")) == len(of_predicate("hasDimmingValue")) == 9_500
    assert set(Counter(quad.subject for quad in of_predicate("hasSensor")).values()) == {2}
    assert len(of_predicate("hasTimeStamp")) == 19_000


def test_every_update_of_a_lamp_changes_its_value() -> None:
    assert all(quad.object.value != "100" for quad in of_predicate("hasDimmingValue"))  # type: ignore[union-attr]
    store = loaded()
    store.update(ulamp(301, 100))
    assert len(store) == len(quads())
    lamp = NamedNode(lamp_iri(301, 100))
    values = [quad.object for quad in store.quads_for_pattern(lamp, DIMMING_VALUE, None, None)]
    assert values == [Literal("100")]


def test_subscription_profile_has_1000_fine_and_4_coarse() -> None:
    subscriptions = [lamps.select for lamps in Profile("lamp").subscriptions]
    assert len(set(subscriptions)) == len(subscriptions) == 1_004
    compiler = TierCompiler(QuadStore.open(None))
    tiers = Counter(compiler.place(Subject(text)).unit.tier for text in subscriptions)
    assert tiers == {"single pattern": 1_000, "booster": 4}
    assert subscriptions[-4:] == list(map(sroad, (6, 105, 204, 308)))


def test_coarse_subscription_selects_every_lamp_of_its_road() -> None:
    store = loaded()
    assert [len(list(store.query(sroad(road)))) for road in (6, 308)] == [10, 100]  # type: ignore[arg-type]
    assert len(list(store.query(slamp(307, 100)))) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "notifications", "hits", "triples"),
    [("lamp", 23, 1259, 310), ("road", 1004, 2240, 9500)],
)
def test_profiles_concern_as_many_as_the_paper_says(
    name: str, notifications: int, hits: int, triples: int
) -> None:
    profile = Profile(name)
    assert profile.notifications() == notifications
    assert sum(profile.lutt_columns()) == hits
    updates = profile.updates("100")
    assert len({update.text for update in updates}) == ROADS
    assert sum(len(update.lamps.each()) for update in updates) == triples


def test_few_roads_are_of_every_size_and_some_are_watched() -> None:
    profile = Profile("road", 8)
    assert {posts(road) for road in profile.streets} == {10, 25, 50, 100}
    assert sum(lamps.post is None for lamps in profile.subscriptions) == 4
    assert len(profile.subscriptions) > 4


def test_uroad_by_text_and_by_template_do_the_same() -> None:
    engine = Engine.open()
    engine.store.apply(Delta(added=tuple(city({6, 7}))))
    by_text = engine.update(uroad(6, "100")).delta
    bindings: dict[str, Term] = {"road": NamedNode(road_iri(7)), "value": Literal("100")}
    by_template = engine.update(engine.prepare(UROAD_TEMPLATE), bindings).delta
    assert len(by_text.added) == len(by_template.removed) == 10
    assert {quad.subject.value for quad in by_text.added} == {lamp_iri(6, n) for n in range(1, 11)}  # type: ignore[union-attr]


def test_model_tells_old_and_new_value_to_every_watcher() -> None:
    model = Model([Lamps(1, 1), Lamps(1), Lamps(2)])
    update = Update(0, Lamps(1, 1), "100")
    assert sorted(model.rows([update])) == [
        "0 0 + 100 at 100",
        "0 0 - 8 at 100",
        f"0 1 + {lamp_iri(1, 1)} 100 at 100",
        f"0 1 - {lamp_iri(1, 1)} 8 at 100",
    ]
    assert sorted(model.rows([Update(1, Lamps(1, 1), "101")]))[1] == "1 0 - 100 at 101"


@pytest.mark.parametrize("name", ["lamp", "road"])
def test_every_way_finds_the_rows_of_the_model(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name, "--roads", f"{FEW}", "--rounds", "2", "--json"]) == 0
    (found,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert found["matches"]
    assert set(found) >= JSON_MEMBERS
    assert found["experiment"] == name
    assert found["updates"] == FEW
    assert found["cpu_ms_per_update"].keys() == WAYS.keys()
    assert all(spent > 0 for spent in found["cpu_ms_per_update"].values())
    assert found["kpi"].keys() == {"ups", "sps", "tps", "nl_min_ms", "nl_max_ms", "e2e"}
    assert found["kpi"]["nl_min_ms"] <= found["kpi"]["nl_max_ms"]
    components = found["components_ms"]
    assert components.keys() == {
        "update",
        "reason",
        "lutt",
        "booster",
        "notify",
        "overhead",
    }
    assert found["kpi"]["ups"] == pytest.approx(
        1000 / (sum(components.values()) - components["overhead"])
    )


def test_run_mismatches_when_the_rows_are_not_those_of_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Model, "rows", lambda *_: ["something else"])
    (outcome,) = experiments.measure("lamp", FEW, 1)
    assert not outcome.matches  # type: ignore[union-attr]


def test_clips_is_left_out_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(experiments, "is_installed", lambda: False)
    assert run(["lamp", "--roads", f"{FEW}", "--rounds", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["matches"]
    assert found["cpu_ms_per_update"].keys() == WAYS.keys() - {"clips", "clips_text"}
