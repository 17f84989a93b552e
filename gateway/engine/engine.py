"""`Engine`: UPDATE in, exact notifications out; synchronous, one writer.

    UPDATE -> net Delta -> store, atomically -> LUTT index -> ARTQ -> SPU -> Notification

One thread owns the engine and calls it; only `query` may be called from others: it sees the
snapshot of a whole update. What is exact and why: docs/engine.md.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Self

from pyoxigraph import NamedNode

from gateway.engine.delayed import DelayedUpdate, DelayedUpdates, LastingRequest, due_time
from gateway.engine.delivery import Delivery, Listener
from gateway.engine.explain import Explanation, Standing
from gateway.engine.limits import UNLIMITED, Limits, limited
from gateway.engine.notification import Notification
from gateway.engine.options import DEFAULT_OPTIONS, EngineOptions
from gateway.engine.performance import MeasuredProcessing, Performance
from gateway.engine.processing import Processing
from gateway.engine.request import (
    DueTime,
    QueryRequest,
    SubscribeRequest,
    Update,
    UpdateRequest,
)
from gateway.engine.spu import Spu, Subject
from gateway.engine.statistics import EngineStatistics
from gateway.engine.subscriptions import Subscriptions
from gateway.engine.workers.parallel import ParallelProcessing
from gateway.engine.workers.workers import (
    ARTQ,
    WorkerCount,
    Workers,
    WorkersStatistics,
    worker_count,
)
from gateway.errors import NoReasoningError, QueryTimeoutError, StorageError, TooManySolutionsError
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.rights import ALL_RIGHTS, Rights
from gateway.rdf.solutions import ResultsDelta
from gateway.rdf.terms import Term
from gateway.sparql.clock_calls import calls_clock
from gateway.store.clock import Clock, microseconds
from gateway.store.quad_store import QuadStore, QueryResults
from gateway.store.readable import Readable
from gateway.store.update import BoundUpdate, UpdatePlan, compile_update, evaluate

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an UPDATE did: its net change and whom it concerned. `time` is µs since the epoch.

    `notifications` are those that no listener was told. `id` is that of a delayed UPDATE: the
    change is that of delaying or of executing it. `due` is when one that was delayed just now is
    to be executed, µs since the epoch.
    """

    delta: Delta
    notifications: tuple[Notification, ...]
    time: int
    id: str | None = None
    due: int | None = None


RightsOf = Callable[[str], Rights]
"""The rights that an identity has now; raises a GatewayError for one that is known no more."""


