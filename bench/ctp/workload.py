"""A building's readings as triples, and queries by random walks over them; both with fixed seeds.

Place on the way of the data: the workload of `ctp`. The building data of the paper is not public;
sizes, numbers of queries and patterns and windows are the paper's, the schema is ours. Source: Qin
et al., Batch Matching of Conjunctive Triple Patterns over Linked Data Streams in the Internet of
Things, 2015, section 3.1 and table 2.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pyoxigraph import Literal, NamedNode, Triple

from gateway.rdf.namespaces import RDF, SOSA
from gateway.rdf.terms import Term

BASE = "https://sosa-gateway.example/building/"
WINDOW = "urn:w"
STREAM = "urn:building"

TRIPLES_A_READING = 6
_WALKED = 2000
"""Readings that the walks are over."""
_TRIES = 20
_TO_A_TIME = 20
"""Readings that share a time."""
_SENSORS, _PROPERTIES = 250, 5

_CLASS = NamedNode(RDF + "type")
_SENSOR = NamedNode(SOSA + "madeBySensor")
_PROPERTY = NamedNode(SOSA + "observedProperty")
_ROOM = NamedNode(SOSA + "hasFeatureOfInterest")
_RESULT = NamedNode(SOSA + "hasSimpleResult")
_TIME = NamedNode(SOSA + "resultTime")

_CHANCE: Mapping[NamedNode | None, float] = {
    None: 1.0,
    _TIME: 1.0,
    _RESULT: 0.4,
    _SENSOR: 0.25,
    _ROOM: 0.25,
    _PROPERTY: 0.1,
    _CLASS: 0.0,
}
"""How likely an object of a predicate becomes a variable; None is the reading itself."""


@dataclass(frozen=True, slots=True)
class Workload:
    """How many rooms there are, and through which objects walks never go on."""

    name: str
    rooms: int
    barred: frozenset[NamedNode]

    def triples(self, readings: int, seed: int) -> Iterator[Triple]:
        """Six triples a reading."""
        random = Random(seed)  # noqa: S311 - a workload is no secret
        for number in range(readings):
            reading = NamedNode(f"{BASE}reading/{seed}-{number}")
            for predicate, object_ in (
                (_CLASS, NamedNode(SOSA + "Observation")),
                (_SENSOR, NamedNode(f"{BASE}sensor/{random.randrange(_SENSORS)}")),
                (_PROPERTY, NamedNode(f"{BASE}property/{random.randrange(_PROPERTIES)}")),
                (_ROOM, NamedNode(f"{BASE}room/{random.randrange(self.rooms)}")),
                (_RESULT, Literal(round(random.gauss(50, 15)))),
                (_TIME, NamedNode(f"{BASE}time/{seed}-{number // _TO_A_TIME}")),
            ):
                yield Triple(reading, predicate, object_)

    def queries(self, number: int, most: int, seed: int) -> list[str]:
        """SELECT * of at most so many patterns each."""
        walks = _Walks(self, [*self.triples(_WALKED, seed)], Random(seed))  # noqa: S311
        return [walks.query(most) for _ in range(number)]


SPARSE = Workload("sparse", 50, frozenset({_CLASS, _PROPERTY, _TIME}))
DENSE = Workload("dense", 200, frozenset({_CLASS, _PROPERTY}))
WORKLOADS: Mapping[str, Workload] = {each.name: each for each in (SPARSE, DENSE)}


class _Walks:
    """Random walks over a graph."""

    def __init__(self, workload: Workload, triples: Sequence[Triple], random: Random) -> None:
        self._random = random
        self._triples = triples
        self._kinds: dict[Term, NamedNode | None] = {}
        self._at: dict[Term, list[Triple]] = {}
        for triple in triples:
            self._kinds[triple.subject], self._kinds[triple.object] = None, triple.predicate
            self._at.setdefault(triple.subject, []).append(triple)
            self._at.setdefault(triple.object, []).append(triple)
        self._barred = {node for node, kind in self._kinds.items() if kind in workload.barred}

    def query(self, most: int) -> str:
        walked = self._walk(self._random.randint(1, most))
        names: dict[Term, str] = {}
        lines = []
        for triple in walked:
            for node in (triple.subject, triple.object):
                if node not in names:
                    names[node] = self._name(node, len(names))
            subject, object_ = names[triple.subject], names[triple.object]
            lines.append(f"{subject} {triple.predicate} {object_}")
        return f"SELECT * {{ GRAPH <{WINDOW}> {{ {' . '.join(lines)} }} }}"

    def _name(self, node: Term, number: int) -> str:
        is_variable = self._random.random() < _CHANCE[self._kinds[node]]
        return f"?v{number}" if is_variable else str(node)

    def _walk(self, length: int) -> Sequence[Triple]:
        triple = self._random.choice(self._triples)
        walked = {triple: None}
        node = self._end(triple)
        for _ in range(_TRIES):
            if len(walked) == length:
                break
            triple = self._random.choice(self._at[node])
            walked[triple] = None
            node = self._end(triple)
        return [*walked]

    def _end(self, triple: Triple) -> Term:
        """Either end of a triple, but no barred one."""
        end = self._random.choice((triple.subject, triple.object))
        return triple.subject if end in self._barred else end
