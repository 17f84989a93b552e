"""`Index`: what there is, as the engine tells it: streams, observations, what is said of them.

Place: a sink of subscriptions to our own engine, in the scheduler's thread; read in any thread.
What is read is replaced as a whole and never changed, so a reader sees it before or after a change.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from pyoxigraph import Literal, NamedNode

from adapters.values.observation import StreamKey
from gateway.engine import Notification
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term
from gateway.sensorthings.model import Set
from gateway.sensorthings.patterns import GEO, PROLOGUE
from gateway.sensorthings.seen import Seen, newest_first, seen_of
from gateway.sensorthings.terms import ID_DIGITS, PROPERTIES

WKT = GEO + "wktLiteral"

Key = str | StreamKey
"""What an entity is in the graph: an IRI, or sensor, property and feature of a Datastream."""

_SAID = {
    "label": "rdfs:label",
    "comment": "rdfs:comment",
    "host": "sosa:isHostedBy",
    "place": "geo:hasGeometry",
    "wkt": "geo:asWKT",
    "properties": f"<{PROPERTIES}>",
}
_TYPED = {
    "platforms": (Set.THINGS, "sosa:Platform"),
    "sensors": (Set.SENSORS, "sosa:Sensor"),
    "properties of features": (Set.OBSERVED_PROPERTIES, "sosa:ObservableProperty"),
    "features": (Set.FEATURES_OF_INTEREST, "sosa:FeatureOfInterest"),
}
QUERIES: Mapping[str, str] = {
    "observations": "SELECT ?observation ?sensor ?property ?feature ?result ?time { ?observation a "
    "sosa:Observation ; sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ; "
    "sosa:hasFeatureOfInterest ?feature ; sosa:hasSimpleResult ?result ; sosa:resultTime ?time }",
    "units": "SELECT ?observation ?unit { ?observation sosa:hasResult ?node . "
    "?node qudt:hasUnit ?unit }",
    "nodes": "SELECT ?sensor ?property ?feature ?node { ?node gw:ofSensor ?sensor ; gw:ofProperty "
    "?property ; gw:ofFeature ?feature }",
    **{name: f"SELECT ?s {{ ?s a {kind} }}" for name, (_, kind) in _TYPED.items()},
    **{name: f"SELECT ?s ?o {{ ?s {predicate} ?o }}" for name, predicate in _SAID.items()},
}
"""What is subscribed to, over the default graph, by name."""


def query_text(name: str) -> str:
    """The text of one of them."""
    return PROLOGUE + QUERIES[name]


def digest(text: str) -> str:
    """The id of what has this IRI, or these behind each other: what SPARQL's SHA256 gives."""
    return sha256(text.encode()).hexdigest()[:ID_DIGITS]


def text_of(term: Term | None) -> str:
    """What SPARQL's STR gives; "" for what has no text."""
    return term.value if isinstance(term, NamedNode | Literal) else ""


@dataclass(frozen=True, slots=True)
class Stream:
    """A Datastream: its key and id, nodes that the graph has for it, observations, newest first."""

    key: StreamKey
    id: str
    nodes: tuple[str, ...] = ()
    seen: tuple[Seen, ...] = ()

    @property
    def is_gone(self) -> bool:
        """Whether nothing says that it is there."""
        return not (self.nodes or self.seen)


