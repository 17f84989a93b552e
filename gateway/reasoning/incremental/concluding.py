"""What axioms can conclude, whatever the data: `could_conclude`, and who concludes most.

Place: beside gateway/reasoning/incremental/program.py. A subscription whose patterns nothing can
conclude is the same on both views.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol

from pyoxigraph import Literal, NamedNode, Triple

from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH, RDFS
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.domains import Domains
from gateway.reasoning.incremental.program import TYPE, Program
from gateway.reasoning.kinds import (
    NOTHING,
    Axiom,
    Chain,
    Conclusion,
    DomainOf,
    HasValue,
    Inverse,
    Only,
    RangeOf,
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
)

_SCHEMA = frozenset(
    NamedNode(RDFS + name) for name in ("subClassOf", "subPropertyOf", "domain", "range")
)


class Pattern(Protocol):
    """A quad pattern as `LuttEntry` is one; None is a wildcard."""

    @property
    def subject(self) -> Term | None:
        """Who."""

    @property
    def predicate(self) -> Term | None:
        """What is said."""

    @property
    def object(self) -> Term | None:
        """What it is said of."""

    @property
    def graph(self) -> GraphName | None:
        """Where."""


def could_conclude(program: Program, domains: Domains, entry: Pattern) -> bool:
    """Whether a rule of the program could conclude a quad of the pattern in some domain."""
    graph = entry.graph
    if isinstance(entry.subject, Literal | Triple):
        return False
    if graph is None:
        return (
            _in_domains(program, entry)
            or _in_schema(program, entry)
            or _in_contradictions(program, entry)
        )
    if graph == ONTOLOGY_GRAPH:
        return _in_schema(program, entry)
    if graph == CONTRADICTIONS_GRAPH:
        return _in_contradictions(program, entry)
    domain = domains.of(graph)
    is_target = domains.writes_refused(graph) or (domain is not None and domain.into == graph)
    return is_target and _in_domains(program, entry)


def _in_domains(program: Program, entry: Pattern) -> bool:
    predicate = entry.predicate
    if predicate is None or predicate == TYPE:
        concluded = program.concluded_classes & program.bits.visible
        if entry.object is not None:
            concluded &= program.classes.get(entry.object, 0)
        if concluded:
            return True
    if predicate is None:
        return any(table.is_derivable for table in program.tables.values())
    table = program.tables.get(predicate) if isinstance(predicate, NamedNode) else None
    return table is not None and table.is_derivable


def _in_schema(program: Program, entry: Pattern) -> bool:
    return bool(program.axioms) and (entry.predicate is None or entry.predicate in _SCHEMA)


def _in_contradictions(program: Program, entry: Pattern) -> bool:
    pairs = [(axiom.first, axiom.second) for _, axiom in program.disjoint]
    if NOTHING in program.classes:
        pairs.append((NOTHING, NOTHING))
    return any(
        entry.predicate in (None, first) and entry.object in (None, second)
        for first, second in pairs
    )


def heads(axiom: Axiom) -> Iterator[tuple[bool, Term]]:
    """What an axiom concludes: (True, class) and (False, property)."""
    match axiom:
        case SubClass(_, cls) | DomainOf(_, cls) | RangeOf(_, cls):
            yield _head(cls)
        case SubProperty(_, name) | Chain(_, name) | Symmetric(name) | Transitive(name):
            yield False, name
        case Inverse(first, second):
            yield False, first
            yield False, second
        case _:
            pass


def _head(cls: Conclusion) -> tuple[bool, Term]:
    match cls:
        case HasValue(name, _):
            return False, name
        case Only(_, filler):
            return _head(filler)
        case _:
            return True, cls


def ranked(axioms: Iterable[Axiom], sizes: Counter[tuple[bool, Term]]) -> Axiom | None:
    """The axiom that concludes what most derived quads say, with their number by what they say."""
    found = [
        (sizes[head], _rank(axiom), str(axiom), axiom) for axiom in axioms for head in heads(axiom)
    ]
    return max(found, key=lambda each: each[:3])[3] if found else None


def _rank(axiom: Axiom) -> int:
    """Kinds that make many of few are named first."""
    return 2 if isinstance(axiom, Transitive) else int(isinstance(axiom, Chain))
