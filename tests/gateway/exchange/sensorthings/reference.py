"""$filter evaluated in memory, entity by entity: what the SPARQL of a filter is held against.

It knows nothing of SPARQL: it asks the entities as they are told, and their relations.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from gateway.exchange.sensorthings.entities import Entities
from gateway.exchange.sensorthings.index import Index, Key
from gateway.exchange.sensorthings.model import ID, TYPES, Set
from gateway.exchange.sensorthings.relations import many_of, one_of
from gateway.exchange.sensorthings.url.syntax import (
    Binary,
    Call,
    Constant,
    Expression,
    Kind,
    Path,
    Unary,
)

Entity = tuple[Set, Key]
Known = Mapping[tuple[str, ...], Entity]

_XSD = "http://www.w3.org/2001/XMLSchema#"
_RESULTS = {_XSD + name for name in ("integer", "decimal", "double", "boolean", "string")}
COMPARISONS = {"eq", "ne", "gt", "ge", "lt", "le"}
BOOLEANS = {
    *("substringof", "contains", "startswith", "endswith", "before", "after", "meets", "during"),
    *("overlaps", "starts", "finishes", "geo.intersects", "st_within", "st_disjoint"),
}


@dataclass(frozen=True)
class Time:
    begin: datetime
    end: datetime


@dataclass(frozen=True)
class Foreign:
    """A result that compares with nothing: a position, a text in a language."""

    text: str


@dataclass(frozen=True)
class Place:
    x: float
    y: float
    right: float
    top: float

    @classmethod
    def of(cls, coordinates: Any) -> "Place":
        points = [coordinates] if isinstance(coordinates[0], float) else coordinates[0]
        xs, ys = [each[0] for each in points], [each[1] for each in points]
        return cls(min(xs), min(ys), max(xs), max(ys))

    def meets(self, other: "Place") -> bool:
        return (
            self.x <= other.right
            and other.x <= self.right
            and self.y <= other.top
            and other.y <= self.top
        )


class Reference:
    def __init__(self, index: Index) -> None:
        self._index = index
        self._entities = Entities(index, "http://localhost/sta/v1.1")

    def matching(self, of: Set, condition: Expression) -> set[Key]:
        keys = self._index.listed(of)[0]
        return {key for key in keys if self.holds(condition, (of, key))}

    def holds(self, expression: Expression, entity: Entity) -> bool:
        match expression:
            case Binary(operator="and", left=left, right=right):
                return self.holds(left, entity) and self.holds(right, entity)
            case Binary(operator="or", left=left, right=right):
                return self.holds(left, entity) or self.holds(right, entity)
            case Unary(operator="not", operand=operand):
                return not self.holds(operand, entity)
        return any(
            self._value(expression, entity, known) is True
            for known in self._choices(expression, entity)
        )

    def value(self, expression: Expression, entity: Entity) -> Any:
        """What an expression that looks at no collection is."""
        return self._value(expression, entity, {})

    def _choices(self, expression: Expression, entity: Entity) -> Iterator[Known]:
        """Each way to choose one of every collection that the expression looks at."""
        prefixes = sorted({each for path in paths(expression) for each in _many(path, entity[0])})
        chosen: list[dict[tuple[str, ...], Entity]] = [{}]
        for prefix in prefixes:
            more: list[dict[tuple[str, ...], Entity]] = []
            for known in chosen:
                around = self._standing(prefix[:-1], entity, known)
                if around is not None:
                    of = TYPES[around[0]].related[prefix[-1]].set
                    keys = many_of(self._index, *around, prefix[-1])
                    more += [{**known, prefix: (of, key)} for key in keys]
            chosen = more
        yield from chosen

    def _standing(self, steps: tuple[str, ...], entity: Entity, known: Known) -> Entity | None:
        found: Entity | None = entity
        for place, step in enumerate(steps):
            if found is None:
                return None
            led = TYPES[found[0]].related[step]
            if led.is_many:
                found = known[steps[: place + 1]]
            else:
                key = one_of(self._index, found[1], step)
                found = None if key is None else (led.set, key)
        return found

    def _property(self, steps: tuple[str, ...], entity: Entity, known: Known) -> Any:
        place, of = 0, entity[0]
        while (led := TYPES[of].related.get(steps[place])) is not None:
            place, of = place + 1, led.set
        found = self._standing(steps[:place], entity, known)
        if found is None:
            return None
        name, *rest = steps[place:]
        if name in {"id", ID}:
            return self._index.id_of(*found)
        value = self._entities.properties(*found).get(name)
        if name == "result":
            told = self._index.seen(str(found[1]))
            is_known = told is not None and told[1].datatype in _RESULTS
            return (math.nan if value == "NaN" else value) if is_known else Foreign(str(value))
        for each in rest:
            value = value.get(each) if isinstance(value, dict) else None
        if name in {"location", "feature"}:
            told_at = value.get("coordinates") if isinstance(value, dict) else None
            return Place.of(told_at) if told_at else None
        if name in {"phenomenonTime", "resultTime", "time"}:
            return None if value is None else time_of(*str(value).split("/"))
        return value

    def _value(self, expression: Expression, entity: Entity, known: Known) -> Any:
        match expression:
            case Constant():
                return constant(expression)
            case Path(steps=steps):
                return self._property(steps, entity, known)
            case Unary(operator="-", operand=operand):
                value = self._value(operand, entity, known)
                return 0.0 - value if is_number(value) else None
            case Unary(operand=operand):
                return self._value(operand, entity, known) is not True
            case Call(name=name, arguments=arguments):
                return called(name, [self._value(each, entity, known) for each in arguments])
            case Binary(operator=operator, left=left, right=right):
                mine = self._value(left, entity, known)
                theirs = self._value(right, entity, known)
                if operator in COMPARISONS:
                    return compared(operator, mine, theirs, {kind_of(left), kind_of(right)})
                return arithmetic(operator, mine, theirs)


def kind_of(expression: Expression) -> Kind | None:
    return expression.kind if isinstance(expression, Constant) else None


def compared(operator: str, mine: Any, theirs: Any, kinds: set[Kind | None]) -> bool:
    if operator == "ne":
        return not compared("eq", mine, theirs, kinds)
    if Kind.NULL in kinds:
        return operator == "eq" and mine is None and theirs is None
    if mine is None or theirs is None:
        return False
    if isinstance(mine, Time) and isinstance(theirs, Time):
        before, after = mine.end < theirs.begin, mine.begin > theirs.end
        same = mine == theirs
        return {"eq": same, "lt": before, "gt": after, "le": before or same, "ge": after or same}[
            operator
        ]
    if is_number(mine) and is_number(theirs):
        mine, theirs = float(mine), float(theirs)
    elif type(mine) is not type(theirs) or isinstance(mine, Foreign):
        return False
    if operator == "eq":
        return bool(mine == theirs)
    if isinstance(mine, bool):
        return False
    return bool(
        {
            "gt": lambda: mine > theirs,
            "ge": lambda: mine >= theirs,
            "lt": lambda: mine < theirs,
            "le": lambda: mine <= theirs,
        }[operator]()
    )


def arithmetic(operator: str, mine: Any, theirs: Any) -> Any:
    if isinstance(mine, Time) and isinstance(theirs, timedelta):
        shift = theirs if operator == "add" else -theirs
        try:
            return Time(mine.begin + shift, mine.end + shift)
        except OverflowError:
            return None
    if not (is_number(mine) and is_number(theirs)):
        return None
    left, right = float(mine), float(theirs)
    try:
        match operator:
            case "add":
                return left + right
            case "sub":
                return left - right
            case "mul":
                return left * right
            case "div":
                return divided(left, right)
            case _:
                quotient = divided(left, right)
                if not math.isfinite(quotient):
                    return left - right * quotient
                return left - right * float(
                    math.ceil(quotient) if quotient < 0 else math.floor(quotient)
                )
    except OverflowError:
        return math.nan


def divided(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def called(name: str, given: list[Any]) -> Any:
    value = _FUNCTIONS[name](*given) if all(each is not None for each in given) else None
    return value is True if name in BOOLEANS else value


def _text(function: Any) -> Any:
    return lambda *given: function(*given) if isinstance(given[0], str) else None


def _number(function: Any) -> Any:
    return lambda value: function(float(value)) if is_number(value) else None


def _rounded(value: float) -> float:
    if not math.isfinite(value):
        return value
    return float(math.ceil(value - 0.5) if value < 0 else math.floor(value + 0.5))


def _substring(text: Any, begin: float, length: float | None = None) -> str | None:
    if not isinstance(text, str) or not is_number(begin) or not begin >= 0:
        return None
    if length is not None and not (is_number(length) and length >= 0):
        return None
    end = None if length is None else int(begin) + int(length)
    return text[int(begin) : end]


def _clock(time: Time) -> str:
    text = time.begin.time().isoformat()
    return text.rstrip("0") if "." in text else text


_FUNCTIONS: Mapping[str, Any] = {
    "substringof": lambda part, text: both_texts(part, text) and part in text,
    "contains": lambda text, part: both_texts(part, text) and part in text,
    "startswith": lambda text, part: both_texts(part, text) and text.startswith(part),
    "endswith": lambda text, part: both_texts(part, text) and text.endswith(part),
    "length": _text(lambda text: float(len(text))),
    "indexof": lambda text, part: float(text.find(part)) if both_texts(text, part) else None,
    "substring": _substring,
    "tolower": _text(str.lower),
    "toupper": _text(str.upper),
    "trim": _text(lambda text: text.strip(" \t\r\n")),
    "concat": lambda mine, theirs: mine + theirs if both_texts(mine, theirs) else None,
    "year": lambda time: float(time.begin.year),
    "month": lambda time: float(time.begin.month),
    "day": lambda time: float(time.begin.day),
    "hour": lambda time: float(time.begin.hour),
    "minute": lambda time: float(time.begin.minute),
    "second": lambda time: float(time.begin.second),
    "fractionalseconds": lambda time: time.begin.microsecond / 1e6,
    "date": lambda time: time.begin.date().isoformat(),
    "time": _clock,
    "totaloffsetminutes": lambda _: 0.0,
    "mindatetime": lambda: time_of("0001-01-01T00:00:00Z"),
    "maxdatetime": lambda: time_of("9999-12-31T23:59:59Z"),
    "now": lambda: Time(datetime.now(UTC), datetime.now(UTC)),
    "round": _number(_rounded),
    "floor": _number(lambda value: float(math.floor(value)) if math.isfinite(value) else value),
    "ceiling": _number(lambda value: float(math.ceil(value)) if math.isfinite(value) else value),
    "before": lambda mine, theirs: mine.end < theirs.begin,
    "after": lambda mine, theirs: mine.begin > theirs.end,
    "meets": lambda mine, theirs: mine.end == theirs.begin,
    "during": lambda mine, theirs: mine.begin >= theirs.begin and mine.end <= theirs.end,
    "overlaps": lambda mine, theirs: mine.begin < theirs.end and theirs.begin < mine.end,
    "starts": lambda mine, theirs: mine.begin == theirs.begin and mine.end <= theirs.end,
    "finishes": lambda mine, theirs: mine.end == theirs.end and mine.begin >= theirs.begin,
    "geo.distance": lambda mine, theirs: math.hypot(mine.x - theirs.x, mine.y - theirs.y),
    "geo.intersects": lambda mine, theirs: mine.meets(theirs),
    "st_within": lambda mine, theirs: mine.meets(theirs),
    "st_disjoint": lambda mine, theirs: not mine.meets(theirs),
}


def both_texts(mine: Any, theirs: Any) -> bool:
    return isinstance(mine, str) and isinstance(theirs, str)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def time_of(begin: str, end: str = "") -> Time:
    return Time(datetime.fromisoformat(begin), datetime.fromisoformat(end or begin))


def constant(told: Constant) -> Any:
    match told.kind:
        case Kind.NULL:
            return None
        case Kind.NUMBER:
            return float(told.text)
        case Kind.BOOLEAN:
            return told.text == "true"
        case Kind.TIME:
            return time_of(told.text, told.end)
        case Kind.DURATION:
            return duration(told.text)
        case Kind.GEOMETRY:
            numbers = re.sub("[^0-9., ]", "", told.text).split(",")
            points = [[float(part) for part in each.split()] for each in numbers]
            return Place.of(points[0] if len(points) == 1 else [points])
        case _:
            return told.text


def duration(text: str) -> timedelta:
    amount = int(text.strip("-PTDHM"))
    unit = {"D": "days", "H": "hours", "M": "minutes"}[text[-1]]
    return timedelta(**{unit: -amount if text.startswith("-") else amount})


def paths(expression: Expression) -> Iterator[tuple[str, ...]]:
    match expression:
        case Path(steps=steps):
            yield steps
        case Call(arguments=arguments):
            for each in arguments:
                yield from paths(each)
        case Unary(operand=operand):
            yield from paths(operand)
        case Binary(left=left, right=right):
            yield from paths(left)
            yield from paths(right)


def _many(steps: tuple[str, ...], of: Set) -> Iterator[tuple[str, ...]]:
    for place, step in enumerate(steps):
        led = TYPES[of].related.get(step)
        if led is None:
            return
        if led.is_many:
            yield steps[: place + 1]
        of = led.set
