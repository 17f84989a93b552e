"""What the scheduler and a worker process say to each other, as few bytes as that takes.

Place: on the pipes between them. Quads go as N-Quads, which pyoxigraph writes and reads in 1.1 µs
a quad, where pickle takes 10; the terms of answers go once each, their rows as numbers. Blank
nodes keep their identity. Requests are numbered; a reply acknowledges all up to its own number.
"""

import pickle
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from logging import LogRecord
from typing import NamedTuple

from pyoxigraph import Quad, RdfFormat, Triple, parse, serialize

from gateway.engine.lutt import LuttEntry
from gateway.engine.spu import Subject
from gateway.rdf.solutions import ResultsDelta, Row
from gateway.rdf.terms import Term


class Cover(NamedTuple):
    """Keep the quads that match these entries: those there are now, and what Changes bring."""

    entries: tuple[LuttEntry, ...]
    quads: bytes


class Uncover(NamedTuple):
    """Forget the quads that match these entries and no others."""

    entries: tuple[LuttEntry, ...]


class Register(NamedTuple):
    """Make the SPU of a subject; `spu` is the number by which both sides know it.

    `told` is the answer that the subscribers have, where an equal dataset might give another one:
    the difference goes out with the next change.
    """

    number: int
    spu: int
    subject: Subject
    told: "Answers | None" = None


class Remove(NamedTuple):
    """Forget an SPU."""

    spu: int


class Changed(NamedTuple):
    """An ARTQ: what an UPDATE changed, as far as it concerns this worker.

    `is_careful`: say which SPUs are at work, since one of them may have killed the last worker.
    """

    number: int
    added: bytes
    removed: bytes
    is_careful: bool = False


Request = Cover | Uncover | Register | Remove | Changed


class Ready(NamedTuple):
    """The worker has started."""


class Working(NamedTuple):
    """These SPUs are at work on a request; sent before they are made and where asked for."""

    number: int
    spus: tuple[int, ...]


class Answers(NamedTuple):
    """Rows that answers gained and lost; for each SPU: number, columns, rows added and removed."""

    sizes: tuple[tuple[int, int, int, int], ...]
    cells: bytes
    terms: bytes


class Done(NamedTuple):
    """Every request up to this number is done; `answers` belong to this one.

    `hits` and `failures` count what happened since the last reply.
    """

    number: int
    answers: Answers | None = None
    hits: int = 0
    failures: int = 0
    records: tuple[LogRecord, ...] = ()


Reply = Ready | Working | Done


def pack(message: Request | Reply) -> bytes:
    """The bytes of a message."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(data: bytes) -> Request | Reply:
    """The message; only for bytes that our own process packed."""
    message: Request | Reply = pickle.loads(data)  # noqa: S301
    return message


def pack_quads(quads: Iterable[Quad]) -> bytes:
    """N-Quads."""
    return serialize(quads, format=RdfFormat.N_QUADS) or b""


def unpack_quads(data: bytes) -> tuple[Quad, ...]:
    """The quads of N-Quads that `pack_quads` wrote."""
    return tuple(parse(data, format=RdfFormat.N_QUADS)) if data else ()


def pack_answers(changes: Iterable[tuple[int, ResultsDelta]]) -> Answers:
    """The answers of SPUs; a term that occurs often is written once."""
    places: dict[Term | None, int] = {None: 0}
    sizes: list[tuple[int, int, int, int]] = []
    cells = array("I")
    for spu, results in changes:
        width = len(results.variables)
        sizes.append((spu, width, len(results.added), len(results.removed)))
        for row in (*results.added, *results.removed):
            cells.extend([places.setdefault(term, len(places)) for term in row])
    terms = [f"<a:b> <a:b> {_text(term)} .\n" for term in places if term is not None]
    return Answers(tuple(sizes), cells.tobytes(), "".join(terms).encode())


def unpack_answers(answers: Answers) -> Iterator[tuple[int, tuple[Row, ...], tuple[Row, ...]]]:
    """For each SPU its number, the rows added and the rows removed."""
    terms: list[Term | None] = [None]
    terms += [line.object for line in parse(answers.terms, format=RdfFormat.N_TRIPLES)]
    numbers = array("I")
    numbers.frombytes(answers.cells)
    cells = map(terms.__getitem__, numbers)
    for spu, width, added, removed in answers.sizes:
        yield spu, _rows(cells, width, added), _rows(cells, width, removed)


def _rows(cells: Iterator[Term | None], width: int, count: int) -> tuple[Row, ...]:
    return tuple(tuple(islice(cells, width)) for _ in range(count))


def _text(term: Term) -> str:
    """N-Triples; str() writes a triple term without its brackets."""
    if isinstance(term, Triple):
        return f"<<( {term.subject} {term.predicate} {_text(term.object)} )>>"
    return str(term)
