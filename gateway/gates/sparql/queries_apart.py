"""`QueriesApart`: queries that no form bounds, in processes with limits of memory and time.

    QUERY → a snapshot of the store → a confined process → its answer, written out

Place: beside the pool of queries, whose threads wait here; and before a SUBSCRIBE, whose first
answer is made apart once, to see that it can be.
"""

import pickle
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path

from gateway.engine import Engine, QueryRequest
from gateway.engine.windowed.beside_store import WindowCopies
from gateway.gates.http.rendering import Answer
from gateway.gates.protocol.media_types import Acceptable
from gateway.gates.sparql.query_process import QueryJob
from gateway.gates.sparql.snapshots import Snapshots
from gateway.runtime.confined import ConfinedProcesses, Confinement
from gateway.sparql.bounded import query_facts
from gateway.sparql.bounds.answer import AnswerBounds
from gateway.store.quad_store import QuadStore

_MODULE = "gateway.gates.sparql.query_process"
_AGE_S = 10.0
"""A first answer is tried on a copy that may be so old: it only has to be about as large."""

MEMORY_BYTES = 256 * 1024 * 1024


class QueriesApart:
    """For any thread. `folder` is for the snapshots alone; with what follows only while asked."""

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        limits: AnswerBounds | None = None,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._engine = engine
        self._limits = limits or AnswerBounds()
        self.snapshots = Snapshots(engine.store, folder / "asserted")
        self._folder = folder
        self._others = count()
        self._entailed: Snapshots | None = None
        if engine.view is not None:
            self._entailed = Snapshots(engine.view.entailed, folder / "entailed")
        self.processes = ConfinedProcesses(
            Confinement(_MODULE, memory_bytes, "the query", "[limits] query_memory_bytes")
        )

    def close(self) -> None:
        """End the processes, remove the snapshots."""
        self.processes.close()
        self.snapshots.close()
        if self._entailed is not None:
            self._entailed.close()

    def answer(
        self,
        query: QueryRequest,
        acceptable: Acceptable,
        is_wanted: Callable[[], bool],
        *,
        takes_gzip: bool,
    ) -> Answer:
        """The answer of a QUERY. Raises a GatewayError."""
        self._engine.windowed.names.require_answerable(query)
        answer = pickle.loads(self._asked(query, acceptable, is_wanted, takes_gzip=takes_gzip))  # noqa: S301
        assert isinstance(answer, Answer)  # noqa: S101  # our own child wrote it
        return answer

    def answer_on(
        self,
        store: QuadStore,
        query: QueryRequest,
        acceptable: Acceptable,
        is_wanted: Callable[[], bool],
    ) -> Answer:
        """The answer of a QUERY on another store in memory. Raises a GatewayError."""
        self._engine.store.remote.require_services(query.text)
        with closing(Snapshots(store, self._folder / f"other-{next(self._others)}")) as copies:
            answer = pickle.loads(self._on(copies, query, acceptable, is_wanted))  # noqa: S301
        assert isinstance(answer, Answer)  # noqa: S101  # our own child wrote it
        return answer

    def wants_trial(self, query: QueryRequest) -> bool:
        """Whether its form does not bound a subscription, which nobody has yet.

        Linear in the text. Raises what parsing it raises.
        """
        return not query_facts(query.text).is_bounded and not self._engine.is_subscribed(query)

    def try_first(
        self,
        query: QueryRequest,
        is_wanted: Callable[[], bool],
        copied: WindowCopies | None = None,
    ) -> None:
        """Raise the GatewayError that the first answer of a subscription would end with.

        `copied` is what it looks at in windows, which the process has beside the store.
        """
        self._asked(query, None, is_wanted, age_s=_AGE_S, copied=copied)

    def _snapshots(self, query: QueryRequest) -> Snapshots:
        """Copies of what the query is about. Raises NoReasoningError, SuspendedError."""
        if not query.infer:
            return self.snapshots
        entailed = self._engine.require_view().known()
        if self._entailed is None or not entailed.is_about_domains(query.text, query.dataset):
            return self.snapshots
        return self._entailed

    def _asked(
        self,
        query: QueryRequest,
        acceptable: Acceptable | None,
        is_wanted: Callable[[], bool],
        *,
        takes_gzip: bool = False,
        age_s: float = 0.0,
        copied: WindowCopies | None = None,
    ) -> bytes:
        self._engine.store.remote.require_services(query.text)
        snapshots = self._snapshots(query)
        return self._on(
            snapshots,
            query,
            acceptable,
            is_wanted,
            takes_gzip=takes_gzip,
            age_s=age_s,
            copied=copied,
        )

    def _on(
        self,
        snapshots: Snapshots,
        query: QueryRequest,
        acceptable: Acceptable | None,
        is_wanted: Callable[[], bool],
        *,
        takes_gzip: bool = False,
        age_s: float = 0.0,
        copied: WindowCopies | None = None,
    ) -> bytes:
        remote, limits, readable = self._engine.store.remote, self._limits, query.rights.read
        with snapshots.reading(age_s) as folder:
            job = QueryJob(
                folder,
                query.text,
                query.dataset,
                None if readable is None else readable | query.beside,
                remote.hosts,
                self._engine.time(),
                limits,
                acceptable,
                takes_gzip,
                copied,
            )
            return self.processes.ask(job, limits.timeout_s, is_wanted)
