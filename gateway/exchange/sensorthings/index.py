"""`Index`: what there is, as the engine tells it: streams, observations, what is said of them.

Place: a sink of subscriptions to our own engine, in the scheduler's thread; read in any thread.
What is read is replaced as a whole and never changed, so a reader sees it before or after a change.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from threading import Lock
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode

from adapters.values.observation import StreamKey
from gateway.engine import Notification
from gateway.exchange.sensorthings.grouped import Grouped
from gateway.exchange.sensorthings.model import Set
from gateway.exchange.sensorthings.patterns import GEO, PROLOGUE
from gateway.exchange.sensorthings.seen import Seen, newest_first, seen_of
from gateway.exchange.sensorthings.terms import ID_DIGITS, PROPERTIES
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term

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


class Stream(NamedTuple):
    """A Datastream: its key and id, nodes that the graph has for it, observations, newest first."""

    key: StreamKey
    id: str
    nodes: tuple[str, ...] = ()
    seen: tuple[Seen, ...] = ()


class Said:
    """What is said with one predicate, by subject; the values in the order of their texts."""

    def __init__(self) -> None:
        self._values = Grouped[str, Term](text_of)
        self._subjects = Grouped[str, str](str)

    def of(self, subject: str) -> tuple[Term, ...]:
        """The values, least first."""
        return self._values.of(subject)

    def first(self, subject: str) -> str | None:
        """The text of the least."""
        found = self._values.of(subject)
        return text_of(found[0]) if found else None

    def about(self, value: str) -> tuple[str, ...]:
        """The subjects that a resource is said of."""
        return self._subjects.of(value)

    @property
    def subjects(self) -> tuple[str, ...]:
        """All that something is said of."""
        return self._values.keys()

    def change(self, subject: str, value: Term, *, is_added: bool) -> None:
        """Take up a statement that came or went."""
        if is_added:
            self._values.put(subject, value)
        else:
            self._values.drop(subject, value)
        if isinstance(value, NamedNode):
            (self._subjects.put if is_added else self._subjects.drop)(value.value, subject)


class Index:
    """All of it; `observations` is what the IRIs of our observations begin with."""

    def __init__(self, observations: str) -> None:
        self.observations = observations
        self.said = {name: Said() for name in _SAID}
        self.units = Grouped[str, str](str)
        self._learning = Lock()
        self._ids: dict[StreamKey, str] = {}
        self._by_id: dict[str, StreamKey] = {}
        self._nodes = Grouped[StreamKey, str](str)
        self._of_stream = Grouped[StreamKey, Seen](newest_first)
        self._seen = Grouped[str, tuple[StreamKey, Seen]](str)
        self._typed: dict[Set, dict[str, None]] = {of: {} for of, _ in _TYPED.values()}
        self._of = {each: Grouped[str, StreamKey](self._ids.__getitem__) for each in _KEYED}
        self._changes = 0
        """Of what there is but observations."""
        self._observed = 0
        self._unit_changes: dict[StreamKey, int] = {}
        self.told: dict[tuple[str, Set, Key], tuple[object, str]] = {}
        """What was told of entities, by the address of the service, with its version."""
        self._listed: dict[Set, tuple[int, tuple[Key, ...], dict[str, Key]]] = {}

    def learn(self, name: str, notification: Notification) -> None:
        """Take up what changed in the answer of a query; in whatever thread tells of it."""
        results = notification.results
        take = self._takes(name)
        with self._learning:
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
        id_ = self._ids.get(key)
        return None if id_ is None else Stream(key, id_, self._nodes.of(key), self.seen_of(key))

    def seen_of(self, key: StreamKey) -> tuple[Seen, ...]:
        """The observations of a Datastream that the store has, newest first."""
        return self._of_stream.of(key)

    def seen(self, observation: str) -> tuple[StreamKey, Seen] | None:
        """An observation, by its IRI, with its stream."""
        found = self._seen.of(observation)
        return found[0] if found else None

    def version(self, of: Set, key: Key) -> object:
        """What is another one whenever an entity may be told otherwise."""
        if isinstance(key, tuple):
            return self._changes, self.seen_of(key), self._unit_changes.get(key)
        if of in _AS_OBSERVED:
            return self._changes, self._seen.of(key)
        return self._changes

    def thing_of(self, key: StreamKey) -> str:
        """The Thing of a stream: who hosts its sensor, else its feature."""
        return self.said["host"].first(key[0]) or key[2]

    def streams_of(self, of: Set, iri: str) -> tuple[StreamKey, ...]:
        """The streams of a Thing, Sensor, ObservedProperty or feature, by their ids."""
        return self._of[of].of(iri)

    def id_of(self, of: Set, key: Key) -> str:
        """The id that an entity has in URLs."""
        if isinstance(key, tuple):
            return self._ids.get(key) or digest("\n".join(key))
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
            found = self.seen(self.observations + id_)
            if found is not None:
                is_one = of is Set.OBSERVATIONS or found[1].is_position
                return found[1].iri if is_one else None
        return self.listed(of)[1].get(id_)

    def newest_first(self, keys: Iterable[Key]) -> tuple[Key, ...]:
        """Observations by their times."""
        told = [(seen[1], key) for key in keys if (seen := self.seen(str(key))) is not None]
        return tuple(key for _, key in sorted(told, key=lambda each: newest_first(each[0])))

    def positions(self, thing: str) -> Iterator[tuple[StreamKey, Seen]]:
        """Where a Thing was observed to be, stream by stream, newest first."""
        for key in self.streams_of(Set.THINGS, thing):
            for seen in self.seen_of(key):
                if seen.is_position:
                    yield key, seen

    def places(self, thing: str) -> tuple[str, ...]:
        """The nodes of the geometries that a Thing is said to have."""
        found = self.said["place"].of(thing)
        return tuple(text_of(each) for each in found if self.said["wkt"].of(text_of(each)))

    def _keys(self, of: Set) -> Iterable[Key]:
        match of:
            case Set.DATASTREAMS:
                return list(self._ids)
            case Set.OBSERVATIONS:
                return self._seen.keys()
            case Set.HISTORICAL_LOCATIONS:
                return self._observed_positions()
            case Set.LOCATIONS:
                return [*self._placed_nodes(), *self._observed_positions()]
            case Set.THINGS:
                with_place = [each for each in self.said["place"].subjects if self.places(each)]
                return {*self._of[of].keys(), *list(self._typed[of]), *with_place}
            case _:
                return {*self._of[of].keys(), *list(self._typed[of])}

    def _observed_positions(self) -> list[str]:
        found = (self.seen(iri) for iri in self._seen.keys())  # noqa: SIM118
        return [each[1].iri for each in found if each is not None and each[1].is_position]

    def _placed_nodes(self) -> list[str]:
        placed = self.said["place"]
        nodes = {text_of(each) for subject in placed.subjects for each in placed.of(subject)}
        return [node for node in nodes if self.said["wkt"].of(node)]

    def _take_said(self, name: str, row: Row, *, is_added: bool) -> None:
        subject, value = text_of(row[0]), row[1]
        if value is None:
            return
        if name == "host":
            keys = self.streams_of(Set.SENSORS, subject)
            before = {key: self.thing_of(key) for key in keys}
            self.said[name].change(subject, value, is_added=is_added)
            for key in keys:
                self._of[Set.THINGS].drop(before[key], key)
                self._of[Set.THINGS].put(self.thing_of(key), key)
        else:
            self.said[name].change(subject, value, is_added=is_added)
        self._changes += 1

    def _take_unit(self, row: Row, *, is_added: bool) -> None:
        observation, unit = text_of(row[0]), text_of(row[1])
        for key, _ in self._seen.of(observation):
            self._unit_changes[key] = self._unit_changes.get(key, 0) + 1
        (self.units.put if is_added else self.units.drop)(observation, unit)

    def _take_typed(self, of: Set, row: Row, *, is_added: bool) -> None:
        if is_added:
            self._typed[of][text_of(row[0])] = None
        else:
            self._typed[of].pop(text_of(row[0]), None)
        self._changes += 1

    def _take_node(self, row: Row, *, is_added: bool) -> None:
        key = (text_of(row[0]), text_of(row[1]), text_of(row[2]))
        (self._nodes.put if is_added else self._nodes.drop)(key, text_of(row[3]))
        self._changes += 1
        self._keep(key)

    def _take_observation(self, row: Row, *, is_added: bool) -> None:
        seen, key = _observed(row)
        (self._seen.put if is_added else self._seen.drop)(seen.iri, (key, seen))
        (self._of_stream.put if is_added else self._of_stream.drop)(key, seen)
        self._observed += 1
        self._keep(key)

    def _keep(self, key: StreamKey) -> None:
        """A stream is there as long as something says so."""
        is_there, was_there = key in self._of_stream or key in self._nodes, key in self._ids
        if is_there == was_there:
            return
        self._changes += 1
        if is_there:
            id_ = self._ids[key] = digest("\n".join(key))
            self._by_id[id_] = key
        for of, iri in zip(_KEYED, (*key, self.thing_of(key)), strict=True):
            (self._of[of].put if is_there else self._of[of].drop)(iri, key)
        if not is_there:
            del self._by_id[self._ids.pop(key)]
            self._unit_changes.pop(key, None)


_KEYED = (Set.SENSORS, Set.OBSERVED_PROPERTIES, Set.FEATURES_OF_INTEREST, Set.THINGS)
_AS_OBSERVED = frozenset({Set.OBSERVATIONS, Set.HISTORICAL_LOCATIONS, Set.LOCATIONS})


def _observed(row: Row) -> tuple[Seen, StreamKey]:
    observation, sensor, observed_property, feature, result, time = row
    key = (text_of(sensor), text_of(observed_property), text_of(feature))
    return seen_of(text_of(observation), result, text_of(time)), key
