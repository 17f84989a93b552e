"""Two views of one store: who is told of which, and what UPDATEs see and change."""

from datetime import timedelta

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad

from gateway.engine import Engine, QueryRequest, Rights, SubscribeRequest, UpdateRequest
from gateway.engine.performance import Performance
from gateway.errors import (
    BadRequestError,
    ForbiddenError,
    NotFoundError,
    StorageError,
    SuspendedError,
)
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, GW, ONTOLOGY_GRAPH, OWN_GRAPHS, RDF
from gateway.reasoning.domains import Domains
from gateway.reasoning.reasoning import Reasoning
from tests.gateway.engine.views.reasoned import (
    ABOVE,
    INTO,
    JOINT,
    MEMBERS,
    PLAIN,
    G,
    H,
    answered,
    axioms,
    named,
    opened,
    subscribed,
    told,
)

A_MEMBER = "INSERT DATA { <urn:x> a <urn:A> }"
IN_B = Quad(NamedNode("urn:x"), NamedNode(RDF + "type"), NamedNode("urn:B"))


@pytest.fixture
def engine() -> Engine:
    engine = opened()
    engine.update(axioms(ABOVE))
    return engine


# who is told of which view ------------------------------------------------------------------


def test_both_views_share_an_spu_as_long_as_no_rule_reaches_the_query() -> None:
    engine = opened()
    inferring, plain = subscribed(engine), subscribed(engine, infer=False)
    assert len(engine.standing) == 1
    outcome = engine.update(axioms(ABOVE))
    assert not outcome.notifications
    assert {each.infer for each in engine.standing} == {True, False}
    outcome = engine.update(A_MEMBER)
    assert told(outcome, inferring) == ({"x"}, set())
    assert len(outcome.notifications) == 1
    assert not engine.update("DELETE DATA { <urn:x> a <urn:B> }").notifications
    outcome = engine.update(axioms(ABOVE, "DELETE DATA"))
    assert told(outcome, inferring) == (set(), {"x"})
    assert [each.infer for each in engine.standing] == [False]
    outcome = engine.update("INSERT DATA { <urn:y> a <urn:B> }")
    assert [each.sequence for each in outcome.notifications] == [1, 3]
    for first in (inferring, plain):
        engine.unsubscribe(first.spuid)
    assert not engine.standing
    assert engine.statistics.spus == {"single pattern": 0}


def test_axioms_and_data_in_one_update_are_one_notification() -> None:
    engine = opened()
    inferring, plain = subscribed(engine), subscribed(engine, infer=False)
    engine.update("INSERT DATA { <urn:b> a <urn:B> . <urn:a> a <urn:A> }")
    outcome = engine.update(
        f"DELETE DATA {{ <urn:b> a <urn:B> }} ; {axioms(ABOVE)} ;"
        "INSERT DATA { <urn:c> a <urn:B> . <urn:d> a <urn:A> }"
    )
    assert told(outcome, inferring) == ({"a", "c", "d"}, {"b"})
    assert told(outcome, plain) == ({"c"}, {"b"})
    outcome = engine.update(f"{axioms(ABOVE, 'DELETE DATA')} ; INSERT DATA {{ <urn:a> a <urn:B> }}")
    assert told(outcome, inferring) == (set(), {"d"})
    assert told(outcome, plain) == ({"a"}, set())
    assert len(engine.standing) == 1


def test_the_sequence_of_who_moves_has_no_gap(engine: Engine) -> None:
    first = subscribed(engine)
    engine.update(A_MEMBER)
    engine.update(axioms(ABOVE, "DELETE DATA"))
    engine.update("INSERT DATA { <urn:y> a <urn:B> }")
    outcome = engine.update(axioms(ABOVE))
    assert [each.sequence for each in outcome.notifications] == [4]
    assert [each.spuid for each in outcome.notifications] == [first.spuid]


def test_a_query_that_no_rule_concludes_stays_where_it_is(engine: Engine) -> None:
    first = subscribed(engine, "SELECT ?s { ?s <urn:p> 1 }")
    engine.update(axioms("<urn:B> rdfs:subClassOf <urn:C>"))
    assert [each.infer for each in engine.standing] == [False]
    outcome = engine.update("INSERT DATA { <urn:x> <urn:p> 1 }")
    assert told(outcome, first) == ({"x"}, set())


