"""What is wrong with mappings, rules and actuators in the store, from all who look at them.

Place on the way of the data: a source of alarms, and what an UPDATE that writes the graph of
mappings is answered with. The node by itself (`MappingGraph`) is asked first; what compiles each,
and knows the others, after it.
"""

from collections.abc import Iterator

from gateway.actuation.actuators import Actuators
from gateway.actuation.rules import Republisher
from gateway.admin.mapping_graph import MappingGraph
from gateway.admin.onboarding.migration import inverted
from gateway.engine import Outcome
from gateway.ingest.mappings import MappingTable
from gateway.runtime.alarms import AlarmKind, Condition


class MappingAlarms:
    """What the tables that learn from the graph of mappings refuse; in the event loop."""

    def __init__(
        self,
        graph: MappingGraph,
        mappings: MappingTable,
        actuators: Actuators,
        rules: Republisher,
    ) -> None:
        self._graph = graph
        self._mappings = mappings
        self._actuators = actuators
        self._rules = rules
        self._looked_at: tuple[object, ...] | None = None
        self._inverted: list[str] = []

    def conditions(self) -> Iterator[Condition]:
        """What is wrong now; of one node perhaps the same in other words, the best first."""
        yield from self._graph.conditions
        for error in self._mappings.errors:
            what = f"{error.member}: {error.reason}"
            yield _broken(AlarmKind.BROKEN_MAPPING, error.mapping, what)
        for iri, reason in self._actuators.errors.items():
            yield _broken(AlarmKind.BROKEN_ACTUATOR, iri, reason)
        for iri, reason in self._rules.errors.items():
            yield _broken(AlarmKind.BROKEN_RULE, iri, reason)
        for iri in self._inverted_now():
            yield Condition(
                AlarmKind.INVERTED_MAPPING,
                iri,
                "it says open of what is closed",
                "sosa-gateway mapping migrate --dry-run, then without --dry-run",
            )

    def of_update(self, outcome: Outcome) -> list[Condition]:
        """What is wrong with the nodes that an UPDATE has just written; none: nothing."""
        nodes = self._graph.written(outcome.time)
        return [each for each in self.conditions() if each.where in nodes] if nodes else []

    def _inverted_now(self) -> list[str]:
        """Looked for when the mappings have changed, for it is linear in them."""
        mappings = self._mappings.mappings
        if mappings is not self._looked_at:
            self._looked_at, self._inverted = mappings, inverted(mappings)
        return self._inverted


def _broken(kind: AlarmKind, iri: str, what: str) -> Condition:
    return Condition(kind, iri, what, "correct or remove it: docs/mappings.md, docs/actuators.md")