class Engine:
    """The embedded SPARQL subscription engine.

    >>> engine = Engine.open()
    >>> first = engine.subscribe("SELECT ?o { <urn:s> <urn:p> ?o }")
    >>> outcome = engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    >>> [dict(row)["o"].value for row in outcome.notifications[0].added]
    ['1']
    >>> engine.close()
    """

    def __init__(
        self,
        store: QuadStore,
        workers: WorkerCount = 0,
        *,
        options: EngineOptions = DEFAULT_OPTIONS,
        on_notification: Listener | None = None,
    ) -> None:
        """An engine on a store that is open; for `workers` and `on_notification` see `open`."""
        self.store = store
        self.statistics = EngineStatistics()
        self.performance = options.performance
        self._limits = options.limits
        self._clock = store.clock = Clock(options.clock)
        self._subscriptions = Subscriptions()
        self.delivery = Delivery(self._subscriptions, on_notification)
        self.workers: Workers | None = None
        self._processing = self._open_processing(worker_count(workers), options)
        self._processing.recovery.on_lost = self.delivery.lost
        store.attach_cache(self._processing.tables)
        self._clocked = count(1)
        self._opened = self._clock()
        self.rights_of: RightsOf = lambda _: ALL_RIGHTS
        self._delayed = DelayedUpdates(store)
        self._processing.watch(self._delayed)

    def _open_processing(self, workers: int, options: EngineOptions) -> Processing:
        parts = (self.store, options.compiler, self.statistics)
        if not workers:
            performance = options.performance
            return MeasuredProcessing(*parts, performance) if performance else Processing(*parts)
        if options.performance is not None:
            raise ValueError("performance is that of the sequential mode: workers = 0")
        delivery = self.delivery
        self.workers = Workers(
            self.store,
            options.launch,
            delivery.arrived,
            delivery.given_up,
            number=workers,
            bound=options.artq,
        )
        return ParallelProcessing(*parts, self.workers)

    @classmethod
    def open(
        cls,
        path: Path | str | None = None,
        workers: WorkerCount = 0,
        *,
        clock: Callable[[], int] = microseconds,
        oracle: bool = False,
        lutt: bool = True,
        performance: Performance | None = None,
        limits: Limits = UNLIMITED,
        artq: int = ARTQ,
        on_notification: Listener | None = None,
    ) -> Self:
        """An engine on the folder `path`, or in memory. Raises StorageError.

        For clock, oracle, lutt, performance, limits and artq see EngineOptions.

        `workers` processes beside this one share the work (`auto`: one for each core but this
        one's): an UPDATE returns before they are done with it, as long as none has more than
        `artq` UPDATEs to do.

        Notifications then come to `on_notification`, from several threads, those of one
        subscription in order. It may be set without workers too; where it is not, an Outcome has
        the notifications. It must not raise and must not wait for the engine.
        """
        store = QuadStore.open(None if path is None else Path(path))
        options = EngineOptions(clock, oracle, lutt, performance, limits, artq)
        return cls(store, workers, options=options, on_notification=on_notification)

    def close(self) -> None:
        """Hand the store to the disk and forget every subscription; workers finish before.

        The folder can be opened again once nobody holds results of `query`. Closing twice is
        nothing, all else raises StorageError from then on.
        """
        if self.workers is not None:
            self.workers.close()
        for spuid in self._subscriptions:
            self.unsubscribe(spuid)
        self.store.close()

    def time(self) -> int:
        """The engine's clock: µs since the Unix epoch."""
        return self._clock()

    def drain(self) -> None:
        """Wait until the workers have answered every UPDATE so far; at once without workers."""
        if self.workers is not None:
            self.workers.drain()

    def prepare(self, text: str) -> UpdatePlan:
        """Compile an update once, to be run many times with forced bindings."""
        return compile_update(text)

    def update(
        self,
        update: Update | UpdateRequest,
        bindings: Mapping[str, Term] | None = None,
        *,
        using_graphs: Sequence[NamedNode] = (),
        using_named_graphs: Sequence[NamedNode] = (),
        rights: Rights | None = None,
        at: DueTime | None = None,
        deferred: bool = False,
    ) -> Outcome:
        """Run a text, a prepared update, or several bound ones as one request: all or nothing.

        What else is given is for these; an UpdateRequest says it all itself. A graph that `rights`
        do not let read is as if empty; None are all rights. With `at` the request waits for its
        time: see `run_due`. It is compiled at once; what else may be wrong with it shows then.

        Raises a GatewayError when it cannot be done, NoReasoningError for `infer` where no graph
        is reasoned on, ForbiddenError where it would touch a graph
        that may not be written; then nothing has changed.
        """
        if self.performance is not None:
            self.performance.begin()
        if isinstance(update, UpdateRequest):
            request = update
        else:
            graphs = using_graphs, using_named_graphs
            using = Dataset.chosen(*graphs) if any(graphs) else None
            known, allowed = bindings or {}, rights or ALL_RIGHTS
            request = UpdateRequest(update, known, using, allowed, at, "", deferred)
        self._require_view(request)
        bound = request.bound()
        with self._writing() as time:
            outcome = self._made(request, bound, time)
        if self.performance is not None and request.at is None:
            self.performance.end(outcome.delta, len(outcome.notifications))
        return self._told(outcome) if outcome.notifications else outcome

    def _made(self, request: UpdateRequest, bound: Sequence[BoundUpdate], time: int) -> Outcome:
        if request.at is not None:
            return self._delay(request, bound, request.at, time)
        delta = evaluate(self.store, bound, request.rights)
        apply = self.store.defer if request.is_deferred else self.store.apply
        return self._change(delta, apply, time)

    def _delay(
        self, request: UpdateRequest, bound: Sequence[BoundUpdate], at: DueTime, time: int
    ) -> Outcome:
        due = due_time(at, time)
        id_, delta = self._delayed.entry(LastingRequest.of(request, bound), due, time)
        return replace(self._change(delta, self.store.apply, time, id_), due=due)

    def _change(
        self, delta: Delta, apply: Callable[[Delta], None], time: int, id_: str | None = None
    ) -> Outcome:
        self.statistics.updates += 1
        if not delta.is_empty:
            apply(delta)
        elif not self._processing.reads_clock:
            return Outcome(delta, (), time, id_)
        self.statistics.quads_added += len(delta.added)
        self.statistics.quads_removed += len(delta.removed)
        return Outcome(delta, self._notify(delta, time), time, id_)

    @staticmethod
    def _require_view(request: QueryRequest | UpdateRequest) -> None:
        """Raise NoReasoningError where a request is about a view that there is not."""
        if request.infer:
            raise NoReasoningError

    def delayed(self) -> tuple[DelayedUpdate, ...]:
        """The UPDATEs that wait for their time, in order."""
        return tuple(self._delayed)

    @property
    def waiting_delayed(self) -> int:
        """How many they are."""
        return len(self._delayed)

    @property
    def next_due(self) -> int | None:
        """When the next of them falls due, µs since the epoch."""
        return None if self._delayed.first is None else self._delayed.first[0]

    def cancel(self, id_: str) -> Outcome:
        """Take a delayed UPDATE back. Raises NotFoundError."""
        with self._writing() as time:
            self._delayed.require(id_)
            outcome = self._change(self._delayed.without(id_), self.store.apply, time, id_)
        return self._told(outcome)

    def run_due(self) -> Outcome | None:
        """Execute the first delayed UPDATE that has fallen due; None when there is none.

        In one transaction with taking it off the list. One that fails is logged, counted and off
        the list as well. Raises StorageError: then it still waits.
        """
        with self._writing() as time:
            first = self._delayed.first
            if first is None or first[0] > time:
                return None
            due, id_ = first
            delta = self._delayed.without(id_, self._execute(id_))
            outcome = self._change(delta, self.store.apply, time, id_)
            self.statistics.delayed_executed += 1
            self.statistics.delayed_late += due < self._opened
        return self._told(outcome)

    def _execute(self, id_: str) -> Delta:
        try:
            request = self._delayed.request(id_)
            present = self.rights_of(request.owner) if request.owner else ALL_RIGHTS
            return request.change(self.store, present)
        except StorageError:
            raise
        except Exception as error:  # whatever is wrong with it, those behind it have their time
            self.statistics.delayed_failed += 1
            log.error("delayed_failed", extra={"id": id_, "reason": str(error)})
            return Delta()

    def flush(self) -> None:
        """Bring deferred updates to the disk. Raises StorageError; they are then still deferred."""
        self.store.flush()

    def query(
        self,
        query: str | QueryRequest,
        *,
        default_graphs: Sequence[NamedNode] = (),
        named_graphs: Sequence[NamedNode] = (),
        rights: Rights | None = None,
    ) -> QueryResults:
        """Evaluate a QUERY now, on whole updates only. May be called from any thread.

        Graphs and rights are for a text. A graph that rights do not let read is as if it did not
        exist.
        """
        if isinstance(query, str):
            dataset = Dataset.chosen(default_graphs, named_graphs)
            query = QueryRequest(query, dataset, rights or ALL_RIGHTS)
        self._require_view(query)
        self.store.remote.require_services(query.text)
        readable = query.rights.read
        store = self.store if readable is None else Readable(self.store, readable)
        return store.query(query.text, query.dataset)

    def subscribe(
        self,
        query: str | SubscribeRequest,
        *,
        default_graphs: Sequence[NamedNode] = (),
        named_graphs: Sequence[NamedNode] = (),
        alias: str | None = None,
        rights: Rights | None = None,
    ) -> Notification:
        """Subscribe to a query; the first notification has sequence 0 and the whole answer.

        Graphs, alias and rights are for a text. A graph that rights do not let read is as if it
        did not exist.

        Raises SparqlSyntaxError or UnsupportedQueryError; TooManySolutionsError or
        QueryTimeoutError where the first answer passes a limit. Then nothing is subscribed.
        """
        if isinstance(query, str):
            dataset = Dataset.chosen(default_graphs, named_graphs)
            query = SubscribeRequest(query, dataset, rights or ALL_RIGHTS, alias)
        self._require_view(query)
        clocked = next(self._clocked) if calls_clock(query.text) else 0
        subject = Subject(query.text, query.dataset, clocked, query.readable, query.is_prompt)
        with self._clock.held() as time:
            spu, results = self._first_answer(subject)
        subscription = self.delivery.add(spu, query.alias)
        self.statistics.subscriptions += 1
        return Notification(subscription.spuid, 0, query.alias, time, results, spu.form)

    def _first_answer(self, subject: Subject) -> tuple[Spu, ResultsDelta]:
        try:
            with limited(self._limits):
                known = self._subscriptions.spu(subject)
                if known is not None:
                    results = self._processing.initial(known)
                    self._limits.require(len(results.added))
                    return known, results
                spu, results = self._processing.add(subject)
        except (TooManySolutionsError, QueryTimeoutError) as error:
            # Its traceback keeps results of the store, which only this thread may drop.
            raise error.with_traceback(None) from None
        try:
            self._limits.require(len(results.added))
        except TooManySolutionsError:
            self._processing.remove(spu)
            raise
        return spu, results

    @property
    def workers_statistics(self) -> WorkersStatistics:
        """What the workers count; all zero without them."""
        return WorkersStatistics() if self.workers is None else self.workers.statistics

    def is_subscribed(self, query: QueryRequest) -> bool:
        """Whether somebody has subscribed to the same, so that its answer is known."""
        subject = Subject(query.text, query.dataset, readable=query.readable)
        return self._subscriptions.spu(subject) is not None

    @property
    def standing(self) -> tuple[Subject, ...]:
        """What is subscribed now, each query and dataset once."""
        return self._subscriptions.subjects

    def standing_by(self, most: int) -> tuple[Standing, ...]:
        """How the first `most` subscriptions are served now; linear in them."""
        chosen = self._subscriptions.all()[:most]
        return tuple(map(self._processing.standing, chosen))

    def explain(
        self,
        query: str | QueryRequest,
        *,
        default_graphs: Sequence[NamedNode] = (),
        named_graphs: Sequence[NamedNode] = (),
        rights: Rights | None = None,
    ) -> Explanation:
        """Which tier serves a query, subscribed or not, why no cheaper one, and its costs so far.

        Graphs and rights are for a text. Raises SparqlSyntaxError or UnsupportedQueryError.
        """
        if isinstance(query, str):
            dataset = Dataset.chosen(default_graphs, named_graphs)
            query = QueryRequest(query, dataset, rights or ALL_RIGHTS)
        self._require_view(query)
        subject = Subject(query.text, query.dataset, readable=query.readable)
        return self._processing.explain(subject, self._subscriptions.spu(subject))

    def unsubscribe(self, spuid: str) -> None:
        """End a subscription; its SPU goes with its last subscriber. Raises NotFoundError."""
        last = self.delivery.remove(spuid)
        self.statistics.subscriptions -= 1
        if last is not None:
            self._processing.remove(last)

    def _notify(self, delta: Delta, time: int) -> tuple[Notification, ...]:
        if self.workers is not None:
            self.workers.post(delta, time)
        queues = self._processing.match(delta)
        if not delta.is_empty:
            self.store.mark_current(self._processing.tables)
        changes = self._processing.process(queues)
        notifications = tuple(self._subscriptions.address(changes, time))
        self.statistics.notifications += len(notifications)
        return notifications

    def _told(self, outcome: Outcome) -> Outcome:
        """What is left of the outcome for the caller once the listener has been told."""
        if not outcome.notifications or self.delivery.listener is None:
            return outcome
        self.delivery.deliver(outcome.notifications)
        return Outcome(outcome.delta, (), outcome.time, outcome.id, outcome.due)

    @contextmanager
    def _writing(self) -> Iterator[int]:
        """The place of an UPDATE in the order of all, and its time; then workers get their part."""
        with self.store.writing, self._clock.held() as time:
            yield time
        if self.workers is not None:
            self.workers.pump()
