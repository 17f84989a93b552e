"""Readings as bundles: the same Deltas, notifications, look-ups and contents as quad by quad.

The same requests run on two engines on disk. One is given the bindings of readings in the form that
makes bundles of them, the other as mere terms. Between the readings somebody else writes of
the same subjects, looks them up, and the store is flushed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
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
from gateway.store.bundles import flushed
from gateway.store.bundles.bundle import Known
from gateway.store.bundles.flushed import MOST_FLUSHED
from gateway.store.bundles.reading_delta import ReadingDelta
from gateway.store.bundles.shape import Shape, shape_of
from gateway.store.bundles.steps import Leaving, Replacement, deletes_subjects
from gateway.store.quad_store import QuadStore
from gateway.store.update import BoundUpdate, UpdatePlan, compile_update
from tests.gateway.engine.views.reasoned import PLAIN, axioms, opened, subscribed

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
LATER = [
    "SELECT ?x ?r { ?x a <urn:Room> ; <urn:in> ?r . ?r a <urn:House> }",
    "SELECT ?o ?s { ?o a <urn:O> . ?o <urn:by> ?s . ?s <urn:at> ?p }",
    "SELECT ?o ?t { ?o <urn:by> ?s ; a ?t . ?s a <urn:S> }",
    "SELECT ?s ?v { ?o <urn:by> ?s . OPTIONAL { ?o <urn:node> ?n . ?n <urn:value> ?v } }",
    "SELECT ?s ?r { ?s <urn:calibrated> ?c . OPTIONAL { ?o <urn:by> ?s ; <urn:value> ?r } }",
    "SELECT ?o ?w { ?o a <urn:O> OPTIONAL { ?o <urn:weight> ?w } }",
]
"""Subscribed to while readings come; none of them asks for all quads."""

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
ABOUT_SENSORS = [
    "INSERT DATA { <urn:s0> <urn:calibrated> 1 . <urn:r> a <urn:Room> ; <urn:in> <urn:s0> }",
    "INSERT DATA { <urn:s0> a <urn:House> }",
    "DELETE DATA { <urn:s0> <urn:calibrated> 1 }",
    "INSERT DATA { <urn:s1> <urn:at> <urn:there> }",
    f"INSERT DATA {{ <{SUBJECTS[2]}> <urn:weight> 1 }}",
    "INSERT { ?o <urn:old> ?t } WHERE { ?o a ?t }",
    "DELETE { ?o <urn:by> ?s } WHERE { ?o a <urn:O> ; <urn:by> ?s }",
]
AXIOMS = """<urn:made> owl:inverseOf <urn:by> . <urn:by> rdfs:domain <urn:Seen> .
  <urn:node> rdfs:subPropertyOf <urn:part> . <urn:O> rdfs:subClassOf <urn:Thing>"""
MADE_BY_ONE = "SELECT ?o { <urn:s0> <urn:made> ?o }"
LISTENERS = [
    [],
    [MADE_BY_ONE],
    ["SELECT ?s ?o { ?s <urn:made> ?o ; <urn:at> ?p }"],
    ["SELECT ?o ?r { ?o a <urn:Thing> ; <urn:value> ?r }"],
    ["SELECT ?n { ?o <urn:part> ?n . ?n a <urn:N> }", MADE_BY_ONE],
    ["SELECT ?s ?p ?o { ?s ?p ?o }"],
]
VALUES = ["1.5", "01.50", "21.5", "-3.0"]

_entering = st.tuples(st.just("enter"), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3))
_leaving = st.tuples(st.just("leave"), st.integers(0, 2))
_readings = st.lists(st.one_of(_entering, _leaving), min_size=1, max_size=3).map(
    lambda reading: ("reading", reading)
)
_operations = st.lists(
    st.one_of(
        _readings,
        st.sampled_from(TEXTS).map(lambda text: ("text", text)),
        st.sampled_from(SUBJECTS).map(lambda iri: ("look", iri)),
        st.sampled_from(["flush", "query", "length"]).map(lambda what: (what, "")),
    ),
    max_size=14,
)
_with_subscriptions = st.lists(
    st.one_of(
        _readings,
        _readings,
        st.sampled_from(range(len(LATER))).map(lambda number: ("subscribe", number)),
        st.sampled_from([*TEXTS, *ABOUT_SENSORS]).map(lambda text: ("text", text)),
        st.just(("flush", "")),
    ),
    max_size=16,
)
_again = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)).map(
    lambda drawn: ("reading", [("leave", drawn[0]), ("enter", *drawn[1:])])
)
_with_flushes = st.lists(
    st.one_of(
        _again,
        st.just(("flush", "")),
        _readings,
        st.just(("flush", "")),
        st.sampled_from([*TEXTS, *ABOUT_SENSORS]).map(lambda text: ("text", text)),
        st.sampled_from(SUBJECTS).map(lambda iri: ("look", iri)),
        st.sampled_from(["restart", "query", "length"]).map(lambda what: (what, "")),
    ),
    max_size=20,
)


class Pair:
    """One engine that is given bundles, and one that is not.

    Where there are `listeners` they reason, and these look at what follows.
    """

    def __init__(
        self,
        folder: Path,
        queries: Sequence[str] = QUERIES,
        listeners: Sequence[str] | None = None,
    ) -> None:
        open_ = Engine.open if listeners is None else partial(opened, PLAIN)
        self.folder, self.queries = folder, queries
        self.quick, self.plain = (open_(folder / name) for name in ("quick", "plain"))
        self.observe, self.forget = compile_update(OBSERVE), compile_update(FORGET)
        shape = shape_of(OBSERVE, OWN)
        assert shape is not None
        assert deletes_subjects(self.forget) == set(OWN)
        self.shape: Shape = shape
        self.position: Quad | None = None
        self.positions = 0
        self.quick_readings = 0
        self.later: dict[int, tuple[str, str]] = {}
        self.names: dict[str, object] = {}
        for engine in (self.quick, self.plain):
            if listeners is not None:
                engine.update(axioms(AXIOMS))
            self._begin(engine, listeners or ())

    def _begin(self, engine: Engine, listeners: Sequence[str] = ()) -> None:
        engine.store.expect_new(PREFIX)
        for query in self.queries:
            self.names[engine.subscribe(query).spuid] = query
        for number, query in enumerate(listeners):
            self.names[subscribed(engine, query).spuid] = number, query

    def close(self) -> None:
        for engine in (self.quick, self.plain):
            engine.close()

    def restart(self) -> None:
        self.close()
        self.later.clear()
        self.quick, self.plain = (Engine.open(self.folder / name) for name in ("quick", "plain"))
        for engine in (self.quick, self.plain):
            self._begin(engine)

    def both(self, quick: Sequence[BoundUpdate], plain: Sequence[BoundUpdate]) -> None:
        one = self.quick.update(UpdateRequest(quick, is_deferred=True))
        self.quick_readings += isinstance(one.delta, ReadingDelta)
        self.same(one, self.plain.update(UpdateRequest(plain, is_deferred=True)))

    def same(self, one: Outcome, other: Outcome) -> None:
        assert _said(one) == _said(other)
        assert self._told(one) == self._told(other)

    def _told(self, outcome: Outcome) -> Mapping[object, object]:
        told = {self.names[each.spuid]: each for each in outcome.notifications}
        assert len(told) == len(outcome.notifications)
        return {
            name: (Counter(each.results.added), Counter(each.results.removed), each.sequence)
            for name, each in told.items()
        }

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
            self.same(self.quick.update(detail), self.plain.update(detail))
        elif what == "look":
            subject = NamedNode(detail)
            for wanted in ((subject, None, None, None), (None, NamedNode("urn:value"), None, None)):
                assert set(quick.match(*wanted)) == set(plain.match(*wanted))
            for quad in plain.match(subject, None, None, None):
                assert quad in quick
                assert quick.missing([quad]) == []
        elif what == "subscribe":
            self._begin_or_end(int(detail))
        elif what == "flush":
            self.quick.flush()
            self.plain.flush()
        elif what == "query":
            assert _content(quick) == _content(plain)
            if self.quick.reasoner is not None and self.plain.reasoner is not None:
                derived = self.quick.reasoner.derived.match(None, None, None, None)
                assert set(derived) == set(self.plain.reasoner.derived.match(*[None] * 4))
        elif what == "length":
            assert len(quick) == len(plain)
            everything = set(plain.each(DefaultGraph()))
            assert set(quick.each(DefaultGraph())) == everything

    def _begin_or_end(self, number: int) -> None:
        if number in self.later:
            for engine, spuid in zip((self.quick, self.plain), self.later.pop(number), strict=True):
                engine.unsubscribe(spuid)
            return
        one, other = (engine.subscribe(LATER[number]) for engine in (self.quick, self.plain))
        assert Counter(one.results.added) == Counter(other.results.added)
        self.later[number] = one.spuid, other.spuid
        self.names[one.spuid] = self.names[other.spuid] = number


def _terms(iris: Sequence[str], sensor: int, value: int) -> Mapping[str, Term]:
    return {
        "o": NamedNode(iris[0]),
        "n": NamedNode(iris[1]),
        "s": NamedNode(f"urn:s{sensor}" if sensor < 2 else "urn:seen/7-0"),
        "p": NamedNode("urn:place"),
        "r": Literal(VALUES[value], datatype=NamedNode(f"{XSD}decimal")),
    }


plays = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _said(outcome: Outcome) -> object:
    delta = outcome.delta
    counts = delta.counts
    assert counts == (len(delta.added), len(delta.removed))
    assert len(set(delta.added)) == len(delta.added)
    graphs = delta.graphs_created, delta.graphs_dropped
    return set(delta.added), set(delta.removed), graphs, len(delta), delta.is_empty


def _content(store: QuadStore) -> set[Quad]:
    found = store.query("SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }")
    return {tuple(row) for row in found}  # type: ignore[misc, union-attr]


def _play(
    operations: Sequence[tuple[str, object]],
    queries: Sequence[str] = QUERIES,
    listeners: Sequence[str] | None = None,
) -> int:
    with TemporaryDirectory() as folder:
        pair = Pair(Path(folder), queries, listeners)
        try:
            for what, detail in operations:
                if what == "reading":
                    pair.reading(detail)  # type: ignore[arg-type]
                elif what == "restart":
                    pair.restart()
                else:
                    pair.compare(what, str(detail))
            pair.compare("query", "")
            return pair.quick_readings
        finally:
            pair.close()


@pytest.mark.property
@settings(plays, max_examples=80)
@given(_operations)
def test_readings_as_bundles_are_told_and_stored_as_quad_by_quad(
    operations: list[tuple[str, object]],
) -> None:
    _play(operations)


@pytest.mark.property
@settings(plays, max_examples=50)
@given(_with_subscriptions)
def test_who_subscribes_between_readings_is_told_as_quad_by_quad(
    operations: list[tuple[str, object]],
) -> None:
    _play(operations, LATER[:1])


@pytest.mark.property
@settings(plays, max_examples=80)
@given(_with_flushes, st.sampled_from([20, MOST_FLUSHED]))
def test_bundles_that_the_disk_has_leave_as_quad_by_quad(
    operations: list[tuple[str, object]], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flushed, "MOST_FLUSHED", most)
        _play(operations)


def test_a_reading_leaves_the_disk_without_a_look_at_it(tmp_path: Path) -> None:
    pair = Pair(tmp_path, queries=())
    pair.reading([("enter", 0, 0, 0)])
    pair.reading([("enter", 1, 1, 0)])
    pair.compare("flush", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair.quick.store, "match", None)
        assert pair.quick.store.bundle(SUBJECTS[2]) is not None
        pair.reading([("leave", 1), ("enter", 2, 1, 1)])
    assert pair.quick.store.bundle(SUBJECTS[2]) is None
    pair.compare("query", "")
    pair.close()


@pytest.mark.parametrize("text", [TEXTS[0], TEXTS[3], TEXTS[6], *TEXTS[9:17]])
def test_what_somebody_has_written_of_is_looked_up(text: str, tmp_path: Path) -> None:
    pair = Pair(tmp_path, queries=())
    pair.reading([])  # makes the graph of the position
    for number in range(3):
        pair.reading([("enter", number, number % 2, 2)])
    pair.compare("flush", "")
    before = [pair.quick.store.bundle(iri) for iri in SUBJECTS]
    pair.compare("text", text)
    after = [pair.quick.store.bundle(iri) for iri in SUBJECTS]
    assert before != after
    pair.reading([("leave", number) for number in range(3)])
    pair.compare("query", "")
    pair.close()


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param([("subscribe", "1"), ("text", ABOUT_SENSORS[3])], id="join"),
        pytest.param([("subscribe", "5"), ("text", ABOUT_SENSORS[4])], id="tier 3"),
        pytest.param([("text", ABOUT_SENSORS[5])], id="WHERE with a variable"),
        pytest.param([("text", ABOUT_SENSORS[6])], id="WHERE with a constant"),
    ],
)
def test_what_nobody_has_subscribed_to_is_there_for_who_asks_later(
    asked: list[tuple[str, object]],
) -> None:
    # A table of types is kept for rooms; it has those of observations too.
    parts = ("enter", 0, 0, 0), ("enter", 1, 1, 0), ("leave", 0)
    assert _play([*(("reading", [part]) for part in parts), *asked], LATER[:1]) == 2


@pytest.mark.property
@settings(plays, max_examples=50)
@given(_operations, st.sampled_from(LISTENERS))
def test_what_follows_from_bundles_is_what_follows_quad_by_quad(
    operations: list[tuple[str, object]], listeners: Sequence[str]
) -> None:
    _play(operations, listeners=listeners)


@pytest.mark.parametrize("listeners", [None, *LISTENERS])
def test_readings_that_nobody_else_writes_of_are_bundles(listeners: list[str] | None) -> None:
    first, second = ("enter", 0, 0, 0), ("enter", 1, 0, 1)
    quick = _play(
        [
            ("reading", [first]),  # makes the graph of the position, so it is one by one
            ("reading", [second]),
            ("reading", [("leave", 1), ("enter", 2, 1, 1)]),
            ("text", TEXTS[0]),
            ("reading", [("leave", 0)]),  # written of meanwhile, and flushed
            ("reading", [("leave", 2), ("enter", 1, 0, 0)]),  # has been on the disk
        ],
        listeners=listeners,
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
