"""Encoding results, notifications and errors."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import (
    BaseDirection,
    BlankNode,
    Literal,
    NamedNode,
    Quad,
    QueryResultsFormat,
    QuerySolutions,
    Store,
    Triple,
)

from gateway.engine import Notification
from gateway.errors import SparqlSyntaxError, TooManyRequestsError
from gateway.gates.protocol.wire import NotificationEncoder, encode_error, encode_results
from gateway.rdf.namespaces import XSD
from gateway.rdf.solutions import ResultsDelta
from gateway.rdf.terms import Term

SPUID = "sepa://subscription/1"
A, B = NamedNode("urn:a"), NamedNode("urn:b")

texts = st.text(st.characters(exclude_categories=["Cs"]))
literals = st.one_of(
    st.builds(Literal, texts),
    st.builds(Literal, texts, datatype=st.sampled_from([NamedNode(f"{XSD}double"), A])),
    st.builds(Literal, texts, language=st.sampled_from(["en", "de-AT"])),
    st.builds(
        Literal, texts, language=st.just("ar"), direction=st.sampled_from([BaseDirection.RTL])
    ),
)
simple_terms = st.one_of(st.sampled_from([A, B, BlankNode("b0")]), literals)
terms = st.one_of(simple_terms, st.builds(Triple, st.just(A), st.just(B), simple_terms))


@given(st.lists(terms, max_size=4))
def test_results_any_terms_equal_those_of_pyoxigraph(objects: list[Term]) -> None:
    store = Store()
    store.extend(Quad(A, B, term) for term in objects)
    query = "SELECT ?o ?s ?nothing { ?s <urn:b> ?o }"
    solutions = store.query(query)
    assert isinstance(solutions, QuerySolutions)
    rows = [(row["o"], row["s"], row["nothing"]) for row in solutions]
    reference = store.query(query)
    assert isinstance(reference, QuerySolutions)
    expected = reference.serialize(format=QueryResultsFormat.JSON)
    assert expected is not None
    assert json.loads(encode_results(["o", "s", "nothing"], rows)) == json.loads(expected)


def _first(alias: str | None = None) -> Notification:
    return Notification(SPUID, 0, alias, 17, ResultsDelta(("x",), ((A,), (A,))))


def test_notification_first_with_alias_has_every_member() -> None:
    message = json.loads(NotificationEncoder().encode(_first("rooms")))
    binding = {"x": {"type": "uri", "value": "urn:a"}}
    assert message == {
        "notification": {
            "spuid": SPUID,
            "alias": "rooms",
            "sequence": 0,
            "time": 17,
            "addedResults": {"head": {"vars": ["x"]}, "results": {"bindings": [binding, binding]}},
            "removedResults": {"head": {"vars": ["x"]}, "results": {"bindings": []}},
        }
    }


def test_notification_merged_without_alias_says_how_many() -> None:
    notification = json.loads(NotificationEncoder().encode(_first(), merged=3))["notification"]
    assert notification["merged"] == 3
    assert "alias" not in notification


def test_notification_encoder_with_other_results_does_not_repeat_the_last_ones() -> None:
    encoder = NotificationEncoder()
    encoder.encode(_first())
    other = Notification(SPUID, 1, None, 18, ResultsDelta(("x",), (), ((B,),)))
    encoded = json.loads(encoder.encode(other))["notification"]
    assert encoded["addedResults"]["results"]["bindings"] == []
    assert encoded["removedResults"]["results"]["bindings"][0]["x"]["value"] == "urn:b"


def test_error_with_alias_has_all_members() -> None:
    assert json.loads(encode_error(SparqlSyntaxError("expected }", 1, 9), "a")) == {
        "error": "sparql_syntax",
        "error_description": "expected } at line 1, column 9 (correct the SPARQL text)",
        "status_code": 400,
        "alias": "a",
    }
    assert "alias" not in json.loads(encode_error(TooManyRequestsError("full")))


@pytest.mark.parametrize(
    ("sequence", "added", "removed", "members"),
    [
        (0, True, False, [{"head": {}, "boolean": True}, {"head": {}}]),
        (0, False, False, [{"head": {}, "boolean": False}, {"head": {}}]),
        (1, True, False, [{"head": {}, "boolean": True}, {"head": {}, "boolean": False}]),
        (2, False, True, [{"head": {}, "boolean": False}, {"head": {}, "boolean": True}]),
    ],
)
def test_notification_of_ask_has_the_answer_now_and_the_one_before(
    sequence: int, added: bool, removed: bool, members: list[object]
) -> None:
    results = ResultsDelta((), ((),) * added, ((),) * removed)
    notification = Notification(SPUID, sequence, None, 17, results, "ASK")
    message = json.loads(NotificationEncoder().encode(notification))["notification"]
    assert [message["addedResults"], message["removedResults"]] == members
