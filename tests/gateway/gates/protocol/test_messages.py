"""Requests of SPARQL 1.1 SE as clients send them."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from gateway.engine import SubscribeRequest
from gateway.errors import BadRequestError
from gateway.gates.protocol.messages import (
    BadMessageError,
    Resume,
    Subscribe,
    Unsubscribe,
    decode_message,
)
from gateway.rdf.dataset import Dataset
from gateway.windows import Window
from gateway.windows.members import MEMBERS, NOT_YET
from gateway.windows.window import OUTPUTS

A, B = NamedNode("urn:a"), NamedNode("urn:b")


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
    assert message == Subscribe("SELECT * { ?s ?p ?o }", "all", Dataset((A,), (B,)))


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
        ('{"unsubscribe": {"alias": "\\ud800"}}', None),
        ('{"subscribe": {"sparql": "ASK {} # \\udfff", "alias": "a"}}', "a"),
        ('{"subscribe": {"sparql": "ASK {}", "default-graph-uri": "urn:\\ud800"}}', None),
    ],
)
def test_message_that_is_no_request_is_refused_with_its_alias(text: str, alias: str | None) -> None:
    with pytest.raises(BadMessageError) as caught:
        decode_message(text)
    assert caught.value.alias == alias


@pytest.mark.parametrize("spelling", ["default-graph-uri", "default_graph_uri"])
@pytest.mark.parametrize("graphs", ["urn:a", ["urn:a"]])
def test_subscribe_with_either_spelling_of_graphs_is_decoded(
    spelling: str, graphs: str | list[str]
) -> None:
    message = decode_message(json.dumps({"subscribe": {"sparql": "ASK {}", spelling: graphs}}))
    assert message == Subscribe("ASK {}", dataset=Dataset((A,)))


def test_subscribe_with_spuid_and_sequence_resumes() -> None:
    body = {"sparql": "ASK {}", "spuid": "urn:1", "sequence": 7, "alias": "x"}
    assert decode_message(json.dumps({"subscribe": body})) == Resume("urn:1", 7, "x")


@pytest.mark.parametrize("sequence", [None, -1, 1.5, True, "1"])
def test_resume_without_a_sequence_is_refused(sequence: object) -> None:
    body = {"spuid": "urn:1", "sequence": sequence}
    with pytest.raises(BadMessageError, match="sequence"):
        decode_message(json.dumps({"subscribe": body}))


@pytest.mark.parametrize("token", ["t", "Bearer t"])
def test_token_beside_the_request_is_taken_where_the_setting_says_so(token: str) -> None:
    text = json.dumps({"subscribe": {"sparql": "ASK {}"}, "authorization": token})
    assert decode_message(text).authorization is None
    assert decode_message(text, bare_token=True).authorization == "Bearer t"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
_members = st.sampled_from(
    ["sparql", "alias", "spuid", "sequence", "authorization", "default-graph-uri"]
)
_bodies = st.dictionaries(_members, _json, max_size=6) | _json
_messages = st.dictionaries(
    st.sampled_from(["subscribe", "unsubscribe", "authorization"]), _bodies, max_size=2
)


@given(st.one_of(st.text(), _messages.map(json.dumps), _json.map(json.dumps)))
def test_any_message_is_decoded_or_refused(text: str) -> None:
    with suppress(BadMessageError):
        message = decode_message(text, bare_token=True)
        assert isinstance(message, Subscribe | Resume | Unsubscribe)


_ill = _json | st.sampled_from(["PT10M", "PT0S", "P99999999999D", "urn:a", "drop", 10**30, 1])
_declared = st.dictionaries(st.sampled_from([*MEMBERS, *NOT_YET, "else"]), _ill, max_size=3)
_declarations = _declared.map(lambda more: {"stream": "urn:a", "range": "PT10M"} | more)
_names = st.sampled_from(["urn:w", "urn:v", "no IRI", ""])
_windows = st.dictionaries(_names, _declarations | _declared | _json, max_size=2) | _json


@given(_windows, st.sampled_from(OUTPUTS) | _json)
def test_any_windows_are_declared_or_refused(windows: object, output: object) -> None:
    body = {"sparql": "ASK {}", "windows": windows, "output": output}
    with suppress(BadRequestError):
        message = decode_message(json.dumps({"subscribe": body}))
        assert isinstance(message, Subscribe)
        asked = message.over.asked(SubscribeRequest(message.sparql))
        assert all(isinstance(window, Window) for _, window in asked.windows)
        assert asked.output in OUTPUTS


@pytest.mark.parametrize("member", [True, False, None])
def test_a_subscribe_says_which_view_it_is_about(member: bool | None) -> None:
    text = json.dumps({"subscribe": {"sparql": "ASK {}", "infer": member}})
    message = decode_message(text)
    assert isinstance(message, Subscribe)
    assert message.infer is member


@pytest.mark.parametrize("member", ["true", 1, []], ids=repr)
def test_a_view_that_is_none_is_refused(member: object) -> None:
    text = json.dumps({"subscribe": {"sparql": "ASK {}", "infer": member}})
    with pytest.raises(BadMessageError, match="neither true nor false"):
        decode_message(text)
