"""What is reasoned on, how far, and what stands against it; told while the gateway runs.

Place: asked by /reasoning and `sosa-gateway reasoning`; reads the engine in the scheduler's turn.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from pyoxigraph import Quad

from gateway.engine import Engine
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName
from gateway.reasoning.domains import SCHEMA, Domain, Domains
from gateway.reasoning.reasoning import AnyReasoner
from gateway.reasoning.wording import axiom_text, quad_text
from gateway.runtime.alarms import AlarmKind, Condition, Source
from gateway.runtime.measures import Measure

MOST_TOLD = 100
"""Contradictions and axioms that are told one by one."""


@dataclass(frozen=True, slots=True)
class DomainState:
    """Graphs that are reasoned on together, where conclusions go, and why they do not."""

    graphs: tuple[str, ...]
    into: str
    suspended: str = ""


@dataclass(frozen=True, slots=True)
class ReasoningState:
    """`derived` quads follow now, of at most `bound`; `by_axiom` are those that support most.

    `used` and `unused` count what is in the ontology graph, by kind. Of `contradictions` the first
    are told.
    """

    is_on: bool
    bound: int = 0
    derived: int = 0
    domains: Sequence[DomainState] = ()
    used: Mapping[str, int] | None = None
    unused: Mapping[str, int] | None = None
    by_axiom: Sequence[tuple[str, int]] = ()
    contradictions: Sequence[str] = ()
    contradicted: int = 0


def reasoning_state(engine: Engine, domains: Domains, bound: int) -> ReasoningState:
    """The state now; linear in the derived quads."""
    reasoner = engine.reasoner
    if reasoner is None:
        return ReasoningState(is_on=False)
    used: dict[str, int] = {}
    for axiom in reasoner.axioms:
        kind = type(axiom).__name__
        used[kind] = used.get(kind, 0) + 1
    counted = reasoner.derived_by_axiom().most_common(MOST_TOLD)
    against = contradictions(reasoner)
    return ReasoningState(
        is_on=True,
        bound=bound,
        derived=len(reasoner.derived),
        domains=domain_states(domains, reasoner.suspended),
        used=dict(sorted(used.items())),
        unused=dict(sorted(reasoner.axioms.unused.items())),
        by_axiom=[(axiom_text(axiom), count) for axiom, count in counted],
        contradictions=[quad_text(quad) for quad in islice(against, MOST_TOLD)],
        contradicted=len(against),
    )


def contradictions(reasoner: AnyReasoner) -> list[Quad]:
    """Who is what cannot be, in order."""
    return sorted(reasoner.derived.match(None, None, None, CONTRADICTIONS_GRAPH), key=str)


def domain_states(domains: Domains, suspended: Mapping[Domain, str]) -> tuple[DomainState, ...]:
    """The domains as they are set, and those besides of which nothing is derived now."""
    listed = [*map(Domain.of_one, sorted(domains.graphs, key=str)), *domains.joint]
    others = [each for each in suspended if each not in listed]
    states = [_state(each, suspended.get(each, "")) for each in (*listed, *others)]
    if domains.all_others:
        states.append(DomainState(("*",), "each graph of its own"))
    return tuple(states)


def reasoning_alarms(engine: Engine) -> Source:
    """The domains of which nothing is derived, while that lasts."""

    def look() -> Iterator[Condition]:
        suspended = {} if engine.reasoner is None else engine.reasoner.lately.suspended
        for domain, reason in tuple(suspended.items()):
            yield Condition(AlarmKind.REASONING_SUSPENDED, domain_name(domain), reason, _WHAT_TO_DO)

    return look


_WHAT_TO_DO = "take back what makes so much follow, or raise [reasoning] derived; then: " + (
    "sosa-gateway reasoning resume"
)


def reasoning_measures(engine: Engine) -> tuple[Measure, ...]:
    """How much follows, of how many axioms, and what is wrong."""
    if engine.reasoner is None:
        return ()
    reasoner = engine.reasoner.lately
    return (
        Measure("derived", "quads that follow", lambda: len(reasoner.derived), is_counter=False),
        Measure("axioms", "axioms in force", lambda: len(reasoner.axioms), is_counter=False),
        Measure(
            "contradictions",
            "individuals that are what cannot be",
            lambda: len(contradictions(reasoner)),
            is_counter=False,
        ),
        Measure(
            "reasoning_suspended",
            "domains of which nothing is derived",
            lambda: len(reasoner.suspended),
            is_counter=False,
        ),
    )


def domain_name(domain: Domain) -> str:
    """What a domain is called: by its graphs."""
    return "the ontology graph" if domain == SCHEMA else ", ".join(_words(domain.graphs))


def _state(domain: Domain, suspended: str) -> DomainState:
    return DomainState(tuple(_words(domain.graphs)), _words([domain.into])[0], suspended)


def _words(graphs: frozenset[GraphName] | list[GraphName]) -> list[str]:
    return sorted("default" if each == DEFAULT_GRAPH else str(each)[1:-1] for each in graphs)
