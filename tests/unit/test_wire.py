"""Encoding results and messages, and merging what waits in an outbox."""

import json
from collections import Counter
from itertools import pairwise

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
from gateway.gates.outbox import Addressed, Outbox, OutboxLimits, merge
from gateway.gates.wire import (
    BadMessageError,
    NotificationEncoder,
    Subscribe,
    Unsubscribe,
    decode_message,
    encode_error,
    encode_results,
)
from gateway.rdf.namespaces import XSD
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, difference
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


def test_subscribe_with_foreign_members_is_decoded() -> None:
    body = {
        "sparql": "SELECT * { ?s ?p ?o }",
        "alias": "all",
        "default-graph-uri": ["urn:a"],
        "named-graph-uri": "urn:b",
        "timeout": 5000,
        "httpsAgent": {"_events": {}},
    }
    message = decode_message(json.dumps({"subscribe": body, "authorization": "x"}))
    assert message == Subscribe("SELECT * { ?s ?p ?o }", "all", (A,), (B,))


def test_unsubscribe_with_alias_is_decoded() -> None:
    message = decode_message('{"unsubscribe": {"spuid": "urn:1", "alias": "all"}}')
    assert message == Unsubscribe("urn:1", "all")


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("no json", None),
        ("[" * 100_000, None),
        ("1" * 10_000, None),
        ("[]", None),
        ("{}", None),
        ('{"subscribe": {"sparql": "ASK {}"}, "unsubscribe": {"spuid": "urn:1"}}', None),
        ('{"subscribe": "SELECT"}', None),
        ('{"subscribe": {"alias": "a"}}', "a"),
        ('{"subscribe": {"alias": 1}}', None),
        ('{"subscribe": {"sparql": 1, "alias": "a"}}', "a"),
        ('{"subscribe": {"sparql": "ASK {}", "alias": "a", "named-graph-uri": [1]}}', "a"),
        ('{"subscribe": {"sparql": "ASK {}", "alias": "a", "named-graph-uri": ["x"]}}', "a"),
        ('{"unsubscribe": {"alias": "a"}}', "a"),
    ],
)
def test_message_that_is_no_request_is_refused_with_its_alias(text: str, alias: str | None) -> None:
    with pytest.raises(BadMessageError) as caught:
        decode_message(text)
    assert caught.value.alias == alias


def test_error_with_alias_has_all_members() -> None:
    assert json.loads(encode_error(SparqlSyntaxError("expected }", 1, 9), "a")) == {
        "error": "sparql_syntax",
        "error_description": "expected } at line 1, column 9 (correct the SPARQL text)",
        "status_code": 400,
        "alias": "a",
    }
    assert "alias" not in json.loads(encode_error(TooManyRequestsError("full")))


rows: st.SearchStrategy[Row] = st.tuples(st.sampled_from([A, B, Literal("1"), None]))
bags: st.SearchStrategy[SolutionBag] = st.builds(Counter, st.lists(rows, max_size=6))


def _steps(answers: list[SolutionBag], spuid: str = SPUID) -> list[Notification]:
    """The notifications from no answer through these ones; `time` is the answer's index."""
    return [
        Notification(spuid, index, None, index, difference(("x",), old, new))
        for index, (old, new) in enumerate(pairwise([Counter[Row](), *answers]))
    ]


@given(bags, st.lists(bags, min_size=1, max_size=6))
def test_merge_any_steps_is_the_difference_of_first_and_last(
    before: SolutionBag, after: list[SolutionBag]
) -> None:
    merged = merge(_steps([before, *after])[1:])
    expected = difference(("x",), before, after[-1])
    assert Counter(merged.results.added) == Counter(expected.added)
    assert Counter(merged.results.removed) == Counter(expected.removed)
    assert (merged.sequence, merged.time) == (1, len(after))


class Subscriber:
    """Adds up what it gets, as a client does, and checks the protocol's promises."""

    def __init__(self, answers: list[SolutionBag]) -> None:
        self.answers = answers
        self.answer: SolutionBag = Counter()
        self.sequence = -1
        self.merged = 0

    def receive(self, message: Addressed) -> None:
        notification = message.notification
        self.sequence += 1
        self.merged += message.merged
        assert notification.sequence == self.sequence
        assert self.sequence == 0 or not notification.results.is_empty
        removed = Counter(notification.results.removed)
        assert removed <= self.answer
        self.answer = self.answer - removed + Counter(notification.results.added)
        assert self.answer == self.answers[notification.time]


