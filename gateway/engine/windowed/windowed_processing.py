"""`WindowedProcessing`: the units of subscriptions that have windows by the same names.

    Delta of the view and what entered and left windows -> LUTT -> units, as in `Processing`

Place: one or few under `WindowedView`. Subscriptions share it unless one calls another window, or a
graph of the store, by a name that is taken here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from time import perf_counter_ns

from pyoxigraph import NamedNode, Quad

from gateway.engine.compile import TierCompiler
from gateway.engine.explain import Costs
from gateway.engine.incremental.aggregates import UnsureError
from gateway.engine.lutt import Artq
from gateway.engine.processing import MakeCompiler, Processing
from gateway.engine.sliding.unit import SlidingUnit
from gateway.engine.spu import Change as Told
from gateway.engine.spu import Spu, Subject, Unit
from gateway.engine.statistics import EngineStatistics
from gateway.engine.windowed.hidden_graphs import without_graphs
from gateway.engine.windowed.window_compiler import WindowCompiler
from gateway.engine.windowed.window_graph import WindowGraph
from gateway.engine.windowed.windowed_source import View, WindowedSource
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta, difference
from gateway.rdf.terms import GraphName
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import graphs_looked_at
from gateway.store.quad_store import QuadStore
from gateway.windows.content import Change, Content

_NO_QUADS = Artq()
"""The queue of units that nothing concerns but their window."""

Changes = Mapping[Content, Change]
"""What a step did to each window."""

Contents = Mapping[NamedNode, Content]
"""The windows of a subscription, by their names."""


class WindowedProcessing(Processing):
    """Units on a view and windows. With `is_own` it is for one set of windows alone.

    That is for texts with `GRAPH ?g`, which must not range over windows that others have here.
    """

    def __init__(
        self,
        view: View,
        store: QuadStore,
        compiler: MakeCompiler,
        statistics: EngineStatistics,
        *,
        is_own: bool,
    ) -> None:
        self._source = WindowedSource(view, store)
        slides = compiler is TierCompiler
        super().__init__(self._source, WindowCompiler if slides else compiler, statistics)
        self._window_compiler: WindowCompiler | None = None
        if slides:
            self._compiler = self._window_compiler = WindowCompiler(self._cts, self._content)
        self._sliding: dict[Content, dict[SlidingUnit, Costs]] = {}
        self._view = view
        self._is_own = is_own
        self._plain: Counter[GraphName] = Counter()
        self._needs: dict[Spu, tuple[Contents, frozenset[GraphName]]] = {}

    def takes(self, contents: Contents, plain: frozenset[GraphName] | None) -> bool:
        """Whether these windows, beside graphs of the view, mean here what they mean alone."""
        graphs = self._source.graphs
        if self._is_own or plain is None:
            here = {node: graph.content for node, graph in graphs.items()}
            return self._is_own and plain is None and (not here or here == dict(contents))
        if any(node in graphs and graphs[node].content is not of for node, of in contents.items()):
            return False
        return plain.isdisjoint(graphs) and contents.keys().isdisjoint(self._plain)

    def serve(
        self, subject: Subject, contents: Contents, plain: frozenset[GraphName] | None
    ) -> tuple[Spu, ResultsDelta]:
        """As `add`, with the windows of the subject."""
        for node, content in contents.items():
            graph = self._source.graphs.get(node)
            if graph is None:
                graph = self._source.graphs[node] = WindowGraph(node, content)
            graph.users += 1
        try:
            spu, results = self.add(subject)
        except Exception:
            self._release(contents)
            raise
        self._needs[spu] = contents, plain or frozenset()
        self._plain.update(plain or ())
        return spu, results

    def hush(self, spu: Spu) -> None:
        """Nobody is told of an SPU yet, whose windows are still filled."""
        unit = self._units[spu]
        is_added_up = spu.subject.output == "whole"  # from all that is told of it
        if isinstance(unit, SlidingUnit) and len(unit.members) == 1 and not is_added_up:
            unit.hush()

    def settle(self, content: Content) -> list[Told]:
        """A window is filled; what was not told of it until now."""
        told: list[Told] = []
        for unit in list(self._sliding.get(content, ())):
            told += unit.settle()
            if unit.fault is not None:
                told += self._given_up(unit, unit.fault)
        return told

    def remove(self, spu: Spu) -> None:
        """The reverse of `serve`."""
        super().remove(spu)
        if spu in self._needs:  # else `serve` itself gives back what it took
            contents, plain = self._needs.pop(spu)
            self._plain.subtract(plain)
            self._plain += Counter()
            self._release(contents)

    def _release(self, contents: Contents) -> None:
        for node in contents:
            graph = self._source.graphs[node]
            graph.users -= 1
            if not graph.users:
                del self._source.graphs[node]

    def _content(self, node: NamedNode) -> Content:
        return self._source.graphs[node].content

    def _register(self, unit: Unit) -> None:
        if isinstance(unit, SlidingUnit):
            unit.listen()
        self._source.want(unit.lutt)  # before the CTS fills itself from it
        super()._register(unit)
        if isinstance(unit, SlidingUnit):
            self._sliding.setdefault(self._content(unit.node), {})[unit] = self._costs[unit]

    def _deregister(self, unit: Unit) -> None:
        super()._deregister(unit)
        self._source.unwant(unit.lutt)
        if isinstance(unit, SlidingUnit):
            content = self._content(unit.node)
            unit.leave()
            del self._sliding[content][unit]
            if not self._sliding[content]:
                del self._sliding[content]

    def step(self, delta: Delta, changes: Changes) -> list[Told]:
        """What a change of the view, and of windows, changed in the answers."""
        if not (self._source.entries or self._clocked or self._recovery):
            return self._slid(changes)  # aggregates alone, as a rule, have no LUTT
        queues: dict[Unit, Artq] = {}
        if self._source.entries or self._clocked:
            if not delta.is_empty:
                delta = self._visible(delta)
            if changes:
                delta = self._with_windows(delta, changes)
            if not delta.is_empty or self._clocked:
                self._source.take(delta)
                queues.update(self.match(delta))
        if changes and self._sliding:
            self._move(changes, queues)
        if not queues:
            return []
        told = self.process(queues)
        for each in queues if self._sliding else ():
            if isinstance(each, SlidingUnit) and each.fault is not None:
                told += self._given_up(each, each.fault)
        return told

    def _slid(self, changes: Changes) -> list[Told]:
        """What changes of windows changed, where nothing else concerns anybody."""
        told: list[Told] = []
        failed: list[SlidingUnit] = []
        for content, units in self._sliding.items():
            change = changes.get(content)
            if change is None:
                continue
            only = (change,)
            begin = perf_counter_ns()
            for unit, costs in units.items():
                if not unit.is_moved_by(change):
                    continue
                found = unit.slide(only)
                told += found
                if unit.fault is not None:
                    failed.append(unit)
                end = perf_counter_ns()
                costs.add(end - begin, found)
                begin = end
        for unit in failed:
            if unit.fault is not None:
                told += self._given_up(unit, unit.fault)
        return told

    def _move(self, changes: Changes, queues: dict[Unit, Artq]) -> None:
        """Tell the units whose window changed how, and queue them."""
        for content, units in self._sliding.items():
            change = changes.get(content)
            if change is not None:
                for unit in units:
                    if unit.is_moved_by(change):
                        unit.take(change)
                        queues.setdefault(unit, _NO_QUADS)

    def _given_up(self, unit: SlidingUnit, fault: Exception) -> list[Told]:
        """Serve the members of a unit otherwise, which cannot say what they are to be told."""
        if not isinstance(fault, UnsureError):
            self._recovery.note(fault, unit.members)
        if self._window_compiler is None:
            raise fault
        told: list[Told] = []
        for spu in tuple(unit.members):
            before = unit.told(spu)
            other = self._window_compiler.instead(spu)
            self._window_compiler.remove(spu, unit)
            self._count(unit, -1)
            self._count(other, +1)
            if not unit.members:
                self._deregister(unit)
            self._units[spu] = other
            self._register(other)
            now = Counter(self._recovery.initial(other, spu).added)
            told.append((spu, difference(spu.variables, before, now)))
        return [each for each in told if not each[1].is_empty]

    def _with_windows(self, delta: Delta, changes: Changes) -> Delta:
        graphs = [graph for graph in self._source.graphs.values() if graph.is_wanted]
        if not graphs:
            return delta
        added: list[Quad] = []
        removed: list[Quad] = []
        for graph in graphs:
            change = changes.get(graph.content)
            if change is not None:
                plus, minus = graph.take(change)
                added += plus
                removed += minus
        if not (added or removed):
            return delta
        return Delta(
            (*delta.added, *added),
            (*delta.removed, *removed),
            delta.graphs_created,
            delta.graphs_dropped,
        )

    def _visible(self, delta: Delta) -> Delta:
        """Without graphs of the view whose name a window has here."""
        hidden = [node for node in self._source.graphs if self._view.contains_graph(node)]  # type: ignore[arg-type]
        hidden += [graph for graph in delta.graphs_dropped if graph in self._source.graphs]
        if not hidden:
            return delta
        return Delta(
            tuple(quad for quad in delta.added if quad.graph_name not in hidden),
            tuple(quad for quad in delta.removed if quad.graph_name not in hidden),
            tuple(graph for graph in delta.graphs_created if graph not in hidden),
            tuple(graph for graph in delta.graphs_dropped if graph not in hidden),
        )


def plain_graphs(subject: Subject, windows: Iterable[NamedNode]) -> frozenset[GraphName] | None:
    """The graphs of the store that the query looks at beside its windows; None is all of them.

    Raises SparqlSyntaxError.
    """
    graphs = graphs_looked_at(parse_query(subject.text), subject.dataset)
    return None if graphs is None else graphs - set(windows)


def evaluated_text(subject: Subject, windows: Iterable[NamedNode]) -> str:
    """The text with `GRAPH ?g` ranging over the store alone, where no dataset says over what.

    Raises SparqlSyntaxError.
    """
    if subject.dataset is not None or parse_query(subject.text).dataset is not None:
        return subject.text
    return without_graphs(subject.text, windows)