def test_listeners_are_told_of_both_views_and_of_moving() -> None:
    heard: list[tuple[str, int]] = []
    engine = opened(on_notification=lambda each: heard.append((each.spuid, each.sequence)))
    inferring = subscribed(engine)
    engine.update(A_MEMBER)
    assert not engine.update(axioms(ABOVE)).notifications
    engine.update("INSERT DATA { <urn:y> a <urn:A> }")
    assert heard == [(inferring.spuid, 1), (inferring.spuid, 2)]


def test_explain_tells_the_view_and_what_can_feed_it(engine: Engine) -> None:
    found = engine.explain(QueryRequest(MEMBERS, infer=True))
    (fed,) = found.fed_by.values()
    assert (found.view, len(fed)) == ("entailed", 1)
    assert "on the entailed view" in str(found)
    assert "concluded by SubClass" in str(found)
    asserted = engine.explain(MEMBERS)
    assert (asserted.view, asserted.fed_by) == ("asserted", {})
    unreached = engine.explain(QueryRequest("SELECT ?s { ?s <urn:p> 1 }", infer=True))
    assert [*unreached.fed_by.values()] == [()]


def test_why_leads_to_what_is_asserted(engine: Engine) -> None:
    engine.update(A_MEMBER)
    proof = engine.why(IN_B)
    assert proof.conclusion == IN_B
    assert [each.conclusion for each in proof.premises if each.axiom is None] == [
        Quad(IN_B.subject, IN_B.predicate, NamedNode("urn:A"))
    ]
    with pytest.raises(NotFoundError):
        engine.why(Quad(IN_B.subject, IN_B.predicate, NamedNode("urn:C")))
    with pytest.raises(NotFoundError):
        engine.why(IN_B, Rights(read=frozenset({G})))


# what UPDATEs see and change ----------------------------------------------------------------


def test_insert_of_a_derived_quad_and_delete_of_it_change_nothing_in_the_view(
    engine: Engine,
) -> None:
    first, plain = subscribed(engine), subscribed(engine, infer=False)
    outcome = engine.update(A_MEMBER)
    assert told(outcome, first) == ({"x"}, set())
    outcome = engine.update("INSERT DATA { <urn:x> a <urn:B> }")
    assert [each.spuid for each in outcome.notifications] == [plain.spuid]
    outcome = engine.update("DELETE DATA { <urn:x> a <urn:B> }")
    assert [each.spuid for each in outcome.notifications] == [plain.spuid]
    assert engine.update("DELETE DATA { <urn:x> a <urn:B> }").delta.is_empty
    assert engine.update("DELETE WHERE { <urn:x> a <urn:B> }").delta.is_empty
    assert answered(engine) == {"x"}


SEEN = "INSERT { ?s <urn:seen> true } WHERE { ?s a <urn:B> }"
SEEN_BY_TEXT = "INSERT { ?s <urn:seen> true } WHERE { ?s a <urn:B> FILTER(STRLEN(STR(?s)) > 1) }"


@pytest.mark.parametrize("text", [SEEN, SEEN_BY_TEXT], ids=["look-ups", "text"])
def test_where_sees_what_is_asserted_unless_it_infers(engine: Engine, text: str) -> None:
    engine.update(A_MEMBER)
    subscribed(engine, "SELECT ?s ?o { ?s a <urn:B> . ?s <urn:p> ?o }")
    assert engine.update(text).delta.is_empty
    assert len(engine.update(UpdateRequest(text, infer=True)).delta.added) == 1


def test_cached_tables_of_the_entailed_view_do_not_answer_a_where_of_the_other(
    engine: Engine,
) -> None:
    """The CTS of an inferring join has derived quads; the store asks that of the other view."""
    engine.update(f"{A_MEMBER} ; INSERT DATA {{ <urn:x> <urn:p> 1 }}")
    first = subscribed(engine, "SELECT ?s ?o { ?s a <urn:B> . ?s <urn:p> ?o }")
    assert len(first.added) == 1
    (text,) = (each.text for each in engine.standing)
    assert any(engine.explain(QueryRequest(text, infer=True)).cts.values())
    move = "DELETE { ?s <urn:p> ?o } INSERT { ?s <urn:q> ?o } WHERE { ?s a <urn:B> ; <urn:p> ?o }"
    assert engine.update(move).delta.is_empty
    delete = "DELETE { ?s a ?c } WHERE { ?s a ?c FILTER(?c = <urn:B>) }"
    assert engine.update(delete).delta.is_empty