@given(
    st.lists(bags, min_size=1, max_size=8),
    st.lists(bags, min_size=1, max_size=8),
    st.lists(st.sampled_from(["put", "put", "take"]), max_size=40),
    st.integers(0, 4),
)
def test_outbox_any_interleaving_adds_up_to_every_answer(
    first: list[SolutionBag], second: list[SolutionBag], actions: list[str], limit: int
) -> None:
    outbox = Outbox(lambda: None, OutboxLimits(messages=limit))
    subscribers = {"urn:1": Subscriber(first), "urn:2": Subscriber(second)}
    coming = [
        step
        for pair in zip(_steps(first, "urn:1"), _steps(second, "urn:2"), strict=False)
        for step in pair
        if step.sequence == 0 or not step.results.is_empty
    ]
    last = {step.spuid: step.time for step in coming}
    for action in [*actions, *["put"] * len(coming)]:
        if action == "put" and coming:
            outbox.put(coming.pop(0))
        elif (message := outbox.take()) is not None:
            subscribers[message.notification.spuid].receive(message)
    while (message := outbox.take()) is not None:
        subscribers[message.notification.spuid].receive(message)
    for spuid, subscriber in subscribers.items():
        assert subscriber.answer == subscriber.answers[last[spuid]]


def _added(sequence: int, rows: int = 1, spuid: str = SPUID) -> Notification:
    results = ResultsDelta(("x",), tuple((Literal(f"{sequence} {n}"),) for n in range(rows)))
    return Notification(spuid, sequence, None, sequence, results)


def test_outbox_wakes_the_writer_once_until_it_has_taken_everything() -> None:
    woken: list[None] = []
    outbox = Outbox(lambda: woken.append(None), OutboxLimits())
    outbox.put(_added(0))
    outbox.put(_added(1))
    assert len(woken) == 1
    while outbox.take() is not None:
        pass
    outbox.put(_added(2))
    assert len(woken) == 2


def test_outbox_full_merges_only_within_a_subscription() -> None:
    outbox = Outbox(lambda: None, OutboxLimits(messages=1))
    for notification in (_added(0), _added(0, spuid="urn:2"), _added(1), _added(2)):
        outbox.put(notification)
    merged, other = outbox.take(), outbox.take()
    assert merged is not None
    assert merged.merged == 3
    assert len(merged.notification.results.added) == 3
    assert other == Addressed(_added(0, spuid="urn:2"))
    assert outbox.take() is None


def test_outbox_with_too_many_rows_overflows_and_drops_everything() -> None:
    woken: list[None] = []
    outbox = Outbox(lambda: woken.append(None), OutboxLimits(messages=1, rows=10))
    outbox.put(_added(0, rows=11))
    assert not outbox.overflowed
    outbox.put(_added(1))
    assert outbox.overflowed
    outbox.put(_added(2))
    assert outbox.take() is None
    assert woken


def test_outbox_row_that_comes_and_goes_never_overflows() -> None:
    outbox = Outbox(lambda: None, OutboxLimits(messages=1, rows=2))
    outbox.put(_added(0))
    here = ResultsDelta(("x",), ((A,),))
    for sequence in range(1, 101):
        results = here if sequence % 2 else here.negate()
        outbox.put(Notification(SPUID, sequence, None, sequence, results))
    message = outbox.take()
    assert message is not None
    assert message.notification.results.added == _added(0).results.added
    assert message.merged == 101
    assert not outbox.overflowed


def test_outbox_forgotten_subscription_is_not_sent() -> None:
    outbox = Outbox(lambda: None, OutboxLimits())
    outbox.put(_added(0))
    outbox.put(_added(0, spuid="urn:2"))
    outbox.forget(SPUID)
    message = outbox.take()
    assert message is not None
    assert message.notification.spuid == "urn:2"
    assert outbox.take() is None


def test_outbox_closed_takes_nothing_more() -> None:
    outbox = Outbox(lambda: None, OutboxLimits())
    outbox.close()
    outbox.put(_added(0))
    assert outbox.take() is None
    assert not outbox.overflowed
