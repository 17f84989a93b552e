"""Bad input, in both modes: a specific error that names the place or the construct and what to do.

The store is as it was, nobody is told, and the other subscriptions go on as if nothing had been.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyoxigraph import Quad, QuerySolutions

from gateway.engine import Engine, Limits, Notification
from gateway.engine.options import EngineOptions
from gateway.engine.workers.workers import WorkerCount
from gateway.errors import (
    BadRequestError,
    GatewayError,
    SparqlSyntaxError,
    TooManySolutionsError,
    UnsupportedQueryError,
    UpdateFailedError,
)
from gateway.store.quad_store import QuadStore
from tests.kit.worker_threads import ThreadLink

OTHERS = (
    "SELECT ?o { <urn:s> <urn:p> ?o }",
    "SELECT * { ?s <urn:p> ?o OPTIONAL { ?s <urn:q> ?x } }",
    "SELECT (COUNT(*) AS ?n) { ?s <urn:p> ?o }",
    "ASK { GRAPH ?g { ?s <urn:p> ?o } }",
)


class Bystanders:
    """An engine with data, and subscribers who have nothing to do with what goes wrong."""

    def __init__(self, workers: WorkerCount) -> None:
        self.told: list[Notification] = []
        self.engine = Engine(
            QuadStore.open(None),
            workers=workers,
            options=EngineOptions(limits=Limits(solutions=3), launch=ThreadLink),
            on_notification=self.told.append,
        )
        self.engine.update("INSERT DATA { <urn:s> <urn:p> 1, 2 ; <urn:many> 1, 2, 3, 4 }")
        self.engine.update(
            "CREATE GRAPH <urn:empty> ; INSERT DATA { GRAPH <urn:g> { <urn:s> a 1 } }"
        )
        self._spuids = {self.engine.subscribe(text).spuid for text in OTHERS}

    @contextmanager
    def untouched(self) -> Iterator[Engine]:
        """What the block does leaves no trace in the store and with the others."""
        before = self._dataset()
        spus = self._spus()
        yield self.engine
        self.engine.drain()
        assert self._dataset() == before
        assert self.told == []
        assert self.engine.statistics.subscriptions == len(OTHERS)
        assert self._spus() == spus
        self._go_on()

    def _go_on(self) -> None:
        self.engine.update(
            "INSERT DATA { <urn:s> <urn:p> 3 . GRAPH <urn:g> { <urn:s> <urn:p> 3 } }"
        )
        self.engine.drain()
        assert {each.spuid for each in self.told} == self._spuids
        assert [each.sequence for each in self.told] == [1] * len(OTHERS)
        assert self.engine.statistics.failures == 0

    def _spus(self) -> dict[str, int]:
        return {tier: n for tier, n in self.engine.statistics.spus.items() if n}

    def _dataset(self) -> tuple[set[Quad], set[str]]:
        graphs = self.engine.query("SELECT ?g { GRAPH ?g {} }")
        assert isinstance(graphs, QuerySolutions)
        quads = set(self.engine.store.match(None, None, None, None))
        return quads, {row["g"].value for row in graphs}


@pytest.fixture(params=[0, 1], ids=["sequential", "parallel"])
def bystanders(request: pytest.FixtureRequest) -> Iterator[Bystanders]:
    found = Bystanders(request.param)
    yield found
    found.engine.close()


def _says(error: GatewayError, words: str) -> None:
    assert words in error.description
    assert error.hint
    assert error.hint in str(error)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", (1, 1), "end of text"),
        ("SELECT ?o { ?s ?p }", (1, 19), "'}'"),
        ("SELECT *\n{ ?s ?p ?o", (2, 11), "end of text"),
        ("SELECT ?o {\n ?s foaf:name ?o }", (2, 5), "foaf:"),
        ('SELECT ?o {\n\n ?s ?p "a }', (3, 8), "a string that does not end"),
        ("SELECT ?x { ?s ?p ?o } GROUP BY ?s", (1, 1), "?x"),
        ("SELECT * { ?s ?p ?o .\n BIND(1 AS ?s) }", (2, 2), "?s"),
        ("INSERT DATA { <urn:s> <urn:p> 4 }", (1, 1), "'INSERT'"),
    ],
)
def test_syntax_error_of_a_query_names_line_and_column(
    bystanders: Bystanders, text: str, place: tuple[int, int], words: str
) -> None:
    with bystanders.untouched() as engine, pytest.raises(SparqlSyntaxError) as caught:
        engine.subscribe(text)
    assert (caught.value.line, caught.value.column) == place
    _says(caught.value, words)
    assert f"line {place[0]}, column {place[1]}" in str(caught.value)


def test_syntax_error_that_only_the_store_finds_names_its_place(bystanders: Bystanders) -> None:
    with bystanders.untouched() as engine, pytest.raises(SparqlSyntaxError) as caught:
        engine.subscribe("SELECT ?o {\n ?s ?p ?o FILTER(TRUE) }")
    _says(caught.value, "error at 2:")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("DESCRIBE <urn:s>", "DESCRIBE"),
        ("SELECT * { ?s ?p ?o SERVICE <http://host.example/> { ?o ?q ?x } }", "SERVICE"),
        ("SELECT * { ?s ?p ?o FILTER EXISTS { SERVICE ?o { ?s ?q ?x } } }", "SERVICE"),
        ("SELECT (RAND() AS ?n) { ?s ?p ?o }", "RAND"),
        ("SELECT ?s { ?s ?p ?o FILTER(?o > RAND()) }", "RAND"),
        ("SELECT ?s { ?s ?p ?o } ORDER BY UUID() LIMIT 1", "UUID"),
        ("SELECT * { ?s ?p ?o { SELECT (STRUUID() AS ?n) {} } }", "STRUUID"),
        ("SELECT * { ?s ?p ?o BIND(BNODE() AS ?n) }", "BNODE"),
        ("SELECT (BNODE('a') AS ?n) { ?s ?p ?o }", "BNODE"),
        ("CONSTRUCT { [] <urn:x> ?o } WHERE { ?s ?p ?o }", "blank nodes in a CONSTRUCT template"),
        ("CONSTRUCT { ?s <urn:x> _:b } WHERE { ?s ?p ?o }", "blank nodes in a CONSTRUCT template"),
        ("SELECT * { ?s ?p ?o FILTER(<urn:function>(?o)) }", "<urn:function>"),
    ],
)
def test_form_that_cannot_be_subscribed_is_named(
    bystanders: Bystanders, text: str, words: str
) -> None:
    with bystanders.untouched() as engine, pytest.raises(UnsupportedQueryError) as caught:
        engine.subscribe(text)
    _says(caught.value, words)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?o { <urn:s> <urn:many> ?o }",
        "SELECT * { ?s <urn:many> ?o OPTIONAL { ?s <urn:q> ?x } }",
        "SELECT ?o (COUNT(*) AS ?n) { ?s <urn:many>+ ?o } GROUP BY ?o",
        "CONSTRUCT { ?s <urn:x> ?o } WHERE { ?s <urn:many> ?o }",
    ],
)
def test_first_answer_beyond_the_limit_names_the_limit(bystanders: Bystanders, text: str) -> None:
    with bystanders.untouched() as engine, pytest.raises(TooManySolutionsError) as caught:
        engine.subscribe(text)
    _says(caught.value, "more than 3 solutions")
    assert "query_solutions" in caught.value.hint


_FIRST = "INSERT DATA { <urn:s> <urn:p> 4 } ; DELETE DATA { <urn:s> <urn:p> 1 } ;\n"


@pytest.mark.parametrize(
    ("update", "error", "words"),
    [
        ("CREATE GRAPH <urn:g>", UpdateFailedError, "<urn:g> already exists"),
        ("CREATE GRAPH <urn:empty>", UpdateFailedError, "<urn:empty> already exists"),
        ("CREATE GRAPH <urn:new> ; CREATE GRAPH <urn:new>", UpdateFailedError, "<urn:new>"),
        ("DROP GRAPH <urn:nowhere>", UpdateFailedError, "<urn:nowhere> does not exist"),
        ("CLEAR GRAPH <urn:nowhere>", UpdateFailedError, "<urn:nowhere> does not exist"),
        ("MOVE <urn:nowhere> TO <urn:g>", UpdateFailedError, "<urn:nowhere> does not exist"),
        ("LOAD <http://host.example/a.ttl>", UnsupportedQueryError, "<http://host.example/a.ttl>"),
        (
            "INSERT { ?s <urn:p> ?o } WHERE { SERVICE <http://host.example/> { ?s ?p ?o } }",
            UnsupportedQueryError,
            "<http://host.example/>",
        ),
        (
            "INSERT { ?s <urn:p> ?o } WHERE { ?x <urn:q> ?at SERVICE ?at { ?s ?p ?o } }",
            UnsupportedQueryError,
            "SERVICE with a variable",
        ),
        (
            "INSERT { ?s <urn:p> ?v } WHERE { ?s <urn:p> ?o BIND(<urn:function>(?o) AS ?v) }",
            UnsupportedQueryError,
            "<urn:function>",
        ),
        ("INSERT DATA { <urn:s> <urn:p> ?x }", SparqlSyntaxError, "?x"),
        ("DELETE DATA { _:a <urn:p> 1 }", SparqlSyntaxError, "blank node"),
        ("INSERT { ?s <urn:p> } WHERE { ?s ?p ?o }", SparqlSyntaxError, "'}'"),
    ],
)
def test_update_that_raises_half_way_changes_nothing(
    bystanders: Bystanders, update: str, error: type[GatewayError], words: str
) -> None:
    with bystanders.untouched() as engine, pytest.raises(error) as caught:
        engine.update(_FIRST + update)
    _says(caught.value, words)
    if isinstance(caught.value, SparqlSyntaxError):
        assert caught.value.line == 2


@pytest.mark.parametrize("is_prepared", [False, True])
@pytest.mark.parametrize("value", [5, "text", None])
def test_binding_that_is_no_term_is_refused(
    bystanders: Bystanders, value: Any, is_prepared: bool
) -> None:
    text = "INSERT { <urn:s> <urn:p> ?value } WHERE {}"
    with bystanders.untouched() as engine:
        update = engine.prepare(text) if is_prepared else text
        with pytest.raises(BadRequestError) as caught:
            engine.update(update, {"value": value})
        _says(caught.value, "?value")


def test_delayed_update_that_cannot_be_read_is_refused_at_once(bystanders: Bystanders) -> None:
    with bystanders.untouched() as engine:
        with pytest.raises(SparqlSyntaxError):
            engine.update("INSERT DATA { <urn:s> <urn:p> }", at=engine.time() + 1_000_000)
        assert list(engine.delayed()) == []
