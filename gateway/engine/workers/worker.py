"""`Worker`: one worker process as the scheduler sees it; replaced when it dies.

    post -> unsent -> pipe -> (process) -> pipe -> receiver thread -> listener

What was posted and is not acknowledged is outstanding. When the process dies, at any moment, its
CTS is filled again as it was before the first outstanding Delta, its SPUs are made on that, and
what is outstanding is sent again: no answer is lost, and none comes twice, since an answer and its
acknowledgement are one message. An SPU that kills the process again and again is given up.

Locks, in the order in which they are taken: the store's `writing`; `_sending` (one message after
another on the pipe); `_changed` (what is known here, never held while waiting for a pipe).
"""

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import RLock
from time import sleep
from typing import Protocol

from gateway.engine.lutt import Artq, LuttEntry, LuttIndex, quads_then
from gateway.engine.spu import Spu
from gateway.engine.workers.worker_link import Link, LinkBrokenError
from gateway.engine.workers.worker_messages import (
    Changed,
    Cover,
    Done,
    Register,
    Remove,
    Reply,
    Request,
    Uncover,
    Working,
    pack,
    pack_answers,
    pack_quads,
)
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta, SolutionBag
from gateway.store.readable import Source

log = logging.getLogger(__name__)

_DEATHS = 3
"""An SPU that is at work on the same request at so many deaths of its worker is given up."""

_PAUSE_S = 1.0
"""Before a process is started again where the last one did not come so far as to be ready."""


@dataclass(slots=True, eq=False)
class Placed:
    """An SPU that lives in a worker; both sides know it by its number.

    `told` is what its subscribers were told, for queries whose answer may differ between equal
    datasets: sums of floats in another order, the greatest of `1` and `1.0`.
    """

    number: int
    spu: Spu
    lutt: tuple[LuttEntry, ...]
    told: SolutionBag | None = None

    def tell(self, results: ResultsDelta) -> None:
        """Take note of what its subscribers are told."""
        if self.told is not None:
            self.told.update(results.added)
            self.told.subtract(results.removed)
            self.told += Counter()

    def request(self, number: int) -> Register:
        """What has a worker make it."""
        told = None
        if self.told is not None:
            rows = tuple(self.told.elements())
            told = pack_answers([(self.number, ResultsDelta(self.spu.variables, rows))])
        return Register(number, self.number, self.spu.subject, told)


class SharedSource(Source, Protocol):
    """The store, or the entailed view: what workers have a part of."""

    @property
    def writing(self) -> RLock:
        """Held while a change is made."""


class Listener(Protocol):
    """Is told what a worker did, in the thread that receives from it."""

    def done(self, reply: Done, time: int) -> None:
        """Requests are done; `time` is the engine's at the last of them."""

    def given_up(self, worker: "Worker", placed: Placed, gone: tuple[LuttEntry, ...]) -> None:
        """The worker has given up an SPU, and with it entries. The store is locked meanwhile."""


@dataclass(frozen=True, slots=True)
class _Posted:
    """What is outstanding: a whole Delta, or the making of an SPU."""

    number: int
    time: int
    delta: Delta | None = None
    spu: int = 0


