"""QUERY with `history=true`: observations of all times, from the archive and the journal.

    QUERY -> a snapshot of the store -> a confined process with archive and journal -> answer

Place: beside the pool of queries, in whose threads it is waited for. Who may not read the default
graph, where observations are, sees none. Meaning: docs/archive.md, "Now and then".
"""

import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.errors import BadRequestError
from gateway.gates.http.caller import Caller
from gateway.gates.http.rendering import Answer, BoundedBody
from gateway.gates.protocol.media_types import Acceptable
from gateway.gates.sparql.federated_queries import is_federated
from gateway.gates.sparql.history_job import MODULE, WORK, HistoryAnswer, HistoryJob, HistoryQuery
from gateway.gates.sparql.protocol_request import Operation, inferring
from gateway.gates.sparql.query_pool import QueryPool
from gateway.gates.sparql.snapshots import Snapshots
from gateway.journal.past.series import ArchivedSeries
from gateway.journal.past.sources import GatherLimits, Sources
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.runtime.confined import ConfinedProcesses, Confinement
from gateway.sparql.bounds.answer import AnswerBounds
from jsap.shapes.shape import Shapes

_MOST_IN_HEADER = 10


def is_over_time(operation: Operation) -> bool:
    """Whether a QUERY asks for observations of all times. Raises BadRequestError."""
    words = [value for key, value in operation.parameters if key == "history"]
    if words not in ([], ["true"], ["false"]):
        said = "&".join(f"history={word:.20}" for word in words[:3])
        raise BadRequestError(said, "send history=true or history=false, once")
    return words == ["true"]


@dataclass(frozen=True, slots=True)
class Past:
    """What queries over time are answered from; shapes as the profiles have them now."""

    sources: Sources
    snapshots: Snapshots
    shapes: Callable[[], Shapes]
    namespaces: Mapping[str, str]
    time: Callable[[], int]


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """An answer, and in headers which lines nobody has and which part is away."""

    answer: Answer
    headers: Mapping[str, str]


class HistoryQueries:
    """For the event loop. `past` is None where no archive is set."""

    def __init__(
        self,
        past: Past | None,
        pool: QueryPool,
        limits: GatherLimits,
        bounds: AnswerBounds,
        memory_bytes: int,
    ) -> None:
        self._past = past
        self._pool = pool
        self._limits = limits
        self._bounds = bounds
        self._processes = ConfinedProcesses(
            Confinement(MODULE, memory_bytes, WORK, "[archive] memory_bytes")
        )

    def series(self, gateway: str) -> ArchivedSeries | None:
        """The past of a gateway's streams, None without an archive."""
        folder = None if self._past is None else self._past.sources.archive
        if folder is None:
            return None
        return ArchivedSeries(self._processes, folder, gateway, self._limits.memory_bytes)

    def close(self) -> None:
        """End the processes."""
        self._processes.close()

    async def answer(self, operation: Operation, accept: str, caller: Caller) -> TimedAnswer:
        """The answer. Raises a GatewayError."""
        past = self._past
        if past is None:
            raise BadRequestError(
                "this gateway knows no archive", "set [archive] path, or leave history out"
            )
        _require_alone(operation)
        rights = caller.principal.policy.query_rights
        query = HistoryQuery(operation.text, past.shapes(), past.namespaces)
        acceptable, is_hidden = Acceptable.of(accept), not rights.may_read(DEFAULT_GRAPH)

        def work(body: BoundedBody) -> HistoryAnswer:
            with past.snapshots.reading() as folder:
                job = HistoryJob(
                    query,
                    past.sources,
                    self._limits,
                    self._bounds,
                    acceptable,
                    past.time(),
                    folder,
                    is_hidden=is_hidden,
                    takes_gzip=caller.takes_gzip,
                )
                packed = self._processes.ask(job, self._bounds.timeout_s, body.look)
            answer = pickle.loads(packed)  # noqa: S301  # our own child wrote it
            assert isinstance(answer, HistoryAnswer)  # noqa: S101
            return answer

        found = await self._pool.run(work, caller)
        return TimedAnswer(found.answer, _headers(found))


def _require_alone(operation: Operation) -> None:
    """Raise BadRequestError for what a query over time cannot be asked together with."""
    if operation.dataset is not None:
        raise BadRequestError(
            "history=true with a dataset", "observations are in the default graph: name no graph"
        )
    if inferring([value for key, value in operation.parameters if key == "infer"]):
        raise BadRequestError("history=true with infer=true", "ask for one of them")
    if is_federated(operation):
        raise BadRequestError("history=true of several gateways", "ask each for its own archive")


def _headers(found: HistoryAnswer) -> dict[str, str]:
    headers = {}
    if found.gaps:
        headers["History-Gaps"] = ", ".join(found.gaps[:_MOST_IN_HEADER])
    if found.missing:
        headers["History-Missing"] = json.dumps(dict(found.missing))
    return headers
