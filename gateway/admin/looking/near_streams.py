"""Why what a query asks is not measured: sensors silent, places not linked, nothing observed yet.

By the terms of our SOSA templates (gateway/ingest/sosa.py, silence.py) in the default graph, as
far as the asker may read it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode, Variable

from gateway.admin.looking.near import Asking, Found, Near, linked, similar
from gateway.rdf.namespaces import GW, SOSA
from gateway.sparql import algebra
from gateway.sparql.algebra import Query, TriplePattern
from gateway.sparql.paths import Path
from gateway.sparql.scope import walk

_PROPERTY = NamedNode(SOSA + "observedProperty")
_SENSOR = NamedNode(SOSA + "madeBySensor")
_PLACE = NamedNode(SOSA + "hasFeatureOfInterest")

_MOST_ABSENT = 500
_KNOWN = 500
_FEW = 5
_PROPERTIES = 3
"""Properties of a query that are looked after."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a query says of observations: the IRIs that it names, and the patterns it says it by."""

    properties: tuple[NamedNode, ...]
    sensors: frozenset[NamedNode]
    places: frozenset[NamedNode]
    patterns: tuple[TriplePattern, ...]

    @classmethod
    def of(cls, query: Query) -> "Wanted":
        """By all of its patterns, those of EXISTS too."""
        every = [each for each in walk(query) if isinstance(each, TriplePattern)]
        every.reverse()  # a walk comes upon the last first
        return cls(
            _objects(every, _PROPERTY),
            frozenset(_objects(every, _SENSOR)),
            frozenset(_objects(every, _PLACE)),
            tuple(every),
        )

    @property
    def is_about_observations(self) -> bool:
        """Whether it asks for any."""
        return any(each.predicate in {_PROPERTY, _SENSOR, _PLACE} for each in self.patterns)

    def concerns(self, sensor: str, observed_property: str, place: str) -> bool:
        """Whether a stream could be of what it asks for; what it does not name may be any."""
        return (
            (not self.properties or observed_property in _values(self.properties))
            and (not self.sensors or sensor in _values(self.sensors))
            and (not self.places or place in _values(self.places))
        )

    def features_of(self, observed_property: NamedNode) -> list[Variable | NamedNode]:
        """What observations of a property are to be about."""
        observations = {
            each.subject
            for each in self.patterns
            if each.predicate == _PROPERTY and each.object == observed_property
        }
        return [
            each.object
            for each in self.patterns
            if each.predicate == _PLACE
            and each.subject in observations
            and isinstance(each.object, Variable | NamedNode)
        ]


def _values(nodes: Iterable[NamedNode]) -> set[str]:
    return {each.value for each in nodes}


def _objects(patterns: Iterable[TriplePattern], predicate: NamedNode) -> tuple[NamedNode, ...]:
    found = (each.object for each in patterns if each.predicate == predicate)
    return tuple(dict.fromkeys(each for each in found if isinstance(each, NamedNode)))


def near_silent(wanted: Wanted, asking: Asking, now: datetime) -> Iterator[Near]:
    """Sensors that it is about, and that have not been heard of; one question."""
    if not wanted.is_about_observations:
        return
    found = asking.asks.rows(
        "SELECT ?sensor ?property ?place ?since ?why { "
        f"?stream <{GW}absentSince> ?since ; <{GW}absenceReason> ?why ; <{GW}ofSensor> ?sensor ; "
        f"<{GW}ofProperty> ?property ; <{GW}ofFeature> ?place }} LIMIT {_MOST_ABSENT}"
    )
    for row in found:
        stream = [str(row[each])[1:-1] for each in ("sensor", "property", "place")]
        if wanted.concerns(*stream):
            yield _silent(row, asking, now)


def _silent(row: Found, asking: Asking, now: datetime) -> Near:
    since = row["since"]
    stamp = since.value if isinstance(since, Literal) else ""
    is_offline = row["why"] == NamedNode(GW + "Offline")
    how = "said offline" if is_offline else "silent"
    what, where = asking.told.term(row["property"]), asking.told.term(row["place"])
    return Near(
        asking.told.term(row["sensor"]),
        f"{how} for {_duration(stamp, now)}; what is there as {what} of {where} is older",
        "look after its battery, its power and its reception",
        since=stamp,
        link=linked(row["sensor"], "sensor"),
    )


def _duration(stamp: str, now: datetime) -> str:
    """A time since then, in words.

    >>> _duration("2026-03-02T07:00:00Z", datetime(2026, 3, 2, 7, 14, tzinfo=UTC))
    '14 minutes'
    """
    try:
        then = datetime.fromisoformat(stamp)
    except ValueError:
        return "some time"
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    seconds = max(0, int((now - then).total_seconds()))
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {name}{'s' if count > 1 else ''}"
    return f"{seconds} second{'' if seconds == 1 else 's'}"


