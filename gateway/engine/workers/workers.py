"""`Workers`: all worker processes; who has which SPU, and what each has to be sent.

Between the store and the addressing of subscribers (docs/engine.md, "Parallel mode"). One LUTT
index over the workers says what of a Delta goes to whom, once for all SPUs of a worker, which looks
more closely itself.
"""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Literal

from gateway.engine.lutt import LuttEntry, LuttIndex
from gateway.engine.spu import Change, Spu
from gateway.engine.workers.worker import Placed, SharedSource, Worker
from gateway.engine.workers.worker_link import Link
from gateway.engine.workers.worker_messages import Answers, Done, unpack_answers
from gateway.errors import StorageError
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta, SolutionBag

log = logging.getLogger(__name__)

_START_S = 60.0
_FINISH_S = 30.0

WorkerCount = int | Literal["auto"]

ARTQ = 64
"""Requests that may be outstanding at a worker, unless somebody says otherwise."""

Arrived = Callable[[list[Change], int], None]
"""Told which answers changed, and the engine's time at that UPDATE, in a receiver's thread."""


def worker_count(workers: WorkerCount) -> int:
    """How many workers a setting means: `auto` is one for each core but the scheduler's.

    Raises ValueError.

    >>> worker_count(3)
    3
    """
    if workers == "auto":
        return len(os.sched_getaffinity(0)) - 1
    if not isinstance(workers, int) or workers < 0:
        raise ValueError(f"workers = {workers!r}: use a number from 0 on, or 'auto'")
    return workers


@dataclass(slots=True)
class WorkersStatistics:
    """Counters since the start, but for `spus`, which are those in workers now.

    `seen` counts each SPU for each update, `lutt_hits` those of them that an update reached.
    """

    spus: int = 0
    seen: int = 0
    lutt_hits: int = 0
    failures: int = 0
    given_up: int = 0


class Workers:
    """`number` processes. `bound` requests may wait for one before the scheduler waits for it.

    `register`, `remove` and `post` are called with the store's `writing` held, then `pump` without.
    """

    def __init__(
        self,
        store: SharedSource,
        launch: Callable[[], Link],
        arrived: Arrived,
        ended: Callable[[Spu], None],
        *,
        number: int,
        bound: int = ARTQ,
    ) -> None:
        """Start them. Raises StorageError where a process does not start."""
        self.statistics = WorkersStatistics()
        self.bound = bound
        self._arrived = arrived
        self._ended = ended
        self._lutt: LuttIndex[Worker] = LuttIndex()
        self._homes: dict[Spu, tuple[Worker, Placed]] = {}
        self._placed: dict[int, Placed] = {}
        self._numbers = count(1)
        self._to_pump: dict[Worker, None] = {}
        self._lock = Lock()
        try:
            self._workers = tuple(Worker(launch, store, self) for _ in range(number))
        except OSError as error:
            raise _not_started(str(error)) from error
        if not all(worker.wait_until_ready(_START_S) for worker in self._workers):
            self.close()
            raise _not_started(f"it is not ready after {_START_S:g} s")

    def __len__(self) -> int:
        """How many workers there are."""
        return len(self._workers)

    def __iter__(self) -> Iterator[Worker]:
        return iter(self._workers)

    def __contains__(self, spu: object) -> bool:
        return spu in self._homes

    @property
    def outstanding(self) -> int:
        """Requests that workers were given and have not done."""
        return sum(worker.outstanding for worker in self._workers)

    @property
    def restarts(self) -> int:
        """How often a worker that died was replaced."""
        return sum(worker.restarts for worker in self._workers)

    @property
    def alive(self) -> int:
        """How many workers have a process that is up."""
        return sum(worker.is_ready for worker in self._workers)

    def register(
        self, spu: Spu, lutt: tuple[LuttEntry, ...], told: SolutionBag | None = None
    ) -> None:
        """Give an SPU to the worker that has fewest; it sees every Delta posted from now on."""
        worker = min(self._workers, key=len)
        placed = Placed(next(self._numbers), spu, lutt, told)
        self._homes[spu] = (worker, placed)
        self._placed[placed.number] = placed
        self.statistics.spus += 1
        for entry in worker.register(placed):
            self._lutt.insert(entry, worker)
        self._to_pump[worker] = None

    def remove(self, spu: Spu) -> None:
        """Take an SPU from its worker; what arrives for it from now on is dropped.

        Does nothing for one that was given up.
        """
        if spu not in self._homes:
            return
        worker, placed = self._homes[spu]
        self._forget(worker, placed, worker.remove(placed))
        self._to_pump[worker] = None

    def post(self, delta: Delta, time: int) -> None:
        """Give each worker what its SPUs' tables let through of a Delta."""
        self.statistics.seen += self.statistics.spus
        for worker, artq in self._lutt.match(delta).items():
            worker.post(delta, artq, time)
            self._to_pump[worker] = None

    def pump(self) -> None:
        """Send what was given; wait for workers that are too far behind: ARTQs have a bound."""
        while self._to_pump:
            worker, _ = self._to_pump.popitem()
            worker.pump()
            worker.wait(self.bound)

    def drain(self) -> None:
        """Wait until everything that was given is done."""
        for worker in self._workers:
            worker.wait(0)

    def told(self, spu: Spu) -> SolutionBag | None:
        """Wait until its worker has done what it was given: what subscribers were told in all.

        None where that is what the query answers now.
        """
        worker, placed = self._homes[spu]
        worker.wait(0)
        return placed.told

    def close(self) -> None:
        """End the processes once they have done what they were given."""
        for worker in self._workers:
            worker.close(_FINISH_S)

    def done(self, reply: Done, time: int) -> None:
        """Tell what a worker answered; called in the thread that receives from it."""
        for record in reply.records:
            logging.getLogger(record.name).handle(record)
        with self._lock:
            self.statistics.lutt_hits += reply.hits
            self.statistics.failures += reply.failures
        if reply.answers is not None:
            self._arrived(list(self._changes(reply.answers)), time)

    def _changes(self, answers: Answers) -> Iterator[Change]:
        for number, added, removed in unpack_answers(answers):
            placed = self._placed.get(number)
            if placed is not None:
                results = ResultsDelta(placed.spu.variables, added, removed)
                placed.tell(results)
                yield placed.spu, results

    def given_up(self, worker: Worker, placed: Placed, gone: tuple[LuttEntry, ...]) -> None:
        """Tell that an SPU is served no more, and forget it."""
        self._forget(worker, placed, gone)
        self.statistics.given_up += 1
        log.error("spu_given_up", extra={"query": placed.spu.subject.text})
        self._ended(placed.spu)

    def _forget(self, worker: Worker, placed: Placed, gone: tuple[LuttEntry, ...]) -> None:
        del self._homes[placed.spu], self._placed[placed.number]
        self.statistics.spus -= 1
        for entry in gone:
            self._lutt.remove(entry, worker)


def _not_started(reason: str) -> StorageError:
    return StorageError(f"a worker process does not start: {reason}", "try it with workers = 0")
