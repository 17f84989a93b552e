"""`WindowedView`: who subscribes over windows, and what each step changes for them.

    elements, time -> Streams -> what entered and left each window
      -> its automaton                                  -> rows
      -> with the Delta of the view: LUTT, units        -> rows -> outputs

Place: beside the processing of the asserted and the entailed view; the engine asks it at every
step, once the store has the change. In parallel mode too these SPUs are served in the engine's
process. Meaning: docs/windows.md.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pyoxigraph import NamedNode

from gateway.engine.automaton.query import AutomatonQuery, NotAnAutomatonError
from gateway.engine.delivery import Delivery
from gateway.engine.explain import Explanation, Standing
from gateway.engine.options import EngineOptions
from gateway.engine.request import SubscribeRequest
from gateway.engine.spu import Change as Told
from gateway.engine.spu import Spu, Subject
from gateway.engine.statistics import EngineStatistics
from gateway.engine.subscriptions import Subscription, Subscriptions
from gateway.engine.views.entailed_view import EntailedView
from gateway.engine.windowed.automata import Automata, automaton_of, parsed_of
from gateway.engine.windowed.declared import Declared, Written, itself
from gateway.engine.windowed.names import Names
from gateway.engine.windowed.outputs import Outputs
from gateway.engine.windowed.window_counts import WindowCounts
from gateway.engine.windowed.window_status import WindowStatus
from gateway.engine.windowed.windowed_processing import (
    Contents,
    WindowedProcessing,
    evaluated_text,
    plain_graphs,
)
from gateway.engine.windowed.windowed_source import View
from gateway.errors import (
    ForbiddenError,
    GatewayError,
    NoReasoningError,
    SuspendedError,
    WindowError,
)
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta
from gateway.store.quad_store import QuadStore
from gateway.windows.content import Change, Content
from gateway.windows.element import Element
from gateway.windows.filling import Filling
from gateway.windows.info import WindowInfo
from gateway.windows.streams import Streams
from gateway.windows.window import Window
from gateway.windows.window_clock import WindowClock

log = logging.getLogger(__name__)

Arrived = Mapping[str, Sequence[Element]]
"""Elements by the IRI of their stream."""

NOTHING: Arrived = {}

NOT_FILLED: Mapping[Window, Filling] = {}

PastOf = Callable[[Window], tuple[Iterable[Element], int | None]]
"""What came before a window is opened, and from when on that is everything, None: from nothing."""


def _nothing(_: Window) -> tuple[Iterable[Element], int | None]:
    return (), None


class WindowedView:
    """All windows and their SPUs.

    `written` says where what enters a stream is written to: a client's stream has its own IRI for
    that. `entailed` is the entailed view, where there is one. `is_idle` while nobody subscribes.
    `lag` is how late the last step was that time asked for, µs.
    """

    def __init__(
        self,
        store: QuadStore,
        options: EngineOptions,
        statistics: EngineStatistics,
        subscriptions: Subscriptions,
        delivery: Delivery,
    ) -> None:
        self.streams = Streams(options.windows)
        self.clock = WindowClock(store.clock, options.steady_clock, jump_s=options.jump_s)
        self.written: Written = itself
        self.past_of: PastOf = _nothing
        self.names = Names(store)
        self.on_declared: Callable[[Declared], None] = lambda _: None
        self.entailed: EntailedView | None = None
        self.automata = Automata()
        self.counts = WindowCounts(self._counted, lambda name: name in self.declared.windows)
        self.lag = 0
        self._store = store
        self._is_exact_only = options.oracle or not options.lutt
        self._compiler = options.compiler
        self._statistics = statistics
        self._subscriptions = subscriptions
        self._delivery = delivery
        self._outputs = Outputs()
        self._contents: dict[Spu, Contents] = {}
        self._processings: dict[bool, list[WindowedProcessing]] = {False: [], True: []}
        self._home: dict[Spu, WindowedProcessing] = {}

    @property
    def declared(self) -> Declared:
        """The windows and streams that have names of their own."""
        return self.names.declared

    @declared.setter
    def declared(self, declared: Declared) -> None:
        self.declare(declared)

    def declare(self, declared: Declared) -> None:
        """Say what is declared from now on; subscriptions of a window that goes or changes end."""
        before = self.names.declared.windows
        self.names.declare(declared)
        self.on_declared(declared)
        changed = {
            iri: window for iri, window in before.items() if declared.windows.get(iri) != window
        }
        for spu in list(self._contents) if changed else ():
            for iri, window in spu.subject.windows:
                if changed.get(iri) == window:
                    what = "another one now" if iri in declared.windows else "declared no more"
                    self._end(spu, WindowError(iri, f"the window is {what}", "subscribe again"))
                    break

    @property
    def is_idle(self) -> bool:
        """Whether nobody subscribes, so that no step need be looked at."""
        return not self._contents

    @property
    def next_due(self) -> int | None:
        """When time alone changes something, µs since the epoch on the engine's clock."""
        if self.is_idle:
            return None
        lead, due = self.clock.lead, self.streams.next_due()
        if self.clock.is_off:
            return self.clock.now() + lead
        return None if due is None else due + lead

    def wants(self, stream: str) -> bool:
        """Whether anybody has a window over the stream."""
        return self.streams.wants(stream)

    def require_readable(self, request: SubscribeRequest) -> None:
        """Raise ForbiddenError where the rights do not let read what enters a window's stream."""
        rights = request.rights
        for _, window in request.windows:
            if not all(map(rights.may_read, self.written(window.stream))):
                raise ForbiddenError(
                    f"the stream {window.stream} may not be read",
                    "ask the gateway's administrator for the right to read its graph",
                )

    def home(self, subject: Subject) -> Subject:
        """The subject of the SPU that serves one: its `GRAPH ?g` is about the store alone.

        That of an equal query, where an automaton has one.
        Raises NoReasoningError and SuspendedError where it cannot be had with `infer`.
        """
        if subject.infer:
            self._require_known(subject)
        home = replace(subject, text=evaluated_text(subject, _names(subject)))
        if self._subscriptions.spu(home) is not None:
            return home
        query = self._as_automaton(home)
        if isinstance(query, AutomatonQuery):
            return self.automata.home(home, query)
        return home

    def _require_known(self, subject: Subject) -> None:
        if self.entailed is None:
            raise NoReasoningError
        plain = plain_graphs(subject, _names(subject))
        self.entailed.require((None,) if plain is None else plain)

    def contents_of(self, spuid: str) -> Contents:
        """The windows of a subscription, by name."""
        return self._contents[self._subscriptions.of(spuid).spu]

    def known(self, spu: Spu) -> Mapping[str, WindowInfo]:
        """What each window of an SPU has now, by its IRI."""
        return {node.value: each.info() for node, each in self._contents[spu].items()}

    # what makes SPUs and answers for them ---------------------------------------------------

    def add(self, subject: Subject) -> tuple[Spu, ResultsDelta]:
        """A new SPU and its whole answer; where this raises, nothing is registered.

        Raises WindowError for a window with the name of a graph of the store, WindowFullError
        where there is no room for it, and as a Processing.
        """
        return self._added(subject, self._opened(subject))

    def begin(
        self, subject: Subject, fillings: Mapping[Window, Filling]
    ) -> tuple[Spu, dict[Content, Filling]]:
        """As `add`, over windows that are still to be filled, and which these are."""
        contents = self._opened(subject, fillings)
        spu, _ = self._added(subject, contents)
        return spu, {
            content: fillings[content.window]
            for content in contents.values()
            if content.window in fillings and not fillings[content.window].is_done
        }

    def fill(self, content: Content, filling: Filling, most: int) -> None:
        """Put the next `most` elements of its past into a window."""
        changes = self.streams.fill(content, filling, most)
        told = self.automata.step(changes) if changes else []
        for processings in self._processings.values():
            for processing in processings:
                told += processing.step(Delta(), changes)
        self._outputs.told(told, ())

    def require_room(self, spu: Spu) -> None:
        """Raise WindowFullError where a window of an SPU could not be kept."""
        for content in self._contents[spu].values():
            if content.full is not None:
                raise content.full

    def _added(self, subject: Subject, contents: Contents) -> tuple[Spu, ResultsDelta]:
        try:
            spu, results = self._placed(subject, contents)
        except Exception:
            self._close(contents)
            raise
        self._contents[spu] = contents
        self.counts.opened(_named(contents))
        self.names.opened(contents)
        is_told_all = spu in self.automata and subject.output == "added"
        self._outputs.add(spu, results, is_told_all=is_told_all)
        return spu, results

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer of a known SPU now."""
        if spu in self.automata:
            return self.automata.initial(spu)
        return self._home[spu].initial(spu)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        self.counts.closed(_named(self._contents[spu]))
        if spu in self.automata:
            self.automata.remove(spu)
            self._count_automaton(-1)
        else:
            processing = self._home.pop(spu)
            processing.remove(spu)
            if processing.is_idle:
                self._processings[spu.subject.infer].remove(processing)
        self._outputs.remove(spu)
        contents = self._contents.pop(spu)
        self.names.closed(contents)
        self._close(contents)

    def explain(self, subject: Subject, spu: Spu | None) -> Explanation:
        """How a query is served, or would be if it were subscribed."""
        contents = self._contents[spu] if spu is not None else self._opened(subject)
        try:
            return replace(self._explained(subject, spu, contents), output=subject.output)
        finally:
            if spu is None:
                self._close(contents)

    def standing(self, subscription: Subscription) -> Standing:
        """How a subscription is served now."""
        spu = subscription.spu
        if spu in self.automata:
            known = (subscription.spuid, subscription.alias, subscription.text or spu.subject.text)
            return Standing(*known, subscription.last_sequence, tier="automaton", members=1)
        return self._home[spu].standing(subscription)

    def statuses(self) -> list[WindowStatus]:
        """Every open window, those that were opened first before others."""
        found: dict[Content, list[Spu]] = {}
        for spu, contents in self._contents.items():
            for content in contents.values():
                found.setdefault(content, []).append(spu)
        return [self._status(content, spus) for content, spus in found.items()]

    def _status(self, content: Content, spus: Sequence[Spu]) -> WindowStatus:
        names = {
            node.value
            for spu in spus
            for node, each in self._contents[spu].items()
            if each is content
        }
        counted = sum(len(self._subscriptions.spuids(spu)) for spu in spus)
        told = (content.window, tuple(sorted(names)), counted, len(spus), content.info())
        automaton = self.automata.of(content)
        if automaton is None:
            return WindowStatus(*told)
        return WindowStatus(*told, automaton.patterns, automaton.plans, automaton.matches)

    def _view(self, subject: Subject) -> View:
        """What the windows of a subject stand beside."""
        if not subject.infer:
            return self._store
        if self.entailed is None:
            raise NoReasoningError
        return self.entailed.entailed

    def _opened(
        self, subject: Subject, fillings: Mapping[Window, Filling] = NOT_FILLED
    ) -> Contents:
        view = self._view(subject)
        for node in _names(subject):
            if view.contains_graph(node):
                raise WindowError(
                    f"the window {node.value} has the name of a graph of the store",
                    "give it an IRI of its own",
                )
        now, due = self.clock.now(), self.streams.next_due()
        if due is not None and due <= now:
            now = due - 1  # as everybody was told: the next step tells what is due by now
        opened: dict[NamedNode, Content] = {}
        try:
            for iri, window in subject.windows:
                opened[NamedNode(iri)] = self._open(window, now, fillings.get(window))
        except Exception:
            self._close(opened)
            raise
        return opened

    def _open(self, window: Window, now: int, filling: Filling | None) -> Content:
        if filling is None or self.streams.is_open(window):
            past, since = self.past_of(window)
            return self.streams.open(window, now, past, complete_since=since)
        return self.streams.open_filling(filling, now)

    def _close(self, contents: Contents) -> None:
        for content in contents.values():
            self.streams.close(content)

    def _placed(self, subject: Subject, contents: Contents) -> tuple[Spu, ResultsDelta]:
        query = self._as_automaton(subject)
        if isinstance(query, AutomatonQuery):
            parsed = parsed_of(subject)
            spu = Spu(subject, parsed.form.name, parsed.variables)
            results = self.automata.add(spu, query, *contents.values())
            self._count_automaton(+1)
            return spu, results
        processing = self._processing(subject, contents)
        try:
            spu, results = processing.serve(
                subject, contents, plain_graphs(subject, contents.keys())
            )
        finally:
            if processing.is_idle:
                self._processings[subject.infer].remove(processing)
        self._home[spu] = processing
        return spu, results

    def _as_automaton(self, subject: Subject) -> AutomatonQuery | NotAnAutomatonError:
        if self._is_exact_only:
            return NotAnAutomatonError("every query is evaluated again")
        try:
            return automaton_of(subject)
        except NotAnAutomatonError as error:
            return error.with_traceback(None)  # else whoever has it is kept by its own frame

    def _processing(self, subject: Subject, contents: Contents) -> WindowedProcessing:
        plain = plain_graphs(subject, contents.keys())
        there = self._processings[subject.infer]
        for processing in there:
            if processing.takes(contents, plain):
                return processing
        parts = (self._view(subject), self._store, self._compiler, self._statistics)
        made = WindowedProcessing(*parts, is_own=plain is None)
        made.recovery.on_lost = self._delivery.lost
        there.append(made)
        return made

    def _explained(self, subject: Subject, spu: Spu | None, contents: Contents) -> Explanation:
        query = self._as_automaton(subject)
        infos = {node.value: each.info() for node, each in contents.items()}
        if isinstance(query, AutomatonQuery):
            shown = Explanation(subject.text, "automaton", {}, (), {}, members=1)
            known = {"patterns": len(query.patterns), "conditions": len(query.conditions)}
            served = None if spu is None else self.automata.explain(spu)
            return replace(
                shown, is_subscribed=spu is not None, windows=infos, automaton=served or known
            )
        processing = self._home[spu] if spu is not None else self._processing(subject, contents)
        try:
            shown = processing.explain(subject, spu)
        finally:
            if processing.is_idle:
                self._processings[subject.infer].remove(processing)
        refused = {"automaton": str(query), **shown.refused}
        return replace(shown, refused=refused, windows=infos)

    def _counted(self, content: Content) -> dict[str, int]:
        told = {"late": content.late, "dropped": content.dropped, "expired": content.expired}
        return {**told, "matches": self.automata.matches(content)}

    def _count_automaton(self, difference: int) -> None:
        tiers = self._statistics.spus
        tiers["automaton"] = tiers.get("automaton", 0) + difference

    # a step ---------------------------------------------------------------------------------

    def step(self, asserted: Delta, entailed: Delta, arrived: Arrived) -> list[Told]:
        """What an UPDATE, elements and the passing of time changed; view and store have it."""
        now, jumped = self.clock.reading()
        due = self.streams.next_due()
        if due is not None and due <= now:
            self.lag = now - due
        if jumped:
            log.warning("clock_jumped", extra={"by_s": jumped / 1e6})
            self.streams.jumped(jumped)
        changes = self.streams.step(now, arrived)
        if self.entailed is not None and self.entailed.reasoner.suspended:
            self._end_suspended()
        told = self.automata.step(changes) if changes else []
        for infers, delta in ((False, asserted), (True, entailed)):
            for processing in self._processings[infers]:
                told += processing.step(delta, changes)
        for change in changes:
            if change.full is not None:
                self._end_over(change.content, change.full)
        return self._outputs.told(told, self._at_boundary(changes))

    def _at_boundary(self, changes: Sequence[Change]) -> list[Spu]:
        """The SPUs that are told whole answers and of which a window reached a boundary."""
        if not self._outputs.whole:
            return []
        reached = {change.content for change in changes if change.is_boundary}
        return [
            spu
            for spu in self._outputs.whole
            if not reached.isdisjoint(self._contents[spu].values())
        ]

    def _end_over(self, content: Content, error: GatewayError) -> None:
        """End the subscriptions over a window that can no longer be kept."""
        self.counts.ended(content)
        for spu, contents in list(self._contents.items()):
            if content in contents.values():
                self._end(spu, error)

    def _end_suspended(self) -> None:
        """End those of which it is not known what follows."""
        for spu in [each for each in self._contents if each.subject.infer]:
            try:
                self._require_known(spu.subject)
            except SuspendedError as error:
                self._end(spu, error)

    def _end(self, spu: Spu, error: GatewayError) -> None:
        for spuid in self._subscriptions.spuids(spu):
            last = self._delivery.leave(spuid)
            self._delivery.ended(spuid, spu.subject.text, error)
            if last is not None:
                self.remove(last)


def _named(contents: Contents) -> Iterator[tuple[str, Content]]:
    return ((node.value, each) for node, each in contents.items())


def _names(subject: Subject) -> list[NamedNode]:
    return [NamedNode(iri) for iri, _ in subject.windows]
