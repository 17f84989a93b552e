"""INSERT DATA and DELETE DATA that are N-Triples between braces mean what the parser says."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Quad

from gateway.errors import GatewayError
from gateway.rdf.delta import Delta
from gateway.rdf.ground_data import LONGEST_TEXT, ground_data
from gateway.store.quad_store import QuadStore
from gateway.store.update import BoundUpdate, bind_update, compile_update, evaluate

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
IRIS = ("<urn:a>", "<urn:b>", "<http://host/%C3%A9?q#f>", "<a:>", "<http://host/é>")
ODD_IRIS = ("<>", "<b>", "<:>", "<1a:b>", "<http://[::1>", "<http://host/%zz>", "<urn:a b>", "a:b")
LITERALS = (
    '"x"',
    '""',
    '"a\tb\x00\x85"',
    f'"01"^^<{XSD}integer>',
    f'"21.50"^^<{XSD}decimal>',
    f'"maybe"^^<{XSD}boolean>',
    '"é # } ."',
    f'"x"^^<{XSD}string>',
)
ODD_LITERALS = (
    f'"x"^^<{RDF}langString>',
    f'"x"^^<{RDF}dirLangString>',
    '"x"^^<y>',
    '"x"@EN',
    r'"\u0041"',
    r'"a\"b"',
    '"a\nb"',
    '"""a"""',
    "'x'",
    "1",
    "true",
    "_:b",
    "?v",
    "<< <urn:a> <urn:p> 1 >>",
    '"x"^^<urn:t>@en',
)
SUBJECTS = st.sampled_from((*IRIS, *IRIS, *ODD_IRIS, "_:b", '"x"'))
OBJECTS = st.sampled_from((*IRIS, *LITERALS, *LITERALS, *ODD_LITERALS))
TRIPLES = st.tuples(SUBJECTS, st.sampled_from((*IRIS, *IRIS, "a", "_:b")), OBJECTS)
ENDS = st.sampled_from((" .\n", " .\n", " .\n", " .\n", " . ", ".\n", " .\r\n", "\n", " . # no\n"))
LINES = st.lists(st.tuples(TRIPLES, ENDS).map(lambda each: " ".join(each[0]) + each[1]), max_size=4)


def outcome(bound: Callable[[str], BoundUpdate], text: str) -> object:
    store = QuadStore.open(None)
    there = compile_update(f"INSERT DATA {{ <urn:a> <urn:b> {LITERALS[3]} , <urn:a> }}")
    store.apply(evaluate(store, [(there, {})]))
    try:
        delta = evaluate(store, [bound(text)])
    except GatewayError as error:
        return type(error), str(error)
    return Counter(map(unnamed, delta.added)), Counter(map(unnamed, delta.removed))


def unnamed(quad: Quad) -> tuple[object, ...]:
    """A quad whose blank nodes have no labels: each request makes its own."""
    terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)
    return tuple("a blank node" if isinstance(term, BlankNode) else term for term in terms)


def parsed(text: str) -> BoundUpdate:
    return compile_update(text), {}


@given(st.sampled_from(("INSERT", "DELETE")), LINES)
def test_ground_data_means_what_the_parser_says(operation: str, lines: list[str]) -> None:
    text = f"{operation} DATA {{ {''.join(lines)}}}"
    assert outcome(bind_update, text) == outcome(parsed, text)


def line(object_: str) -> str:
    return f"INSERT DATA {{ <urn:a> <urn:b> {object_} .\n}}"


@pytest.mark.parametrize("object_", [*LITERALS, *IRIS])
def test_plain_terms_are_read_without_the_parser(object_: str) -> None:
    assert ground_data(line(object_)) is not None
    assert outcome(bind_update, line(object_)) == outcome(parsed, line(object_))


@pytest.mark.parametrize("object_", [*ODD_LITERALS, *ODD_IRIS])
def test_other_terms_are_left_to_the_parser(object_: str) -> None:
    assert ground_data(line(object_)) is None


def test_a_bulk_load_is_left_to_the_parser() -> None:
    assert ground_data(line(f'"{"x" * LONGEST_TEXT}"')) is None


def test_an_equal_triple_counts_once() -> None:
    text = "INSERT DATA { <urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> <urn:c> .\n}"
    store = QuadStore.open(None)
    delta: Delta = evaluate(store, [bind_update(text)])
    assert len(delta.added) == 1
