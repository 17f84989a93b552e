"""`WindowedView`: who subscribes over windows, and what each step changes for them.

    elements, time -> Streams -> what entered and left each window
      -> its automaton                                  -> rows
      -> with the Delta of the view: LUTT, units        -> rows -> outputs

Place: beside the processing of the asserted and the entailed view; the engine asks it at every
step, once the store has the change. In parallel mode too these SPUs are served in the engine's
process. Meaning: docs/windows.md.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gateway.engine.delivery import Delivery
from gateway.engine.explain import Explanation, Standing
from gateway.engine.options import EngineOptions
from gateway.engine.request import SubscribeRequest
from gateway.engine.spu import Change as Told
from gateway.engine.spu import Spu, Subject
from gateway.engine.statistics import EngineStatistics
from gateway.engine.subscriptions import Subscription, Subscriptions
from gateway.engine.views.entailed_view import EntailedView
from gateway.engine.windowed.automata import Automata
from gateway.engine.windowed.declared import Declared, Written, itself, read_declared
from gateway.engine.windowed.opened import NOT_FILLED, Fillings, Opened, names_of
from gateway.engine.windowed.outputs import Outputs
from gateway.engine.windowed.tiers import Tiers
from gateway.engine.windowed.window_status import WindowStatus
from gateway.engine.windowed.windowed_processing import (
    Contents,
    evaluated_text,
    plain_graphs,
)
from gateway.errors import (
    ForbiddenError,
    GatewayError,
    NoReasoningError,
    NotFoundError,
    SuspendedError,
    WindowError,
)
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta
from gateway.store.quad_store import QuadStore
from gateway.windows.before.filling import Filling
from gateway.windows.content import Change, Content
from gateway.windows.element import Element
from gateway.windows.info import WindowInfo

log = logging.getLogger(__name__)

Arrived = Mapping[str, Sequence[Element]]
"""Elements by the IRI of their stream."""

NOTHING: Arrived = {}


class WindowedView:
    """All windows and their SPUs.

    `written` says where what enters a stream is written to: a client's stream has its own IRI for
    that. `entailed` is the entailed view, where there is one. `is_idle` while nobody subscribes.
    """

    def __init__(
        self,
        store: QuadStore,
        options: EngineOptions,
        statistics: EngineStatistics,
        subscriptions: Subscriptions,
        delivery: Delivery,
    ) -> None:
        self.written: Written = itself
        self._unheard: dict[Spu, GatewayError] = {}
        self.on_declared: Callable[[Declared], None] = lambda _: None
        self._tiers = Tiers(store, options, statistics, delivery.lost)
        self.opened = Opened(store, options, self._tiers.automata.matches)
        self.streams, self.clock = self.opened.streams, self.opened.clock
        self.names, self.counts = self.opened.names, self.opened.counts
        self._store = store
        self._subscriptions = subscriptions
        self._delivery = delivery
        self._outputs = Outputs()
        self._contents: Mapping[Spu, Contents] = self.opened.of

    @property
    def automata(self) -> Automata:
        """Who serves conjunctive queries over one window."""
        return self._tiers.automata

    @property
    def entailed(self) -> EntailedView | None:
        """The entailed view, where there is one."""
        return self._tiers.entailed

    @entailed.setter
    def entailed(self, view: EntailedView | None) -> None:
        self._tiers.entailed = view

    @property
    def declared(self) -> Declared:
        """The windows and streams that have names of their own."""
        return self.names.declared

    @declared.setter
    def declared(self, declared: Declared) -> None:
        self.declare(declared)

    def read_declared(self) -> None:
        """Take up what the store declares, where it was written otherwise than by UPDATE."""
        self.declare(read_declared(self._store))

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
    def is_inferring(self) -> bool:
        """Whether somebody's windows stand beside what follows."""
        return self.opened.inferring > 0

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
            graphs = tuple(self.written(window.stream))
            if not (all(map(rights.may_read, graphs)) if graphs else rights.read is None):
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
        home = replace(subject, text=evaluated_text(subject, names_of(subject)))
        if self._subscriptions.spu(home) is not None:
            return home
        return self._tiers.alike(home)

    def _require_known(self, subject: Subject) -> None:
        if self.entailed is None:
            raise NoReasoningError
        plain = plain_graphs(subject, names_of(subject))
        self.entailed.require((None,) if plain is None else plain)

    def contents_of(self, spuid: str) -> Contents:
        """The windows of a subscription, by name. Raises NotFoundError for one that has ended."""
        contents = self._contents.get(self._subscriptions.of(spuid).spu)
        if contents is None:
            raise NotFoundError(f"subscription {spuid} has ended", "subscribe again")
        return contents

    def known(self, spu: Spu) -> Mapping[str, WindowInfo]:
        """What each window of an SPU has now, by its IRI."""
        return {node.value: each.info() for node, each in self._contents[spu].items()}

    # what makes SPUs and answers for them ---------------------------------------------------

    def add(self, subject: Subject) -> tuple[Spu, ResultsDelta]:
        """A new SPU and its whole answer; where this raises, nothing is registered.

        Raises WindowError for a window with the name of a graph of the store, WindowFullError
        where there is no room for it, and as a Processing.
        """
        return self._added(subject, self._opened(subject, NOT_FILLED))

    def begin(self, subject: Subject, fillings: Fillings) -> tuple[Spu, dict[Content, Filling]]:
        """As `add`, over windows that are still to be filled, and which these are."""
        empty = {w: each for w, each in fillings.items() if not self.streams.is_open(w)}
        contents = self._opened(subject, empty)
        spu, _ = self._added(subject, contents)
        waiting = {
            content: empty[content.window]
            for content in contents.values()
            if content.window in empty and not empty[content.window].is_done
        }
        if waiting:
            self._tiers.hush(spu)
        return spu, waiting

    def fill(self, content: Content, filling: Filling, most: int) -> list[Told]:
        """Put the next `most` elements of its past into a window; what changed for others too.

        These are who else sees it, and who is told of time.
        """
        changes = self.streams.fill(content, filling, most)
        told = self._tiers.step(Delta(), Delta(), changes)
        if filling.is_done:
            told += self._tiers.settle(content)
        told = self._outputs.told(told, ())
        for change in changes:
            if change.full is not None:
                self._end_over(change.content, change.full)
        return told

    def require_kept(self, spu: Spu) -> None:
        """Raise why an SPU that nobody subscribes to yet has ended."""
        if spu in self._unheard:
            raise self._unheard[spu]

    def _added(self, subject: Subject, contents: Contents) -> tuple[Spu, ResultsDelta]:
        try:
            spu, results = self._tiers.place(subject, contents)
        except Exception:
            self.opened.close(contents)
            raise
        self.opened.keep(spu, contents)
        is_told_all = spu in self.automata and subject.output == "added"
        self._outputs.add(spu, results, is_told_all=is_told_all)
        return spu, results

    def _opened(self, subject: Subject, fillings: Fillings) -> Contents:
        return self.opened.open(subject, self._tiers.view(subject), fillings)

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer of a known SPU now."""
        return self._tiers.initial(spu)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        self._tiers.remove(spu)
        self._outputs.remove(spu)
        self._unheard.pop(spu, None)
        self.opened.release(spu)

    def explain(self, subject: Subject, spu: Spu | None) -> Explanation:
        """How a query is served, or would be if it were subscribed."""
        known = self._contents[spu] if spu is not None else None
        contents = known or self._opened(subject, NOT_FILLED)
        try:
            return replace(self._tiers.explained(subject, spu, contents), output=subject.output)
        finally:
            if spu is None:
                self.opened.close(contents)

    def standing(self, subscription: Subscription) -> Standing:
        """How a subscription is served now."""
        found = self._tiers.standing(subscription)
        subject = subscription.spu.subject
        return replace(found, windows=subject.windows, output=subject.output)

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

    # a step ---------------------------------------------------------------------------------

    def step(self, asserted: Delta, entailed: Delta, arrived: Arrived, time: int) -> list[Told]:
        """What an UPDATE, elements and the passing of time changed; view and store have it.

        `time` is that of the step, by the engine's clock.
        """
        if not self._contents:
            return []
        streams, tiers = self.streams, self._tiers
        now, jumped = self.clock.reading(time)
        if jumped:
            log.warning("clock_jumped", extra={"by_s": jumped / 1e6})
            streams.jumped(jumped)
        changes = streams.step(now, arrived)
        entailed_view = tiers.entailed
        if entailed_view is not None and self.is_inferring and entailed_view.reasoner.suspended:
            self._end_suspended()
        told = tiers.step(asserted, entailed, changes)
        for change in changes:
            if change.full is not None:
                self._end_over(change.content, change.full)
        if self._outputs.are_all_changes:
            return told
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
        spuids = self._subscriptions.spuids(spu)
        if not spuids:
            self._unheard[spu] = error
        for spuid in spuids:
            last = self._delivery.leave(spuid)
            self._delivery.ended(spuid, spu.subject.text, error)
            if last is not None:
                self.remove(last)
