"""Random queries against the store: same verdict, same variables, and a LUTT that misses nothing.

Each quad that hits no look-up of a query is put into the store: the answer must be as it was.
"""

from collections import Counter
from itertools import product, starmap

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyoxigraph import (
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolutions,
    Store,
)

from gateway.errors import SparqlSyntaxError
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import Lookup, quad_patterns

pytestmark = pytest.mark.property

_IRIS = ("<urn:a>", "<urn:b>")
_EDGES = ("<urn:p>", "<urn:q>")
_GRAPHS = ("<urn:g>", "<urn:h>")
_VARIABLES = ("?x", "?y", "?z")

variables = st.sampled_from(_VARIABLES)
iris = st.sampled_from(_IRIS)
edges = st.sampled_from(_EDGES)
graph_names = st.sampled_from((*_GRAPHS, "?x", "?g"))
subjects = st.one_of(variables, iris, st.just("[]"))
objects = st.one_of(variables, iris, st.sampled_from(("1", "'v'", "[]", "(?x)", "[ <urn:p> ?y ]")))


def joined(separator: str) -> st.SearchStrategy[str]:
    return st.lists(edges, min_size=1, max_size=2).map(separator.join)


paths = st.recursive(
    edges,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("*+?")).map(lambda pair: f"({pair[0]}){pair[1]}"),
        inner.map(lambda path: f"^({path})"),
        st.tuples(inner, st.sampled_from("/|"), inner).map(lambda three: f"({''.join(three)})"),
        joined("|^").map(lambda edges: f"!({edges})"),
    ),
    max_leaves=3,
)
triples = st.tuples(subjects, st.one_of(edges, paths, paths, variables), objects).map(
    lambda triple: " ".join(triple) + " ."
)
tests = st.one_of(
    st.tuples(variables, st.sampled_from(("=", "!=")), objects.filter(lambda o: "[" not in o))
    .filter(lambda three: "(" not in three[2])
    .map(" ".join),
    variables.map(lambda name: f"!BOUND({name})"),
    st.tuples(variables, iris).map(lambda pair: f"{pair[0]} NOT IN ({pair[1]}, 1)"),
)


def _elements(group: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    existence = group.map(lambda text: f"FILTER (!(NOT EXISTS {text}) || ?x = 1)")
    return st.one_of(
        triples,
        group,
        group.map("OPTIONAL {}".format),
        group.map("MINUS {}".format),
        existence,
        st.tuples(group, group).map(" UNION ".join),
        st.tuples(graph_names, group).map(lambda pair: f"GRAPH {pair[0]} {pair[1]}"),
        tests.map("FILTER ({})".format),
        st.tuples(tests, st.sampled_from(("?z", "?new"))).map(
            lambda pair: f"BIND ({pair[0]} AS {pair[1]})"
        ),
        st.tuples(variables, iris).map(lambda pair: f"VALUES {pair[0]} {{ UNDEF {pair[1]} }}"),
        st.tuples(st.sampled_from(("*", "?x", "DISTINCT ?y ?z", "(COUNT(*) AS ?n)")), group).map(
            lambda pair: f"{{ SELECT {pair[0]} {pair[1]} }}"
        ),
    )


def _group(elements: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(elements, min_size=1, max_size=3).map(
        lambda texts: "{ " + " ".join(texts) + " }"
    )


_flat = _group(triples) | st.just("{ }")
_nested = _group(_elements(_flat))
groups = _nested | _group(_elements(_nested | _flat))
datasets = st.sampled_from(
    (
        *("", "FROM <urn:g>", "FROM <urn:g> FROM <urn:h>", "FROM NAMED <urn:g>"),
        "FROM <urn:h> FROM NAMED <urn:g>",
    )
)
queries = st.one_of(
    st.tuples(datasets, groups).map(lambda pair: f"SELECT * {pair[0]} WHERE {pair[1]}"),
    st.tuples(datasets, groups).map(lambda pair: f"ASK {pair[0]} {pair[1]}"),
    groups.map(lambda text: f"SELECT ?x (COUNT(?y) AS ?n) WHERE {text} GROUP BY ?x"),
)

_NODES = tuple(NamedNode(iri[1:-1]) for iri in _IRIS)
_PREDICATES = tuple(NamedNode(iri[1:-1]) for iri in _EDGES)
_NAMES = (DefaultGraph(), *(NamedNode(graph[1:-1]) for graph in _GRAPHS))
_QUADS = tuple(starmap(Quad, product(_NODES, _PREDICATES, (*_NODES, Literal("v")), _NAMES)))
contents = st.lists(st.sampled_from(_QUADS), max_size=8, unique=True)


def answer(store: Store, text: str) -> Counter[tuple[object, ...]]:
    results = store.query(text)
    if isinstance(results, QueryBoolean):
        return Counter([()] if results else [])
    assert isinstance(results, QuerySolutions)
    return Counter(tuple(row) for row in results)


def hits(lookup: Lookup, quad: Quad) -> bool:
    in_graph = (
        not isinstance(quad.graph_name, DefaultGraph)
        if lookup.graph is None
        else lookup.graph == quad.graph_name
    )
    wanted = (lookup.subject, lookup.predicate, lookup.object)
    return in_graph and all(
        want is None or want == term
        for want, term in zip(wanted, (quad.subject, quad.predicate, quad.object), strict=True)
    )


def legal(text: str) -> bool:
    try:
        parse_query(text)
    except SparqlSyntaxError:
        return False
    return True


def store_takes(text: str) -> bool:
    try:
        Store().query(text)
    except SyntaxError:
        return False
    return True


_SETTINGS = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)


@_SETTINGS
@given(queries)
def test_verdict_and_variables_are_the_stores(text: str) -> None:
    assert legal(text) == store_takes(text)
    assume(legal(text))
    results = Store().query(text)
    if isinstance(results, QuerySolutions):
        columns = tuple(variable.value for variable in results.variables)
        assert parse_query(text).variables == columns


@_SETTINGS
@given(queries, contents)
def test_quad_that_hits_no_look_up_changes_no_answer(text: str, content: list[Quad]) -> None:
    assume(legal(text))
    lookups = quad_patterns(parse_query(text))
    store = Store()
    store.extend(content)
    old = answer(store, text)
    for quad in _QUADS:
        if quad in store or any(hits(lookup, quad) for lookup in lookups):
            continue
        known = set(store.named_graphs())
        store.add(quad)
        assert answer(store, text) == old, quad
        store.remove(quad)
        for graph in set(store.named_graphs()) - known:
            store.remove_graph(graph)


@_SETTINGS
@given(queries, contents)
def test_graph_that_appears_empty_changes_no_answer_unless_everything_is_looked_at(
    text: str, content: list[Quad]
) -> None:
    assume(legal(text) and Lookup() not in quad_patterns(parse_query(text)))
    store = Store()
    store.extend(content)
    old = answer(store, text)
    for graph in _GRAPHS:
        store.add_graph(NamedNode(graph[1:-1]))
    assert answer(store, text) == old
