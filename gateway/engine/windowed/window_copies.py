"""What a query looks at in its windows, copied for a process that has only the store.

    windows that are open -> their triples, as the query's patterns want them -> `WindowCopies`

Place: taken in the engine's thread (`seen`), written out in any (`copies`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from pyoxigraph import NamedNode, Quad, RdfFormat, Triple, serialize

from gateway.engine.compile import lutt_of
from gateway.engine.lutt import LuttEntry
from gateway.engine.request import SubscribeRequest
from gateway.engine.spu import Subject
from gateway.engine.windowed.beside_store import WindowCopies
from gateway.engine.windowed.window_graph import bound_quads
from gateway.engine.windowed.windowed_processing import Contents, evaluated_text
from gateway.errors import TooLargeError
from gateway.windows.parted import Predicates

MOST_TRIPLES = 1_000_000
"""Of all windows of a query: to list so many takes 50 ms of the engine's thread."""

_PART = 2_000
"""Quads that are written out at once, so that other threads have their turn."""


@dataclass(frozen=True, slots=True)
class WindowsSeen:
    """The triples of a query's windows at one moment, and the bounds that their graphs tell."""

    triples: Mapping[NamedNode, Sequence[Triple]]
    bounds: tuple[Quad, ...]


def seen(request: SubscribeRequest, contents: Contents) -> WindowsSeen:
    """What windows have now of what a request looks at; in the engine's thread.

    Raises TooLargeError beyond MOST_TRIPLES, and as parsing the text does.
    """
    wanted = lutt_of(_subject(request))
    found: dict[NamedNode, Sequence[Triple]] = {}
    left = MOST_TRIPLES
    for node, content in contents.items():
        found[node] = list(islice(content.having(_predicates(wanted, node)), left + 1))
        left -= len(found[node])
        if left < 0:
            raise _too_large(f"more than {MOST_TRIPLES} triples")
    bounds = [quad for node, content in contents.items() for quad in bound_quads(node, content)]
    return WindowsSeen(found, tuple(bounds))


def copies(request: SubscribeRequest, there: WindowsSeen, most_bytes: int) -> WindowCopies:
    """What of it the query wants; linear. The request has all windows that it names.

    Raises TooLargeError where that is more than so many bytes, and as parsing the text does.
    """
    windows = tuple(there.triples)
    subject = _subject(request)
    text = evaluated_text(subject, windows)
    wanted = lutt_of(subject)
    parts: list[bytes] = []
    size = 0
    quads = _quads(there, wanted)
    while some := list(islice(quads, _PART)):
        part = serialize(some, format=RdfFormat.N_QUADS) or b""
        size += len(part)
        if size > most_bytes:
            raise _too_large(f"more than {most_bytes} bytes that it looks at")
        parts.append(part)
    return WindowCopies(text, windows, wanted, tuple(parts))


def _subject(request: SubscribeRequest) -> Subject:
    return Subject(
        request.text, request.dataset, readable=request.readable, windows=request.windows
    )


def _predicates(wanted: Iterable[LuttEntry], node: NamedNode) -> Predicates | None:
    """The predicates of a window that the patterns name; None: any."""
    found = {entry.predicate for entry in wanted if entry.graph in {None, node}}
    return None if None in found else frozenset(each for each in found if each is not None)


def _quads(there: WindowsSeen, wanted: Iterable[LuttEntry]) -> Iterator[Quad]:
    """What a window's graph keeps: the triples of predicates that the patterns name."""
    yield from there.bounds
    for node, triples in there.triples.items():
        predicates = _predicates(wanted, node)
        for triple in triples:
            if predicates is None or triple.predicate in predicates:
                yield Quad(triple.subject, triple.predicate, triple.object, node)


def _too_large(how_much: str) -> TooLargeError:
    return TooLargeError(
        f"the windows of the query have {how_much}, and its form bounds nothing, so its first "
        "answer has to be tried on a copy",
        "give shorter or narrower windows, or raise [limits] query_memory_bytes",
    )