class _Said:
    """What is said with one predicate, by subject; each value once, in the order of texts."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[Term, ...]] = {}
        self._subjects: dict[str, tuple[str, ...]] = {}

    def of(self, subject: str) -> tuple[Term, ...]:
        """The values, least first."""
        return self._values.get(subject, ())

    def first(self, subject: str) -> str | None:
        """The text of the least."""
        found = self._values.get(subject)
        return text_of(found[0]) if found else None

    def about(self, value: str) -> tuple[str, ...]:
        """The subjects that a resource is said of."""
        return self._subjects.get(value, ())

    @property
    def subjects(self) -> Iterable[str]:
        """All that something is said of."""
        return tuple(self._values)

    def change(self, subject: Term | None, value: Term, *, is_added: bool) -> None:
        """Take up a statement that came or went."""
        name = text_of(subject)
        kept = tuple(each for each in self._values.get(name, ()) if each != value)
        _put(self._values, name, tuple(sorted((*kept, value), key=text_of)) if is_added else kept)
        if isinstance(value, NamedNode):
            others = tuple(each for each in self.about(value.value) if each != name)
            told = tuple(sorted((*others, name))) if is_added else others
            _put(self._subjects, value.value, told)


def _put(into: dict, key: str | StreamKey, values: tuple) -> None:  # type: ignore[type-arg]
    if values:
        into[key] = values
    else:
        into.pop(key, None)


class Index:
    """All of it; `observations` is what the IRIs of our observations begin with."""

    def __init__(self, observations: str) -> None:
        self.observations = observations
        self._lock = Lock()
        self.said = {name: _Said() for name in _SAID}
        self.units: dict[str, str] = {}
        self._streams: dict[StreamKey, Stream] = {}
        self._by_id: dict[str, StreamKey] = {}
        self._seen: dict[str, tuple[tuple[StreamKey, Seen], ...]] = {}
        self._typed: dict[Set, set[str]] = {of: set() for of, _ in _TYPED.values()}
        self._of: dict[Set, dict[str, tuple[StreamKey, ...]]] = {each: {} for each in _KEYED}
        self._changes = 0
        """Of what there is but observations."""
        self._observed = 0
        self._listed: dict[Set, tuple[int, tuple[Key, ...], dict[str, Key]]] = {}

    def learn(self, name: str, notification: Notification) -> None:
        """Take up what changed in the answer of a query; in whatever thread tells of it."""
        results = notification.results
        take = self._takes(name)
        with self._lock:
            for row in results.removed:
                take(row, is_added=False)
            for row in results.added:
                take(row, is_added=True)

    def _takes(self, name: str) -> Callable[..., None]:
        if name in self.said:
            return lambda row, is_added: self._take_said(name, row, is_added=is_added)
        if name in _TYPED:
            return lambda row, is_added: self._take_typed(_TYPED[name][0], row, is_added=is_added)
        return {
            "observations": self._take_observation,
            "units": self._take_unit,
            "nodes": self._take_node,
        }[name]

    def stream(self, key: StreamKey) -> Stream | None:
        """A Datastream."""
        return self._streams.get(key)

    def seen(self, observation: str) -> tuple[StreamKey, Seen] | None:
        """An observation, by its IRI, with its stream."""
        found = self._seen.get(observation)
        return found[0] if found else None

    def thing_of(self, key: StreamKey) -> str:
        """The Thing of a stream: who hosts its sensor, else its feature."""
        return self.said["host"].first(key[0]) or key[2]

    def streams_of(self, of: Set, iri: str) -> tuple[StreamKey, ...]:
        """The streams of a Thing, Sensor, ObservedProperty or feature, by their ids."""
        return self._of[of].get(iri, ())

    def id_of(self, of: Set, key: Key) -> str:
        """The id that an entity has in URLs."""
        if isinstance(key, tuple):
            found = self._streams.get(key)
            return digest("\n".join(key)) if found is None else found.id
        if of in _AS_OBSERVED and key.startswith(self.observations):
            return key.removeprefix(self.observations)
        return digest(key)

    def listed(self, of: Set) -> tuple[tuple[Key, ...], Mapping[str, Key]]:
        """The keys of a set in the order of their ids, observations newest first; and by id."""
        known = self._listed.get(of)
        changes = self._changes + (self._observed if of in _AS_OBSERVED else 0)
        if known is None or known[0] != changes:
            by_id = {self.id_of(of, key): key for key in self._keys(of)}
            keys = tuple(by_id[each] for each in sorted(by_id))
            if of in {Set.OBSERVATIONS, Set.HISTORICAL_LOCATIONS}:
                keys = self.newest_first(keys)
            known = self._listed[of] = (changes, keys, by_id)
        return known[1], known[2]

    def find(self, of: Set, id_: str) -> Key | None:
        """The entity with an id; None where there is none now."""
        if of is Set.DATASTREAMS:
            return self._by_id.get(id_)
        if of in _AS_OBSERVED:
            iri = self.observations + id_
            found = self._seen.get(iri)
            if found is not None:
                return iri if of is Set.OBSERVATIONS or found[0][1].is_position else None
        return self.listed(of)[1].get(id_)

    def newest_first(self, keys: Iterable[Key]) -> tuple[Key, ...]:
        """Observations by their times."""
        told = [(seen[1], key) for key in keys if (seen := self.seen(str(key))) is not None]
        return tuple(key for _, key in sorted(told, key=lambda each: newest_first(each[0])))

    def positions(self, thing: str) -> Iterator[tuple[StreamKey, Seen]]:
        """Where a Thing was observed to be, stream by stream, newest first."""
        for key in self.streams_of(Set.THINGS, thing):
            stream = self._streams.get(key)
            for seen in stream.seen if stream else ():
                if seen.is_position:
                    yield key, seen

    def places(self, thing: str) -> tuple[str, ...]:
        """The nodes of the geometries that a Thing is said to have."""
        found = self.said["place"].of(thing)
        return tuple(text_of(each) for each in found if self.said["wkt"].of(text_of(each)))

    def _keys(self, of: Set) -> Iterable[Key]:
        match of:
            case Set.DATASTREAMS:
                return tuple(self._streams)
            case Set.OBSERVATIONS:
                return tuple(self._seen)
            case Set.HISTORICAL_LOCATIONS:
                return self._observed_positions()
            case Set.LOCATIONS:
                return [*self._placed_nodes(), *self._observed_positions()]
            case Set.THINGS:
                with_place = [each for each in self.said["place"].subjects if self.places(each)]
                return {*self._of[of], *self._typed[of], *with_place}
            case _:
                return {*self._of[of], *self._typed[of]}

    def _observed_positions(self) -> list[str]:
        return [iri for iri, found in tuple(self._seen.items()) if found[0][1].is_position]

    def _placed_nodes(self) -> list[str]:
        placed = self.said["place"]
        nodes = {text_of(each) for subject in placed.subjects for each in placed.of(subject)}
        return [node for node in nodes if self.said["wkt"].of(node)]

    def _take_said(self, name: str, row: Row, *, is_added: bool) -> None:
        subject, value = row
        if value is None:
            return
        if name == "host":
            keys = self.streams_of(Set.SENSORS, text_of(subject))
            before = {key: self.thing_of(key) for key in keys}
            self.said[name].change(subject, value, is_added=is_added)
            for key in keys:
                self._relate(Set.THINGS, before[key], key, is_there=False)
                self._relate(Set.THINGS, self.thing_of(key), key, is_there=True)
        else:
            self.said[name].change(subject, value, is_added=is_added)
        self._changes += 1

    def _take_unit(self, row: Row, *, is_added: bool) -> None:
        observation, unit = text_of(row[0]), text_of(row[1])
        if is_added:
            self.units[observation] = unit
        elif self.units.get(observation) == unit:
            del self.units[observation]

    def _take_typed(self, of: Set, row: Row, *, is_added: bool) -> None:
        (self._typed[of].add if is_added else self._typed[of].discard)(text_of(row[0]))
        self._changes += 1

    def _take_node(self, row: Row, *, is_added: bool) -> None:
        key, node = (text_of(row[0]), text_of(row[1]), text_of(row[2])), text_of(row[3])
        stream = self._stream(key)
        others = tuple(each for each in stream.nodes if each != node)
        nodes = tuple(sorted((*others, node))) if is_added else others
        self._keep(Stream(key, stream.id, nodes, stream.seen))

    def _take_observation(self, row: Row, *, is_added: bool) -> None:
        seen, key = _observed(row)
        kept = tuple(each for each in self._seen.get(seen.iri, ()) if each != (key, seen))
        _put(self._seen, seen.iri, (*kept, (key, seen)) if is_added else kept)
        stream = self._stream(key)
        others = tuple(each for each in stream.seen if each != seen)
        found = tuple(sorted((*others, seen), key=newest_first)) if is_added else others
        self._observed += 1
        self._keep(Stream(key, stream.id, stream.nodes, found))

    def _stream(self, key: StreamKey) -> Stream:
        return self._streams.get(key) or Stream(key, digest("\n".join(key)))

    def _keep(self, stream: Stream) -> None:
        key = stream.key
        if stream.is_gone:
            self._streams.pop(key, None)
            self._by_id.pop(stream.id, None)
        else:
            is_new = key not in self._streams
            self._streams[key] = stream
            if not is_new:
                return
            self._by_id[stream.id] = key
        self._changes += 1
        there = not stream.is_gone
        self._relate(Set.THINGS, self.thing_of(key), key, is_there=there)
        for of, iri in zip(_PARTS, key, strict=True):
            self._relate(of, iri, key, is_there=there)

    def _relate(self, of: Set, iri: str, key: StreamKey, *, is_there: bool) -> None:
        others = tuple(each for each in self._of[of].get(iri, ()) if each != key)
        found = (*others, key) if is_there else others
        _put(self._of[of], iri, tuple(sorted(found, key=lambda each: self.id_of(of, each))))


_PARTS = (Set.SENSORS, Set.OBSERVED_PROPERTIES, Set.FEATURES_OF_INTEREST)
_KEYED = (*_PARTS, Set.THINGS)
_AS_OBSERVED = frozenset({Set.OBSERVATIONS, Set.HISTORICAL_LOCATIONS, Set.LOCATIONS})


def _observed(row: Row) -> tuple[Seen, StreamKey]:
    observation, sensor, observed_property, feature, result, time = row
    key = (text_of(sensor), text_of(observed_property), text_of(feature))
    return seen_of(text_of(observation), result, text_of(time)), key
