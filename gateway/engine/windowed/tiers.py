"""`Tiers`: by which way a query over windows is served: an automaton, or units beside a view.

    subject, its windows -> the automaton of its window, where it is one, else a WindowedProcessing

Place: under `WindowedView`, which opens the windows and tells what changed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.engine.automaton.query import AutomatonQuery, NotAnAutomatonError
from gateway.engine.explain import Explanation, Standing
from gateway.engine.options import EngineOptions
from gateway.engine.spu import Change as Told
from gateway.engine.spu import Spu, Subject
from gateway.engine.statistics import EngineStatistics
from gateway.engine.subscriptions import Subscription
from gateway.engine.views.entailed_view import EntailedView
from gateway.engine.windowed.automata import Automata, automaton_of, parsed_of
from gateway.engine.windowed.windowed_processing import (
    Contents,
    WindowedProcessing,
    plain_graphs,
)
from gateway.engine.windowed.windowed_source import View
from gateway.errors import NoReasoningError
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta
from gateway.store.quad_store import QuadStore
from gateway.windows.content import Change, Content


class Tiers:
    """The SPUs over windows. `entailed` is the entailed view, where there is one.

    `lost` is told an SPU of which nobody knows any more what its subscribers were told.
    """

    def __init__(
        self,
        store: QuadStore,
        options: EngineOptions,
        statistics: EngineStatistics,
        lost: Callable[[Spu], None],
    ) -> None:
        self.automata = Automata()
        self.entailed: EntailedView | None = None
        self._store = store
        self._is_exact_only = options.oracle or not options.lutt
        self._compiler = options.compiler
        self._statistics = statistics
        self._lost = lost
        self._processings: dict[bool, list[WindowedProcessing]] = {False: [], True: []}
        self._home: dict[Spu, WindowedProcessing] = {}

    def alike(self, subject: Subject) -> Subject:
        """The subject of an equal query that an automaton has, else this one."""
        query = self._as_automaton(subject)
        if isinstance(query, AutomatonQuery):
            return self.automata.home(subject, query)
        return subject

    def view(self, subject: Subject) -> View:
        """What the windows of a subject stand beside."""
        if not subject.infer:
            return self._store
        if self.entailed is None:
            raise NoReasoningError
        return self.entailed.entailed

    def place(self, subject: Subject, contents: Contents) -> tuple[Spu, ResultsDelta]:
        """A new SPU and its whole answer; where this raises, nothing is registered."""
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
        parts = (self.view(subject), self._store, self._compiler, self._statistics)
        made = WindowedProcessing(*parts, is_own=plain is None)
        made.recovery.on_lost = self._lost
        there.append(made)
        return made

    def explained(self, subject: Subject, spu: Spu | None, contents: Contents) -> Explanation:
        """How a query is served, or would be."""
        query = self._as_automaton(subject)
        infos = {node.value: each.info() for node, each in contents.items()}
        if isinstance(query, AutomatonQuery):
            shown = Explanation(subject.text, "automaton", {}, (), {}, windows=infos, members=1)
            if spu is None:
                known = {"patterns": len(query.patterns), "conditions": len(query.conditions)}
                return replace(shown, automaton=known)
            costs, members = self.automata.costs(spu)
            return replace(
                shown,
                is_subscribed=True,
                automaton=self.automata.explain(spu),
                members=members,
                hits=costs.updates,
                costs=costs,
            )
        processing = self._home[spu] if spu is not None else self._processing(subject, contents)
        try:
            shown = processing.explain(subject, spu)
        finally:
            if processing.is_idle:
                self._processings[subject.infer].remove(processing)
        refused = {"automaton": str(query), **shown.refused}
        return replace(shown, refused=refused, windows=infos)

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer of a known SPU now."""
        if spu in self.automata:
            return self.automata.initial(spu)
        return self._home[spu].initial(spu)

    def remove(self, spu: Spu) -> None:
        """The reverse of `place`."""
        if spu in self.automata:
            self.automata.remove(spu)
            self._count_automaton(-1)
            return
        processing = self._home.pop(spu)
        processing.remove(spu)
        if processing.is_idle:
            self._processings[spu.subject.infer].remove(processing)

    def hush(self, spu: Spu) -> None:
        """Nobody is told of an SPU yet, whose windows are still filled."""
        if spu in self._home:
            self._home[spu].hush(spu)

    def settle(self, content: Content) -> list[Told]:
        """A window is filled; what was not told of it until now."""
        there = self._processings
        return [told for each in (*there[False], *there[True]) for told in each.settle(content)]

    def standing(self, subscription: Subscription) -> Standing:
        """How a subscription is served now."""
        spu = subscription.spu
        if spu in self.automata:
            known = (subscription.spuid, subscription.alias, subscription.text or spu.subject.text)
            costs, members = self.automata.costs(spu)
            return Standing(
                *known,
                subscription.last_sequence,
                tier="automaton",
                members=members,
                hits=costs.updates,
                costs=costs,
            )
        return self._home[spu].standing(subscription)

    def step(self, asserted: Delta, entailed: Delta, changes: Sequence[Change]) -> list[Told]:
        """What changes of the views and of windows changed in the answers."""
        told = self.automata.step(changes) if changes else []
        there = self._processings
        if there[False] or there[True]:
            by_content = {change.content: change for change in changes}
            for processing in there[False]:
                told += processing.step(asserted, by_content)
            for processing in there[True]:
                told += processing.step(entailed, by_content)
        return told

    def _count_automaton(self, difference: int) -> None:
        tiers = self._statistics.spus
        tiers["automaton"] = tiers.get("automaton", 0) + difference
