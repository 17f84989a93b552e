"""A graph with every kind of entity, and random filters about it."""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.exchange.sensorthings.index import QUERIES, Index, query_text
from gateway.exchange.sensorthings.model import TYPES, Set
from gateway.exchange.sensorthings.patterns import PROLOGUE
from gateway.exchange.sensorthings.terms import TERMS
from gateway.exchange.sensorthings.url.syntax import (
    Binary,
    Call,
    Constant,
    Expression,
    Kind,
    Path,
    Unary,
)

OURS = "https://sosa-gateway.example/id/gateway/observation/"
TIMES = ("2026-03-02T07:00:00Z", "2026-03-02T07:00:00.5Z", "2026-03-03T23:59:59.25Z")
UNITS = ("DEG_C", "PERCENT", "LUX")
WORDS = ("kitchen", "hall", "Größe", "a b", "room", 'it\'s "x"', " hall ", "")


def update_of(seed: int, streams: int = 14) -> str:
    """A random graph as an UPDATE, with what careless people would write too."""
    chance = random.Random(seed)
    lines: list[str] = []
    for number in range(streams):
        sensor = f"<urn:s:{number % (streams - 3)}>"
        observed = f"<urn:p:{chance.choice(('temperature', 'open', 'level#x', 'pos'))}>"
        feature = f"<urn:f/{chance.choice(('kitchen', 'hall', 'car/'))}>"
        if chance.random() < 0.2:
            lines.append(
                f"<urn:st:{number}> gw:ofSensor {sensor} ; gw:ofProperty {observed} ; "
                f"gw:ofFeature {feature} ."
            )
            if chance.random() < 0.6:
                lines.append(f'<urn:st:{number}> rdfs:label "{chance.choice(("door", "T"))}" .')
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            lines += _observation(chance, len(lines), sensor, observed, feature)
        if chance.random() < 0.5:
            lines.append(f"{sensor} sosa:isHostedBy <urn:t:{chance.randrange(3)}> .")
    lines += _described(chance)
    return f"{PROLOGUE} INSERT DATA {{ {' '.join(lines)} }}"


def _observation(
    chance: random.Random, number: int, sensor: str, observed: str, feature: str
) -> Iterator[str]:
    iri = f"<{OURS}3-{number}>" if chance.random() < 0.8 else f"<urn:o:{number}>"
    result = chance.choice(
        (
            *("21.5", "4", "-3.25e0", "0", '"NaN"^^xsd:double', "true", "false"),
            *('"open"', '"21.5"', '""', '"it\'s"', '"x"@en'),
            f'"POINT({chance.randrange(9)}.5 {chance.randrange(9)}.5)"^^geo:wktLiteral',
        )
    )
    time = f'"{chance.choice(TIMES)}"^^xsd:dateTime'
    yield (
        f"{iri} a sosa:Observation ; sosa:madeBySensor {sensor} ; sosa:observedProperty "
        f"{observed} ; sosa:hasFeatureOfInterest {feature} ; sosa:hasSimpleResult {result} ; "
        f"sosa:resultTime {time} ."
    )
    if result[0].isdigit() or result[0] == "-":
        node = f"<urn:r:{number}>"
        unit = f"<http://qudt.org/vocab/unit/{chance.choice(UNITS)}>"
        yield f"{iri} sosa:hasResult {node} . {node} qudt:hasUnit {unit} ."
    elif chance.random() < 0.2:
        yield f"{iri} sosa:hasResult <urn:r:{number}> ."


def _described(chance: random.Random) -> Iterator[str]:
    nodes = ("<urn:f/kitchen>", "<urn:f/hall>", "<urn:t:0>", "<urn:t:1>", "<urn:s:1>", "<urn:s:2>")
    for node in (*nodes, "<urn:p:temperature>", "<urn:g:0>"):
        for term in ("label", "comment"):
            for _ in range(chance.choice((0, 0, 1, 2))):
                text = chance.choice(WORDS).replace('"', '\\"')
                yield f'{node} rdfs:{term} "{text}"{chance.choice(("", "@en", "@de"))} .'
    yield "<urn:t:0> a sosa:Platform . <urn:t:9> a sosa:Platform . <urn:s:99> a sosa:Sensor ."
    yield "<urn:p:lone> a sosa:ObservableProperty . <urn:f/lone> a sosa:FeatureOfInterest ."
    for number, node in enumerate(("<urn:t:0>", "<urn:f/kitchen>", "<urn:t:1>")):
        if chance.random() < 0.7:
            place = f"POINT({chance.randrange(9)}.5 {chance.randrange(9)}.5)"
            yield f"{node} geo:hasGeometry <urn:g:{number}> ."
            yield f'<urn:g:{number}> geo:asWKT "{place}"^^geo:wktLiteral .'
    yield "<urn:t:9> geo:hasGeometry <urn:g:0> ."


