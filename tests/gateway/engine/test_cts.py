"""A column of the CTS says what the store says, whatever becomes of the table that serves it."""

from collections.abc import Collection
from random import Random

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from gateway.engine import cts
from gateway.engine.cts import Cts
from gateway.engine.dataset import Column, column_in
from gateway.engine.lutt import LuttEntry, runs
from gateway.rdf.delta import Delta
from gateway.rdf.terms import DEFAULT_GRAPH, Term
from gateway.store.quad_store import QuadStore

P, Q = (NamedNode(f"urn:{name}") for name in "pq")
SUBJECTS = [NamedNode(f"urn:s{number}") for number in range(6)]
QUADS = [
    Quad(subject, predicate, Literal(str(number)))
    for subject in SUBJECTS
    for predicate in (P, Q)
    for number in range(5)
]
WANTED = [LuttEntry(predicate=P, graph=DEFAULT_GRAPH)]


def asked(column: Column, subject: Term) -> Collection[Term]:
    """As a star asks."""
    look = column.look
    found = column.objects(subject) if look is None else look(subject)
    return found or ()


def stored(store: QuadStore, subject: NamedNode) -> set[Term]:
    return {quad.object for quad in store.match(subject, P, None, DEFAULT_GRAPH)}


@pytest.mark.property
@pytest.mark.parametrize(
    ("room", "late"), [(50_000, 1_000), (50_000, 0), (8, 1_000), (0, 1_000)], ids=str
)
@pytest.mark.parametrize("seed", range(20))
def test_a_column_says_what_the_store_says(
    monkeypatch: pytest.MonkeyPatch, room: int, late: int, seed: int
) -> None:
    """With tables that are full, forgotten, too big; held, given up, and held again."""
    monkeypatch.setattr(cts, "MOST_QUADS", room)
    monkeypatch.setattr(cts, "MOST_ASKED", 3)
    monkeypatch.setattr(cts, "_FEWEST_LATE", late)
    random = Random(seed)
    store = QuadStore.open(None)
    store.apply(Delta(added=tuple(random.sample(QUADS, random.randint(0, 20)))))
    tables = Cts(store)
    columns = [column_in(tables, P, DEFAULT_GRAPH), column_in(store, P, DEFAULT_GRAPH)]
    held = 0
    for _ in range(60):
        match random.randint(0, 9):
            case 0:
                tables.hold(WANTED)
                held += 1
            case 1 if held:
                tables.release(WANTED)
                held -= 1
            case 2:
                columns.append(column_in(tables, P, DEFAULT_GRAPH))
            case 3 | 4 | 5:
                chosen = random.sample(QUADS, random.randint(1, 4))
                there = [quad for quad in chosen if quad in set(store.match(*_ANY))]
                came = tuple(quad for quad in chosen if quad not in there)
                delta = Delta(came, tuple(there))
                store.apply(delta)
                tables.apply(runs(delta))
            case _:
                subject = random.choice(SUBJECTS)
                for column in columns:
                    assert set(asked(column, subject)) == stored(store, subject)
                assert set(tables.objects(P, DEFAULT_GRAPH)(subject)) == stored(store, subject)


_ANY = None, None, None, None


def test_a_table_that_is_too_big_is_asked_of_a_subject_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cts, "MOST_QUADS", 0)
    store = QuadStore.open(None)
    store.apply(Delta(added=tuple(QUADS)))
    tables = Cts(store)
    tables.hold(WANTED)
    column = column_in(tables, P, DEFAULT_GRAPH)
    looked: list[Term | None] = []
    match = store.match

    def counted(subject: Term | None, *others: object) -> list[Quad]:
        looked.append(subject)
        return match(subject, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "match", counted)
    first, second, *_ = SUBJECTS
    for subject in (first, second, first, second):
        assert len(asked(column, subject)) == 5
    assert looked == [first, second]
    change = Delta(removed=(Quad(first, P, Literal("0")),))
    store.apply(change)
    tables.apply(runs(change))
    assert len(asked(column, first)) == 4
    assert looked == [first, second, first]
