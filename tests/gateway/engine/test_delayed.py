"""Delayed UPDATEs: run once, in order, on the engine's clock; they survive a restart."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, QuerySolutions

from gateway.engine import Engine, Outcome, Rights
from gateway.errors import BadRequestError, ForbiddenError, NotFoundError, SparqlSyntaxError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import DELAYED_GRAPH, GW, XSD
from gateway.store.update import compile_update

START = 1_700_000_000_000_000
SECOND = 1_000_000


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> int:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(clock: Clock) -> Engine:
    return Engine.open(clock=clock)


def insert(value: str) -> str:
    return f"INSERT {{ <urn:s> <urn:p> {value} ; <urn:at> ?t }} WHERE {{ BIND(NOW() AS ?t) }}"


def values(engine: Engine, predicate: str = "p") -> list[str]:
    found = engine.query(f"SELECT ?o {{ ?s <urn:{predicate}> ?o }} ORDER BY ?o")
    assert isinstance(found, QuerySolutions)
    return [str(row["o"]) for row in found]


def run_all(engine: Engine) -> list[Outcome]:
    outcomes: list[Outcome] = []
    while (outcome := engine.run_due()) is not None:
        outcomes.append(outcome)
    return outcomes


@pytest.mark.parametrize(
    "at",
    [
        START + 5 * SECOND,
        timedelta(seconds=5),
        datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=START + 5 * SECOND),
    ],
)
def test_update_waits_for_its_time(
    engine: Engine, clock: Clock, at: int | datetime | timedelta
) -> None:
    engine.subscribe("SELECT ?o { ?s <urn:p> ?o }")
    outcome = engine.update(insert("<urn:o>"), at=at)
    assert outcome.id is not None
    assert outcome.notifications == ()
    assert [(each.id, each.due) for each in engine.delayed()] == [(outcome.id, START + 5 * SECOND)]
    assert engine.next_due == START + 5 * SECOND
    clock.time += 5 * SECOND - 1
    assert engine.run_due() is None
    assert values(engine) == []
    clock.time += 1
    done = engine.run_due()
    assert done is not None
    assert (done.id, done.time) == (outcome.id, clock.time)
    assert [len(each.added) for each in done.notifications] == [1]
    assert values(engine) == ["<urn:o>"]
    assert values(engine, "at") == [f'"2023-11-14T22:13:25Z"^^<{XSD}dateTime>']
    assert engine.run_due() is None
    assert engine.delayed() == ()
    assert engine.next_due is None
    assert not engine.store.contains_graph(DELAYED_GRAPH)


def test_updates_run_in_the_order_of_their_times_and_then_as_they_came(
    engine: Engine, clock: Clock
) -> None:
    for number, seconds in enumerate((3, 1, 2, 1)):
        text = "DELETE { <urn:s> <urn:p> ?o } INSERT { <urn:s> <urn:p> ?n } WHERE { "
        text += (
            f"OPTIONAL {{ <urn:s> <urn:p> ?o }} BIND(CONCAT(COALESCE(?o, ''), '{number}') AS ?n) }}"
        )
        engine.update(text, at=timedelta(seconds=seconds))
    clock.time += 9 * SECOND
    assert len(run_all(engine)) == 4
    assert values(engine) == ['"1320"']


def test_request_keeps_dataset_bindings_and_rights(clock: Clock, tmp_path: Path) -> None:
    engine = Engine.open(tmp_path, clock=clock)
    node = BlankNode("b1")
    engine.store.apply(Delta(added=(Quad(node, NamedNode("urn:is"), NamedNode("urn:here")),)))
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:q> 7 } }")
    engine.update(
        "INSERT { <urn:s> <urn:p> ?o } WHERE { ?a <urn:q> ?o }",
        using_graphs=[NamedNode("urn:g")],
        at=timedelta(seconds=1),
    )
    prepared = engine.prepare(
        "INSERT { ?s <urn:p> ?v ; <urn:text> ?t } WHERE { BIND(STR(?v) AS ?t) }"
    )
    decimal = Literal("21.50", datatype=NamedNode(XSD + "decimal"))
    engine.update(prepared, {"s": NamedNode("urn:s"), "v": decimal}, at=timedelta(seconds=1))
    plan = compile_update("INSERT { ?n <urn:p> 'blank' } WHERE {}")
    engine.update([(plan, {"n": node}), (plan, {"n": NamedNode("urn:t")})], at=START + SECOND)
    rights = Rights(read=frozenset({NamedNode("urn:g")}), write=frozenset({DefaultGraph()}))
    engine.update(
        "INSERT { <urn:seen> <urn:n> ?n } WHERE { { SELECT (COUNT(*) AS ?n) { { ?s ?p ?o } UNION "
        "{ GRAPH ?g { ?s ?p ?o } } } } }",
        rights=rights,
        at=START + SECOND,
    )
    before = [each.request for each in engine.delayed()]
    engine.close()
    del engine
    engine = Engine.open(tmp_path, clock=clock)
    assert [each.request for each in engine.delayed()] == before
    clock.time += SECOND
    assert len(run_all(engine)) == 4
    assert engine.statistics.delayed_failed == 0
    assert sorted(values(engine)) == sorted(
        ['"blank"', '"blank"', f'"21.5"^^<{XSD}decimal>', f'"7"^^<{XSD}integer>']
    )
    assert Quad(node, NamedNode("urn:p"), Literal("blank")) in engine.store
    assert values(engine, "text") == ['"21.5"']
    assert values(engine, "n") == [f'"1"^^<{XSD}integer>']
    engine.close()


def test_what_fell_due_while_down_runs_at_the_start_and_is_late(
    clock: Clock, tmp_path: Path
) -> None:
    engine = Engine.open(tmp_path, clock=clock)
    for value in (1, 2, 3):
        engine.update(insert(str(value)), at=timedelta(seconds=value))
    clock.time += SECOND
    assert len(run_all(engine)) == 1
    assert engine.statistics.delayed_late == 0
    engine.close()
    del engine
    clock.time += 1_500_000
    engine = Engine.open(tmp_path, clock=clock)
    assert engine.waiting_delayed == 2
    assert len(run_all(engine)) == 1
    clock.time += SECOND
    assert len(run_all(engine)) == 1
    seen = engine.statistics
    assert (seen.delayed_executed, seen.delayed_late, seen.delayed_failed) == (2, 1, 0)
    assert len(values(engine)) == 3
    engine.close()


def test_update_that_fails_is_counted_and_those_behind_it_run(
    engine: Engine, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    engine.update("DROP GRAPH <urn:nowhere>", at=timedelta(seconds=1))
    engine.update(
        "INSERT DATA { <urn:s> <urn:p> 1 }", rights=Rights(write=frozenset()), at=START + SECOND
    )
    engine.update("INSERT DATA { <urn:s> <urn:p> 2 }", at=timedelta(seconds=1))
    clock.time += SECOND
    assert len(run_all(engine)) == 3
    assert values(engine) == [f'"2"^^<{XSD}integer>']
    assert engine.statistics.delayed_failed == 2
    assert [each.message for each in caplog.records] == ["delayed_failed"] * 2
    assert engine.waiting_delayed == 0


def test_cancelled_update_does_not_run(engine: Engine, clock: Clock) -> None:
    first = engine.update(insert("1"), at=timedelta(seconds=1)).id
    second = engine.update(insert("2"), at=timedelta(seconds=1)).id
    assert first is not None
    assert first != second
    assert engine.cancel(first).id == first
    for unknown in (first, "nothing of the kind"):
        with pytest.raises(NotFoundError):
            engine.cancel(unknown)
    clock.time += SECOND
    assert [each.id for each in run_all(engine)] == [second]


def test_wrong_request_is_refused_at_once(engine: Engine) -> None:
    with pytest.raises(SparqlSyntaxError):
        engine.update("INSERT DATA { nonsense }", at=timedelta(seconds=1))
    for at in (datetime(2030, 1, 1), -1, timedelta(days=-40_000)):
        with pytest.raises(BadRequestError):
            engine.update("INSERT DATA {}", at=at)
    assert engine.delayed() == ()


def test_the_graph_of_the_delayed_ones_is_the_truth(engine: Engine, clock: Clock) -> None:
    watching = engine.subscribe(f"SELECT ?d ?t {{ GRAPH ?g {{ ?d <{GW}due> ?t }} }}").spuid
    outcome = engine.update(insert("1"), at=timedelta(seconds=1))
    assert [each.spuid for each in outcome.notifications] == [watching]
    engine.update("DROP ALL")
    assert engine.delayed() == ()
    assert engine.next_due is None
    request = '{"updates": [{"sparql": "INSERT DATA { <urn:s> <urn:p> <urn:mine> }", "bindings": '
    request += '{}}], "using": [], "using_named": [], "read": null, "write": null}'
    engine.update(
        f"INSERT DATA {{ GRAPH {DELAYED_GRAPH} {{ <urn:mine> <{GW}due> {START + SECOND} ; "
        f"<{GW}request> '{request}' . <urn:wrong> <{GW}due> {START} ; <{GW}request> 'x' . "
        f"<urn:half> <{GW}due> {START} . [] <{GW}due> 'soon' ; <{GW}request> '{request}' }} }}"
    )
    assert [each.id for each in engine.delayed()] == ["urn:mine"]
    clock.time += SECOND
    assert [each.id for each in run_all(engine)] == ["urn:wrong", "urn:mine"]
    assert values(engine) == ["<urn:mine>"]
    assert engine.statistics.delayed_failed == 1


def test_entry_with_a_binding_that_is_no_term_hides_no_other(engine: Engine) -> None:
    good = engine.update(insert("1"), at=timedelta(seconds=1)).id
    request = '{"updates": [{"sparql": "CLEAR ALL", "bindings": {"x": "no term"}}], '
    request += '"using": [], "using_named": [], "read": null, "write": null}'
    engine.update(
        f"INSERT DATA {{ GRAPH {DELAYED_GRAPH} {{ "
        f"<urn:wrong> <{GW}due> {START} ; <{GW}request> '{request}' }} }}"
    )
    assert [each.id for each in engine.delayed()] == [good]


def test_restricted_user_neither_sees_nor_writes_the_delayed_ones(engine: Engine) -> None:
    rights = Rights(read=frozenset({DefaultGraph()}), write=frozenset({DefaultGraph()}))
    id_ = engine.update(insert("1"), rights=rights, at=timedelta(seconds=1)).id
    assert id_ is not None
    found = engine.query("SELECT * { GRAPH ?g { ?s ?p ?o } }", rights=rights)
    assert isinstance(found, QuerySolutions)
    assert list(found) == []
    with pytest.raises(ForbiddenError):
        engine.update(f"DROP GRAPH {DELAYED_GRAPH}", rights=rights)
    assert engine.waiting_delayed == 1


def test_update_that_empties_the_store_takes_itself_off_the_list_too(
    engine: Engine, clock: Clock
) -> None:
    engine.update("DROP ALL ; INSERT DATA { <urn:s> <urn:p> 1 }", at=START)
    engine.update(insert("2"), at=START + SECOND)
    clock.time += 2 * SECOND
    assert len(run_all(engine)) == 1
    assert values(engine) == [f'"1"^^<{XSD}integer>']
    assert engine.waiting_delayed == 0
