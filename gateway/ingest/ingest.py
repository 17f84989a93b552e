"""Ingest: message -> observations -> identity -> journal -> one UPDATE -> acknowledgement.

A group of messages is journalled and made durable by one fsync, then each message is one UPDATE,
which also records how far the journal is applied; when the store has it, the message is settled and
the broker acknowledges it (docs/engine.md, "Order of commits"). What was acknowledged is in the
store or in the journal after kill -9 at any moment.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from math import inf
from time import monotonic

from adapters.adapter import Decoded, Fault, FaultReason
from adapters.values.message import Message
from adapters.values.notice import Heartbeat, Notice
from adapters.values.observation import Observation
from gateway.engine import Outcome
from gateway.errors import ClientError, GatewayError, StorageError
from gateway.ingest.compound.message_events import MessageEvents
from gateway.ingest.current_state import CurrentState
from gateway.ingest.duplicates import delivery_of
from gateway.ingest.inbox import Delivery, Inbox, Replay
from gateway.ingest.kept_messages import KeptMessages
from gateway.ingest.mappings import MappingTable
from gateway.ingest.observation_filter import ObservationFilter
from gateway.ingest.recovery import Recovery
from gateway.ingest.silence import Absences, AbsenceTemplates
from gateway.ingest.sosa import ObservationTemplates
from gateway.ingest.sparklines import Sparklines
from gateway.ingest.statistics import IngestStatistics
from gateway.ingest.windows.elements import ObservationElements
from gateway.journal import Journal, Position, Record
from gateway.runtime.clocks import SYSTEM_CLOCKS
from gateway.runtime.pulse import Pulse
from gateway.scheduler.scheduler import Scheduler, Submission, is_refused
from gateway.store.update import BoundUpdate

log = logging.getLogger(__name__)

OnMessage = Callable[[Message, bool], None]
"""Told of a message, and whether a mapping knows its topic."""

OnNotices = Callable[[Message, Sequence[Notice]], None]
OnRecords = Callable[[Sequence[Record]], None]

_GROUP = 256
_REPLAY = 1000
_RECALLED = 100_000
_LAST_S = 2.0
"""What is in the inbox when the gateway is to stop has so long."""


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
        current_state: CurrentState,
        absences: Absences,
        observation_filter: ObservationFilter,
        kept: KeptMessages,
    ) -> None:
        self.statistics = IngestStatistics()
        self.elements = ObservationElements()
        self.pulse = Pulse("ingest")
        self.applied_before: Position | None = None
        self._mappings = mappings
        self._current_state = current_state
        self.events = MessageEvents(current_state.identity, lambda: current_state.templates)
        self._absences = absences
        self._quarantine = kept.quarantine
        self._raw = kept.raw
        self._inbox = inbox
        self._scheduler = scheduler
        self._journal = journal
        self._filter = observation_filter
        self._pending_calls: deque[Callable[[], None]] = deque()
        self._on_message: list[OnMessage] = []
        self._on_notices: list[OnNotices] = []
        self._on_accepted: list[OnRecords] = []
        self._on_stored: list[OnRecords] = []
        self._stopping = threading.Event()
        self._end = inf

    def run_in_thread(self, call: Callable[[], None]) -> None:
        """Have `call`, which does not raise, run in the ingest thread before the next message.

        What has been decoded before is on its way to the store as it is, ahead of what the call
        gives the scheduler to do. It is not run once ingest has ended.
        """
        self._pending_calls.append(call)
        self._inbox.rouse()

    def on_message(self, listener: OnMessage) -> None:
        """Have `listener` told of every message, in the ingest thread; it may not wait or raise."""
        self._on_message.append(listener)

    def on_notices(self, listener: OnNotices) -> None:
        """Have `listener` told what messages say beyond observations, in the ingest thread."""
        self._on_notices.append(listener)

    def on_records(
        self, *, accepted: OnRecords | None = None, stored: OnRecords | None = None
    ) -> None:
        """Have observations told: in the ingest thread as they come, when the store has them."""
        if accepted is not None:
            self._on_accepted.append(accepted)
        if stored is not None:
            self._on_stored.append(stored)

    def note(self, notices: Sequence[Notice], when: datetime) -> None:
        """Have what is known of streams by other ways than their messages said; in any thread."""

        def say() -> None:
            updates = self._absences.note((), notices, when)
            self._scheduler.submit(list(_unawaited(updates)))

        self.run_in_thread(say)

    def renew(self, observations: ObservationTemplates, absences: AbsenceTemplates) -> None:
        """Write by other templates from now on; in the ingest thread, or before `run`."""
        self._current_state.templates = observations
        self._absences.templates = absences

    def recover(
        self,
        query_text: Callable[[str], str],
        now: Callable[[], datetime] = SYSTEM_CLOCKS.now,
        sparklines: Sparklines | None = None,
    ) -> None:
        """Bring the store, and what is known of it, to where the journal is; before `run`.

        Replays what the journal has and the store has not. `query_text` gives the text of the
        profiles' queries STREAMS, SERIES and WATCHED; `now` is the wall clock, from which on the
        streams that the store knows are waited for. `sparklines` are drawn from the same records
        that copies are told by.
        """
        engine = self._scheduler.engine
        latest = self._journal.tail(_RECALLED)
        self._filter.recall(latest)
        if sparklines is not None:
            sparklines.take(latest)
        known = Recovery(
            self._current_state, self._absences, self._filter.plausibility, self._mappings.memory
        )
        known.of_store(engine, query_text, now())
        if self._current_state.applied is not None:
            self._journal.begin_after(self._current_state.applied.epoch)
        self._journal.space.applied = self.applied_before = self._current_state.applied
        for chunk in _chunks(self._journal.after(self._current_state.applied), _REPLAY):
            self._replay(chunk)
            for record in chunk:
                known.of_record(record)
            self.statistics.replayed += len(chunk)
            self._journal.space.applied = chunk[-1].position
        self.elements.entered = self._current_state.applied
        engine.store.expect_new(self._current_state.identity.fresh_namespace(self._journal.epoch))

    def run(self) -> None:
        """Serve the inbox until it is closed and empty; for a while only once it is to stop.

        What has no turn then is not acknowledged, and comes again.
        """
        while not self._inbox.is_drained:
            self.pulse.rest()
            deliveries = self._inbox.take(_GROUP, self._absences.wait_s)
            self.pulse.beat()
            while self._pending_calls:
                self._pending_calls.popleft()()
            if monotonic() > self._end:
                error = StorageError("the gateway stopped before this had its turn")
                for delivery in deliveries:
                    delivery.settle(error)
                continue
            accepted = [self._accept(delivery) for delivery in deliveries]
            if not self._make_durable([r for each in accepted for r in each.records]):
                error = StorageError("the gateway stopped before the journal could be written")
                for each in accepted:
                    each.delivery.settle(error)
                continue
            submissions = list(self._submissions(accepted))
            self.pulse.rest()  # where the URQ is full, it is the scheduler that has to turn
            self._scheduler.submit(submissions)
            self._scheduler.submit(list(_unawaited(self._absences.due())))

    def stop(self) -> None:
        """Give up waiting for a disk that does not come back; unsettled messages stay so."""
        self._end = monotonic() + _LAST_S
        self._stopping.set()
        self._scheduler.give_up()

    def _replay(self, records: Sequence[Record]) -> None:
        """Many records as one UPDATE; where that fails for good, each by itself."""
        request = self._current_state.request(records)
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
        if delivery.too_large_bytes:
            return self._put_aside(delivery)
        decoded = self._decode(message)
        if delivery.replay is not None:
            return self._accept_again(delivery, delivery.replay, decoded)
        self.statistics.messages += 1
        if not decoded.matched:
            self.statistics.unmapped += 1
        for listener in self._on_message:
            listener(message, decoded.matched)
        new, faults = self._filter.believed(decoded, message, self.statistics)
        if faults:
            self.statistics.quarantined += 1
            self._quarantine.add(message, faults, new)
        self._count(decoded.notices)
        if decoded.notices:
            for told in self._on_notices:
                told(message, decoded.notices)
        alive = () if message.retained else new
        absences = self._absences.note(alive, decoded.notices, message.received_at)
        records = tuple(self._identify(new, message))
        if delivery.outcome is not None:
            delivery.outcome.records, delivery.outcome.faults = records, tuple(faults)
        for accepted in self._on_accepted:
            accepted(records)
        self._raw.add(message, self._mappings.mappings, records)
        return _Accepted(delivery, records, absences)

    def _put_aside(self, delivery: Delivery) -> _Accepted:
        """A message whose payload was not taken in."""
        size = delivery.too_large_bytes
        self.statistics.messages += 1
        self.statistics.quarantined += 1
        detail = f"{size} bytes of payload; [limits] payload_bytes allows fewer"
        fault = Fault(None, FaultReason.TOO_LARGE, detail)
        self._quarantine.add(delivery.message, [fault], payload_bytes=size)
        return _Accepted(delivery, (), ())

    def _accept_again(self, delivery: Delivery, replay: Replay, decoded: Decoded) -> _Accepted:
        """A message from the quarantine: of long ago, so no sign of life and nobody's request."""
        message = delivery.message
        new, faults = self._filter.believed(decoded, message, self.statistics, replay)
        if not decoded.matched:
            faults = (Fault(None, FaultReason.NO_MAPPING, "no mapping knows the topic now"),)
        replay.observations, replay.faults = tuple(new), faults
        return _Accepted(delivery, tuple(self._identify(new, message)), ())

    def _count(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            if isinstance(notice, Heartbeat):
                self.statistics.heartbeats += 1

    def _decode(self, message: Message) -> Decoded:
        try:
            return self._mappings.registry.decode(message)
        except Exception as error:  # a defect of an adapter costs this message, never the worker
            log.exception("adapter_crashed", extra={"topic": message.topic})
            fault = Fault(None, FaultReason.MALFORMED, f"internal error: {error!r}"[:200])
            return Decoded(faults=(fault,), matched=True)

    def _identify(self, observations: Sequence[Observation], message: Message) -> Iterator[Record]:
        first: Position | None = None
        delivery = delivery_of(message)
        for observation in observations:
            position = self._journal.next_position()
            first = first or position
            suspect = self._filter.is_suspect(observation, message)
            self.statistics.clock_suspect += suspect
            yield Record(
                position,
                first.sequence,
                observation,
                message.received_at,
                delivery if position is first else "",
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
                self.pulse.rest()
                if self._stopping.wait(pause_s):
                    return False
                pause_s = min(10.0, pause_s * 2)
                self.pulse.beat()
            else:
                self.statistics.observations += len(records)
                return True

    def _submissions(self, accepted: Iterable[_Accepted]) -> Iterator[Submission]:
        """One UPDATE for each message with observations; the others are settled."""
        wants = self._scheduler.engine.windowed.wants
        for each in accepted:
            if each.records:
                request = self._current_state.request(each.records)
                done = partial(self._settle, each)
                templates = self._current_state.templates
                elements = partial(
                    self.elements.entering, each.records, templates, wants, request.entering
                )
                event = partial(self.events.of, each.records)
                yield Submission(request.updates, done, request.remainders, elements, event)
            else:
                each.delivery.settle(None)
            yield from _unawaited(each.absences)

    def _settle(
        self, accepted: _Accepted, first: Outcome | GatewayError, last: Outcome | GatewayError
    ) -> None:
        """Acknowledge what is in the store, and what never will be; in the scheduler's thread."""
        delivery = accepted.delivery
        if is_refused(first):
            self.statistics.failed += 1
            extra = {"topic": delivery.message.topic, "reason": str(first)}
            log.error("observation_not_stored", extra=extra)
        elif not isinstance(first, GatewayError):
            for stored in self._on_stored:
                stored(accepted.records)
        if isinstance(last, StorageError):
            delivery.settle(last)
            return
        self._journal.space.applied = accepted.records[-1].position
        delivery.settle(None)


def _unawaited(updates: Sequence[BoundUpdate]) -> Iterator[Submission]:
    """Requests that no delivery waits for."""
    for update in updates:
        yield Submission((update,), _log_refused)


def _log_refused(result: Outcome | GatewayError, _: Outcome | GatewayError) -> None:
    if is_refused(result):
        log.error("absence_not_stored", extra={"reason": str(result)})


def _chunks(records: Iterator[Record], size: int) -> Iterator[list[Record]]:
    while chunk := list(islice(records, size)):
        yield chunk
