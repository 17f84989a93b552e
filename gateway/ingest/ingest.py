"""Ingest: message -> observations -> identity -> journal -> one UPDATE -> acknowledgement.

The order is that of engine.md, section 3a: a group of messages is journalled and made durable by
one fsync, then each message is one UPDATE, which also records how far the journal is applied; when
the store has it, the message is settled and the broker acknowledges it. What was acknowledged is
in the store or in the journal after kill -9 at any moment.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from adapters.adapter import Decoded, Fault, FaultReason
from adapters.values.message import Message
from adapters.values.notice import Heartbeat, Notice
from adapters.values.observation import Observation
from adapters.values.repetition import LastResults
from gateway.engine import Outcome
from gateway.errors import ClientError, GatewayError, StorageError
from gateway.ingest.current_state import CurrentState, Request
from gateway.ingest.duplicates import Duplicates, delivery_of
from gateway.ingest.inbox import Delivery, Inbox, Replay
from gateway.ingest.mappings import MappingTable
from gateway.ingest.plausibility import Plausibility
from gateway.ingest.quarantine import Quarantine, was_accepted
from gateway.ingest.raw_messages import RawMessages
from gateway.ingest.recovery import Recovery
from gateway.ingest.silence import Absences
from gateway.journal import Journal, Position, Record
from gateway.runtime.clocks import SYSTEM_CLOCKS
from gateway.scheduler.scheduler import Done, Scheduler
from gateway.store.update import BoundUpdate

log = logging.getLogger(__name__)

Listener = Callable[[Message, Sequence[Notice]], None]
Records = Callable[[Sequence[Record]], None]

Hear = Callable[[Message, bool], None]
"""Told of a message, and whether a mapping knows its topic."""

_GROUP = 256
_REPLAY = 1000


@dataclass(slots=True)
class IngestStatistics:
    """Counters since the start."""

    messages: int = 0
    unmapped: int = 0
    observations: int = 0
    duplicates: int = 0
    quarantined: int = 0
    clock_suspect: int = 0
    replayed: int = 0
    failed: int = 0
    heartbeats: int = 0
    seeds_dropped: int = 0


@dataclass(frozen=True, slots=True)
class _Accepted:
    """A delivery with the records that it gave, possibly none, and what it says of absences."""

    delivery: Delivery
    records: tuple[Record, ...]
    absences: Sequence[BoundUpdate]


class Ingest:
    """The worker between the inbox and the scheduler; `run` is the body of its thread."""

    def __init__(
        self,
        inbox: Inbox,
        scheduler: Scheduler,
        journal: Journal,
        *,
        mappings: MappingTable,
        present: CurrentState,
        absences: Absences,
        plausibility: Plausibility,
        quarantine: Quarantine,
        raw: RawMessages | None = None,
        future: timedelta = timedelta(days=1),
        now: Callable[[], datetime] = SYSTEM_CLOCKS.now,
    ) -> None:
        self.statistics = IngestStatistics()
        self._inbox = inbox
        self._scheduler = scheduler
        self._journal = journal
        self.mappings = mappings
        self.quarantine = quarantine
        self.raw = RawMessages() if raw is None else raw
        self._future = future
        self._now = now
        self._duplicates = Duplicates()
        self._repeated = mappings.memory.of(LastResults)
        self.present = present
        self.absences = absences
        self._plausibility = plausibility
        self._listeners: list[Listener] = []
        self._hearers: list[Hear] = []
        self._errands: deque[Callable[[], None]] = deque()
        self._on_accepted: list[Records] = []
        self._on_stored: list[Records] = []
        self._stopping = threading.Event()

    def between_messages(self, errand: Callable[[], None]) -> None:
        """Have `errand`, which does not raise, run in the ingest thread before the next message.

        What has been decoded before is on its way to the store as it is, ahead of what the errand
        gives the scheduler to do. It is not run once ingest has ended.
        """
        self._errands.append(errand)
        self._inbox.rouse()

    def on_notices(self, listener: Listener) -> None:
        """Have `listener` told what messages say beyond observations, in the ingest thread."""
        self._listeners.append(listener)

    def on_records(self, *, accepted: Records, stored: Records) -> None:
        """Have observations told: in the ingest thread as they come, when the store has them."""
        self._on_accepted.append(accepted)
        self._on_stored.append(stored)

    def on_heard(self, hear: Hear) -> None:
        """Have `hear` told of every message, in the ingest thread; it must not wait or raise."""
        self._hearers.append(hear)

    def recover(self, query_text: Callable[[str], str]) -> None:
        """Bring the store, and what is known of it, to where the journal is; before `run`.

        Replays what the journal has and the store has not (engine.md, section 3a). `query_text`
        gives the text of the profiles' queries STREAMS, SERIES and WATCHED.
        """
        engine = self._scheduler.engine
        self._duplicates.recall(self._journal.tail(100_000))
        known = Recovery(self.present, self.absences, self._plausibility, self.mappings.memory)
        known.of_store(engine, query_text, self._now())
        if self.present.applied is not None:
            self._journal.begin_after(self.present.applied.epoch)
        self._journal.space.applied = self.present.applied
        for chunk in _chunks(self._journal.after(self.present.applied), _REPLAY):
            self._replay(chunk)
            for record in chunk:
                known.of_record(record)
            self.statistics.replayed += len(chunk)
            self._journal.space.applied = chunk[-1].position
        engine.store.mint(self.present.identity.minted(self._journal.epoch))

    def run(self) -> None:
        """Serve the inbox until it is closed and empty."""
        while not self._inbox.is_drained:
            deliveries = self._inbox.take(_GROUP, self.absences.wait_s)
            while self._errands:
                self._errands.popleft()()
            accepted = [self._accept(delivery) for delivery in deliveries]
            if not self._make_durable([r for each in accepted for r in each.records]):
                error = StorageError("the gateway stopped before the journal could be written")
                for each in accepted:
                    each.delivery.settle(error)
                continue
            self._scheduler.submit(list(self._requests(accepted)))
            self._scheduler.submit(list(_told(self.absences.due())))

    def stop(self) -> None:
        """Give up waiting for a disk that does not come back; unsettled messages stay so."""
        self._stopping.set()
        self._scheduler.give_up()

    def _replay(self, records: Sequence[Record]) -> None:
        """Many records as one UPDATE; where that fails for good, each by itself."""
        request = self.present.request(records)
        if not self._is_done(request.updates):
            for update in request.entering:
                self.statistics.failed += not self._is_done([update])
            any(map(self._is_done, request.remainders))

    def _is_done(self, updates: Sequence[BoundUpdate]) -> bool:
        """Whether the store took the UPDATE; raises StorageError when its disk does not."""
        try:
            self._scheduler.engine.update(updates)
        except ClientError as error:
            log.error("observation_not_stored", extra={"reason": str(error)})
            return False
        return True

    def _accept(self, delivery: Delivery) -> _Accepted:
        """Decode, drop what is known, give identities."""
        message = delivery.message
        decoded = self._decode(message)
        if delivery.replay is not None:
            return self._accept_again(delivery, delivery.replay, decoded)
        self.statistics.messages += 1
        if not decoded.matched:
            self.statistics.unmapped += 1
        for hear in self._hearers:
            hear(message, decoded.matched)
        new, faults = self._believed(decoded, message)
        if faults:
            self.statistics.quarantined += 1
            self.quarantine.add(message, faults, new)
        self._count(decoded.notices)
        if decoded.notices:
            for listener in self._listeners:
                listener(message, decoded.notices)
        alive = () if message.retained else new
        absences = self.absences.note(alive, decoded.notices, message.received_at)
        records = tuple(self._identify(new, message))
        for accepted in self._on_accepted:
            accepted(records)
        self.raw.add(message, self.mappings.mappings, records)
        return _Accepted(delivery, records, absences)

    def _accept_again(self, delivery: Delivery, replay: Replay, decoded: Decoded) -> _Accepted:
        """A message from the quarantine: of long ago, so no sign of life and nobody's request."""
        message = delivery.message
        new, faults = self._believed(decoded, message, replay)
        if not decoded.matched:
            faults = (Fault(None, FaultReason.NO_MAPPING, "no mapping knows the topic now"),)
        replay.observations, replay.faults = tuple(new), faults
        return _Accepted(delivery, tuple(self._identify(new, message)), ())

    def _believed(
        self, decoded: Decoded, message: Message, replay: Replay | None = None
    ) -> tuple[list[Observation], tuple[Fault, ...]]:
        """The new observations that can be true, and all faults."""
        new, faults = [], list(decoded.faults)
        for seen in decoded.observations:
            if replay is not None and was_accepted(seen, replay.accepted):
                continue
            if self._is_stale_seed(seen):
                continue
            time = None if self._is_suspect(seen, message) else seen.phenomenon_time
            fault = self._plausibility.fault(seen, time or message.received_at)
            if fault is not None:
                faults.append(fault)
                self._repeated.refuse(seen)
            elif not self._is_known(seen, message, is_replay=replay is not None):
                new.append(seen)
                if seen.circumstances.seed:
                    self._repeated.remember(seen)
        return new, tuple(faults)

    def _is_stale_seed(self, seen: Observation) -> bool:
        if not seen.circumstances.seed:
            return False
        stale = self.present.knows(seen.stream) or self._repeated.knows(seen.stream)
        self.statistics.seeds_dropped += stale
        return stale

    def _is_suspect(self, seen: Observation, message: Message) -> bool:
        """Whether the device's time is not to be believed."""
        time = seen.phenomenon_time
        return time is not None and (
            time > message.received_at + self._future or seen.circumstances.clock_suspect
        )

    def _count(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            if isinstance(notice, Heartbeat):
                self.statistics.heartbeats += 1

    def _decode(self, message: Message) -> Decoded:
        try:
            return self.mappings.registry.decode(message)
        except Exception as error:  # a defect of an adapter costs this message, never the worker
            log.exception("adapter_crashed", extra={"topic": message.topic})
            fault = Fault(None, FaultReason.MALFORMED, f"internal error: {error!r}"[:200])
            return Decoded(faults=(fault,), matched=True)

    def _is_known(
        self, observation: Observation, message: Message, *, is_replay: bool = False
    ) -> bool:
        known = self._duplicates.is_known(observation, message, is_replay=is_replay)
        self.statistics.duplicates += known
        return known

    def _identify(self, observations: Sequence[Observation], message: Message) -> Iterator[Record]:
        first: Position | None = None
        for observation in observations:
            position = self._journal.next_position()
            first = first or position
            suspect = self._is_suspect(observation, message)
            self.statistics.clock_suspect += suspect
            yield Record(
                position,
                first.sequence,
                observation,
                message.received_at,
                delivery_of(observation, message),
                suspect,
            )

    def _make_durable(self, records: Sequence[Record]) -> bool:
        """Journal and fsync; wait for a disk that is full or gone, acknowledging nothing."""
        pause_s = 0.1
        while True:
            try:
                self._journal.append(records)
                self._journal.sync()
            except StorageError as error:
                log.error("journal_not_written", extra={"reason": str(error)})
                if self._stopping.wait(pause_s):
                    return False
                pause_s = min(10.0, pause_s * 2)
            else:
                self.statistics.observations += len(records)
                return True

    def _requests(
        self, accepted: Iterable[_Accepted]
    ) -> Iterator[tuple[Sequence[BoundUpdate], Done]]:
        """One UPDATE for each message with observations; the others are settled."""
        for each in accepted:
            if each.records:
                request = self.present.request(each.records)
                yield request.updates, partial(self._settle, each, request)
            else:
                each.delivery.settle(None)
            yield from _told(each.absences)

    def _settle(
        self, accepted: _Accepted, request: Request, result: Outcome | GatewayError
    ) -> None:
        """Acknowledge what is in the store, and what never will be; in the scheduler's thread."""
        delivery = accepted.delivery
        if _is_refused(result):
            self.statistics.failed += 1
            extra = {"topic": delivery.message.topic, "reason": str(result)}
            log.error("observation_not_stored", extra=extra)
        if not isinstance(result, GatewayError):
            for stored in self._on_stored:
                stored(accepted.records)
        for instead in request.remainders:
            if not _is_refused(result):
                break
            result = self._scheduler.update_instead(instead)
        if not isinstance(result, StorageError):
            self._journal.space.applied = accepted.records[-1].position
        delivery.settle(result if isinstance(result, StorageError) else None)


def _told(updates: Sequence[BoundUpdate]) -> Iterator[tuple[Sequence[BoundUpdate], Done]]:
    """Requests that no delivery waits for."""
    for update in updates:
        yield (update,), _log_refused


def _log_refused(result: Outcome | GatewayError) -> None:
    if _is_refused(result):
        log.error("absence_not_stored", extra={"reason": str(result)})


def _is_refused(result: Outcome | GatewayError) -> bool:
    """Whether an UPDATE failed for good: what the disk does not take will be tried again."""
    return isinstance(result, GatewayError) and not isinstance(result, StorageError)


def _chunks(records: Iterator[Record], size: int) -> Iterator[list[Record]]:
    while chunk := list(islice(records, size)):
        yield chunk
