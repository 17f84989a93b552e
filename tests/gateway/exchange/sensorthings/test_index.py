"""The index, told of each change, is what it would be if it were made anew."""

import random

import pytest

from gateway.engine import Engine
from gateway.exchange.sensorthings.answering import Answering
from gateway.exchange.sensorthings.entities import Entities
from gateway.exchange.sensorthings.index import Index
from gateway.exchange.sensorthings.model import TYPES, Set
from gateway.exchange.sensorthings.relations import many_of, one_of
from gateway.exchange.sensorthings.url.options_parser import parse_options
from tests.gateway.exchange.sensorthings.world import followed, indexed, update_of


def everything(index: Index) -> dict[str, list[str]]:
    """Every entity as it is told, with where its navigations lead."""
    entities = Entities(index, "http://localhost/sta/v1.1")
    told: dict[str, list[str]] = {}
    for of in Set:
        keys, by_id = index.listed(of)
        assert set(by_id.values()) == set(keys)
        told[of.value] = []
        for key in keys:
            assert index.find(of, index.id_of(of, key)) == key
            related = [
                many_of(index, of, key, name) if led.is_many else one_of(index, key, name)
                for name, led in TYPES[of].related.items()
            ]
            told[of.value].append(f"{entities.text(of, key)} {related}")
    return told


@pytest.mark.property
@pytest.mark.parametrize("seed", range(6))
def test_followed_through_random_changes_it_is_as_made_anew(seed: int) -> None:
    engine, chance = Engine.open(), random.Random(seed)
    index = followed(engine)
    for step in range(6):
        text = update_of(100 * seed + step, streams=6)
        if chance.random() < 0.5:
            engine.update(text)
        else:
            some = chance.choice(
                (
                    "?s sosa:isHostedBy ?o",
                    "?s rdfs:label ?o",
                    "?s a sosa:Observation",
                    "?s qudt:hasUnit ?o",
                    "?s gw:ofSensor ?o",
                    "?s geo:asWKT ?o",
                    "?s sosa:resultTime ?o",
                    "?s a sosa:Platform",
                )
            )
            prologue = text.partition("INSERT")[0]
            engine.update(f"{prologue} DELETE WHERE {{ {some} }}")
        assert everything(index) == everything(indexed(engine))
    engine.update("DELETE WHERE { ?s ?p ?o }")
    assert not any(everything(index).values())
    engine.close()


def test_ten_thousand_streams_of_one_property_are_taken_up_in_linear_time() -> None:
    """Each notification touches what it is about: no list is made anew for each stream."""
    engine = Engine.open()
    index = followed(engine)
    told = [
        f"<urn:st:{n}> gw:ofSensor <urn:s:{n}> ; gw:ofProperty <urn:p> ; gw:ofFeature <urn:f> . "
        f"<urn:s:{n}> sosa:isHostedBy <urn:t> ."
        for n in range(3_000)
    ]
    prologue = update_of(0).partition("INSERT")[0]
    engine.update(f"{prologue} INSERT DATA {{ {' '.join(told)} }}")
    streams = index.streams_of(Set.THINGS, "urn:t")
    assert len(streams) == 3_000
    assert list(streams) == sorted(streams, key=lambda key: index.id_of(Set.DATASTREAMS, key))
    assert index.streams_of(Set.THINGS, "urn:f") == ()
    engine.close()


def test_a_page_of_an_index_is_that_of_its_order() -> None:
    engine = Engine.open()
    engine.update(update_of(7))
    index = indexed(engine)
    entities = Entities(index, "http://localhost/sta/v1.1")

    def nobody(_: object) -> dict[object, list[object]]:
        raise AssertionError("the store is not asked")

    answering = Answering(index, entities, nobody)  # type: ignore[arg-type]
    for of in Set:
        whole = answering.page(of, None, parse_options("$top=1000&$count=true"))
        assert whole.total == len(whole.keys)
        ids = [index.id_of(of, key) for key in whole.keys]
        for skip in range(0, len(ids) + 2, 3):
            page = answering.page(of, None, parse_options(f"$top=3&$skip={skip}"))
            assert [index.id_of(of, key) for key in page.keys] == ids[skip : skip + 3]
            assert page.has_more == (skip + 3 < len(ids))
        ordered = answering.page(of, None, parse_options("$orderby=id desc&$top=1000"))
        assert [index.id_of(of, key) for key in ordered.keys] == sorted(ids, reverse=True)
        wanted = " or ".join(f"id eq '{each}'" for each in [*ids[:2], "no"]) or "id eq 'no'"
        named = answering.page(of, None, parse_options(f"$filter={wanted}"))
        assert {index.id_of(of, key) for key in named.keys} == set(ids[:2])
    engine.close()