def test_what_a_where_finds_and_is_derived_alone_is_not_deleted(engine: Engine) -> None:
    engine.update(f"{A_MEMBER} ; INSERT DATA {{ <urn:y> a <urn:B> }}")
    for text in (
        "DELETE { ?s a <urn:B> } WHERE { ?s a <urn:B> }",
        "DELETE { ?s a ?c } INSERT { ?s a ?c } WHERE { ?s a <urn:B> ; a ?c }",
    ):
        delta = engine.update(UpdateRequest(text, infer=True)).delta
        assert IN_B not in delta.removed
    assert answered(engine) == {"x"} | answered(engine, infer=False)


def test_a_where_that_infers_stands_first(engine: Engine) -> None:
    engine.update(A_MEMBER)
    with pytest.raises(BadRequestError, match="behind another operation"):
        engine.update(UpdateRequest(f"INSERT DATA {{ <urn:y> a <urn:A> }} ; {SEEN}", infer=True))
    with pytest.raises(BadRequestError, match="behind another operation"):
        engine.update(UpdateRequest(f"{SEEN} ; DELETE WHERE {{ ?s a <urn:B> }}", infer=True))
    first = UpdateRequest(f"{SEEN} ; INSERT DATA {{ <urn:y> a <urn:A> }}", infer=True)
    assert len(engine.update(first).delta.added) == 2


def test_rights_hold_for_a_where_that_infers() -> None:
    engine = opened()
    engine.update(axioms(ABOVE))
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:x> a <urn:A> } }")
    pattern = "INSERT { ?s <urn:seen> 1 } WHERE { GRAPH ?g { ?s a <urn:B> } }"
    for text in (pattern, pattern.replace("?g", "<urn:g>")):
        hidden = Rights(read=frozenset({DefaultGraph()}))
        assert engine.update(UpdateRequest(text, rights=hidden, infer=True)).delta.is_empty
        reserved = Rights(reserved=frozenset({G}))
        assert engine.update(UpdateRequest(text, rights=reserved, infer=True)).delta.is_empty
    assert len(engine.update(UpdateRequest(text, infer=True)).delta.added) == 1


def test_a_delayed_update_infers_when_it_is_due() -> None:
    now = [1_000_000]
    engine = Engine.open(clock=lambda: now[0], reasoning=Reasoning(PLAIN))
    engine.update(axioms(ABOVE))
    with pytest.raises(BadRequestError):
        engine.update(UpdateRequest(f"CLEAR DEFAULT ; {SEEN}", infer=True, at=timedelta(seconds=1)))
    engine.update(UpdateRequest(SEEN, infer=True, at=timedelta(seconds=1)))
    assert [each.request.infer for each in engine.delayed()] == [True]
    engine.update(A_MEMBER)
    now[0] += 2_000_000
    outcome = engine.run_due()
    assert outcome is not None
    assert [quad.predicate.value for quad in outcome.delta.added] == ["urn:seen"]


def test_a_delayed_update_that_the_reasoner_refuses_is_off_the_list() -> None:
    now = [1_000_000]
    engine = Engine.open(clock=lambda: now[0], reasoning=Reasoning(JOINT))
    for text in (
        "INSERT DATA { GRAPH <urn:into> { <urn:s> <urn:p> 1 } }",
        "INSERT DATA { <urn:s> a 1 }",
    ):
        engine.update(UpdateRequest(text, at=timedelta(seconds=1)))
    now[0] += 2_000_000
    outcome = engine.run_due()
    assert outcome is not None
    assert engine.waiting_delayed == 1
    assert engine.statistics.delayed_failed == 1
    assert engine.run_due() is not None
    assert len(engine.store) == 1


