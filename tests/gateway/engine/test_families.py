"""Families: queries of the incremental tier that differ in constants share the search for whom a
change concerns."""

import pytest

from gateway.engine import Engine
from gateway.engine.incremental import family
from gateway.rdf.namespaces import XSD

OF_ROOM = (
    "SELECT ?s ?v {{ <urn:room{0}> <urn:has> ?s . ?s <urn:reads> ?v "
    "OPTIONAL {{ ?s <urn:at> ?t }} }}"
)
SAME = (
    "SELECT ?s ?v {{ ?r <urn:has> ?s . ?s <urn:reads> ?v "
    "FILTER(?r = <urn:room{0}>) FILTER(?v > 0) }}"
)


def _rooms(number: int) -> Engine:
    """As many rooms, each with one sensor that reads 1."""
    engine = Engine.open()
    data = (
        f"<urn:room{n}> <urn:has> <urn:s{n}> . <urn:s{n}> <urn:reads> 1 ." for n in range(number)
    )
    engine.update(f"INSERT DATA {{ {' '.join(data)} }}")
    return engine


def _read(sensor: int, value: int) -> str:
    old, new = (f"<urn:s{sensor}> <urn:reads> {each}" for each in ("?v", value))
    return f"DELETE {{ {old} }} INSERT {{ {new} }} WHERE {{ {old} }}"


def _processed(engine: Engine, query: str) -> list[int]:
    return [engine.explain(query.format(room)).costs.updates for room in range(8)]


@pytest.mark.parametrize("query", [OF_ROOM, SAME])
def test_only_the_member_concerned_is_asked(query: str) -> None:
    engine = _rooms(8)
    spuids = [engine.subscribe(query.format(room)).spuid for room in range(8)]
    outcome = engine.update(_read(3, 2))
    assert [each.spuid for each in outcome.notifications] == [spuids[3]]
    assert _processed(engine, query) == [0, 0, 0, 1, 0, 0, 0, 0]
    assert [engine.explain(query.format(room)).hits for room in range(8)] == [1] * 8
    assert "one of 8 of a family" in str(engine.explain(query.format(3)))


def test_a_change_that_moves_a_sensor_concerns_both_rooms() -> None:
    engine = _rooms(8)
    spuids = [engine.subscribe(SAME.format(room)).spuid for room in range(8)]
    moved = engine.update(_move(1, 1, 2))
    told = {each.spuid: each for each in moved.notifications}
    assert list(told) == [spuids[1], spuids[2]]
    assert (len(told[spuids[1]].removed), len(told[spuids[2]].added)) == (1, 1)


def test_few_members_are_asked_one_by_one() -> None:
    engine = _rooms(family.FEWEST_ROUTED)
    for room in range(family.FEWEST_ROUTED - 1):
        engine.subscribe(OF_ROOM.format(room))
    engine.update(_read(0, 2))
    assert engine.explain(OF_ROOM.format(1)).costs.updates == 1


def test_what_a_member_was_not_shown_does_not_make_it_wrong_later() -> None:
    """What it has found of the rest of a solution rests on quads whose change nobody saw."""
    query = (
        "SELECT * { ?z <urn:r> <urn:c%d> GRAPH ?g { ?x <urn:p> ?z } ?x <urn:q> ?y "
        "OPTIONAL { ?y <urn:o> ?w } }"
    )
    engine = Engine.open()
    spuid, *_ = [engine.subscribe(query % each).spuid for each in range(family.FEWEST_ROUTED)]
    engine.update("INSERT DATA { <urn:z> <urn:r> <urn:c0> }")
    between = "DATA { GRAPH <urn:g> { <urn:x> <urn:p> <urn:z> } }"
    engine.update(f"INSERT {between}")
    engine.update(f"DELETE {between}")
    seen = engine.explain(query % 0).costs.updates
    assert not engine.update("INSERT DATA { <urn:x> <urn:q> <urn:y> }").notifications
    assert engine.explain(query % 0).costs.updates == seen  # nothing leads to <urn:c0> now
    (told,) = engine.update(f"INSERT {between}").notifications
    assert (told.spuid, len(told.added)) == (spuid, 1)


def _move(sensor: int, room: int, into: int) -> str:
    out, in_ = (f"DATA {{ <urn:room{each}> <urn:has> <urn:s{sensor}> }}" for each in (room, into))
    return f"DELETE {out} ; INSERT {in_}"


@pytest.mark.parametrize("query", [OF_ROOM, SAME])
def test_where_a_sensor_is_is_not_remembered_when_it_moves(query: str) -> None:
    engine = _rooms(8)
    spuids = [engine.subscribe(query.format(room)).spuid for room in range(8)]
    engine.update(_read(1, 2))
    engine.update(_move(1, 1, 5))
    assert [each.spuid for each in engine.update(_read(1, 3)).notifications] == [spuids[5]]


def test_nor_when_it_moves_between_rooms_that_nobody_asks_for() -> None:
    engine = _rooms(8)
    for room in range(6):
        engine.subscribe(OF_ROOM.format(room))
    engine.update(_read(6, 2))
    engine.update(_move(6, 6, 7))
    late = engine.subscribe(OF_ROOM.format(7))
    assert [each.spuid for each in engine.update(_read(6, 3)).notifications] == [late.spuid]


def test_members_come_and_go() -> None:
    engine = _rooms(8)
    spuids = [engine.subscribe(SAME.format(room)).spuid for room in range(8)]
    for spuid in spuids[::2]:
        engine.unsubscribe(spuid)
    assert not engine.update(_read(2, 5)).notifications
    again = engine.subscribe(SAME.format(2))
    assert [str(row["v"]) for row in again.added] == [f'"5"^^<{XSD}integer>']
    assert [each.spuid for each in engine.update(_read(2, 6)).notifications] == [again.spuid]
    for spuid in (*spuids[1::2], again.spuid):
        engine.unsubscribe(spuid)
    assert not engine.update(_read(2, 7)).notifications
