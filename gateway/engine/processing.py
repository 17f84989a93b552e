"""`Processing`: from a Delta to the answers that it changed, all units together.

    Delta -> routes -> an ARTQ for each unit -> which SPUs' answers changed, and how

Place: between the store and the addressing of subscribers. Sequential: `process` works through
the queues that `match` filled, in this thread, before the next UPDATE.
"""

import logging
from collections.abc import Callable
from time import perf_counter_ns

from gateway.engine.compile import Compiler
from gateway.engine.cts import Cts
from gateway.engine.explain import Costs, Explanation
from gateway.engine.join.join import JoinUnit
from gateway.engine.lutt import runs
from gateway.engine.routes import Queues, Routes
from gateway.engine.spu import Change, Spu, Subject, Unit
from gateway.engine.statistics import EngineStatistics
from gateway.errors import GatewayError
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta
from gateway.store.quad_cache import QuadCache
from gateway.store.readable import Source

log = logging.getLogger(__name__)

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
        self._clocked: dict[Unit, None] = {}

    @property
    def tables(self) -> QuadCache:
        """What `match` keeps up with the store."""
        return self._cts

    @property
    def reads_clock(self) -> bool:
        """Whether an answer may change by an UPDATE that changes no quad."""
        return bool(self._clocked)

    def add(self, subject: Subject) -> tuple[Spu, ResultsDelta]:
        """A new SPU and its whole answer; where this raises, nothing is registered."""
        placed = self._compiler.place(subject)
        spu, unit = placed.spu, placed.unit
        for gone in placed.gone:
            self._deregister(gone)
        for member in unit.members if placed.gone else (spu,):
            self._units[member] = unit
        if placed.is_made:
            self._register(unit)
        if subject.clocked:
            self._clocked[unit] = None
        self._count(unit, +1)
        try:
            return spu, unit.initial(spu)
        except GatewayError:
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
        return self._units[spu].initial(spu)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        unit = self._units.pop(spu)
        self._clocked.pop(unit, None)
        is_last = len(unit.members) == 1
        self._compiler.remove(spu, unit)
        self._count(unit, -1)
        if is_last:
            self._deregister(unit)

    def _register(self, unit: Unit) -> None:
        self._routes.insert(unit)
        self._cts.hold(unit.context)
        self._costs[unit] = Costs()

    def _deregister(self, unit: Unit) -> None:
        self._routes.remove(unit)
        self._cts.release(unit.context)
        del self._costs[unit]

    def fill(self, delta: Delta) -> None:
        """Take note that the store has more or less of what no answer depends on (a worker's)."""
        self._cts.apply(runs(delta))

    def match(self, delta: Delta) -> Queues:
        """The units that a change concerns, each with its ARTQ; the store already has it."""
        changed = self._routes.runs(delta)  # what a CTS wants is in a LUTT too
        self._cts.apply(changed)
        queues, hits = self._routes.match(delta, changed, self._clocked)
        self._statistics.lutt_hits += hits
        self._statistics.lutt_misses += len(self._units) - hits
        return queues

    def process(self, queues: Queues) -> list[Change]:
        """The answers that changed.

        A query that fails on new data costs its unit this step only: the next one adds up again.
        """
        changes: list[Change] = []
        begin = perf_counter_ns()
        for unit, artq in queues.items():
            before = len(changes)
            try:
                changes += [each for each in unit.process(artq) if not each[1].is_empty]
            except GatewayError as error:
                self._failed(unit, error)
            costs = self._costs.get(unit)
            if costs is not None:
                end = perf_counter_ns()
                costs.add(end - begin, changes[before:])
                begin = end
        return changes

    def _failed(self, unit: Unit, error: GatewayError) -> None:
        self._statistics.failures += 1
        for spu in unit.members:
            log.error("spu_failed", extra={"query": spu.subject.text, "reason": str(error)})

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

    def _count(self, unit: Unit, difference: int) -> None:
        tiers = self._statistics.spus
        tiers[unit.tier] = tiers.get(unit.tier, 0) + difference