def test_graph_operations_are_about_what_is_asserted(engine: Engine) -> None:
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:x> a <urn:A> } }")
    engine.update("COPY <urn:g> TO <urn:copy>")
    assert len(engine.store.match(None, None, None, NamedNode("urn:copy"))) == 1
    query = "SELECT ?s { GRAPH ?g { ?s a <urn:B> } }"
    assert answered(engine, query) == {"x"}
    engine.update("MOVE <urn:g> TO <urn:other>")
    assert answered(engine, query) == set()


def test_drop_all_takes_every_conclusion_along(engine: Engine) -> None:
    first = subscribed(engine)
    everywhere = subscribed(engine, "SELECT ?g ?s { GRAPH ?g { ?s ?p ?o } }")
    engine.update(f"{A_MEMBER} ; INSERT DATA {{ GRAPH <urn:g> {{ <urn:y> a <urn:A> }} }}")
    outcome = engine.update("DROP ALL")
    assert told(outcome, first) == (set(), {"x"})
    assert {each.spuid for each in outcome.notifications} == {first.spuid, everywhere.spuid}
    assert engine.reasoner is not None
    assert len(engine.reasoner.derived) == len(engine.store) == 0
    assert answered(engine, "SELECT ?s { ?s ?p ?o }") == set()


# graphs and rights --------------------------------------------------------------------------


def test_conclusions_stay_in_the_graph_of_their_premises(engine: Engine) -> None:
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:x> a <urn:A> } }")
    query = "SELECT ?g { GRAPH ?g { <urn:x> a <urn:B> } }"
    assert answered(engine, query) == {"g"}
    assert answered(engine) == set()
    assert answered(engine, query, read=[H, DefaultGraph()]) == set()
    assert answered(engine, "SELECT ?s FROM <urn:g> { ?s a <urn:B> }") == {"x"}
    hidden = "SELECT ?s FROM <urn:g> { ?s a <urn:B> }"
    assert answered(engine, hidden, read=[H]) == set()
    first = subscribed(engine, query, rights=Rights(read=frozenset({H})))
    assert not engine.update("INSERT DATA { GRAPH <urn:g> { <urn:y> a <urn:A> } }").notifications
    assert not first.added


def test_graphs_that_from_puts_together_are_closed_apart(engine: Engine) -> None:
    """The union of closures, not the closure of the union: that is what a joint domain is for."""
    engine.update(axioms("<urn:p> a owl:TransitiveProperty"))
    engine.update(
        "INSERT DATA { GRAPH <urn:g> { <urn:1> <urn:p> <urn:2> . <urn:2> <urn:p> <urn:3> } }"
    )
    query = "SELECT ?o FROM <urn:g> FROM <urn:h> { <urn:1> <urn:p> ?o }"
    first = subscribed(engine, query)
    assert named(first.added) == {"2", "3"}
    assert not engine.update(
        "INSERT DATA { GRAPH <urn:h> { <urn:3> <urn:p> <urn:4> } }"
    ).notifications
    assert answered(engine, query) == {"2", "3"}
    assert answered(engine, query, infer=False) == {"2"}
    assert answered(engine, query, read=[H]) == set()


def test_a_cyclic_hierarchy_is_an_equivalence_as_long_as_it_is_whole(engine: Engine) -> None:
    query = "SELECT ?c { <urn:x> a ?c }"
    engine.update(axioms("<urn:B> rdfs:subClassOf <urn:C> . <urn:C> rdfs:subClassOf <urn:A>"))
    engine.update("INSERT DATA { <urn:x> a <urn:C> }")
    assert answered(engine, query) == {"A", "B", "C"}
    engine.update(axioms(ABOVE, "DELETE DATA"))
    assert answered(engine, query) == {"A", "C"}
    engine.update("DELETE DATA { <urn:x> a <urn:C> }")
    assert answered(engine, query) == set()


def test_a_joint_graph_is_there_while_it_holds_a_conclusion() -> None:
    engine = opened(JOINT)
    engine.update(axioms(ABOVE))
    graphs = subscribed(engine, "SELECT ?g { GRAPH ?g {} }")
    rows = subscribed(engine, "SELECT ?s { GRAPH <urn:into> { ?s a <urn:B> } }")
    outcome = engine.update("INSERT DATA { GRAPH <urn:g> { <urn:x> a <urn:A> } }")
    assert told(outcome, graphs) == ({"g", "into"}, set())
    assert told(outcome, rows) == ({"x"}, set())
    assert not engine.store.contains_graph(INTO)
    outcome = engine.update("INSERT DATA { GRAPH <urn:h> { <urn:x> a <urn:B> } }")
    assert told(outcome, graphs) == ({"h"}, {"into"})
    assert told(outcome, rows) == (set(), {"x"})
    engine.update("DELETE WHERE { GRAPH <urn:h> { ?s ?p ?o } }")
    query = "SELECT ?s { GRAPH ?g { ?s a <urn:B> } }"
    assert answered(engine, query) == {"x"}
    assert answered(engine, query, read=[G, H]) == set()
    assert answered(engine, query, read=[INTO]) == {"x"}


