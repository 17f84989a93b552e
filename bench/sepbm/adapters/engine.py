"""`EngineAdapter`: our engine in this process, in memory, subscribed with `infer`.

Place on the way of the data: behind `Adapter`; an UPDATE's text in, notifications out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from time import perf_counter, process_time_ns

from pyoxigraph import Quad, RdfFormat, Store

from bench.sepbm.adapters.adapter import Adapter, Tell, n_triples, update_text
from bench.sepbm.lubm import Statement
from bench.sepbm.ontology import univ_bench
from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.options import EngineOptions
from gateway.engine.performance import Performance
from gateway.rdf.namespaces import ONTOLOGY_GRAPH
from gateway.rdf.solutions import Row
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.reasoning.domains import Domains
from gateway.reasoning.reasoner import Reasoner
from gateway.reasoning.reasoning import Reasoning
from gateway.store.quad_store import QuadStore

MOST_DERIVED = 5_000_000
"""Beyond what follows from LUBM(50)."""


class EngineAdapter(Adapter):
    """The engine; `measured` has it say where its time goes, which takes some itself."""

    def __init__(self, namespace: str, *, measured: bool = True) -> None:
        self._axioms = univ_bench(namespace)
        self._performance = Performance(process_time_ns) if measured else None
        self._channels: dict[str, str] = {}
        self._spuids: dict[str, str] = {}
        self._tells: dict[str, tuple[str, Tell]] = {}

    def load(self, base: Sequence[Statement]) -> None:
        """Load base and axioms, derive."""
        store = Store()
        store.bulk_load(n_triples(base), format=RdfFormat.N_TRIPLES)
        axioms = [Quad(t.subject, t.predicate, t.object, ONTOLOGY_GRAPH) for t in self._axioms]
        store.bulk_extend(axioms)
        domains = Domains(frozenset({DEFAULT_GRAPH}))
        reasoning = Reasoning(domains, derived=MOST_DERIVED, make=Reasoner)
        options = EngineOptions(performance=self._performance, reasoning=reasoning)
        self.engine = Engine(QuadStore(store), options=options, on_notification=self._hear)

    def create_channel(self, name: str, text: str) -> None:
        """Keep its text: a channel is a standing query, which exists while somebody subscribes."""
        self._channels[name] = text

    def delete_channel(self, name: str) -> None:
        """Forget its text."""
        del self._channels[name]

    def subscribe(self, name: str, tell: Tell) -> int:
        """SUBSCRIBE by text, with `infer`."""
        return len(self.first_answer(name, tell))

    def first_answer(self, name: str, tell: Tell) -> Sequence[Row]:
        """Subscribe; the rows of the first answer."""
        request = SubscribeRequest(self._channels[name], alias=name, infer=True)
        first = self.engine.subscribe(request)
        self._spuids[name] = first.spuid
        self._tells[first.spuid] = name, tell
        return first.results.added

    def unsubscribe(self, name: str) -> None:
        """UNSUBSCRIBE."""
        spuid = self._spuids.pop(name)
        del self._tells[spuid]
        self.engine.unsubscribe(spuid)

    def prepare(self, graph: Sequence[Statement], *, insert: bool) -> str:
        """The text of an UPDATE."""
        return update_text("INSERT DATA" if insert else "DELETE DATA", graph)

    def publish(self, request: str) -> None:
        """UPDATE."""
        self.engine.update(request)

    def delete(self, request: str) -> None:
        """UPDATE."""
        self.engine.update(request)

    def components_ms(self) -> Mapping[str, float] | None:
        """CPU ms by component, as the engine says."""
        if self._performance is None:
            return None
        return {name: ns / 1e6 for name, ns in asdict(self._performance.totals).items()}

    def close(self) -> None:
        """End the engine."""
        self.engine.close()

    def _hear(self, notification: Notification) -> None:
        name, tell = self._tells[notification.spuid]
        results = notification.results
        tell(name, results.added, results.removed, perf_counter())
