"""Texts go when they are done: what was made of them is kept by their length, not their number."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from gateway.engine import Engine
from gateway.errors import GatewayError
from gateway.runtime.text_cache import remembered


def resident() -> int:
    """MiB of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) >> 10


def text_of(kind: str, number: int, length: int) -> str:
    match kind:
        case "one literal":
            return f"INSERT DATA {{ <urn:s> <urn:p> '{number}{'x' * length}' }}"
        case "triples":
            rows = "".join(f"<urn:s{number}> <urn:p{n % 7}> {n} . " for n in range(length // 24))
            return f"INSERT DATA {{ {rows} }}"
        case "where":
            data = f"VALUES ?o {{ {' '.join(f'{number}{n}' for n in range(length // 8))} }}"
            return f"DELETE {{ ?s <urn:p> ?o }} WHERE {{ ?s <urn:p> ?o {data} }}"
        case "ill-typed":
            bad = f"'{number}{'x' * length}'^^<http://www.w3.org/2001/XMLSchema#integer>"
            return f"INSERT DATA {{ <urn:s> <urn:p> {bad} }}"
        case _:
            return f"SELECT ?s {{ ?s <urn:p> ?o FILTER(?o != '{number}{'x' * length}') }}"


def grown(kind: str, number: int, length: int) -> int:
    """MiB that texts leave behind when what they wrote is gone."""
    engine = Engine.open()
    subscriptions = ("query", "subscribe")

    def run(first: int, many: int) -> None:
        for each in range(first, first + many):
            text = text_of(kind, each, length)
            if kind == "query":
                list(engine.query(text))  # type: ignore[arg-type]
            elif kind == "subscribe":
                engine.unsubscribe(engine.subscribe(text).spuid)
            else:
                with suppress(GatewayError):
                    engine.update(text)
                engine.update("DELETE WHERE { ?s ?p ?o }")

    assert kind in KINDS or kind in subscriptions
    run(0, 5)
    before = resident()
    run(5, number)
    return resident() - before


KINDS = ["one literal", "triples", "where", "ill-typed", "query", "subscribe"]


def measured(kind: str, number: int, length: int) -> int:
    """In a process of its own, whose memory nobody else changes."""
    program = f"from {__name__} import grown; print(grown({kind!r}, {number}, {length}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, timeout=3000, check=True,
    )  # fmt: skip
    return int(done.stdout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("number", "length"), [(21, 200_000), (400, 8_000), (2000, 500)])
def test_many_different_texts_leave_nothing_behind(kind: str, number: int, length: int) -> None:
    assert measured(kind, number, length) < 30


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_long_texts_leave_nothing_behind(kind: str) -> None:
    assert measured(kind, 10_000, 100_000) < 30


def test_oldest_goes_first_and_long_ones_are_not_kept() -> None:
    made: list[str] = []

    @remembered(characters=64)
    def twice(text: str) -> str:
        made.append(text)
        return text * 2

    for text in ["aaa", "bbb", "aaa", *(f"{n:03}" for n in range(16)), "aaa", "x" * 9, "x" * 9]:
        assert twice(text) == text * 2
    assert made.count("aaa") == 2
    assert made.count("bbb") == 1
    assert made.count("x" * 9) == 2
    with pytest.raises(TypeError):
        twice(text="aaa")
