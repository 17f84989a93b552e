"""A reader in another thread sees whole Deltas, while the writer brings them to Oxigraph."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import cast

import pytest
from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions

from gateway.rdf.delta import Delta
from gateway.store import quad_store
from gateway.store.delta_text import Functions, delta_text
from gateway.store.disk import commit
from gateway.store.quad_store import QuadStore

LAMPS = 100
ROUNDS = 150
VALUE = NamedNode("urn:value")
QUESTION = "SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?v) AS ?m) { ?lamp <urn:value> ?v }"


def test_reader_sees_all_lamps_with_one_value() -> None:
    store = QuadStore.open(None)
    store.apply(Delta(added=_lamps(0)))
    seen: list[tuple[str, str]] = []
    with _asking(store, seen):
        for number in range(ROUNDS):
            store.apply(Delta(_lamps(number + 1), _lamps(number)))
            store.flush()
    assert len(seen) > 10
    assert set(seen) == {(f"{LAMPS}", "1")}
    assert _answer(store) == (f"{LAMPS}", "1")


def test_reader_about_to_ask_makes_a_flush_one_transaction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = QuadStore.open(None)
    store.apply(Delta(added=_lamps(0)))
    store.flush()
    about, go_on = Event(), Event()
    seen: list[tuple[str, str]] = []
    texts: list[Delta] = []

    def wait(text: str) -> str:
        about.set()
        assert go_on.wait(10)
        return text

    def spy(delta: Delta) -> tuple[str, Functions]:
        texts.append(delta)
        return delta_text(delta)

    monkeypatch.setattr(quad_store, "with_clock", wait)
    monkeypatch.setattr(commit, "delta_text", spy)
    reader = Thread(target=lambda: seen.append(_answer(store)))
    reader.start()
    assert about.wait(10)
    store.apply(Delta(_lamps(1), _lamps(0)))
    store.flush()
    go_on.set()
    reader.join(10)
    assert seen == [(f"{LAMPS}", "1")]
    assert len(texts) == 1
    store.apply(Delta(_lamps(2), _lamps(1)))
    store.flush()
    assert len(texts) == 1
    assert set(store.match(None, VALUE, None, None)) == set(_lamps(2))


@contextmanager
def _asking(store: QuadStore, seen: list[tuple[str, str]]) -> Iterator[None]:
    stop = Event()

    def ask() -> None:
        while not stop.is_set():
            seen.append(_answer(store))

    reader = Thread(target=ask)
    reader.start()
    try:
        yield
    finally:
        stop.set()
        reader.join(10)


def _answer(store: QuadStore) -> tuple[str, str]:
    (row,) = cast(QuerySolutions, store.query(QUESTION))
    return cast(Literal, row["n"]).value, cast(Literal, row["m"]).value


def _lamps(value: int) -> tuple[Quad, ...]:
    return tuple(
        Quad(NamedNode(f"urn:lamp:{number}"), VALUE, Literal(f"{value}")) for number in range(LAMPS)
    )
