"""How the entities of the index are related: where each navigation leads.

Place: below `answering`; what `patterns.MANY` says in SPARQL is said here in Python.
"""

from gateway.exchange.sensorthings.index import Index, Key
from gateway.exchange.sensorthings.model import Set


def one_of(index: Index, key: Key, name: str) -> Key | None:
    """The entity that a navigation to a single one leads to."""
    if isinstance(key, tuple):
        return index.thing_of(key) if name == "Thing" else key[_PARTS[name]]
    found = index.seen(key)
    if found is None:
        return None
    stream = found[0]
    if name == "Datastream":
        return stream
    return stream[2] if name == "FeatureOfInterest" else index.thing_of(stream)


def many_of(index: Index, of: Set, key: Key, name: str) -> tuple[Key, ...]:
    """The entities that a navigation to several leads to, in the order of their set."""
    if isinstance(key, tuple):
        return tuple([each.iri for each in index.seen_of(key)])
    match of, name:
        case Set.FEATURES_OF_INTEREST, _:
            return _observations(index, key)
        case (Set.SENSORS | Set.OBSERVED_PROPERTIES, _) | (Set.THINGS, "Datastreams"):
            return index.streams_of(of, key)
        case Set.THINGS, "Locations":
            return _locations(index, key)
        case Set.THINGS, _:
            return index.newest_first(each.iri for _, each in index.positions(key))
        case Set.LOCATIONS, "Things":
            return _things(index, key)
        case _:  # an observed position is a Location and a HistoricalLocation of the same id
            return () if index.seen(key) is None else (key,)


_PARTS = {"Sensor": 0, "ObservedProperty": 1}


def _observations(index: Index, feature: str) -> tuple[Key, ...]:
    streams = [index.stream(key) for key in index.streams_of(Set.FEATURES_OF_INTEREST, feature)]
    return index.newest_first(each.iri for stream in streams if stream for each in stream.seen)


def _locations(index: Index, thing: str) -> tuple[Key, ...]:
    """Where a Thing is said to be, and was last observed by each stream."""
    found: list[str] = [*index.places(thing)]
    for key in index.streams_of(Set.THINGS, thing):
        stream = index.stream(key)
        if stream and stream.seen:
            last = stream.seen[0].time
            found += [each.iri for each in stream.seen if each.time == last and each.is_position]
    return tuple(sorted(found, key=lambda each: index.id_of(Set.LOCATIONS, each)))


def _things(index: Index, location: str) -> tuple[Key, ...]:
    found = index.seen(location)
    if found is not None:
        return (index.thing_of(found[0]),)
    things = index.said["place"].about(location)
    return tuple(sorted(things, key=lambda each: index.id_of(Set.THINGS, each)))
