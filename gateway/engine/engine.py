"""`Engine`: UPDATE in, exact notifications out; synchronous, one writer.

    UPDATE -> net Delta -> store, atomically -> LUTT index -> ARTQ -> SPU -> Notification

One thread owns the engine and calls it; only `query` may be called from others: it sees the
snapshot of a whole update. What is exact and why: docs/engine.md.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Self

from pyoxigraph import NamedNode, Quad

from gateway.engine.delayed import DelayedUpdate, DelayedUpdates, LastingRequest, due_time
from gateway.engine.delivery import Delivery, Listener
from gateway.engine.explain import Explanation, Standing
from gateway.engine.limits import UNLIMITED, Limits
from gateway.engine.notification import Notification, Outcome
from gateway.engine.options import DEFAULT_OPTIONS, EngineOptions
from gateway.engine.performance import Performance
from gateway.engine.processing import Processing
from gateway.engine.request import (
    DueTime,
    QueryRequest,
    SubscribeRequest,
    Update,
    UpdateRequest,
)
from gateway.engine.spu import Subject
from gateway.engine.statistics import EngineStatistics
from gateway.engine.subscriptions import Subscriptions
from gateway.engine.views.entailed_view import EntailedView
from gateway.engine.views.processings import Processings, first_answer
from gateway.engine.workers.workers import (
    ARTQ,
    WorkerCount,
    Workers,
    WorkersStatistics,
)
from gateway.errors import ClientError, NoReasoningError, StorageError
from gateway.rdf.delta import Delta
from gateway.rdf.rights import ALL_RIGHTS, Rights
from gateway.rdf.terms import Term
from gateway.reasoning.reasoning import AnyReasoner, Reasoning
from gateway.reasoning.why import Proof
from gateway.sparql.clock_calls import calls_clock
from gateway.store.clock import Clock, microseconds
from gateway.store.quad_store import QuadStore, QueryResults
from gateway.store.update import (
    BoundUpdate,
    UpdatePlan,
    compile_update,
    evaluate,
    evaluate_inferring,
    require_where_first,
)

log = logging.getLogger(__name__)


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
        processings = Processings(workers, options, self.statistics, self.delivery)
        self._processing, self.workers = processings.open(store)
        store.attach_cache(self._processing.tables)
        self._clocked = count(1)
        self._opened = self._clock()
        self.rights_of: RightsOf = lambda _: ALL_RIGHTS
        self._delayed = DelayedUpdates(store)
        self._processing.watch(self._delayed)
        self.view: EntailedView | None = None
        if options.reasoning is not None:
            parts = (self._processing, self._subscriptions, processings)
            self.view = EntailedView(store, options.reasoning, *parts)

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
        reasoning: Reasoning | None = None,
    ) -> Self:
        """An engine on the folder `path`, or in memory. Raises StorageError, OntologyError.

        For clock, oracle, lutt, performance, limits, artq and reasoning see EngineOptions.

        `workers` processes beside this one share the work (`auto`: one for each core but this
        one's): an UPDATE returns before they are done with it, as long as none has more than
        `artq` UPDATEs to do.

        Notifications then come to `on_notification`, from several threads, those of one
        subscription in order. It may be set without workers too; where it is not, an Outcome has
        the notifications. It must not raise and must not wait for the engine.
        """
        store = QuadStore.open(None if path is None else Path(path))
        options = EngineOptions(clock, oracle, lutt, performance, limits, artq, reasoning=reasoning)
        return cls(store, workers, options=options, on_notification=on_notification)

    def close(self) -> None:
        """Hand the store to the disk and forget every subscription; workers finish before.

        The folder can be opened again once nobody holds results of `query`. Closing twice is
        nothing, all else raises StorageError from then on.
        """
        for workers in self._all_workers():
            workers.close()
        for spuid in self._subscriptions:
            self.unsubscribe(spuid)
        self.store.close()

    def time(self) -> int:
        """The engine's clock: µs since the Unix epoch."""
        return self._clock()

    @property
    def reasoner(self) -> AnyReasoner | None:
        """What derives; None where reasoning is off."""
        return None if self.view is None else self.view.reasoner

    def start_reasoning(self) -> None:
        """Read the axioms and derive what follows, where that was not to be done at once.

        Raises OntologyError, NoReasoningError.
        """
        with self.store.writing:
            self.require_view().start()

    def resume_reasoning(self) -> Outcome:
        """Try suspended domains again. Raises NoReasoningError."""
        view = self.require_view()
        with self._writing() as time:
            entailed = view.resume()
            outcome = Outcome(Delta(), self._notify(Delta(), entailed, time), time)
        return self._finished(outcome)

    def why(self, quad: Quad, rights: Rights = ALL_RIGHTS) -> Proof:
        """Why a quad is in the entailed view: by which axiom, from which quads, down to asserted.

        Premises that the rights do not let read are hidden. Raises NotFoundError for a quad that
        is not there, or in a graph that may not be read, SuspendedError, NoReasoningError.
        """
        with self.store.writing:
            return self.require_view().why(quad, rights.may_read)

    def drain(self) -> None:
        """Wait until the workers have answered every UPDATE so far; at once without workers."""
        for workers in self._all_workers():
            workers.drain()

    def _all_workers(self) -> Iterator[Workers]:
        """All that there are: each view has its own."""
        for workers in (self.workers, None if self.view is None else self.view.workers):
            if workers is not None:
                yield workers

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

        Raises a GatewayError when it cannot be done, NoReasoningError for `infer` where no graph is
        reasoned on, ForbiddenError for a graph that may not be written; then nothing has changed.
        """
        if self.performance is not None:
            self.performance.begin()
        if isinstance(update, UpdateRequest):
            request = update
        else:
            graphs = using_graphs, using_named_graphs
            using = QueryRequest.of("", *graphs).dataset if any(graphs) else None
            known, allowed = bindings or {}, rights or ALL_RIGHTS
            request = UpdateRequest(update, known, using, allowed, at, "", deferred)
        bound = request.bound()
        with self._writing() as time:
            outcome = self._made(request, bound, time)
        if self.performance is not None and request.at is None:
            self.performance.end(outcome.delta, len(outcome.notifications))
        return self._finished(outcome)

    def _made(self, request: UpdateRequest, bound: Sequence[BoundUpdate], time: int) -> Outcome:
        if request.at is not None:
            return self._delay(request, bound, request.at, time)
        delta = self._evaluated(bound, request.rights, infer=request.infer)
        apply = self.store.defer if request.is_deferred else self.store.apply
        return self._change(delta, apply, time)

    def _evaluated(self, bound: Sequence[BoundUpdate], rights: Rights, *, infer: bool) -> Delta:
        """The change that an UPDATE would make now."""
        if self.view is not None:
            self.view.require_writable(bound)
        if not infer:
            return evaluate(self.store, bound, rights)
        view = self.require_view()
        view.require()
        return evaluate_inferring(self.store, view.entailed, bound, rights)

    def _delay(
        self, request: UpdateRequest, bound: Sequence[BoundUpdate], at: DueTime, time: int
    ) -> Outcome:
        if request.infer:
            require_where_first(bound)
        due = due_time(at, time)
        id_, delta = self._delayed.entry(LastingRequest.of(request, bound), due, time)
        return replace(self._change(delta, self.store.apply, time, id_), due=due)

    def _change(
        self, delta: Delta, apply: Callable[[Delta], None], time: int, id_: str | None = None
    ) -> Outcome:
        self.statistics.updates += 1
        view, entailed = self.view, delta
        if not delta.is_empty:
            if view is None:
                apply(delta)
            else:
                is_reading = apply == self.store.defer
                entailed = view.change(delta, apply, is_reading=is_reading)
        elif not (self._processing.reads_clock or (view and view.processing.reads_clock)):
            return Outcome(delta, (), time, id_)
        self.statistics.quads_added += len(delta.added)
        self.statistics.quads_removed += len(delta.removed)
        return Outcome(delta, self._notify(delta, entailed, time), time, id_)

    def require_view(self) -> EntailedView:
        """The entailed view. Raises NoReasoningError where there is none."""
        if self.view is None:
            raise NoReasoningError
        return self.view

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
        return self._finished(outcome)

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
            outcome = self._executed(id_, time)
            self.statistics.delayed_executed += 1
            self.statistics.delayed_late += due < self._opened
        return self._finished(outcome)

    def _executed(self, id_: str, time: int) -> Outcome:
        try:
            request = self._delayed.request(id_)
            present = self.rights_of(request.owner) if request.owner else ALL_RIGHTS
            rights = request.rights.within(present)
            delta = self._evaluated(request.bound(), rights, infer=request.infer)
        except StorageError:
            raise
        except Exception as error:  # whatever is wrong with it, those behind it have their time
            return self._failed(id_, time, error)
        try:
            return self._change(self._delayed.without(id_, delta), self.store.apply, time, id_)
        except ClientError as error:  # the reasoner does not take it
            return self._failed(id_, time, error)

    def _failed(self, id_: str, time: int, error: Exception) -> Outcome:
        """A delayed UPDATE that failed is off the list as well."""
        self.statistics.delayed_failed += 1
        log.error("delayed_failed", extra={"id": id_, "reason": str(error)})
        return self._change(self._delayed.without(id_), self.store.apply, time, id_)

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
            query = QueryRequest.of(query, default_graphs, named_graphs, rights)
        self.store.remote.require_services(query.text)
        if not query.infer:
            return query.answer(self.store)
        return query.answer(self.require_view().known())

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
            asked = QueryRequest.of(query, default_graphs, named_graphs, rights)
            query = SubscribeRequest(asked.text, asked.dataset, asked.rights, alias)
        clocked = next(self._clocked) if calls_clock(query.text) else 0
        subject = self._subject(query, clocked, is_prompt=query.is_prompt)
        with self._clock.held() as time:
            home = self._home(subject)
            known, processing = self._subscriptions.spu(home), self._processing_of(home)
            spu, results = first_answer(processing, home, known, self._limits)
        subscription = self.delivery.add(spu, query.alias)
        if self.view is not None:
            self.view.follow(subscription.spuid, subject)
        self.statistics.subscriptions += 1
        return Notification(subscription.spuid, 0, query.alias, time, results, spu.form)

    def _subject(
        self, query: QueryRequest, clocked: int = 0, *, is_prompt: bool = False
    ) -> Subject:
        """What a request is about."""
        parts = (query.text, query.dataset, clocked, query.readable, is_prompt)
        return Subject(*parts, infer=query.infer)

    def _home(self, subject: Subject) -> Subject:
        """The subject of the SPU that serves one."""
        return self.require_view().home(subject) if subject.infer else subject

    def _processing_of(self, subject: Subject) -> Processing:
        return self.require_view().processing if subject.infer else self._processing

    @property
    def workers_statistics(self) -> WorkersStatistics:
        """What the workers count; all zero without them."""
        return WorkersStatistics() if self.workers is None else self.workers.statistics

    def is_subscribed(self, query: QueryRequest) -> bool:
        """Whether somebody has subscribed to the same, so that its answer is known."""
        return self._subscriptions.spu(self._home(self._subject(query))) is not None

    @property
    def standing(self) -> tuple[Subject, ...]:
        """What is subscribed now, each query and dataset once."""
        return self._subscriptions.subjects

    def standing_by(self, most: int) -> tuple[Standing, ...]:
        """How the first `most` subscriptions are served now; linear in them."""
        chosen = self._subscriptions.all()[:most]
        return tuple(self._processing_of(each.spu.subject).standing(each) for each in chosen)

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
            query = QueryRequest.of(query, default_graphs, named_graphs, rights)
        subject = self._home(self._subject(query))
        explanation = self._processing_of(subject).explain(
            subject, self._subscriptions.spu(subject)
        )
        return self.view.explained(explanation, query) if self.view is not None else explanation

    def unsubscribe(self, spuid: str) -> None:
        """End a subscription; its SPU goes with its last subscriber. Raises NotFoundError."""
        last = self.delivery.remove(spuid)
        self.statistics.subscriptions -= 1
        if self.view is not None:
            self.view.forget(spuid)
        if last is not None:
            self._processing_of(last.subject).remove(last)

    def _notify(self, delta: Delta, entailed: Delta, time: int) -> tuple[Notification, ...]:
        if self.workers is not None:
            self.workers.post(delta, time)
        queues = self._processing.match(delta)
        if not delta.is_empty:
            self.store.mark_current(self._processing.tables)
        changes = self._processing.process(queues)
        if self.view is not None:
            changes += self.view.changes(entailed, time)
        notifications = tuple(self._subscriptions.address(changes, time))
        self.statistics.notifications += len(notifications)
        return notifications

    def _finished(self, outcome: Outcome) -> Outcome:
        """The outcome once all are told; behind changed axioms, subscriptions move first."""
        view = self.view
        if view is not None and view.is_unsettled:
            with self._clock.held(outcome.time):
                told = view.settled(outcome.notifications, outcome.time)
            outcome = replace(outcome, notifications=told)
            self.statistics.subscriptions = len(self._subscriptions)
        return self._told(outcome) if outcome.notifications else outcome

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
            for workers in self._all_workers():
                workers.pump()
