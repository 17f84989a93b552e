"""The process in which queries are evaluated that no form bounds: a snapshot, a text, an answer.

Place: at the other end of `queries_apart`. It keeps the last snapshot open for the next query.
"""

import pickle
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import QueryBoolean, Store

from gateway.engine.windowed.beside_store import WindowCopies
from gateway.errors import StorageError
from gateway.gates.http.rendering import BoundedBody
from gateway.gates.protocol.media_types import Acceptable
from gateway.rdf.dataset import Dataset
from gateway.rdf.rights import Graphs
from gateway.runtime.confinement import serve
from gateway.sparql.bounds.answer import AnswerBounds
from gateway.sparql.order.tie_break import with_tie_break
from gateway.store.clock import Clock
from gateway.store.quad_store import QuadStore
from gateway.store.readable import Readable, Source
from gateway.store.remote import Remote


@dataclass(frozen=True, slots=True)
class QueryJob:
    """A query on a snapshot, and how its answer is wanted.

    `time` is that of its clock. Without `acceptable` the number of its solutions is wanted, of a
    subscription's first answer; `copies` are what that looks at in windows.
    """

    folder: Path
    text: str
    dataset: Dataset | None
    readable: Graphs
    hosts: frozenset[str]
    time: int
    limits: AnswerBounds
    acceptable: Acceptable | None = None
    takes_gzip: bool = False
    copies: WindowCopies | None = None


def main(memory_bytes: int) -> None:
    """Evaluate until nobody asks any more."""
    serve(_Evaluation().answer, memory_bytes)


class _Evaluation:
    """The snapshot that was read last."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._store: QuadStore | None = None

    def answer(self, job: QueryJob) -> bytes:
        """The pickled Answer, or the number of solutions. Raises a GatewayError."""
        store = self._opened(job.folder)
        store.clock = Clock(lambda: job.time)
        store.remote = Remote(job.hosts)
        if job.copies is not None:
            store = job.copies.beside(store)
        source: Source = store if job.readable is None else Readable(store, job.readable)
        if job.acceptable is None:
            return _count(source, job)
        body = BoundedBody(job.limits)
        answer = body.render(source.query(job.text, job.dataset), job.acceptable)
        return pickle.dumps(answer.packed() if job.takes_gzip else answer)

    def _opened(self, folder: Path) -> QuadStore:
        if self._store is None or folder != self._folder:
            self._store = None  # which closes it
            try:
                self._store = QuadStore(Store.read_only(str(folder)))
            except OSError as error:
                raise StorageError(
                    f"the copy of the store does not open: {error}", "try it again"
                ) from error
            self._folder = folder
        return self._store


def _count(source: Source, job: QueryJob) -> bytes:
    """All solutions are made, as the first answer of a subscription makes them."""
    text = job.text if job.copies is None else job.copies.text
    results = source.query(with_tie_break(text), job.dataset)
    if isinstance(results, QueryBoolean):
        return b"1"
    body = BoundedBody(job.limits)
    number = 0
    for number, _ in enumerate(results, start=1):
        body.require(number)
    return str(number).encode()
