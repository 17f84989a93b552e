"""Texts at the bounds on form are planned quickly; those beyond are refused before the store."""

import time
from collections.abc import Iterator

import pytest

from gateway.engine import Engine
from gateway.errors import TooComplexError
from gateway.sparql.parser import parse_query
from tests.gateway.sparql.bounds.forms import DEEP, JOINS, NESTED, ORDERED, Form, largest

REASONABLE_S = 10.0
"""CPU seconds: five times what the worst takes here."""

AT_BOUNDS = {
    **{name: JOINS[name] for name in ("star", "same", "clique", "optionals", "unions", "sequence")},
    **DEEP,
    **{f"ordered {name}": form for name, form in ORDERED.items()},
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:s> <urn:a> 1, 2 ; <urn:p0> 3 . <urn:x> <urn:p> <urn:y> }")
    yield engine
    engine.close()


def _at_bound(form: Form) -> str:
    def is_admitted(size: int) -> bool:
        try:
            parse_query(form(size))
        except TooComplexError:
            return False
        return True

    return form(largest(is_admitted, 1_000))


@pytest.mark.alone
@pytest.mark.parametrize("name", AT_BOUNDS)
def test_query_at_a_bound_begins_quickly(engine: Engine, name: str) -> None:
    text = _at_bound(AT_BOUNDS[name])
    began = time.process_time()
    next(iter(engine.query(text)), None)  # type: ignore[arg-type]
    assert time.process_time() - began < REASONABLE_S
    if name.startswith("ordered"):
        engine.subscribe(text)


@pytest.mark.parametrize("name", ["chain", "cross", "sequence", "tables"])
def test_subscription_and_update_at_a_bound_are_quick(engine: Engine, name: str) -> None:
    text = _at_bound(JOINS[name])
    where = text.partition("{")[2].rpartition("}")[0]
    began = time.process_time()
    engine.subscribe(text)
    engine.update(f"INSERT {{ <urn:new> <urn:new> 1 }} WHERE {{ {where} }}")
    assert time.process_time() - began < REASONABLE_S


@pytest.mark.parametrize("form", NESTED.values(), ids=NESTED)
def test_nested_text_is_planned(engine: Engine, form: Form) -> None:
    next(iter(engine.query(form(30))), None)  # type: ignore[arg-type]
    engine.subscribe(form(30))


ATTACKS = {
    "400 patterns": JOINS["star"](400),
    "1,000 steps": f"ASK {{ ?s {'/'.join(['<urn:p>'] * 1000)} ?o }}",
    "5,000 branches": DEEP["union"](5_000),
    "1,000 optionals": JOINS["optionals"](1_000),
    "9,000 columns": DEEP["columns"](9_000),
    "9,000 keys": ORDERED["order by"](9_000),
    "9,000 tables": JOINS["tables"](9_000),
    "9,000 binds": DEEP["bind"](9_000),
    "50,000 described": DEEP["described"](50_000),
    "5,000 alternatives of a FILTER": DEEP["or"](5_000),
}


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS)
def test_text_beyond_a_bound_is_refused_at_once(engine: Engine, text: str) -> None:
    began = time.process_time()
    for ask in (engine.query, engine.subscribe, engine.explain):
        with pytest.raises(TooComplexError, match=r"more than \d+ .*raise \[limits\] query_"):
            ask(text)
    where = text.partition("{")[2].rpartition("}")[0] if "WHERE" not in text[:5] else ""
    if text.startswith(("SELECT *", "ASK")) and "ORDER" not in text:
        with pytest.raises(TooComplexError):
            engine.update(f"INSERT {{ <urn:x> <urn:p> 1 }} WHERE {{ {where} }}")
    assert time.process_time() - began < REASONABLE_S
    assert engine.statistics.subscriptions == 0
    assert engine.statistics.updates == 1


def test_refused_text_stays_refused(engine: Engine) -> None:
    for _ in range(3):
        with pytest.raises(TooComplexError):
            engine.query(ATTACKS["400 patterns"])


def test_delayed_update_is_bounded_when_it_comes(engine: Engine) -> None:
    where = JOINS["star"](201).partition("{")[2]
    with pytest.raises(TooComplexError):
        engine.update(f"INSERT {{ <urn:x> <urn:p> 1 }} WHERE {{ {where}", at=2**60)
    assert engine.waiting_delayed == 0


def test_large_data_are_taken(engine: Engine) -> None:
    quads = " . ".join(f"<urn:{n}> <urn:q> {n}" for n in range(5_000))
    assert len(engine.update(f"INSERT DATA {{ {quads} }}").delta.added) == 5_000
    rows = " ".join(str(n) for n in range(5_000))
    found = engine.subscribe(f"SELECT * {{ ?s <urn:q> ?o VALUES ?o {{ {rows} }} }}")
    assert len(found.results.added) == 5_000
