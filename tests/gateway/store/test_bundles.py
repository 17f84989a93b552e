"""Readings as bundles: the same Deltas, notifications, look-ups and contents as quad by quad.

The same requests run on two engines on disk. One is given the bindings of readings in the form that
makes bundles of them, the other as mere terms. Between the readings somebody else writes of
the same subjects, looks them up, and the store is flushed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad

from gateway.engine import Engine, Outcome
from gateway.engine.request import UpdateRequest
from gateway.rdf.namespaces import XSD
from gateway.rdf.terms import Term
from gateway.store.bundles.bundle import Known
from gateway.store.bundles.reading_delta import ReadingDelta
from gateway.store.bundles.shape import Shape, shape_of
from gateway.store.bundles.steps import Leaving, Replacement, deletes_subjects
from gateway.store.quad_store import QuadStore
from gateway.store.update import BoundUpdate, UpdatePlan, compile_update

PREFIX = NamedNode("urn:seen/7-")
OBSERVE = """INSERT { ?o a <urn:O> ; <urn:by> ?s ; <urn:value> ?r ; <urn:node> ?n .
  ?n a <urn:N> ; <urn:value> ?r . ?s a <urn:S> ; <urn:at> ?p } WHERE {}"""
FORGET = "DELETE WHERE { ?o ?p ?v } ; DELETE WHERE { ?n ?p ?v }"
OWN = ("o", "n")
STATE = NamedNode("urn:state")
QUERIES = [
    "SELECT ?o ?r { ?o <urn:by> <urn:s0> ; <urn:value> ?r }",
    "SELECT ?o { ?o <urn:by> <urn:s1> }",
    "SELECT ?s ?p ?o { ?s ?p ?o }",
    "SELECT ?o { ?o a <urn:O> . FILTER NOT EXISTS { ?o <urn:bad> ?x } }",
    "SELECT ?s (COUNT(?o) AS ?n) { ?o <urn:by> ?s } GROUP BY ?s",
    "SELECT ?g ?o { GRAPH ?g { ?o <urn:value> ?r } }",
]
SUBJECTS = [f"urn:seen/7-{number}{end}" for number in range(3) for end in ("", "/n")]
TEXTS = [
    *(f"INSERT DATA {{ <{s}> <urn:bad> 1 }}" for s in SUBJECTS[:3]),
    *(f"DELETE DATA {{ <{s}> a <urn:O> }}" for s in SUBJECTS[:3]),
    *(f"INSERT DATA {{ <{s}> <urn:value> 1.5 }}" for s in SUBJECTS[:3]),
    *(f"DELETE WHERE {{ <{s}> ?p ?o }}" for s in SUBJECTS[1:4]),
    f"INSERT DATA {{ GRAPH <urn:g> {{ <{SUBJECTS[0]}> <urn:value> 2 }} }}",
    "DELETE WHERE { ?o <urn:by> <urn:s0> }",
    "DELETE { ?o <urn:value> ?v } INSERT { ?o <urn:value> 7 } WHERE { ?o <urn:value> ?v }",
    "INSERT { ?o <urn:old> ?s } WHERE { ?o <urn:by> ?s }",
    "CLEAR DEFAULT",
    "DROP SILENT GRAPH <urn:state>",
]
VALUES = ["1.5", "01.50", "21.5", "-3.0"]

_entering = st.tuples(st.just("enter"), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3))
_leaving = st.tuples(st.just("leave"), st.integers(0, 2))
_operations = st.lists(
    st.one_of(
        st.lists(st.one_of(_entering, _leaving), min_size=1, max_size=3).map(
            lambda reading: ("reading", reading)
        ),
        st.sampled_from(TEXTS).map(lambda text: ("text", text)),
        st.sampled_from(SUBJECTS).map(lambda iri: ("look", iri)),
        st.sampled_from(["flush", "query", "length"]).map(lambda what: (what, "")),
    ),
    max_size=14,
)


class Pair:
    """One engine that is given bundles, and one that is not."""

    def __init__(self, folder: Path) -> None:
        self.quick, self.plain = (Engine.open(folder / name) for name in ("quick", "plain"))
        self.observe, self.forget = compile_update(OBSERVE), compile_update(FORGET)
        shape = shape_of(OBSERVE, OWN)
        assert shape is not None
        assert deletes_subjects(self.forget) == set(OWN)
        self.shape: Shape = shape
        self.position: Quad | None = None
        self.positions = 0
        for engine in (self.quick, self.plain):
            engine.store.expect_new(PREFIX)
            for query in QUERIES:
                engine.subscribe(query)
        self.quick_readings = 0

    def close(self) -> None:
        for engine in (self.quick, self.plain):
            engine.close()

    def both(self, quick: Sequence[BoundUpdate], plain: Sequence[BoundUpdate]) -> None:
        one = self.quick.update(UpdateRequest(quick, is_deferred=True))
        self.quick_readings += isinstance(one.delta, ReadingDelta)
        assert _said(one) == _said(self.plain.update(UpdateRequest(plain, is_deferred=True)))

    def reading(self, parts: Sequence[tuple[object, ...]]) -> None:
        quick, plain = [self._advance()], []
        plain.append(quick[0])
        for kind, number, *rest in parts:
            iris = (f"urn:seen/7-{number}", f"urn:seen/7-{number}/n")
            terms: Mapping[str, Term]
            if kind == "enter":
                terms = _terms(iris, *rest)  # type: ignore[arg-type]
                quick.append((self.observe, Known(self.shape, iris, terms)))
                plain.append((self.observe, terms))
            else:
                quick.append((self.forget, Leaving(OWN, iris)))
                plain.append((self.forget, dict(zip(OWN, map(NamedNode, iris), strict=True))))
        self.both(quick, plain)

    def _advance(self) -> BoundUpdate:
        self.positions += 1
        before = self.position
        after = Quad(NamedNode("urn:gw"), NamedNode("urn:is"), Literal(str(self.positions)), STATE)
        self.position = after
        return UpdatePlan("", (Replacement(before, after),)), {}

    def compare(self, what: str, detail: str) -> None:
        quick, plain = self.quick.store, self.plain.store
        if what == "text":
            assert _said(self.quick.update(detail)) == _said(self.plain.update(detail))
        elif what == "look":
            subject = NamedNode(detail)
            for wanted in ((subject, None, None, None), (None, NamedNode("urn:value"), None, None)):
                assert set(quick.match(*wanted)) == set(plain.match(*wanted))
            for quad in plain.match(subject, None, None, None):
                assert quad in quick
                assert quick.missing([quad]) == []
        elif what == "flush":
            self.quick.flush()
            self.plain.flush()
        elif what == "query":
            assert _content(quick) == _content(plain)
        else:
            assert len(quick) == len(plain)
            everything = set(plain.each(DefaultGraph()))
            assert set(quick.each(DefaultGraph())) == everything


def _terms(iris: Sequence[str], sensor: int, value: int) -> Mapping[str, Term]:
    return {
        "o": NamedNode(iris[0]),
        "n": NamedNode(iris[1]),
        "s": NamedNode(f"urn:s{sensor}" if sensor < 2 else "urn:seen/7-0"),
        "p": NamedNode("urn:place"),
        "r": Literal(VALUES[value], datatype=NamedNode(f"{XSD}decimal")),
    }


def _said(outcome: Outcome) -> object:
    delta = outcome.delta
    told = [
        (Counter(each.results.added), Counter(each.results.removed), each.sequence)
        for each in outcome.notifications
    ]
    counts = delta.counts
    assert counts == (len(delta.added), len(delta.removed))
    assert len(set(delta.added)) == len(delta.added)
    graphs = delta.graphs_created, delta.graphs_dropped
    return set(delta.added), set(delta.removed), graphs, len(delta), delta.is_empty, told


def _content(store: QuadStore) -> set[Quad]:
    found = store.query("SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }")
    return {tuple(row) for row in found}  # type: ignore[misc, union-attr]


def _play(operations: Sequence[tuple[str, object]]) -> int:
    with TemporaryDirectory() as folder:
        pair = Pair(Path(folder))
        try:
            for what, detail in operations:
                if what == "reading":
                    pair.reading(detail)  # type: ignore[arg-type]
                else:
                    pair.compare(what, str(detail))
            pair.compare("query", "")
            return pair.quick_readings
        finally:
            pair.close()


@pytest.mark.property
@settings(
    max_examples=80,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(_operations)
def test_readings_as_bundles_are_told_and_stored_as_quad_by_quad(
    operations: list[tuple[str, object]],
) -> None:
    _play(operations)


def test_readings_that_nobody_else_writes_of_are_bundles() -> None:
    first, second = ("enter", 0, 0, 0), ("enter", 1, 0, 1)
    quick = _play(
        [
            ("reading", [first]),  # makes the graph of the position, so it is one by one
            ("reading", [second]),
            ("reading", [("leave", 1), ("enter", 2, 1, 1)]),
            ("text", TEXTS[0]),
            ("reading", [("leave", 0)]),  # written of meanwhile, and flushed
            ("reading", [("leave", 2), ("enter", 1, 0, 0)]),  # has been on the disk
        ]
    )
    assert quick == 4


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([("enter", 0, 0, 0), ("enter", 0, 0, 1)], id="a subject twice"),
        pytest.param([("enter", 0, 0, 0), ("leave", 0)], id="comes and goes at once"),
        pytest.param([("leave", 0), ("enter", 0, 1, 1)], id="goes and comes"),
        pytest.param([("enter", 0, 2, 0)], id="the sensor is the observation"),
        pytest.param([("enter", 1, 2, 0), ("leave", 0)], id="the sensor is gone"),
        pytest.param([("enter", 1, 0, 0), ("enter", 2, 0, 1)], id="two of one sensor"),
        pytest.param([("leave", 0), ("leave", 0)], id="goes twice"),
    ],
)
def test_what_meets_in_one_reading_is_as_quad_by_quad(parts: list[tuple[object, ...]]) -> None:
    _play([("reading", [("enter", 0, 0, 3)]), ("reading", parts), ("flush", ""), ("length", "")])


@pytest.mark.parametrize(
    "text",
    [
        "INSERT { GRAPH <urn:g> { ?o a <urn:O> } } WHERE {}",
        "INSERT { ?o ?p 1 } WHERE {}",
        "INSERT { ?o <urn:p> ?a , ?b } WHERE {}",
        "INSERT { ?o <urn:p> _:b } WHERE {}",
        "INSERT { ?o a <urn:O> } WHERE { ?o a <urn:P> }",
        "DELETE { ?o a <urn:P> } INSERT { ?o a <urn:O> } WHERE {}",
        "WITH <urn:g> INSERT { ?o a <urn:O> } WHERE {}",
        "INSERT { ?o a <urn:O> } WHERE {} ; INSERT { ?o a <urn:P> } WHERE {}",
        "INSERT DATA { <urn:o> a <urn:O> }",
    ],
)
def test_a_template_whose_quads_are_not_known_has_no_shape(text: str) -> None:
    assert shape_of(text, ["o"]) is None
