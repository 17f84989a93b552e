"""The incremental tier: which queries it takes, and what it does where only the store can say."""

from collections import Counter
from collections.abc import Iterable

import pytest
from pyoxigraph import Quad

from gateway.engine.engine import Engine
from gateway.engine.incremental import unchanged
from gateway.engine.incremental.states import LookUp, Now
from gateway.engine.notification import Notification

_TAKEN = (
    "SELECT * { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z OPTIONAL { ?z <urn:r> ?w } } }",
    "SELECT * { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z FILTER(?z > 1) } FILTER(?y != <urn:a>) }",
    "SELECT ?x { ?x <urn:p> ?y MINUS { ?x <urn:q> ?z } }",
    "SELECT ?x { ?x <urn:p> ?y FILTER NOT EXISTS { ?y <urn:q> ?z FILTER(?z > ?x) } }",
    "SELECT ?x ?e { ?x <urn:p> ?y BIND(IF(EXISTS { ?y <urn:q> 1 }, 1, 0) AS ?e) }",
    "SELECT ?x { { ?x <urn:p> ?y } UNION { ?y <urn:q> ?x } VALUES ?y { <urn:a> 1 } }",
    "SELECT DISTINCT ?g { GRAPH ?g { ?x <urn:p> ?y } ?x <urn:q> ?z FILTER(?z > 0) }",
    "SELECT ?x FROM <urn:g> FROM <urn:h> { ?x <urn:p>/^<urn:q> ?y }",
    "ASK { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } FILTER(!BOUND(?z)) }",
    "CONSTRUCT { ?y <urn:of> ?x } { ?x <urn:p> ?y . ?y <urn:q> ?z }",
    "SELECT ?x (AVG(?y) AS ?a) { ?x <urn:p> ?y } GROUP BY ?x HAVING (COUNT(*) > 1)",
    "SELECT (COUNT(DISTINCT ?y) AS ?n) { ?x <urn:p> ?y }",
    "SELECT * { { SELECT ?x (MAX(?y) AS ?m) { ?x <urn:p> ?y } GROUP BY ?x } ?x <urn:q> ?m }",
    "SELECT * { ?x <urn:p> ?y { SELECT ?y { ?y <urn:q> ?z } } } ORDER BY ?x",
)
_LEFT = (
    "SELECT * { ?x <urn:p>+ ?y }",
    "SELECT * { ?x <urn:p> ?y OPTIONAL { ?z <urn:q> ?w } }",
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?z <urn:q> ?w } }",
    "SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?x <urn:q> ?w OPTIONAL { ?w <urn:r> ?y } } }",
    "SELECT * { GRAPH ?g {} }",
    "SELECT REDUCED ?x { ?x <urn:p> ?y . ?y <urn:q> ?z }",
    "SELECT ?x { ?x <urn:p> ?y FILTER(?y > 1) } LIMIT 2",
    "SELECT (SAMPLE(?y) AS ?s) { ?x <urn:p> ?y }",
    "SELECT (GROUP_CONCAT(?y) AS ?s) { ?x <urn:p> ?y }",
    "SELECT ?x (NOW() AS ?n) { ?x <urn:p> ?y }",
)


def _tiers(engine: Engine) -> set[str]:
    return {tier for tier, spus in engine.statistics.spus.items() if spus}


@pytest.mark.parametrize("query", _TAKEN)
def test_query_is_evaluated_for_the_solutions_concerned(query: str) -> None:
    engine = Engine.open()
    engine.subscribe(query)
    assert _tiers(engine) == {"incremental"}


@pytest.mark.parametrize("query", _LEFT)
def test_query_is_left_to_be_evaluated_again(query: str) -> None:
    engine = Engine.open()
    engine.subscribe(query)
    assert _tiers(engine) == {"requery"}


def _values(notification: Notification) -> tuple[list[str], list[str]]:
    added, removed = (
        [term.value for row in rows for term in row.values()]  # type: ignore[union-attr]
        for rows in (notification.added, notification.removed)
    )
    return added, removed


_SET = (
    "DELETE {{ <urn:{0}> <urn:p> ?o }} INSERT {{ <urn:{0}> <urn:p> {1} }} "
    "WHERE {{ OPTIONAL {{ <urn:{0}> <urn:p> ?o }} }}"
)


