"""A worker: SPUs on their own CTS, in a process of their own.

    requests -> CTS -> LUTT index -> units -> answers

At the other end of the scheduler's pipes (docs/engine.md, "Parallel mode"). It does one request
after another, exactly as the sequential mode does with the whole store, so an answer is the same
from both. It keeps nothing that the scheduler could not give it again, and ends when its pipe is
closed.
"""

import logging
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from logging.handlers import QueueHandler
from multiprocessing.connection import Connection
from typing import Protocol

from gateway.engine.compile import TierCompiler
from gateway.engine.processing import Processing
from gateway.engine.routes import Queues
from gateway.engine.spu import Change, Spu
from gateway.engine.statistics import EngineStatistics
from gateway.engine.workers.context_store import ContextStore
from gateway.engine.workers.worker_messages import (
    Changed,
    Cover,
    Done,
    Ready,
    Register,
    Remove,
    Reply,
    Request,
    Uncover,
    Working,
    pack,
    pack_answers,
    unpack,
    unpack_answers,
    unpack_quads,
)
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta, consolidate, difference
from gateway.sparql.bounds.form import UNBOUNDED, set_bounds


class Channel(Protocol):
    """The worker's end of the way to the scheduler."""

    def receive(self) -> Request:
        """The next request. Raises EOFError when there will be none."""

    def send(self, reply: Reply) -> None:
        """Hand over a reply."""

    def is_empty(self) -> bool:
        """Whether the next `receive` would wait."""


class PipeChannel:
    """Two pipes, by their file descriptors."""

    def __init__(self, inlet: int, outlet: int) -> None:
        self._inlet: Connection[Request, Reply] = Connection(inlet, writable=False)
        self._outlet: Connection[Reply, Request] = Connection(outlet, readable=False)

    def receive(self) -> Request:
        """The next request. Raises EOFError at the end."""
        return unpack(self._inlet.recv_bytes())  # type: ignore[return-value]

    def send(self, reply: Reply) -> None:
        """Hand over a reply."""
        self._outlet.send_bytes(pack(reply))

    def is_empty(self) -> bool:
        """Whether no request waits."""
        return not self._inlet.poll()


class WorkerProcess:
    """What a worker knows: its CTS and its SPUs. What `records` gets is logged over there."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._context = ContextStore()
        self._statistics = EngineStatistics()
        self._processing = Processing(self._context.store, TierCompiler, self._statistics)
        self._spus: dict[int, Spu] = {}
        self._numbers: dict[Spu, int] = {}
        self._late: dict[Spu, ResultsDelta] = {}
        self.records = Records()
        self._told = (0, 0)
        self._owed = 0

    def run(self) -> None:
        """Do requests until there are no more."""
        self._channel.send(Ready())
        while True:
            try:
                request = self._channel.receive()
            except EOFError:
                return
            self._do(request)
            if self._owed and self._channel.is_empty():
                self._reply(self._owed, ())

    def _do(self, request: Request) -> None:
        match request:
            case Changed():
                self._process(request)
            case Cover():
                quads = unpack_quads(request.quads)
                self._processing.fill(self._context.cover(request.entries, quads))
            case Uncover():
                self._processing.fill(self._context.uncover(request.entries))
            case Register():
                self._register(request)
            case Remove():
                self._remove(request.spu)

    def _register(self, request: Register) -> None:
        self._channel.send(Working(request.number, (request.spu,)))
        spu, results = self._processing.add(request.subject)
        if request.told is not None:
            ((_, told, _),) = unpack_answers(request.told)
            self._late[spu] = difference(spu.variables, Counter(told), Counter(results.added))
        self._spus[request.spu] = spu
        self._numbers[spu] = request.spu
        self._reply(request.number, ())

    def _remove(self, number: int) -> None:
        spu = self._spus.pop(number, None)
        if spu is not None:
            del self._numbers[spu]
            self._late.pop(spu, None)
            self._processing.remove(spu)

    def _process(self, request: Changed) -> None:
        delta = Delta(unpack_quads(request.added), unpack_quads(request.removed))
        self._context.store.defer(delta)
        queues = self._processing.match(delta)
        changes = (
            self._carefully(request.number, queues)
            if request.is_careful
            else self._processing.process(queues)
        )
        if changes or request.is_careful:
            self._reply(request.number, changes)
        else:
            self._owed = request.number  # the reply to a later one acknowledges this one too

    def _reply(self, number: int, changes: Sequence[Change]) -> None:
        answers = pack_answers(self._told_late(changes)) if changes else None
        self._channel.send(Done(number, answers, *self._untold(), self.records.take()))
        self._owed = 0

    def _told_late(self, changes: Sequence[Change]) -> Iterator[tuple[int, ResultsDelta]]:
        """The changes, each with what its subscribers should have been told before."""
        for spu, results in changes:
            late = self._late.pop(spu, None)
            if late is not None:
                added, removed = late.added + results.added, late.removed + results.removed
                results = consolidate(spu.variables, added, removed)  # noqa: PLW2901
            yield self._numbers[spu], results

    def _untold(self) -> tuple[int, int]:
        """LUTT hits and failures since the last time."""
        now = self._statistics.lutt_hits, self._statistics.failures
        told, self._told = self._told, now
        return now[0] - told[0], now[1] - told[1]

    def _carefully(self, number: int, queues: Queues) -> list[Change]:
        """Unit by unit, each announced, so that the scheduler knows which one did not return."""
        changes: list[Change] = []
        for unit, artq in queues.items():
            spus = tuple(self._numbers[spu] for spu in unit.members)
            self._channel.send(Working(number, spus))
            changes += self._processing.process({unit: artq})
        return changes


class Records(QueueHandler):
    """Keeps what is logged here, for the scheduler's process to log."""

    def __init__(self) -> None:
        super().__init__(queue=None)  # type: ignore[arg-type]
        self._taken: list[logging.LogRecord] = []

    def enqueue(self, record: logging.LogRecord) -> None:
        """Keep the record for the next reply."""
        self._taken.append(record)

    def take(self) -> tuple[logging.LogRecord, ...]:
        """What was logged since the last time."""
        taken, self._taken = tuple(self._taken), []
        return taken


def main(inlet: int, outlet: int) -> None:
    """Run a worker; standard input closes when the scheduler's process has ended."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # meant for the gateway, which ends us when it is done
    threading.Thread(target=_end_with_parent, name="watch", daemon=True).start()
    if hasattr(os, "sched_setaffinity"):  # the gateway's own threads share one core
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    set_bounds(UNBOUNDED)  # the scheduler admits what is subscribed
    worker = WorkerProcess(PipeChannel(inlet, outlet))
    logging.getLogger().addHandler(worker.records)
    worker.run()


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)
