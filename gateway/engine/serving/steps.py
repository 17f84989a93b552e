"""`Steps`: one change of the engine after another, each told exactly.

    UPDATE -> net Delta -> what follows -> store, atomically -> every view's changed answers
    elements, time ---------------------------------------> windows' changed answers

Place: under `Engine`, in its thread. A step has one place in the order of all and one clock value.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType

from pyoxigraph import Triple

from gateway.engine.compound.event import CompoundEvent
from gateway.engine.compound.event_view import NOTHING_MADE, EventView, Made
from gateway.engine.delayed import DelayedUpdates, LastingRequest, due_time
from gateway.engine.delivery import Delivery
from gateway.engine.notification import Outcome, Told
from gateway.engine.processing import Processing
from gateway.engine.request import DueTime, UpdateRequest
from gateway.engine.spu import Change
from gateway.engine.statistics import EngineStatistics
from gateway.engine.subscriptions import Subscriptions
from gateway.engine.views.entailed_view import EntailedView
from gateway.engine.windowed.declared import declared_after
from gateway.engine.windowed.windowed_view import NOTHING, Arrived, WindowedView
from gateway.engine.workers.workers import Workers
from gateway.errors import ClientError, NoReasoningError, StorageError
from gateway.rdf.canonical import canonical_triple
from gateway.rdf.delta import Delta
from gateway.rdf.rights import ALL_RIGHTS, Rights, RightsOf
from gateway.store.bundles.reading import reading_delta
from gateway.store.clock import Clock
from gateway.store.quad_store import QuadStore
from gateway.store.update import (
    BoundUpdate,
    Stated,
    evaluate,
    evaluate_inferring,
    require_where_first,
)
from gateway.windows.element import Element

log = logging.getLogger(__name__)

_NO_CHANGE = Delta()

Bound = Sequence[BoundUpdate] | None
"""All the updates that make the change of a reading; None where that is not known."""

_made: Callable[[type[Outcome], tuple[object, ...]], Outcome] = tuple.__new__
"""A third of the time of calling the class."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What a step goes through. `view` is the entailed one, None where nothing is reasoned on."""

    store: QuadStore
    clock: Clock
    statistics: EngineStatistics
    delayed: DelayedUpdates
    subscriptions: Subscriptions
    delivery: Delivery
    asserted: Processing
    workers: Workers | None
    view: EntailedView | None
    windowed: WindowedView
    events: EventView
    writing: AbstractContextManager[int] = field(init=False)
    """The place of a step in the order of all, and its time; then workers get their part."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "writing", _Writing(self))

    def update(self, request: UpdateRequest, bound: Sequence[BoundUpdate]) -> Outcome:
        """Execute a request, or let it wait for its time; nobody but who waits here is told yet.

        Raises a GatewayError when it cannot be done; then nothing has changed.
        """
        with self.writing as time:
            if request.at is not None:
                return self._delay(request, bound, request.at, time)
            is_stating = self.events.is_wanted and request.message is None
            stated: Stated | None = {} if is_stating else None
            delta, arrived = self._evaluated(
                bound,
                request.rights,
                infer=request.infer,
                texts=_texts(request),
                stated=stated,
                may_be_reading=request.is_deferred and not request.infer,
            )
            made = self.events.made(stated, request.message, delta, time)
            if request.is_deferred:
                apply, elements = self.store.defer, request.elements
                return self._change(delta, apply, time, arrived=elements, made=made, bound=bound)
            declared = declared_after(self.store, delta)
            arrived = {**request.elements, **arrived}
            outcome = self._change(delta, self.store.apply, time, arrived=arrived, made=made)
            if declared is not None:
                self.windowed.declare(declared)
            return outcome

    def push(self, stream: str, triples: Iterable[Triple], time: int | None) -> Outcome:
        """A step in which one element enters; without a `time`, µs, it is that of the clock."""
        distinct = tuple(map(canonical_triple, triples))
        if len(distinct) > 1:
            distinct = tuple(dict.fromkeys(distinct))
        return self.let_in({stream: (Element(distinct, time, None, None, time is None),)})

    def let_in(self, arrived: Arrived = NOTHING) -> Outcome:
        """A step in which the store does not change: what elements and time alone do."""
        with self.writing as time:
            return self.told(self.windowed.step(_NO_CHANGE, _NO_CHANGE, arrived, time), time)

    def told(self, changes: Sequence[Change], time: int) -> Outcome:
        """The outcome of changed answers to which the store did not change."""
        if not changes:
            return _made(Outcome, (_NO_CHANGE, (), time, None, None, ()))
        notifications, shared, deliveries = self.subscriptions.address(changes, time)
        self.statistics.notifications += deliveries
        return _made(Outcome, (_NO_CHANGE, tuple(notifications), time, None, None, shared))

    def resume_reasoning(self) -> Outcome:
        """Try suspended domains again. Raises NoReasoningError."""
        view = self._require_view()
        with self.writing as time:
            entailed = view.resume()
            return _outcome(_NO_CHANGE, self._notify(_NO_CHANGE, entailed, time), time)

    def cancel(self, id_: str) -> Outcome:
        """Take a delayed UPDATE back. Raises NotFoundError."""
        with self.writing as time:
            self.delayed.require(id_)
            return self._change(self.delayed.without(id_), self.store.apply, time, id_)

    def run_due(self, opened: int, rights_of: RightsOf) -> Outcome | None:
        """Execute the first delayed UPDATE that has fallen due; None when there is none.

        One that was due before `opened` counts as late; `rights_of` gives the rights that who sent
        it has now. Raises StorageError: then it still waits.
        """
        with self.writing as time:
            first = self.delayed.first
            if first is None or first[0] > time:
                return None
            due, id_ = first
            outcome = self._executed(id_, time, rights_of)
            self.statistics.delayed_executed += 1
            self.statistics.delayed_late += due < opened
        return outcome

    def finished(self, outcome: Outcome) -> Outcome:
        """The outcome once all are told; behind changed axioms, subscriptions move first."""
        view = self.view
        if view is not None and view.is_unsettled:
            with self.clock.held(outcome.time):
                told = view.settled(outcome.notifications, outcome.time)
            outcome = outcome._replace(notifications=told)
            self.statistics.subscriptions = len(self.subscriptions)
        if outcome.shared:
            self.delivery.deliver_shared(outcome.shared)
        if not outcome.notifications or self.delivery.listener is None:
            return outcome
        self.delivery.deliver(outcome.notifications)
        return outcome._replace(notifications=())

    def pump(self) -> None:
        """Let workers have what they have not got yet."""
        for workers in (self.workers, None if self.view is None else self.view.workers):
            if workers is not None:
                workers.pump()

    def _require_view(self) -> EntailedView:
        if self.view is None:
            raise NoReasoningError
        return self.view

    def _evaluated(
        self,
        bound: Sequence[BoundUpdate],
        rights: Rights,
        *,
        infer: bool,
        texts: Iterable[str] = (),
        stated: Stated | None = None,
        may_be_reading: bool = False,
    ) -> tuple[Delta, Arrived]:
        """The change that an UPDATE would make now, and what it lets into streams.

        What it inserts, new or not, it adds to `stated`. One that `may_be_reading` is known to the
        store by its bindings, as a rule.
        """
        if self.view is not None:
            self.view.require_writable(bound)
        names = self.windowed.names
        diverted = names.diverted(texts)
        if may_be_reading and stated is None and rights is ALL_RIGHTS:
            reading = reading_delta(self.store, bound)
            if reading is not None:
                names.require_stored(reading.rest)  # bundles are in the default graph
                return reading, NOTHING
        if not infer:
            delta = evaluate(self.store, bound, rights, diverted, stated)
        else:
            view = self._require_view()
            view.require()
            known = (self.store, view.entailed, bound, rights, diverted)
            delta = evaluate_inferring(*known, stated=stated)
        names.require_stored(delta)
        if diverted is None or not diverted.elements:
            return delta, NOTHING
        entering = diverted.elements.items()
        return delta, {stream: list(map(Element, triples)) for stream, triples in entering}

    def _delay(
        self, request: UpdateRequest, bound: Sequence[BoundUpdate], at: DueTime, time: int
    ) -> Outcome:
        if request.infer:
            require_where_first(bound)
        due = due_time(at, time)
        id_, delta = self.delayed.entry(LastingRequest.of(request, bound), due, time)
        return self._change(delta, self.store.apply, time, id_)._replace(due=due)

    def _change(
        self,
        delta: Delta,
        apply: Callable[[Delta], None],
        time: int,
        id_: str | None = None,
        *,
        arrived: Arrived = NOTHING,
        made: Made = NOTHING_MADE,
        bound: Bound = None,
    ) -> Outcome:
        self.statistics.updates += 1
        if not delta.is_empty:
            whole, entailed = self._applied(delta, apply, made.events, bound)
        elif self._is_time_seen():
            whole = entailed = delta
        else:
            return Outcome(delta, (), time, id_)
        added, removed = delta.counts
        self.statistics.quads_added += added
        self.statistics.quads_removed += removed
        told = self._notify(whole, entailed, time, arrived)
        if made.events:
            told = self._with_events(told, made.events, time)
        if not whole.is_empty:
            self.events.changed(whole, made)
        return _outcome(delta, told, time, id_)

    def _applied(
        self,
        delta: Delta,
        apply: Callable[[Delta], None],
        events: Sequence[CompoundEvent],
        bound: Bound,
    ) -> tuple[Delta, Delta]:
        """The change, with what is noted of its events, and with what follows; the store has it."""
        keeping = self.events.keeping
        if keeping is None or not events or events[0].is_message:
            return delta, self._entailed(delta, apply, bound)
        with keeping.kept(events, delta) as whole:
            return whole, self._entailed(whole, apply)

    def _entailed(self, delta: Delta, apply: Callable[[Delta], None], bound: Bound = None) -> Delta:
        """With what follows; `bound` is all that makes a reading's change, if that is known.

        Windows beside what follows await all of that.
        """
        view = self.view
        if view is None or (bound is not None and view.is_silent(delta, bound)):
            apply(delta)
            return delta
        is_reading = apply == self.store.defer
        known = None if self.windowed.is_inferring else bound
        return view.change(delta, apply, known, is_reading=is_reading)

    def _with_events(self, told: Told, events: Sequence[CompoundEvent], time: int) -> Told:
        more = self.events.told(events, time).notifications
        self.statistics.notifications += len(more)
        return Told([*told.notifications, *more], told.shared, told.deliveries + len(more))

    def _is_time_seen(self) -> bool:
        """Whether an answer may change by a step that changes no quad."""
        view = self.view
        return (
            self.asserted.reads_clock
            or (view is not None and view.processing.reads_clock)
            or not self.windowed.is_idle
        )

    def _executed(self, id_: str, time: int, rights_of: RightsOf) -> Outcome:
        try:
            request = self.delayed.request(id_)
            present = rights_of(request.owner) if request.owner else ALL_RIGHTS
            rights = request.rights.within(present)
            texts = [text for text, _ in request.updates]
            bound, infer = request.bound(), request.infer
            stated: Stated | None = {} if self.events.is_wanted else None
            delta, arrived = self._evaluated(bound, rights, infer=infer, texts=texts, stated=stated)
            declared = declared_after(self.store, delta)
        except StorageError:
            raise
        except Exception as error:  # whatever is wrong with it, those behind it have their time
            return self._failed(id_, time, error)
        try:
            change = self.delayed.without(id_, delta)
            made = self.events.made(stated, None, delta, time)
            outcome = self._change(change, self.store.apply, time, id_, arrived=arrived, made=made)
        except ClientError as error:  # the reasoner does not take it
            return self._failed(id_, time, error)
        if declared is not None:
            self.windowed.declare(declared)
        return outcome

    def _failed(self, id_: str, time: int, error: Exception) -> Outcome:
        """A delayed UPDATE that failed is off the list as well."""
        self.statistics.delayed_failed += 1
        log.error("delayed_failed", extra={"id": id_, "reason": str(error)})
        return self._change(self.delayed.without(id_), self.store.apply, time, id_)

    def _notify(self, delta: Delta, entailed: Delta, time: int, arrived: Arrived = NOTHING) -> Told:
        if self.workers is not None:
            self.workers.post(delta, time)
        queues = self.asserted.match(delta)
        if not delta.is_empty:
            self.store.mark_current(self.asserted.tables)
        changes = self.asserted.process(queues)
        if self.view is not None:
            changes += self.view.changes(entailed, time)
        if not self.windowed.is_idle:
            changes += self.windowed.step(delta, entailed, arrived, time)
        return self._addressed(changes, time)

    def _addressed(self, changes: Sequence[Change], time: int) -> Told:
        told = self.subscriptions.address(changes, time)
        self.statistics.notifications += told.deliveries
        return told


class _Writing:
    """One for all steps: a generator, or an object for each, would take thrice the time.

    Steps may be in one another; `_before` has what the clock is given back for each.
    """

    __slots__ = ("_before", "_clock", "_lock", "_steps")

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._lock = steps.store.writing
        self._clock = steps.clock
        self._before: list[int | None] = []

    def __enter__(self) -> int:
        self._lock.acquire()
        try:
            time, before = self._clock.hold()
            self._before.append(before)
        except BaseException:
            self._lock.release()
            raise
        return time

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clock.release(self._before.pop())
        self._lock.release()
        if kind is None and self._steps.workers is not None:
            self._steps.pump()


def _outcome(delta: Delta, told: Told, time: int, id_: str | None = None) -> Outcome:
    notifications, shared, _ = told
    return _made(Outcome, (delta, tuple(notifications), time, id_, None, shared))


def _texts(request: UpdateRequest) -> Iterable[str]:
    """What somebody has written; prepared updates are the gateway's own."""
    return (request.update,) if isinstance(request.update, str) else ()