@pytest.mark.parametrize("graph", sorted(OWN_GRAPHS - {CONTRADICTIONS_GRAPH}, key=str), ids=str)
def test_nothing_of_the_gateways_own_follows_from_a_class_axiom(graph: NamedNode) -> None:
    """Not where data are reasoned on, nor in its own graphs: it makes no mapping, no actuation."""
    engine = opened(Domains(all_others=True))
    kept = f"<{GW}Mapping> , <{GW}Actuation> , <{GW}DelayedUpdate>"
    engine.update(axioms(f"<urn:A> rdfs:subClassOf {kept}"))
    first = subscribed(engine, f"SELECT ?x ?c {{ GRAPH {graph} {{ ?x a ?c }} }}")
    engine.update(f"INSERT DATA {{ <urn:y> a <urn:A> . GRAPH {graph} {{ <urn:x> a <urn:A> }} }}")
    query = "SELECT ?c { GRAPH ?g { ?x a ?c } }"
    assert answered(engine, query) == {"A"}
    assert answered(engine, query.replace("?g", str(graph))) == {"A"}
    assert engine.waiting_delayed == 0
    assert told(engine.update("DROP ALL"), first) == (set(), {"x"})


@pytest.mark.parametrize("infer", [False, True], ids=["asserted", "infer"])
@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { GRAPH <urn:into> { <urn:x> a <urn:B> } }",
        "DELETE DATA { GRAPH <urn:into> { <urn:x> a <urn:B> } }",
        "DELETE DATA { GRAPH <urn:into> { <urn:y> a <urn:B> } }",
        "DELETE WHERE { GRAPH <urn:into> { ?x a <urn:B> } }",
        "WITH <urn:into> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "INSERT { GRAPH ?g { <urn:z> a <urn:A> } } WHERE { VALUES ?g { <urn:into> } }",
        "INSERT DATA { GRAPH <urn:into> { <urn:z> <urn:p> 1 } } ; DROP ALL",
        *(f"{verb} GRAPH <urn:into>" for verb in ("CLEAR SILENT", "DROP", "CREATE SILENT")),
        *(f"{verb} <urn:g> TO <urn:into>" for verb in ("COPY", "MOVE", "ADD SILENT")),
        "MOVE SILENT <urn:into> TO <urn:k>",
    ],
)
def test_a_write_that_names_a_graph_of_conclusions_is_refused(text: str, infer: bool) -> None:
    engine = opened(JOINT)
    engine.update(axioms(ABOVE))
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:x> a <urn:A> } }")
    for graph in ("urn:into", CONTRADICTIONS_GRAPH.value):
        request = UpdateRequest(text.replace("urn:into", graph), infer=infer)
        for _ in range(2):  # the second time by the plan that texts of one shape share
            with pytest.raises(ForbiddenError):
                engine.update(request)
    assert answered(engine, "SELECT ?s { GRAPH <urn:into> { ?s a <urn:B> } }") == {"x"}
    assert len(engine.store) == 2


def test_what_reads_a_graph_of_conclusions_finds_what_is_asserted_in_it() -> None:
    engine = opened(JOINT)
    engine.update(axioms(ABOVE))
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:x> a <urn:A> } }")
    for infer in (False, True):
        copied = UpdateRequest("COPY <urn:into> TO <urn:k>", infer=infer)
        assert engine.update(copied).delta.is_empty
    engine.update("CLEAR ALL")
    assert answered(engine, "SELECT ?s { GRAPH ?g { ?s a ?c } }") == set()