class Worker:
    """A worker; `launch` starts a process for it, now and whenever it has died.

    `register`, `remove` and `post` are for the scheduler's thread, which holds the store's
    `writing` meanwhile, and calls `pump` afterwards without it.
    """

    def __init__(self, launch: Callable[[], Link], store: SharedSource, listener: Listener) -> None:
        self.restarts = 0
        self._launch = launch
        self._store = store
        self._listener = listener
        self._sending = threading.Lock()
        self._changed = threading.Condition()
        self._placed: dict[int, Placed] = {}
        self._covered: Counter[LuttEntry] = Counter()
        self._outstanding: deque[_Posted] = deque()
        self._unsent: deque[bytes] = deque()
        self._number = 0
        self._acknowledged = 0
        self._working: Working | None = None
        self._deaths: Counter[Working] = Counter()
        self._is_ready = False
        self._is_closing = False
        self._link = launch()
        self._receiver = self._receiving()

    def __len__(self) -> int:
        """How many SPUs it has."""
        return len(self._placed)

    @property
    def outstanding(self) -> int:
        """How many requests it was given and has not done."""
        return len(self._outstanding)

    @property
    def is_ready(self) -> bool:
        """Whether its process is up."""
        return self._is_ready

    @property
    def link(self) -> Link:
        """The way to the process of now."""
        return self._link

    # what the scheduler asks of it ----------------------------------------------------------

    def register(self, placed: Placed) -> tuple[LuttEntry, ...]:
        """Have it make an SPU, on the store as it is. The entries that it has to be sent now."""
        with self._changed:
            fresh = tuple(entry for entry in placed.lutt if not self._covered[entry])
            self._covered.update(placed.lutt)
            self._placed[placed.number] = placed
            if fresh:
                quads = quads_then(self._store, fresh, ())
                self._queue(Cover(fresh, pack_quads(quads)))
            posted = self._post(_Posted(self._following(), 0, spu=placed.number))
            self._queue(placed.request(posted.number))
        return fresh

    def remove(self, placed: Placed) -> tuple[LuttEntry, ...]:
        """Have it forget an SPU. The entries that it need not be sent any more."""
        with self._changed:
            if self._placed.pop(placed.number, None) is None:
                return ()
            self._queue(Remove(placed.number))
            gone = self._uncover(placed)
            if gone:
                self._queue(Uncover(gone))
        return gone

    def post(self, delta: Delta, artq: Artq, time: int) -> None:
        """Have it process what its SPUs' tables let through of a Delta."""
        with self._changed:
            posted = self._post(_Posted(self._following(), time, delta))
            self._queue(_artq(posted.number, artq))

    def pump(self) -> None:
        """Write what was queued; waits while the pipe is full, not until it is done."""
        with self._sending:
            while True:
                with self._changed:
                    if not self._unsent:
                        return
                    message, link = self._unsent.popleft(), self._link
                try:
                    link.send(message)
                except LinkBrokenError:
                    return  # the receiver finds out too, and starts anew from what is outstanding

    def wait(self, most: int, timeout_s: float | None = None) -> bool:
        """Wait until no more than so many requests are outstanding; whether that came."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._outstanding) <= most, timeout_s)

    def wait_until_ready(self, timeout_s: float) -> bool:
        """Wait for the process to start; whether it did."""
        with self._changed:
            return self._changed.wait_for(lambda: self._is_ready, timeout_s)

    def close(self, timeout_s: float) -> None:
        """End it once all is done; after the timeout, without regard for what is not."""
        if not self.wait(0, timeout_s):
            log.error("worker_ended", extra={"outstanding": self.outstanding})
        with self._sending, self._changed:
            self._is_closing = True
            self._changed.notify_all()
            self._link.finish()
        self._receiver.join(timeout_s)
        self._link.kill()
        self._receiver.join()
        self._link.close()

    def _following(self) -> int:
        self._number += 1
        return self._number

    def _post(self, posted: _Posted) -> _Posted:
        self._outstanding.append(posted)
        return posted

    def _queue(self, request: Request) -> None:
        self._unsent.append(pack(request))

    def _uncover(self, placed: Placed) -> tuple[LuttEntry, ...]:
        self._covered.subtract(placed.lutt)
        gone = tuple(entry for entry in placed.lutt if not self._covered[entry])
        for entry in gone:
            del self._covered[entry]
        return gone

    # the receiver's thread ------------------------------------------------------------------

    def _receiving(self) -> threading.Thread:
        thread = threading.Thread(
            target=self._receive, args=(self._link,), name="worker-receiver", daemon=True
        )
        thread.start()
        return thread

    def _receive(self, link: Link) -> None:
        try:
            while True:
                self._take(link.receive())
        except LinkBrokenError:
            link.kill()
            self._replace(link)

    def _take(self, reply: Reply) -> None:
        match reply:
            case Done():
                self._acknowledge(reply)
            case Working():
                self._survived()
                self._working = reply
            case _:
                with self._changed:
                    self._is_ready = True
                    self._changed.notify_all()

    def _acknowledge(self, reply: Done) -> None:
        self._survived()
        self._listener.done(reply, self._time_of(reply.number))
        with self._changed:
            while self._outstanding and self._outstanding[0].number <= reply.number:
                self._outstanding.popleft()
            self._acknowledged = max(self._acknowledged, reply.number)
            self._changed.notify_all()

    def _survived(self) -> None:
        if self._working is not None:
            del self._deaths[self._working]
            self._working = None

    def _time_of(self, number: int) -> int:
        """The engine's time at a request; one that was made anew is not outstanding."""
        with self._changed:
            return next((each.time for each in self._outstanding if each.number == number), 0)

    def _replace(self, dead: Link) -> None:
        """Another process in place of a dead one; the receiver's last act for the dead one."""
        link = self._launched()
        if link is None:
            return
        with self._store.writing, self._sending, self._changed:
            dead.close()
            self.restarts += 1
            log.error("worker_died", extra={"outstanding": len(self._outstanding)})
            self._blame()
            self._is_ready = False
            self._unsent = deque(map(pack, self._again()))
            self._link = link
            self._receiver = self._receiving()
        self.pump()

    def _launched(self) -> Link | None:
        """A new process, in the end; None when none is wanted any more."""
        pause_s = 0.0 if self._is_ready else _PAUSE_S
        while not self._is_closing:
            sleep(pause_s)
            try:
                return self._launch()
            except OSError as error:
                log.error("worker_not_started", extra={"reason": str(error)})
                pause_s = _PAUSE_S
        return None

    def _blame(self) -> None:
        """Count the death against the SPUs that were at work; give up those it is too much for."""
        at_work, self._working = self._working, None
        if at_work is None:
            return
        self._deaths[at_work] += 1
        if self._deaths[at_work] < _DEATHS:
            return
        for number in at_work.spus:
            if number in self._placed:
                placed = self._placed.pop(number)
                self._listener.given_up(self, placed, self._uncover(placed))

    def _again(self) -> Iterator[Request]:
        """What makes a new process what the old one was, and do what that had not done."""
        self._outstanding = deque(
            each for each in self._outstanding if each.delta or each.spu in self._placed
        )
        self._changed.notify_all()
        entries = tuple(self._covered)
        deltas = [each.delta for each in self._outstanding if each.delta]
        yield Cover(entries, pack_quads(quads_then(self._store, entries, deltas)))
        new = {each.spu for each in self._outstanding}
        for placed in self._placed.values():
            if placed.number not in new:
                yield placed.request(self._acknowledged)
        index: LuttIndex[Worker] = LuttIndex()
        for entry in entries:
            index.insert(entry, self)
        for each in self._outstanding:
            if each.delta is None:
                yield self._placed[each.spu].request(each.number)
            else:
                artq = index.match(each.delta).get(self) or Artq()
                yield _artq(each.number, artq)._replace(is_careful=True)


def _artq(number: int, artq: Artq) -> Changed:
    return Changed(number, pack_quads(artq.added), pack_quads(artq.removed))