@pytest.mark.parametrize(
    ("aggregate", "values", "fewest"),
    [
        ("SUM(?y)", ("1", "0.5", "1e0", "2"), 4),
        ("MIN(?y)", ("3", "2.5", "2", "2.0"), 3),
        ("MAX(?y)", ("1", "'x'", "<urn:x>", "2"), 3),
    ],
)
def test_group_that_only_the_store_can_say_is_asked_of_it(
    aggregate: str, values: tuple[str, ...], fewest: int
) -> None:
    query = f"SELECT ({aggregate} AS ?a) {{ ?x <urn:p> ?y . ?x <urn:is> <urn:on> }}"
    engine, oracle = Engine.open(), Engine.open(oracle=True)
    for each in (engine, oracle):
        each.subscribe(query)
        each.update("INSERT DATA { <urn:a> <urn:is> <urn:on> . <urn:b> <urn:is> <urn:on> }")
    seen = 0
    for number, value in enumerate(values):
        text = _SET.format("ab"[number % 2], value)
        ours, theirs = (each.update(text).notifications for each in (engine, oracle))
        assert [_values(each) for each in ours] == [_values(each) for each in theirs]
        seen += len(ours)
    assert _tiers(engine) == {"incremental"}
    assert seen >= fewest  # which of two equal numbers is told depends on the store


def test_float_in_a_sub_query_is_summed_by_the_store_and_left_behind_again() -> None:
    engine = Engine.open()
    first = engine.subscribe(
        "SELECT ?x ?s { ?x <urn:is> <urn:on> { SELECT ?x (SUM(?y) AS ?s) { ?x <urn:p> ?y } "
        "GROUP BY ?x } }"
    )
    told = Counter(first.results.added)
    for text in (
        "INSERT DATA { <urn:a> <urn:is> <urn:on> ; <urn:p> 1 , 2 }",
        "INSERT DATA { <urn:a> <urn:p> 0.5e0 }",
        "DELETE DATA { <urn:a> <urn:p> 0.5e0 }",
        "INSERT DATA { <urn:a> <urn:p> 4 }",
    ):
        for each in engine.update(text).notifications:
            told.update(each.results.added)
            told.subtract(each.results.removed)
    assert [str(row[1]) for row in (+told).elements()] == [
        '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    ]
    assert _tiers(engine) == {"incremental"}


def test_change_in_an_optional_costs_the_same_however_much_there_is() -> None:
    asked: list[int] = []
    for size in (10, 200):
        engine = Engine.open()
        people = " ".join(f"<urn:x{n}> <urn:p> <urn:y{n}> ." for n in range(size))
        engine.update(f"INSERT DATA {{ {people} }}")
        engine.subscribe("SELECT * { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } }")
        count = 0
        match = engine.store.match

        def counted(*wanted: object, match: object = match) -> object:
            nonlocal count
            count += 1
            return match(*wanted)  # type: ignore[operator]

        engine.store.match = counted  # type: ignore[method-assign,assignment]
        (notification,) = engine.update("INSERT DATA { <urn:y1> <urn:q> 1 }").notifications
        assert len(notification.added) == len(notification.removed) == 1
        asked.append(count)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("most", [1, 1000])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?r <urn:has> ?l . ?l <urn:v> ?v OPTIONAL { ?l <urn:t> ?t } FILTER(?v != 2) }",
        "SELECT ?t (COUNT(?l) AS ?n) (SUM(?v) AS ?s) "
        "{ ?r <urn:has> ?l . ?l <urn:v> ?v ; <urn:t> ?t } GROUP BY ?t",
        "SELECT * { ?r <urn:has> ?l OPTIONAL { ?l <urn:t> ?t } OPTIONAL { ?l <urn:v> ?v } }",
        "SELECT * { ?l <urn:v> ?v MINUS { ?l <urn:t> 1 } BIND(?v + 1 AS ?w) }",
    ],
)
def test_what_is_kept_for_later_changes_is_given_up_when_it_changes(
    query: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "MOST_KEPT", most)
    engine, oracle = Engine.open(), Engine.open(oracle=True)
    for each in (engine, oracle):
        each.subscribe(query)
    seen = 0
    for text in (
        "INSERT DATA { <urn:r> <urn:has> <urn:a>, <urn:b> . <urn:a> <urn:v> 1 . <urn:b> <urn:v> 1}",
        "INSERT DATA { <urn:a> <urn:t> 1 . <urn:b> <urn:t> 2 }",
        "DELETE { ?l <urn:v> ?v } INSERT { ?l <urn:v> 2 } WHERE { ?l <urn:v> ?v }",
        "DELETE { ?l <urn:v> ?v } INSERT { ?l <urn:v> 3 } WHERE { ?l <urn:v> ?v }",
        "DELETE DATA { <urn:a> <urn:t> 1 }",
        "DELETE { ?l <urn:v> ?v } INSERT { ?l <urn:v> 4 } WHERE { ?l <urn:v> ?v }",
        "INSERT DATA { <urn:s> <urn:has> <urn:b> . <urn:b> <urn:t> 1 }",
        "DELETE { ?l <urn:v> ?v } INSERT { ?l <urn:v> 5 } WHERE { ?l <urn:v> ?v }",
        "DELETE { ?l <urn:v> ?v } INSERT { ?l <urn:v> 6 ; <urn:t> 7 } WHERE { ?l <urn:v> ?v }",
        "DELETE WHERE { ?r <urn:has> <urn:b> }",
        "DELETE { ?l <urn:v> ?v } INSERT { ?l <urn:v> 8 } WHERE { ?l <urn:v> ?v }",
    ):
        ours, theirs = (each.update(text).notifications for each in (engine, oracle))
        assert [_bags(each) for each in ours] == [_bags(each) for each in theirs]
        seen += len(ours)
    assert _tiers(engine) == {"incremental"}
    assert seen >= 7