def test_own_graphs_are_in_no_domain() -> None:
    engine = opened(Domains(all_others=True))
    engine.update(axioms(ABOVE))
    own = "https://sosa-gateway.example/graph/mappings"
    engine.update(f"INSERT DATA {{ GRAPH <{own}> {{ <urn:x> a <urn:A> }} . <urn:y> a <urn:A> }}")
    assert answered(engine) == {"y"}
    assert answered(engine, f"SELECT ?s {{ GRAPH <{own}> {{ ?s a <urn:B> }} }}") == set()


def test_contradictions_are_subscribed_as_any_quads(engine: Engine) -> None:
    first = subscribed(engine, f"SELECT ?x {{ GRAPH {CONTRADICTIONS_GRAPH} {{ ?x ?a ?b }} }}")
    engine.update(axioms("<urn:B> owl:disjointWith <urn:C>"))
    outcome = engine.update("INSERT DATA { <urn:x> a <urn:A> , <urn:C> }")
    assert told(outcome, first) == ({"x"}, set())
    outcome = engine.update("DELETE DATA { <urn:x> a <urn:C> }")
    assert told(outcome, first) == (set(), {"x"})


def test_the_schema_is_derived_into_the_ontology_graph(engine: Engine) -> None:
    query = f"SELECT ?c {{ GRAPH {ONTOLOGY_GRAPH} {{ ?c rdfs:subClassOf <urn:C> }} }}"
    query = f"PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> {query}"
    first = subscribed(engine, query)
    outcome = engine.update(axioms("<urn:B> rdfs:subClassOf <urn:C>"))
    assert told(outcome, first) == ({"A", "B"}, set())
    assert answered(engine, query, infer=False) == {"B"}


# failures -----------------------------------------------------------------------------------


def test_what_the_store_refuses_is_not_derived(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = subscribed(engine)
    unreached = subscribed(engine, "SELECT ?s { ?s a <urn:D> }")
    engine.update(A_MEMBER)

    def full(delta: Delta) -> None:
        raise StorageError("the disk is full")

    for text in (
        "INSERT DATA { <urn:y> a <urn:A> }",
        axioms("<urn:A> rdfs:subClassOf <urn:D>"),
        "DROP ALL",
    ):
        with monkeypatch.context() as patched:
            patched.setattr(engine.store, "apply", full)
            with pytest.raises(StorageError):
                engine.update(text)
        assert answered(engine) == {"x"}
        assert engine.reasoner is not None
        assert len(engine.reasoner.derived) == 1
    assert {each.text: each.infer for each in engine.standing} == {
        MEMBERS: True,
        "SELECT ?s { ?s a <urn:D> }": False,
    }
    outcome = engine.update("INSERT DATA { <urn:y> a <urn:A> }")
    assert told(outcome, first) == ({"y"}, set())
    outcome = engine.update(axioms("<urn:A> rdfs:subClassOf <urn:D>"))
    assert told(outcome, unreached) == ({"x", "y"}, set())


def test_before_the_start_nothing_is_known_and_everything_is_stored() -> None:
    engine = opened(at_once=False)
    engine.update(axioms(ABOVE))
    engine.update(A_MEMBER)
    with pytest.raises(SuspendedError):
        engine.query(QueryRequest(MEMBERS, infer=True))
    with pytest.raises(SuspendedError):
        engine.subscribe(SubscribeRequest(MEMBERS, infer=True))
    engine.start_reasoning()
    assert answered(engine) == {"x"}


def test_the_time_of_reasoning_is_told() -> None:
    performance = Performance()
    engine = Engine.open(performance=performance, reasoning=Reasoning(PLAIN))
    subscribed(engine)
    subscribed(engine, infer=False)
    engine.update(axioms(ABOVE))
    performance.reset()
    engine.update(A_MEMBER)
    spent = performance.totals
    assert min(spent.reason, spent.update, spent.lutt, spent.notify) > 0
    assert [each.hits for each in performance.lutt_columns()] == [0, 1]


def test_literals_are_compared_in_canonical_form(engine: Engine) -> None:
    engine.update(axioms("<urn:Half> owl:onProperty <urn:p> ; owl:hasValue 21.50"))
    engine.update("INSERT DATA { <urn:x> a <urn:Half> }")
    assert answered(engine, "SELECT ?o { <urn:x> <urn:p> ?o }") == {"21.5"}
