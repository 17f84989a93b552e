"""The Python API of the engine as it is promised to those who build on it."""

from datetime import timedelta
from pathlib import Path
from time import process_time

import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, QuerySolutions

from gateway.engine import (
    Dataset,
    Engine,
    Notification,
    QueryRequest,
    Rights,
    SubscribeRequest,
    UpdateRequest,
)
from gateway.errors import ForbiddenError, NoReasoningError, SparqlSyntaxError, StorageError

LAMP = NamedNode("urn:lamp")
DIM = NamedNode("urn:dim")
ONE, TWO = (Literal(number) for number in (1, 2))
SET = """DELETE { ?lamp <urn:dim> ?old } INSERT { ?lamp <urn:dim> ?value }
WHERE { ?lamp <urn:dim> ?old }"""


def test_everything_the_issue_shows(tmp_path: Path) -> None:
    for path in (None, tmp_path / "store", str(tmp_path / "named")):
        engine = Engine.open(path, 0)
        first = engine.subscribe(
            "SELECT ?d { ?lamp <urn:dim> ?d }",
            default_graphs=(),
            named_graphs=(),
            alias=None,
            rights=None,
        )
        assert (first.sequence, first.alias, list(first.added), list(first.removed)) == (
            *(0, None),
            *([], []),
        )

        outcome = engine.update(
            "INSERT DATA { <urn:lamp> <urn:dim> 1 }",
            using_graphs=(),
            using_named_graphs=(),
            rights=None,
            at=None,
        )
        assert outcome.id is None
        assert outcome.delta.added == (Quad(LAMP, DIM, ONE, DefaultGraph()),)
        assert outcome.delta.removed == ()
        (notification,) = outcome.notifications
        assert isinstance(notification, Notification)
        assert (notification.spuid, notification.sequence) == (first.spuid, 1)
        assert notification.time == outcome.time >= first.time
        assert [dict(row) for row in notification.added] == [{"d": ONE}]

        set_lamp = engine.prepare(SET)
        (changed,) = engine.update(set_lamp, bindings={"lamp": LAMP, "value": TWO}).notifications
        assert [dict(row) for row in changed.removed] == [{"d": ONE}]
        assert [dict(row) for row in changed.added] == [{"d": TWO}]

        rows = engine.query(
            "SELECT ?d { ?lamp <urn:dim> ?d }", default_graphs=(), named_graphs=(), rights=None
        )
        assert isinstance(rows, QuerySolutions)
        assert [row["d"] for row in rows] == [TWO]

        later = engine.update("CLEAR ALL", at=timedelta(hours=1))
        assert [each.id for each in engine.delayed()] == [later.id]
        assert later.id is not None
        engine.cancel(later.id)
        assert engine.delayed() == ()

        assert engine.explain("SELECT ?d { ?lamp <urn:dim> ?d }").is_subscribed
        engine.unsubscribe(first.spuid)
        assert engine.update("CLEAR ALL").notifications == ()
        engine.close()


def test_ask_is_one_empty_mapping_and_construct_has_three_columns() -> None:
    engine = Engine.open()
    engine.subscribe("ASK { <urn:lamp> <urn:dim> 1 }", alias="lit")
    engine.subscribe("CONSTRUCT { ?lamp <urn:is> ?d } WHERE { ?lamp <urn:dim> ?d }")
    told = engine.update("INSERT DATA { <urn:lamp> <urn:dim> 1 }").notifications
    ask, construct = told
    assert (ask.alias, [dict(row) for row in ask.added]) == ("lit", [{}])
    row = {"subject": LAMP, "predicate": NamedNode("urn:is"), "object": ONE}
    assert [dict(each) for each in construct.added] == [row]
    gone = engine.update("DELETE DATA { <urn:lamp> <urn:dim> 1 }").notifications
    assert [[dict(each) for each in told.removed] for told in gone] == [[{}], [row]]


def test_a_second_positional_argument_is_the_number_of_workers() -> None:
    with pytest.raises(TypeError):
        Engine.open(None, 0, lambda: 7)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="workers = -1"):
        Engine.open(None, -1)


def test_a_prepared_update_reads_the_graphs_of_the_protocol() -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:lamp> <urn:dim> 1 } }")
    plan = engine.prepare("INSERT { ?s <urn:seen> ?o } WHERE { ?s <urn:dim> ?o }")
    graphs = [NamedNode("urn:g")]
    assert engine.update(plan).delta.is_empty
    assert len(engine.update(plan, using_graphs=graphs).delta.added) == 1
    assert engine.update([(plan, {})], using_graphs=graphs).delta.is_empty


