"""`Engine`: UPDATE in, exact notifications out; synchronous, one writer.

    UPDATE -> net Delta -> store, atomically -> LUTT index -> ARTQ -> SPU -> Notification

One thread owns the engine and calls it; only `query` may be called from others: it sees the
snapshot of a whole update. What is exact and why: docs/engine.md.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from pyoxigraph import NamedNode, Quad, Triple

from gateway.engine.delayed import DelayedUpdate
from gateway.engine.delivery import Listener
from gateway.engine.explain import Explanation, Standing
from gateway.engine.limits import UNLIMITED, Limits
from gateway.engine.notification import Notification, Outcome, SharedListener
from gateway.engine.options import DEFAULT_OPTIONS, DEFAULT_WINDOWS, EngineOptions
from gateway.engine.performance import Performance
from gateway.engine.request import (
    DueTime,
    QueryRequest,
    SubscribeRequest,
    Update,
    UpdateRequest,
)
from gateway.engine.serving.parts import Parts
from gateway.engine.serving.warming import Fillings, Warming
from gateway.engine.spu import Subject
from gateway.engine.views.entailed_view import EntailedView
from gateway.engine.workers.workers import (
    ARTQ,
    WorkerCount,
    Workers,
    WorkersStatistics,
)
from gateway.errors import NoReasoningError
from gateway.rdf.rights import ALL_RIGHTS, Rights, RightsOf
from gateway.rdf.terms import Term
from gateway.reasoning.reasoning import LateReasoner, Reasoning
from gateway.reasoning.why import Proof
from gateway.store.clock import microseconds
from gateway.store.quad_store import QuadStore, QueryResults
from gateway.store.update import (
    UpdatePlan,
    compile_update,
)
from gateway.windows.info import WindowLimits
from gateway.windows.window import Window
from gateway.windows.window_clock import JUMP_S

log = logging.getLogger(__name__)


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
        parts = Parts(store, workers, options, on_notification)
        self.store = store
        self.statistics = parts.statistics
        self.performance = options.performance
        self.delivery = parts.delivery
        self.workers = parts.workers
        self.view = parts.view
        self.windowed = parts.windowed
        self.events = parts.events
        self.rights_of: RightsOf = lambda _: ALL_RIGHTS
        self._clock = parts.clock
        self._subscriptions = parts.subscriptions
        self._delayed = parts.delayed
        self._served = parts.served
        self._steps = parts.steps
        self._opened = self._clock()

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
        steady: Callable[[], int] | None = None,
        windows: WindowLimits = DEFAULT_WINDOWS,
        jump_s: float = JUMP_S,
    ) -> Self:
        """An engine on the folder `path`, or in memory. Raises StorageError, OntologyError.

        For clock, oracle, lutt, performance, limits, artq, reasoning, steady, windows and jump_s
        see EngineOptions.

        `workers` processes beside this one share the work (`auto`: one for each core but this
        one's): an UPDATE returns before they are done with it, as long as none has more than
        `artq` UPDATEs to do.

        Notifications then come to `on_notification`, from several threads, those of one
        subscription in order. It may be set without workers too; where it is not, an Outcome has
        the notifications. It must not raise and must not wait for the engine.
        """
        store = QuadStore.open(None if path is None else Path(path))
        known = (clock, oracle, lutt, performance, limits, artq)
        options = EngineOptions(
            *known, reasoning=reasoning, steady=steady, jump_s=jump_s, windows=windows
        )
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
    def reasoner(self) -> LateReasoner | None:
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
        return self._steps.finished(self._steps.resume_reasoning())

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
        outcome = self._steps.update(request, bound)
        if self.performance is not None and request.at is None:
            self.performance.end(outcome.delta, len(outcome.notifications))
        return self._steps.finished(outcome)

    def push(self, stream: str, triples: Iterable[Triple], time: int | None = None) -> Outcome:
        """Let one element enter a stream, named by its IRI; `time` is when it happened, in µs.

        It is stored nowhere: windows over the stream have it. Without a time it is that of the
        engine's clock.
        """
        return self._steps.finished(self._steps.push(stream, triples, time))

    def advance(self) -> Outcome:
        """What time alone changed in the answers over windows."""
        return self._steps.finished(self._steps.let_in())

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
        """When the next of them falls due, or a window changes by time, µs since the epoch."""
        dues = (self.next_delayed, self.windowed.next_due)
        return min((each for each in dues if each is not None), default=None)

    @property
    def next_delayed(self) -> int | None:
        """When the next of them falls due, µs since the epoch."""
        first = self._delayed.first
        return None if first is None else first[0]

    def cancel(self, id_: str) -> Outcome:
        """Take a delayed UPDATE back. Raises NotFoundError."""
        return self._steps.finished(self._steps.cancel(id_))

    def run_due(self) -> Outcome | None:
        """Execute the first delayed UPDATE that has fallen due; None when there is none.

        In one transaction with taking it off the list. One that fails is logged, counted and off
        the list as well. Raises StorageError: then it still waits.
        """
        outcome = self._steps.run_due(self._opened, self.rights_of)
        return None if outcome is None else self._steps.finished(outcome)

    @property
    def is_pending(self) -> bool:
        """Whether `flush` has something to do."""
        return self.store.is_pending or (self.reasoner is not None and len(self.reasoner) > 0)

    def flush(self) -> None:
        """Bring deferred updates to the disk, and derive from readings that wait for that.

        Raises StorageError; they are then still deferred.
        """
        if self.view is not None:
            self.view.catch_up()
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
        exist. Raises UnsupportedQueryError for one that names a window or a stream.
        """
        if isinstance(query, str):
            query = QueryRequest.of(query, default_graphs, named_graphs, rights)
        self.store.remote.require_services(query.text)
        self.windowed.names.require_answerable(query)
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
        windows: Mapping[str, Window] | None = None,
        output: str = "changes",
        mode: str = "union",
        listener: SharedListener | None = None,
    ) -> Notification:
        """Subscribe to a query; the first notification has sequence 0 and the whole answer.

        What else is given is for a text. A graph that rights do not let read is as if it did not
        exist. Each of `windows` is a named graph, by its IRI, beside those of the store; `output`
        is "changes", "added", "removed" or "whole" (docs/windows.md). In the `mode` "event" the
        query is asked of each compound event alone, from now on (docs/events.md). Over windows a
        subscription may have a `listener` of its own, told in the engine's thread instead of
        `on_notification` by one object for all who share the answer.

        Raises SparqlSyntaxError or UnsupportedQueryError; TooManySolutionsError or
        QueryTimeoutError where the first answer passes a limit; WindowError, WindowFullError and
        ForbiddenError for a window that cannot be had. Then nothing is subscribed.
        """
        if isinstance(query, str):
            asked = QueryRequest.of(query, default_graphs, named_graphs, rights)
            query = SubscribeRequest(
                asked.text,
                asked.dataset,
                asked.rights,
                alias,
                windows=tuple(sorted((windows or {}).items())),
                output=output,
                mode=mode,
            )
        first = self._served.subscribe(query, listener)
        self.statistics.subscriptions += 1
        return first

    def warm(self, request: SubscribeRequest, fillings: Fillings) -> Warming:
        """Begin a subscription whose windows are filled bit by bit. Raises as `subscribe` does."""
        return Warming(self._served, self._steps, request, fillings)

    def finish(self, warming: Warming) -> Notification:
        """The first notification of a subscription whose windows are filled."""
        first = warming.finish()
        self.statistics.subscriptions += 1
        return first

    @property
    def workers_statistics(self) -> WorkersStatistics:
        """What the workers count; all zero without them."""
        return WorkersStatistics() if self.workers is None else self.workers.statistics

    def is_subscribed(self, query: QueryRequest) -> bool:
        """Whether somebody has subscribed to the same, so that its answer is known."""
        return self._served.is_subscribed(query)

    @property
    def standing(self) -> tuple[Subject, ...]:
        """What is subscribed now, each query and dataset once."""
        return self._subscriptions.subjects

    def standing_by(self, most: int) -> tuple[Standing, ...]:
        """How the first `most` subscriptions are served now; linear in them."""
        return self._served.standing_by(most)

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
        return self._served.explain(query)

    def unsubscribe(self, spuid: str) -> None:
        """End a subscription; its SPU goes with its last subscriber. Raises NotFoundError."""
        self._served.unsubscribe(spuid)
        self.statistics.subscriptions -= 1
