"""The city has the shape of the paper's Tables 2 and 3."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad, Store

from gateway.bench.city import (
    CITY,
    ROADS,
    city,
    lamp_iri,
    lamp_profile,
    posts,
    slamp,
    sroad,
    subscription_profile,
    ulamp,
)
from gateway.bench.city_run import Profile, run_city
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import single_pattern

QUADS = frozenset(city())
DIMMING_VALUE = NamedNode(CITY + "hasDimmingValue")


def few_roads() -> Iterator[Quad]:
    return islice(city(), 10_000)


def of_predicate(name: str) -> list[Quad]:
    return [quad for quad in QUADS if quad.predicate.value == CITY + name]


def loaded() -> Store:
    store = Store()
    store.bulk_extend(QUADS)
    return store


def test_city_has_334_thousand_triples_and_35_a_post() -> None:
    assert len(QUADS) == sum(1 for _ in city()) == 333_740
    assert len(QUADS) == 9_500 * 35 + ROADS * 4


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
    assert len(store) == len(QUADS)
    lamp = NamedNode(lamp_iri(301, 100))
    values = [quad.object for quad in store.quads_for_pattern(lamp, DIMMING_VALUE, None, None)]
    assert values == [Literal("100")]


def test_subscription_profile_has_1000_fine_and_4_coarse() -> None:
    subscriptions = subscription_profile()
    assert len(set(subscriptions)) == len(subscriptions) == 1_004
    singles = [single_pattern(parse_query(text)) is not None for text in subscriptions]
    assert sum(singles) == 1_000
    assert subscriptions[-4:] == tuple(map(sroad, (6, 105, 204, 308)))


def test_coarse_subscription_selects_every_lamp_of_its_road() -> None:
    store = loaded()
    assert [len(list(store.query(sroad(road)))) for road in (6, 308)] == [10, 100]  # type: ignore[arg-type]
    assert len(list(store.query(slamp(307, 100)))) == 1  # type: ignore[arg-type]


def test_lamp_profile_updates_one_lamp_of_every_road_with_texts_of_its_own() -> None:
    assert len(set(lamp_profile())) == ROADS


def test_run_matches_the_reference_on_a_few_subscriptions() -> None:
    updates = [ulamp(1, 1), ulamp(2, 1), ulamp(6, 3)]
    experiment = run_city(
        Profile("few", [slamp(1, 1), slamp(9, 1), sroad(6)], updates, 2, "44.44%")
    )
    assert experiment.matches


def test_run_mismatches_when_more_notifications_were_expected() -> None:
    experiment = run_city(Profile("few", [slamp(1, 1)], [ulamp(1, 1)], 2, "100.00%"), few_roads)
    assert not experiment.matches
