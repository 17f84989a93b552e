"""`Processing`: from a Delta to the answers that it changed, all units together.

    Delta -> routes -> an ARTQ for each unit -> which SPUs' answers changed, and how

Place: between the store and the addressing of subscribers. Sequential: `process` works through
the queues that `match` filled, in this thread, before the next UPDATE.
"""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter_ns

from gateway.engine.compile import Compiler
from gateway.engine.cts import Cts
from gateway.engine.explain import Costs, Explanation, Standing
from gateway.engine.join.join import JoinUnit
from gateway.engine.lutt import Artq, runs
from gateway.engine.recovery import Recovery
from gateway.engine.routes import Queues, Routes
from gateway.engine.spu import Change, Spu, Subject, Unit
from gateway.engine.statistics import EngineStatistics
from gateway.engine.subscriptions import Subscription
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta
from gateway.store.quad_cache import QuadCache
from gateway.store.readable import Source

MakeCompiler = Callable[[Source], Compiler]


class Processing:
    """The units of all SPUs, the routes that lead to them, and the CTS that they look at."""

    def __init__(
        self,
        store: Source,
        compiler: MakeCompiler,
        statistics: EngineStatistics,
    ) -> None:
        self._statistics = statistics
        self._cts = Cts(store)
        self._make_compiler = compiler
        self._compiler = compiler(self._cts)
        self._routes = Routes(self._cts)
        self._units: dict[Spu, Unit] = {}
        self._costs: dict[Unit, Costs] = {}
        self._recovery = Recovery(self._cts, statistics)
        self._clocked: dict[Unit, None] = {}

    @property
    def recovery(self) -> Recovery:
        """Units that have failed."""
        return self._recovery

    @property
    def tables(self) -> QuadCache:
        """What `match` keeps up with the store."""
        return self._cts

    @property
    def reads_clock(self) -> bool:
        """Whether an answer may change by an UPDATE that changes no quad."""
        return bool(self._clocked)

    @property
    def is_idle(self) -> bool:
        """Whether it serves nobody, so that no change need be looked at."""
        return not self._units

    def add(self, subject: Subject) -> tuple[Spu, ResultsDelta]:
        """A new SPU and its whole answer; where this raises, nothing is registered."""
        placed = self._compiler.place(subject)
        spu, unit = placed.spu, placed.unit
        for gone in placed.gone:
            self._deregister(gone)
        self._recovery.take_over(unit, placed.gone)
        for member in unit.members if placed.gone else (spu,):
            self._units[member] = unit
        if placed.is_made:
            self._register(unit)
        if subject.clocked:
            self._clocked[unit] = None
        self._count(unit, +1)
        try:
            return spu, self._recovery.initial(unit, spu)
        except Exception:
            self.remove(spu)
            raise

    def watch(self, unit: Unit) -> None:
        """Let a unit without members see the changes that its LUTT lets through, for good."""
        self._routes.insert(unit)

    def unit(self, spu: Spu) -> Unit | None:
        """The unit that works for an SPU; None where it is not one of these."""
        return self._units.get(spu)

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer of a known SPU now."""
        return self._recovery.initial(self._units[spu], spu)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        unit = self._units.pop(spu)
        self._clocked.pop(unit, None)
        self._recovery.forget(unit, spu)
        is_last = len(unit.members) == 1
        self._compiler.remove(spu, unit)
        self._count(unit, -1)
        if is_last:
            self._deregister(unit)

    def _register(self, unit: Unit) -> None:
        for awake in self._routes.insert(unit):
            self._cts.hold(awake.context)
        self._costs[unit] = Costs()

    def _deregister(self, unit: Unit) -> None:
        if not self._routes.sleeps(unit):
            self._cts.release(unit.context)
        self._routes.remove(unit)
        del self._costs[unit]

    def fill(self, delta: Delta) -> None:
        """Take note that the store has more or less of what no answer depends on (a worker's)."""
        self._cts.apply(runs(delta))

    def match(self, delta: Delta) -> Queues:
        """The units that a change concerns, each with its ARTQ; the store already has it."""
        changed = self._routes.runs(delta)  # what a CTS wants is in a LUTT too
        woken = self._routes.woken(changed)
        for unit in woken:
            self._routes.awake(unit)
            self._cts.hold(unit.context)
        if woken:
            changed = self._routes.runs(delta)
        self._cts.apply(changed)
        queues, hits = self._routes.match(delta, changed, self._clocked)
        self._statistics.lutt_hits += hits
        self._statistics.lutt_misses += len(self._units) - hits
        return queues

    def process(self, queues: Queues) -> list[Change]:
        """The answers that changed.

        A unit that fails is asked for its whole answer instead, and costs nobody else anything;
        where that fails too, its next step adds up again.
        """
        changes: list[Change] = []
        costs_of = self._costs
        # What fails from here on is no unit that is still to come.
        recovery = self._recovery if self._recovery else frozenset[Unit]()
        begin = perf_counter_ns()
        for unit, artq in queues.items():
            if unit in recovery:
                found = self._recovered(unit, artq)
            else:
                try:
                    told = unit.process(artq)
                    found = [e for e in told if e[1].added or e[1].removed] if told else []
                except Exception as error:
                    self._recovery.note(error, unit.members)
                    found = self._recovered(unit, artq)
            changes += found
            costs = costs_of.get(unit)
            if costs is not None:
                end = perf_counter_ns()
                costs.add(end - begin, found)
                begin = end
        return changes

    def _recovered(self, unit: Unit, artq: Artq) -> list[Change]:
        try:
            changes = self._recovery.changes(unit, artq)
        except Exception as error:
            self._recovery.note(error, unit.members)
            return []
        return [each for each in changes if not each[1].is_empty]

    def explain(self, subject: Subject, spu: Spu | None) -> Explanation:
        """How a query is served, or would be if it were subscribed; compiles it anew."""
        placed = self._make_compiler(self._cts).place(subject)
        unit = None if spu is None else self._units.get(spu)
        shown = placed.spu if spu is None or unit is None else spu
        in_worker = spu is not None and unit is None
        unit = unit or placed.unit
        return Explanation(
            subject.text,
            unit.tier,
            placed.refused,
            unit.lutt,
            {entry: self._cts.size(entry) for entry in unit.context},
            members=len(unit.members),
            parameters=len(unit.values(shown)) if isinstance(unit, JoinUnit) else 0,
            hits=unit.hits(shown),
            costs=self._costs.get(unit, Costs()),
            is_subscribed=spu is not None,
            alike=self._routes.alike(unit),
            in_worker=in_worker,
        )

    def standing(self, subscription: Subscription) -> Standing:
        """How a subscription is served now; takes a look at counters, and compiles nothing."""
        spu = subscription.spu
        known = (
            subscription.spuid,
            subscription.alias,
            spu.subject.text,
            subscription.last_sequence,
        )
        unit = self._units.get(spu)
        if unit is None:
            return Standing(*known, in_worker=True)
        return Standing(
            *known,
            tier=unit.tier,
            lutt=len(unit.lutt),
            cts_quads=sum(map(self._cts.size, unit.context)),
            members=len(unit.members),
            hits=unit.hits(spu),
            costs=replace(self._costs.get(unit, Costs())),
        )

    def _count(self, unit: Unit, difference: int) -> None:
        tiers = self._statistics.spus
        tiers[unit.tier] = tiers.get(unit.tier, 0) + difference
