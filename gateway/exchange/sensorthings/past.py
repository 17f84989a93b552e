"""The Observations of one Datastream, those of the journal among them.

Place: beside `answering`, for `Datastreams(id)/Observations`: the store has the latest, the journal
all that came since it begins. What it has is filtered by the same SPARQL, on a store of its own.
The journal is read from its end back, only as far as the page needs: what came before a time by
more than `AHEAD` is not of that time, whatever its device's clock said.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from pyoxigraph import Literal, NamedNode, Quad

from adapters.values.observation import StreamKey
from gateway.errors import TooLargeError
from gateway.exchange.sensorthings.answering import Matches
from gateway.exchange.sensorthings.entities import stamp_of
from gateway.exchange.sensorthings.model import ID, PHENOMENON_TIME, RESULT_TIME, Set
from gateway.exchange.sensorthings.ordering import in_order
from gateway.exchange.sensorthings.seen import Seen, micros_of, newest_first
from gateway.exchange.sensorthings.translation import Asked, paths_of
from gateway.exchange.sensorthings.url.bounds import PAGE, wrong
from gateway.exchange.sensorthings.url.syntax import (
    Binary,
    Constant,
    Expression,
    Kind,
    Options,
    Path,
)
from gateway.journal.history import AHEAD, Stretch, Window, time_of
from gateway.journal.record import Position, Record, micros
from gateway.rdf.namespaces import RDF, SOSA, XSD

MOST_READ = 20_000
"""Observations of the journal that one request looks at."""

_STRETCH = 1_000

Read = Callable[[Window, Position | None, int], Stretch]
"""The newest observations of the stream in a window before a position, at most so many."""

Evaluate = Callable[[Asked, Iterable[Quad]], Matches]
"""Which observations among these quads a filter lets pass."""


@dataclass(frozen=True, slots=True)
class PastPage:
    """Observations of a page; `damaged` names segments that could not be read whole."""

    seen: Sequence[Seen]
    total: int | None
    has_more: bool
    damaged: Sequence[str] = ()


@dataclass(slots=True)
class Past:
    """One request for the observations of a stream, `kept` of which are in the store."""

    stream: StreamKey
    kept: Sequence[Seen]
    options: Options
    observations: str
    read: Read
    evaluate: Evaluate
    _found: dict[str, Seen] = field(default_factory=dict)
    _orders: dict[str, Sequence[tuple[str, str] | None]] = field(default_factory=dict)

    @property
    def is_needed(self) -> bool:
        """Whether the journal has to be read: what the store keeps are the latest."""
        asked, newest = self.options, _is_newest_first(self.options)
        is_plain = asked.filter is None and not asked.count and newest
        return not (is_plain and self._needed <= len(self.kept))

    @property
    def may_have_more(self) -> bool:
        """Whether the journal may have what is behind a page of what the store keeps."""
        return self.options.top != 0 and self._needed >= len(self.kept)

    @property
    def _needed(self) -> int:
        """How many of the first are needed."""
        return self.options.skip + (PAGE if self.options.top is None else self.options.top)

    def page(self) -> PastPage:
        """Raises BadRequestError, TooLargeError where more than may be would have to be read."""
        _require_own(self.options)
        self._take(self.kept)
        damaged: dict[str, None] = {}
        is_whole = False
        for stretch in self._stretches():
            damaged |= dict.fromkeys(stretch.damaged)
            self._take(self._told(each.record) for each in stretch.seen)
            is_whole = stretch.before is None
            if is_whole or self._is_enough(stretch):
                break
        else:
            raise _too_long()
        found = self._in_order()
        chosen = found[self.options.skip : self._needed]
        total = len(found) if self.options.count else None
        has_more = self.options.top != 0 and self._needed < len(found)
        return PastPage(chosen, total, has_more, tuple(damaged))

    def _stretches(self) -> Iterator[Stretch]:
        window, before, looked_at = window_of(self.options.filter), None, 0
        while looked_at < MOST_READ:
            stretch = self.read(window, before, _STRETCH)
            yield stretch
            looked_at += max(1, len(stretch.seen))
            before = stretch.before

    def _is_enough(self, stretch: Stretch) -> bool:
        """Whether nothing that was not read can be on the page, nor tell whether there is more."""
        needed = self._needed + 1
        if self.options.count or not _is_newest_first(self.options) or len(self._found) < needed:
            return False
        times = sorted((micros_of(each.time) for each in self._found.values()), reverse=True)
        oldest = min((each.record.ingested_at for each in stretch.seen), default=None)
        return oldest is not None and micros(oldest + AHEAD) < times[needed - 1]

    def _take(self, seen: Iterable[Seen]) -> None:
        """Take up what the filter lets pass."""
        new = {each.iri: each for each in seen if each.iri not in self._found}
        if self.options.filter is None and _is_by_time(self.options):
            self._found |= new
            return
        quads = chain.from_iterable(map(self._quads, new.values()))
        options = self.options
        asked = Asked(Set.OBSERVATIONS, options.filter, options.order_by, self.observations)
        for key, values in self.evaluate(asked, quads).items():
            iri = str(key)
            self._found[iri], self._orders[iri] = new[iri], values

    def _in_order(self) -> list[Seen]:
        newest = sorted(self._found.values(), key=newest_first)
        orders = self.options.order_by
        if _is_by_time(self.options):
            return newest if not orders or orders[0].is_descending else newest[::-1]
        ordered = in_order(
            [each.iri for each in newest], self._orders, [each.is_descending for each in orders]
        )
        return [self._found[iri] for iri in ordered]

    def _told(self, record: Record) -> Seen:
        return seen_in(record, self.observations)

    def _quads(self, seen: Seen) -> Iterator[Quad]:
        """An observation as the graph says it."""
        node = NamedNode(seen.iri)
        yield Quad(node, NamedNode(RDF + "type"), NamedNode(SOSA + "Observation"))
        for name, iri in zip(_NAMES, self.stream, strict=True):
            yield Quad(node, NamedNode(SOSA + name), NamedNode(iri))
        result = Literal(seen.lexical, datatype=NamedNode(seen.datatype or XSD + "string"))
        yield Quad(node, NamedNode(SOSA + "hasSimpleResult"), result)
        time = Literal(seen.time, datatype=NamedNode(XSD + "dateTime"))
        yield Quad(node, NamedNode(SOSA + "resultTime"), time)


def seen_in(record: Record, observations: str) -> Seen:
    """An observation of the journal; `observations` begin the IRIs of ours."""
    observation = record.observation
    time = stamp_of(micros(time_of(record)))
    return Seen(f"{observations}{record.position}", observation.lexical, observation.datatype, time)


def window_of(expression: Expression | None) -> Window:
    """The times that a filter leaves, by its conditions on them that are joined by `and`.

    >>> from gateway.exchange.sensorthings.url.expression_parser import parse_expression
    >>> window_of(parse_expression("phenomenonTime lt 1970-01-02T00:00:00Z")).begin
    """
    begin: datetime | None = None
    end: datetime | None = None
    for operator, text in _conditions(expression):
        time = datetime.fromisoformat(text)
        if operator in {"gt", "ge", "eq"}:
            begin = time if begin is None else max(begin, time)
        if operator in {"lt"}:
            end = time if end is None else min(end, time)
    return Window(begin, end)


def _conditions(expression: Expression | None) -> Iterator[tuple[str, str]]:
    """Comparisons of the time with an instant, all of which hold."""
    match expression:
        case Binary(operator="and", left=left, right=right):
            yield from _conditions(left)
            yield from _conditions(right)
        case Binary(
            operator=operator,
            left=Path(steps=steps),
            right=Constant(kind=Kind.TIME, text=text, end=""),
        ) if steps in _TIMES:
            yield operator, text


_NAMES = ("madeBySensor", "observedProperty", "hasFeatureOfInterest")
_TIMES = frozenset({(PHENOMENON_TIME,), (RESULT_TIME,)})
_OWN = frozenset({"id", ID, "result", PHENOMENON_TIME, RESULT_TIME})


def _is_newest_first(options: Options) -> bool:
    return _is_by_time(options) and all(each.is_descending for each in options.order_by)


def _is_by_time(options: Options) -> bool:
    orders = options.order_by
    if not orders:
        return True
    expression = orders[0].expression
    return len(orders) == 1 and isinstance(expression, Path) and expression.steps in _TIMES


def _require_own(options: Options) -> None:
    """Raise BadRequestError where something is asked that the journal does not know."""
    expressions = [each.expression for each in options.order_by]
    if options.filter is not None:
        expressions.append(options.filter)
    for path in chain.from_iterable(map(paths_of, expressions)):
        if len(path.steps) > 1 or path.steps[0] not in _OWN:
            raise wrong(
                "$filter", f"behind a Datastream it is about Observations alone, not {path}"
            )


def _too_long() -> TooLargeError:
    return TooLargeError(
        f"more than {MOST_READ} observations would have to be read",
        "narrow it: $filter=phenomenonTime ge … and phenomenonTime lt …",
    )
