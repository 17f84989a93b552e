"""Texts of the same shape, one after another: each does what it does on a bare store.

An engine that remembers the shapes of texts must not mistake one for the other. So few shapes are
drawn and many texts of each, with other constants, in other spellings, under other prologues; they
run on one engine and on a pyoxigraph store of their own, and both hold the same after each.
"""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Store

from gateway.engine import Engine
from gateway.errors import GatewayError
from gateway.rdf.terms import Term
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.engine_session import MOST_QUADS
from tests.gateway.engine.engine_strategies import State, modifies, randoms, states
from tests.gateway.engine.same_shape import request_family
from tests.gateway.engine.scripts import dense_state
from tests.gateway.engine.test_delta_oracle import Seen, assert_exact, filled, is_isomorphic
from tests.gateway.engine.update_writer import PROLOGUE
from tests.gateway.sparql.spelling import spelled

pytestmark = pytest.mark.property

_ALL_CHECKS = list(HealthCheck)
quick = settings(
    max_examples=150, derandomize=True, deadline=None, suppress_health_check=_ALL_CHECKS
)
long = settings(max_examples=20_000, deadline=None, suppress_health_check=_ALL_CHECKS)


def update_bare(store: Store, text: str) -> bool:
    """Whether pyoxigraph's own update could do it."""
    try:
        store.update(text)
    except (SyntaxError, RuntimeError, ValueError):
        return False
    return True


def seen(engine: Engine) -> Seen:
    """What look-ups see, which may not have been written yet."""
    quads = list(engine.store.match(None, None, None, None))
    assert len(quads) == len(set(quads)) == len(engine.store)
    return Seen(frozenset(quads), frozenset(engine.store.named_graphs()))


def check_sequence(state: State, texts: list[str]) -> None:
    """Both stores are equal up to blank nodes after each text, and the Delta is their change."""
    ours, theirs = filled(state), filled(state)
    engine = Engine(QuadStore(ours))
    for text in texts:
        check_text(engine, theirs, text)
        if len(theirs) > MOST_QUADS:
            break
    expected = seen(engine)
    engine.flush()
    assert Seen.of(ours) == seen(engine) == expected


def check_text(engine: Engine, theirs: Store, text: str) -> None:
    before = seen(engine)
    done = update_bare(theirs, text)
    try:
        delta = engine.update(text).delta
    except GatewayError:
        assert not done, f"only the engine refuses {text}"
        assert seen(engine) == before
        return
    assert done, f"only the store refuses {text}"
    assert_exact(delta, before, seen(engine))
    assert is_isomorphic(seen(engine), Seen.of(theirs)), text


def families(members: int) -> st.SearchStrategy[list[str]]:
    return randoms.map(lambda random: request_family(random, 2, members))


def spelled_families(members: int) -> st.SearchStrategy[list[str]]:
    def written(random: Random) -> list[str]:
        texts = request_family(random, 2, members)
        return [spelled(random, text.removeprefix(PROLOGUE)) for text in texts]

    return randoms.map(written)


@quick
@given(states, families(6) | spelled_families(4))
def test_texts_of_one_shape_do_what_the_store_does(state: State, texts: list[str]) -> None:
    check_sequence(state, texts)


@pytest.mark.parametrize("seed", range(60))
def test_long_sequence_of_texts_does_what_the_store_does(seed: int) -> None:
    random = Random(seed)
    texts = request_family(random, 3, 12)
    if seed % 2:
        texts = [spelled(random, text.removeprefix(PROLOGUE)) for text in texts]
    check_sequence(dense_state(random), texts)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@long
@given(states, families(8) | spelled_families(8))
def test_texts_of_one_shape_do_what_the_store_does_in_the_long_run(
    state: State, texts: list[str]
) -> None:
    check_sequence(state, texts)


