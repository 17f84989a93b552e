"""LUTT: look-up triples tables, one index over those of all SPUs (seed 000, section III).

An entry is a quad pattern with wildcards. The paper scans every SPU's table for each changed
triple; here a changed quad is looked up once per combination of constants in use, so
the cost does not grow with the number of SPUs. What a table lets through goes into the ARTQ of
its SPU: the added and the removed quads that may concern it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pyoxigraph import Quad

from gateway.rdf.delta import Delta
from gateway.rdf.terms import GraphName, Term

Owner = TypeVar("Owner")
Key = tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class LuttEntry:
    """A pattern; None is a wildcard. A wildcard graph stands for every graph."""

    subject: Term | None = None
    predicate: Term | None = None
    object: Term | None = None
    graph: GraphName | None = None


EVERYTHING = LuttEntry()


@dataclass(slots=True)
class Artq:
    """Added/removed triples queue: the quads of one Delta that an SPU's LUTT let through."""

    added: list[Quad] = field(default_factory=list)
    removed: list[Quad] = field(default_factory=list)


_KEYS: tuple[Callable[[Quad], Key], ...] = (
    lambda _: (),
    lambda quad: (quad.subject,),
    lambda quad: (quad.object,),
    lambda quad: (quad.subject, quad.object),
)
"""The constants of a quad beside its predicate, by mask: 1 subject, 2 object."""

Table = dict[Key, dict[Owner, None]]
Place = tuple[GraphName | None, int]
"""Graph and mask of a table."""


class LuttIndex(Generic[Owner]):
    """All look-up tables together: which owners does a changed quad concern?

    >>> index: LuttIndex[str] = LuttIndex()
    >>> index.insert(LuttEntry(predicate=NamedNode("urn:p")), "spu")
    >>> quad = Quad(NamedNode("urn:s"), NamedNode("urn:p"), NamedNode("urn:o"))
    >>> list(index.match(Delta(added=(quad,))))
    ['spu']
    """

    def __init__(self) -> None:
        # By predicate first: most changed quads have one that nobody asks for, and are done.
        self._predicates: dict[Term | None, dict[Place, Table[Owner]]] = {}

    def insert(self, entry: LuttEntry, owner: Owner) -> None:
        """Let the owner be told of quads that match the entry."""
        place, key = _place(entry)
        tables = self._predicates.setdefault(entry.predicate, {})
        tables.setdefault(place, {}).setdefault(key, {})[owner] = None

    def remove(self, entry: LuttEntry, owner: Owner) -> None:
        """The reverse of `insert`; leaves no empty table behind."""
        place, key = _place(entry)
        tables = self._predicates[entry.predicate]
        owners = tables[place][key]
        owners.pop(owner, None)
        if not owners:
            del tables[place][key]
        if not tables[place]:
            del tables[place]
        if not tables:
            del self._predicates[entry.predicate]

    def match(self, delta: Delta) -> dict[Owner, Artq]:
        """The owners that the change may concern, each with its ARTQ, in order of the change."""
        queues: dict[Owner, Artq] = {}
        for quad in delta.removed:
            for owner in self._owners(quad):
                _queue(queues, owner).removed.append(quad)
        for quad in delta.added:
            for owner in self._owners(quad):
                _queue(queues, owner).added.append(quad)
        if delta.graphs_created or delta.graphs_dropped:
            for owner in self._unconditional():
                _queue(queues, owner)
        return queues

    def _owners(self, quad: Quad) -> Iterable[Owner]:
        tables = self._predicates.get(quad.predicate)
        anyway = self._predicates.get(None)
        if tables is None and anyway is None:
            return ()
        found: dict[Owner, None] = {}
        graph = quad.graph_name
        for each in (tables, anyway):
            if each is not None:
                for (place, mask), table in each.items():
                    if place is None or place == graph:
                        owners = table.get(_KEYS[mask](quad))
                        if owners:
                            found.update(owners)
        return found

    def _unconditional(self) -> Iterable[Owner]:
        return self._predicates.get(None, {}).get((None, 0), {}).get((), ())


def _place(entry: LuttEntry) -> tuple[Place, Key]:
    nodes = (entry.subject, entry.object)
    mask = sum(1 << position for position, node in enumerate(nodes) if node is not None)
    return (entry.graph, mask), tuple(node for node in nodes if node is not None)


def _queue(queues: dict[Owner, Artq], owner: Owner) -> Artq:
    queue = queues.get(owner)
    if queue is None:
        queue = queues[owner] = Artq()
    return queue