def test_bindings_are_for_all_of_several_updates() -> None:
    engine = Engine.open()
    plan = engine.prepare("INSERT { ?lamp <urn:dim> ?value } WHERE {}")
    engine.update([(plan, {"value": ONE}), (plan, {"value": TWO})], bindings={"lamp": LAMP})
    found = engine.query("SELECT * { <urn:lamp> <urn:dim> ?d }")
    assert isinstance(found, QuerySolutions)
    assert len(list(found)) == 2


def test_a_request_says_what_keywords_say() -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:lamp> <urn:dim> 1 } }")
    graph = NamedNode("urn:g")
    dataset = Dataset((graph,))
    query = "SELECT ?d { <urn:lamp> <urn:dim> ?d }"
    by_value = engine.subscribe(SubscribeRequest(query, dataset, alias="dim"))
    by_keyword = engine.subscribe(query, default_graphs=[graph], alias="dim")
    assert by_value.results == by_keyword.results
    ask = "ASK { <urn:lamp> <urn:dim> ?d }"
    assert engine.query(QueryRequest(ask, dataset))
    assert not engine.query(ask)
    assert engine.explain(QueryRequest(query, dataset)).is_subscribed
    assert not engine.explain(query).is_subscribed
    assert len(engine.standing) == 1

    plan = engine.prepare("INSERT { GRAPH <urn:g> { ?s <urn:dim> ?n } } WHERE { ?s <urn:dim> ?o }")
    outcome = engine.update(UpdateRequest(plan, {"n": TWO}, dataset))
    assert len(outcome.delta.added) == 1
    assert [each.spuid for each in outcome.notifications] == [by_value.spuid, by_keyword.spuid]
    nothing = Rights(write=frozenset())
    with pytest.raises(ForbiddenError):
        engine.update(UpdateRequest("CLEAR ALL", rights=nothing))
    engine.close()


def test_rights_restrict() -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:lamp> <urn:dim> 1 } }", rights=Rights())
    nothing = Rights(read=frozenset(), write=frozenset())
    assert not engine.query("ASK { GRAPH ?g { ?s ?p ?o } }", rights=nothing)


@pytest.mark.parametrize("is_lasting", [True, False])
def test_a_closed_engine_says_so_and_lets_go_of_its_folder(
    tmp_path: Path, *, is_lasting: bool
) -> None:
    folder = tmp_path if is_lasting else None
    engine = Engine.open(folder)
    engine.subscribe("SELECT * { ?s ?p ?o OPTIONAL { ?o ?p ?s } }")
    engine.update("INSERT DATA { <urn:lamp> <urn:dim> 1 }")
    engine.close()
    engine.close()
    other = Engine.open(folder)
    assert bool(other.query("ASK { <urn:lamp> <urn:dim> 1 }")) is is_lasting
    for use in (engine.query, engine.subscribe):
        with pytest.raises(StorageError, match="closed"):
            use("ASK { ?s ?p ?o }")
    with pytest.raises(StorageError, match="closed"):
        engine.update("INSERT DATA { <urn:lamp> <urn:dim> 2 }")
    other.close()


def seconds_for(triples: int) -> float:
    engine = Engine.open()
    text = " ".join(f"<urn:s{n}> <urn:p> {n} ." for n in range(triples))
    begin = process_time()
    for data in ("INSERT DATA", "DELETE DATA"):
        engine.update(f"{data} {{ {text} }}")
    return process_time() - begin


@pytest.mark.alone
def test_the_cost_of_a_large_update_is_linear() -> None:
    """An eightfold one takes at most 20 times, where quadratic cost takes 64 times.

    The least of several in turns, since others may be at work on the machine.
    """
    turns = [(seconds_for(16_000), seconds_for(2_000)) for _ in range(5)]
    large, small = map(min, zip(*turns, strict=True))
    assert large < 20 * small


def test_a_literal_is_no_subject_however_often_it_is_tried() -> None:
    engine = Engine.open()
    for number in range(4):
        with pytest.raises(SparqlSyntaxError, match="cannot be a subject"):
            engine.update(f'INSERT DATA {{ "{number}" <urn:p> 1 }}')


def test_infer_is_refused_where_nothing_is_reasoned_on() -> None:
    engine = Engine.open()
    query = "SELECT * { ?s ?p ?o }"
    with pytest.raises(NoReasoningError):
        engine.query(QueryRequest(query, infer=True))
    with pytest.raises(NoReasoningError):
        engine.subscribe(SubscribeRequest(query, infer=True))
    with pytest.raises(NoReasoningError):
        engine.explain(QueryRequest(query, infer=True))
    with pytest.raises(NoReasoningError) as refused:
        engine.update(UpdateRequest("INSERT DATA { <urn:s> <urn:p> 1 }", infer=True))
    assert (refused.value.code, refused.value.http_status) == ("bad_request", 400)
    assert len(engine.store) == 0
    assert not engine.standing