_BODIES = (
    "INSERT DATA { a: b: c: . GRAPH g: { a: b: 1 } }",
    "DELETE DATA { a: b: c: }",
    "DELETE { ?x b: ?y } INSERT { ?x c: ?y . ?y b: a: } WHERE { ?x b: ?y FILTER(?x = a:) }",
    "WITH g: DELETE { a: b: ?y } WHERE { a: b: ?y } ; INSERT DATA { GRAPH g: { c: b: a: } }",
    "INSERT { ?x b: ?y } USING g: WHERE { ?x b: ?y VALUES ?x { a: c: } }",
    "DELETE WHERE { a: ?p c: } ; CLEAR SILENT GRAPH g:",
    "INSERT { ?x b: ?n } WHERE { ?x b:/c: ?y BIND(b:integer('1') AS ?n) }",
    "COPY SILENT g: TO a: ; INSERT DATA { a: b: '1'^^c: }",
)
_XSD = "http://www.w3.org/2001/XMLSchema#"
_namespaces = st.fixed_dictionaries(
    {name: st.sampled_from(("urn:a", "urn:b", "urn:c", "urn:g", _XSD)) for name in "abcg"}
)


@quick
@given(states, st.lists(st.tuples(st.sampled_from(_BODIES), _namespaces), min_size=2, max_size=8))
def test_same_text_under_another_prologue_is_another_text(
    state: State, drawn: list[tuple[str, dict[str, str]]]
) -> None:
    prologues = [
        " ".join(f"PREFIX {name}: <{iri}>" for name, iri in namespaces.items())
        for _, namespaces in drawn
    ]
    check_sequence(
        state, [f"{prologue} {body}" for prologue, (body, _) in zip(prologues, drawn, strict=True)]
    )


@quick
@given(states, st.lists(st.sampled_from(("http://e/a/", "http://e/b/", "http://e/a")), max_size=6))
def test_same_text_on_another_base_is_another_text(state: State, bases: list[str]) -> None:
    body = (
        "INSERT DATA { <s> <p> <../o> } ; DELETE { <s> <p> ?o } WHERE { <s> <p> ?o . <s> ?p <o> }"
    )
    check_sequence(state, [f"BASE <{base}> {body}" for base in bases])


_bound: dict[str, Term] = {
    "<urn:a>": NamedNode("urn:a"),
    "<urn:b>": NamedNode("urn:b"),
    "<urn:p>": NamedNode("urn:p"),
    "<urn:g>": NamedNode("urn:g"),
    "01": Literal("01", datatype=NamedNode(_XSD + "integer")),
    "2.50": Literal("2.50", datatype=NamedNode(_XSD + "decimal")),
    "'v'@en": Literal("v", language="en"),
}


def is_bindable(text: str, term: str) -> bool:
    """Whether a text says the same with the term in the place of ?x as with a forced binding."""
    hidden = any(clause in text for clause in ("VALUES ?x", "?x ?", "SELECT", "BOUND(?x)", "AS ?x"))
    return not hidden and not (term[0] != "<" and "GRAPH ?x" in text) and "?x, " not in text


@quick
@given(states, modifies(""), st.lists(st.sampled_from(sorted(_bound)), min_size=2, max_size=6))
def test_prepared_update_does_with_each_binding_what_its_text_does(
    state: State, text: str, terms: list[str]
) -> None:
    theirs = filled(state)
    engine = Engine(QuadStore(filled(state)))
    plan = engine.prepare(text)
    for term in (term for term in terms if is_bindable(text, term)):
        before = seen(engine)
        if not update_bare(theirs, text.replace("?x", term)):
            continue
        delta = engine.update(plan, {"x": _bound[term]}).delta
        assert_exact(delta, before, seen(engine))
        assert is_isomorphic(seen(engine), Seen.of(theirs)), (text, term)


def test_blank_node_bound_to_a_prepared_update_is_that_node() -> None:
    store = Store()
    engine = Engine(QuadStore(store))
    node = BlankNode("n")
    plan = engine.prepare("INSERT { ?x <urn:p> ?v } WHERE {}")
    for value in (1, 2):
        engine.update(plan, {"x": node, "v": Literal(value)})
    engine.flush()
    assert {quad.subject for quad in store} == {node}
    assert len(store) == 2