def indexed(engine: Engine, observations: str = OURS) -> Index:
    """The index of an engine's graph, as it is now; not followed."""
    index = Index(observations)
    for name in QUERIES:
        told = engine.subscribe(SubscribeRequest(query_text(name)))
        index.learn(name, told)
        engine.unsubscribe(told.spuid)
    return index


def followed(engine: Engine, observations: str = OURS) -> Index:
    """The index of an engine's graph, told of each change."""
    index = Index(observations)
    sinks: dict[str, Callable[[Notification], None]] = {}

    def tell(told: Notification) -> None:
        sinks[told.spuid](told)

    engine.delivery.listener = tell
    for name in QUERIES:
        told = engine.subscribe(SubscribeRequest(query_text(name)))
        sinks[told.spuid] = partial(index.learn, name)
        index.learn(name, told)
    return index


class Filters:
    """Random conditions on entities of a set, each of kinds that fit."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def condition(self, of: Set, depth: int = 3) -> Expression:
        """A condition."""
        chance = self._chance
        if depth and chance.random() < 0.4:
            word = chance.choice(("and", "or", "not"))
            if word == "not":
                return Unary("not", self.condition(of, depth - 1))
            return Binary(word, self.condition(of, depth - 1), self.condition(of, depth - 1))
        return chance.choice((self._comparison, self._comparison, self._function))(of)

    def _comparison(self, of: Set) -> Expression:
        chance = self._chance
        operator = chance.choice(("eq", "ne", "gt", "ge", "lt", "le"))
        if chance.random() < 0.1:
            return Binary(
                chance.choice(("eq", "ne")), self._path(of, None), Constant(Kind.NULL, "")
            )
        if of is Set.OBSERVATIONS and chance.random() < 0.4:
            value = self._any()
            is_truth = isinstance(value, Constant) and value.kind is Kind.BOOLEAN
            operator = chance.choice(("eq", "ne")) if is_truth else operator
            return Binary(operator, self._path(of, Kind.ANY), value)
        kind = chance.choice((Kind.STRING, Kind.STRING, Kind.TIME, Kind.NUMBER, Kind.DATE))
        makers: dict[Kind, Callable[[Set, int], Expression]] = {
            Kind.STRING: self._string,
            Kind.TIME: self._time,
            Kind.NUMBER: self._number,
            Kind.DATE: lambda of, _: Call("date", (self._time(of, 1),)),
        }
        made = makers[kind]
        other: Expression = Constant(Kind.DATE, "2026-03-02") if kind is Kind.DATE else made(of, 1)
        return Binary(operator, made(of, 2), other)

    def _function(self, of: Set) -> Expression:
        chance = self._chance
        choice = chance.randrange(3)
        if choice == 0 and self._paths(of, Kind.GEOMETRY):
            place = self._path(of, Kind.GEOMETRY)
            if chance.random() < 0.3:
                x, y = chance.randrange(9), chance.randrange(9)
                far = Call("geo.distance", (place, Constant(Kind.GEOMETRY, f"POINT({x} {y})")))
                return Binary("lt", far, Constant(Kind.NUMBER, f"{chance.randrange(6)}.25"))
            x, y = chance.randrange(6), chance.randrange(6)
            right, top = x + 3, y + 3
            box = f"POLYGON(({x} {y},{right} {y},{right} {top},{x} {top},{x} {y}))"
            name = chance.choice(("st_within", "geo.intersects", "st_disjoint"))
            return Call(name, (place, Constant(Kind.GEOMETRY, box)))
        if choice == 1:
            names = ("before", "after", "meets", "during", "overlaps", "starts", "finishes")
            return Call(chance.choice(names), (self._time(of, 1), self._time(of, 1)))
        name = chance.choice(("substringof", "startswith", "endswith", "contains"))
        return Call(name, (self._string(of, 2), self._string(of, 1)))

    def _string(self, of: Set, depth: int) -> Expression:
        chance = self._chance
        if depth and chance.random() < 0.3:
            one = self._string(of, depth - 1)
            match chance.randrange(5):
                case 0:
                    return Call(chance.choice(("tolower", "toupper", "trim")), (one,))
                case 1:
                    return Call("concat", (one, self._string(of, 0)))
                case 2:
                    return Call("substring", (one, self._number(of, 0)))
                case 3:
                    return Call("substring", (one, self._number(of, 0), self._number(of, 0)))
        if chance.random() < 0.6:
            return self._path(of, Kind.STRING)
        words = (*WORDS, "temperature", "open", "21.5", "°C", "DEG_C", "e", "urn:f/hall")
        return Constant(Kind.STRING, chance.choice(words))

    def _number(self, of: Set, depth: int) -> Expression:
        chance = self._chance
        if depth and chance.random() < 0.6:
            match chance.randrange(6):
                case 0:
                    return Call(chance.choice(("length",)), (self._string(of, 1),))
                case 1:
                    return Call("indexof", (self._string(of, 1), self._string(of, 0)))
                case 2:
                    name = chance.choice(
                        (
                            "year",
                            "month",
                            "day",
                            "hour",
                            "minute",
                            "second",
                            "fractionalseconds",
                            "totaloffsetminutes",
                        )
                    )
                    return Call(name, (self._time(of, 1),))
                case 3:
                    name = chance.choice(("round", "floor", "ceiling"))
                    return Call(name, (self._number(of, depth - 1),))
                case 4:
                    return Unary("-", self._number(of, depth - 1))
                case _:
                    operator = chance.choice(("add", "sub", "mul", "div", "mod"))
                    return Binary(
                        operator, self._number(of, depth - 1), self._number(of, depth - 1)
                    )
        if chance.random() < 0.4 and self._paths(of, Kind.ANY):
            return self._path(of, Kind.ANY)
        return Constant(
            Kind.NUMBER, chance.choice(("0.0", "1.0", "4.0", "21.5", "-3.25", "2026.0", "2.5"))
        )

    def _time(self, of: Set, depth: int) -> Expression:
        chance = self._chance
        if depth and chance.random() < 0.3:
            shift = Constant(Kind.DURATION, chance.choice(("PT1H", "P1D", "-PT30M")))
            return Binary(chance.choice(("add", "sub")), self._time(of, 0), shift)
        if chance.random() < 0.6 and self._paths(of, Kind.TIME):
            return self._path(of, Kind.TIME)
        if depth and chance.random() < 0.1:
            return Call(chance.choice(("now", "mindatetime", "maxdatetime")), ())
        begin, end = sorted((chance.choice(TIMES), chance.choice(TIMES)), key=_instant)
        return Constant(Kind.TIME, begin, end if chance.random() < 0.4 else "")

    def _any(self) -> Expression:
        return self._chance.choice(
            (
                Constant(Kind.NUMBER, "4.0"),
                Constant(Kind.NUMBER, "21.5"),
                Constant(Kind.STRING, "open"),
                Constant(Kind.STRING, "21.5"),
                Constant(Kind.BOOLEAN, "true"),
                Path(("result",)),
            )
        )

    def _path(self, of: Set, kind: Kind | None) -> Path:
        return Path(self._chance.choice(self._paths(of, kind) or self._paths(of, Kind.STRING)))

    def _paths(self, of: Set, kind: Kind | None) -> Sequence[tuple[str, ...]]:
        """Properties of a kind, of the entity and of those two steps away at most."""
        depth = self._chance.choice((0, 0, 1, 1, 2))
        found = list(_paths(of, kind, depth))
        return found or list(_paths(of, kind, 2))


def _instant(text: str) -> tuple[str, float]:
    day, _, clock = text.rstrip("Z").partition("T")
    hours, minutes, seconds = clock.split(":")
    return day, int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def _paths(of: Set, kind: Kind | None, depth: int) -> Iterator[tuple[str, ...]]:
    for name, term in TERMS[of].items():
        if term.kind is not Kind.NULL and (kind is None or term.kind is kind):
            yield tuple(name.split("/"))
    if depth:
        for name, led in TYPES[of].related.items():
            for rest in _paths(led.set, kind, depth - 1):
                yield (name, *rest)