def unobserved(wanted: Wanted, asking: Asking) -> list[NamedNode]:
    """The properties that it names and nothing observes; a question each."""
    return [
        each
        for each in wanted.properties[:_PROPERTIES]
        if not asking.has((_basic(Variable("o"), _PROPERTY, each),))
    ]


def near_unobserved(properties: Iterable[NamedNode], asking: Asking) -> Iterator[Near]:
    """What is observed that could be meant; one question."""
    properties = list(properties)
    if not properties:
        return
    pattern = _basic(Variable("o"), _PROPERTY, Variable("near"))
    known = [each["near"] for each in asking.rows("DISTINCT ?near", (pattern,), _KNOWN)]
    for each in properties:
        alike = similar(each, known)
        others = sorted(known, key=str)[:_FEW]
        if not (alike or others):
            told, advice = "nothing is observed yet", "connect a device, or map its topics"
        elif alike:
            told = f"nothing observes it; {asking.values(alike)} is observed"
            advice = f"write {asking.told.term(alike[0])} if you meant that"
        else:
            told = f"nothing observes it; there are {asking.values(others)}"
            advice = "map a topic that gives it, or accept a proposed device"
        link = linked(alike[0] if alike else each, "property")
        yield Near(asking.told.term(each), told, advice, link=link)


def near_unlinked(wanted: Wanted, asking: Asking) -> Iterator[Near]:
    """Observations of what it asks for, about something that it does not ask for.

    At most two questions for each property.
    """
    for observed in wanted.properties[:_PROPERTIES]:
        for feature in wanted.features_of(observed)[:1]:
            if isinstance(feature, NamedNode):
                yield from _elsewhere(observed, feature, asking)
            else:
                yield from _not_such(observed, feature, wanted, asking)


def _elsewhere(observed: NamedNode, feature: NamedNode, asking: Asking) -> Iterator[Near]:
    """Sensors that observe it of other places."""
    rows = _observed(observed, asking)
    places = {each["place"] for each in rows}
    if not rows or feature in places:
        return
    alike = similar(feature, places)
    first = alike[0] if alike else rows[0]["place"]
    row = next(each for each in rows if each["place"] == first)
    sensor, place, named = (asking.told.term(each) for each in (row["sensor"], first, feature))
    yield Near(
        sensor,
        f"it observes {asking.told.term(observed)} of {place}, not of {named}",
        f"write {place}, or change the feature of its mapping to {named}",
        link=linked(row["sensor"], "sensor"),
    )


def _not_such(
    observed: NamedNode, feature: Variable, wanted: Wanted, asking: Asking
) -> Iterator[Near]:
    """Places of which it is observed, and that lack what the query wants of them."""
    told = next((each for each in wanted.patterns if each.subject == feature), None)
    if told is None or isinstance(told.predicate, Path):
        return
    place = Variable("place")
    held = algebra.BasicPattern((TriplePattern(place, told.predicate, _fixed(told)),))
    lacking = algebra.Filter(algebra.Exists(algebra.Group((held,)), negated=True))
    rows = asking.rows("DISTINCT ?sensor ?place", (*_pattern(observed), lacking), _FEW)
    for row in rows:
        wants = asking.told.triple(TriplePattern(place, told.predicate, told.object))
        yield Near(
            asking.told.term(row["place"]),
            f"{asking.told.term(row['sensor'])} observes {asking.told.term(observed)} of it, and "
            f"it is not linked as the query wants: {wants}",
            "link the place: write that triple of it by an UPDATE or a profile",
            link=linked(row["place"], "place"),
        )


def _fixed(pattern: TriplePattern) -> algebra.PatternTerm:
    return Variable("any") if isinstance(pattern.object, Variable) else pattern.object


def _pattern(observed: NamedNode) -> tuple[algebra.BasicPattern, ...]:
    subject = Variable("observation")
    return (
        _basic(subject, _PROPERTY, observed),
        _basic(subject, _SENSOR, Variable("sensor")),
        _basic(subject, _PLACE, Variable("place")),
    )


def _observed(observed: NamedNode, asking: Asking) -> list[Found]:
    """Sensors and places of the observations of a property, some of them."""
    return list(asking.rows("DISTINCT ?sensor ?place", _pattern(observed), _KNOWN))


def _basic(
    subject: Variable, predicate: NamedNode, object_: algebra.PatternTerm
) -> algebra.BasicPattern:
    return algebra.BasicPattern((TriplePattern(subject, predicate, object_),))