def _bags(notification: Notification) -> tuple[Counter[object], Counter[object]]:
    return Counter(notification.results.added), Counter(notification.results.removed)


def test_quads_of_one_predicate_change_again_without_a_look_up() -> None:
    engine = Engine.open()
    people = " ".join(f"<urn:r> <urn:has> <urn:l{n}> . <urn:l{n}> <urn:v> {n} ." for n in range(9))
    engine.update(f"INSERT DATA {{ {people} }}")
    engine.subscribe("SELECT * { ?r <urn:has> ?l . ?l <urn:v> ?v OPTIONAL { ?l <urn:t> ?t } }")
    change = "DELETE { ?l <urn:v> ?v } INSERT { ?l <urn:v> %s } WHERE { ?l <urn:v> ?v }"
    engine.update(change % 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Now, "match", _must_not_be_asked)
        (notification,) = engine.update(change % 11).notifications
    assert len(notification.added) == len(notification.removed) == 9


def test_a_subject_that_comes_whole_is_looked_up_once_for_all_its_patterns() -> None:
    engine = Engine.open()
    engine.subscribe(
        "SELECT * { ?s a <urn:O> ; <urn:p> ?p ; <urn:q> ?q ; <urn:r> ?r"
        " OPTIONAL { ?s <urn:n>/<urn:u> ?u } OPTIONAL { ?s <urn:w> ?w } }"
    )
    whole = "<urn:%s> a <urn:O> ; <urn:p> 1 ; <urn:q> 2 ; <urn:r> 3 ; <urn:n> <urn:%s> ; <urn:w> 4"
    engine.update(f"INSERT DATA {{ {whole % ('a', 'b')} . <urn:b> <urn:u> 5 }}")
    asked: list[object] = []
    ask = Now.match

    def counted(now: Now, wanted: LookUp) -> Iterable[Quad]:
        asked.append(wanted)
        return ask(now, wanted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Now, "match", counted)
        (notification,) = engine.update(
            f"DELETE DATA {{ {whole % ('a', 'b')} . <urn:b> <urn:u> 5 }} ;"
            f"INSERT DATA {{ {whole % ('c', 'd')} . <urn:d> <urn:u> 6 }}"
        ).notifications
    assert len(notification.added) == len(notification.removed) == 1
    each_side = 3 + 2 + 1  # patterns of the core without the seed's, and of both OPTIONALs
    assert len(asked) <= 2 * each_side + 2  # and whose unit it is that changed


def _must_not_be_asked(*_: object) -> None:
    raise AssertionError("it has been looked up before")


@pytest.mark.parametrize(
    "pattern", ["^A", "^(A|B)", "^(An|A B|9_)", "A", "^", "^A$", "^a.", "^(A|)"]
)
def test_how_a_string_begins_is_what_the_store_says(pattern: str) -> None:
    engine, oracle = Engine.open(), Engine.open(oracle=True)
    for each in (engine, oracle):
        each.subscribe(f'SELECT * {{ ?s <urn:p> ?v FILTER regex(?v, "{pattern}") }}')
    values = ['"Anna"', '"a"', '"bA"', '"A B"', '"9_"', '"\\nA"', '""', '"Bert"@de', "9", "<urn:A>"]
    text = f"INSERT DATA {{ <urn:s> <urn:p> {', '.join(values)} }}"
    for request in (text, text.replace("INSERT", "DELETE")):
        ours, theirs = (each.update(request).notifications for each in (engine, oracle))
        assert [tuple(map(sorted, _values(each))) for each in ours] == [
            tuple(map(sorted, _values(each))) for each in theirs
        ]
