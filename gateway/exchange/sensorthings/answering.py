"""What a SensorThings URL asks for, answered from the index, and by SPARQL where it filters.

Place: between the parsers of this room and the gate; synchronous, in whatever thread. A filter, or
an order other than by id or time, is asked of the store once for all of its set, however many
entities it is for; the index says what these are and how they are related. Source: OGC SensorThings
API Part 1: Sensing, version 1.1, section 9.3.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.errors import NotFoundError
from gateway.exchange.sensorthings.entities import Entities, json_text
from gateway.exchange.sensorthings.index import Index, Key
from gateway.exchange.sensorthings.model import (
    ID,
    PHENOMENON_TIME,
    RESULT_TIME,
    TYPES,
    Set,
    related,
    set_named,
)
from gateway.exchange.sensorthings.ordering import Value, in_order
from gateway.exchange.sensorthings.relations import many_of, one_of
from gateway.exchange.sensorthings.translation import Asked
from gateway.exchange.sensorthings.url.bounds import BOUNDS, PAGE, too_much, wrong
from gateway.exchange.sensorthings.url.syntax import (
    Binary,
    Constant,
    Expansion,
    Expression,
    Kind,
    Options,
    Order,
    Path,
    ResourcePath,
)
from gateway.exchange.sensorthings.url.writing import written

Matches = Mapping[Key, Sequence[Value]]
"""The entities that a filter lets pass, each with the values that it is ordered by."""

Ask = Callable[[Asked], Matches]
"""Asks the store; raises a GatewayError."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a path leads to: an entity, or a collection of `keys`, all of the set where it is None.

    `behind` is the entity whose collection it is.
    """

    set: Set
    entity: Key | None = None
    keys: tuple[Key, ...] | None = None
    address: str = ""
    behind: Key | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Entities of a collection; `total` is how many there are, where that was asked for."""

    keys: Sequence[Key]
    total: int | None
    has_more: bool


class Answering:
    """Answers one request.

    `look` is told how long it is so far, and raises where that is too much, or nobody waits for it.
    """

    def __init__(
        self,
        index: Index,
        entities: Entities,
        ask: Ask,
        look: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._index = index
        self._entities = entities
        self._ask = ask
        self._look = look
        self._asked: dict[Asked, Matches] = {}
        self._made = 0
        self._characters = 0

    def target(self, path: ResourcePath) -> Target:
        """Where a path leads. Raises NotFoundError, BadRequestError."""
        first, *others = path.segments
        of = set_named(first.name)
        address = f"{self._entities.root}/{first.name}"
        found = Target(of, address=address)
        if first.id is not None:
            found = self._entity(of, first.id)
        elif others:
            raise wrong("the path", f"{first.name} need an id before {others[0].name[:80]!r}")
        for segment in others:
            found = self._followed(found, segment.name, segment.id)
        return found

    def _entity(self, of: Set, id_: str) -> Target:
        key = self._index.find(of, id_)
        if key is None:
            raise _missing(of, id_)
        return Target(of, key, address=self._entities.address(of, key))

    def _followed(self, found: Target, name: str, id_: str | None) -> Target:
        """The next step of a path."""
        if found.entity is None:
            raise wrong("the path", f"{found.set.value} need an id before {name[:80]!r}")
        led = related(found.set, name)
        if not led.is_many:
            key = one_of(self._index, found.entity, name)
            if key is None or id_ is not None:
                raise _missing(led.set, id_ or "")
            return Target(led.set, key, address=self._entities.address(led.set, key))
        keys = many_of(self._index, found.set, found.entity, name)
        if id_ is None:
            return Target(led.set, None, keys, f"{found.address}/{name}", found.entity)
        key = self._index.find(led.set, id_)
        if key is None or key not in keys:
            raise _missing(led.set, id_)
        return Target(led.set, key, address=self._entities.address(led.set, key))

    def entity(self, of: Set, key: Key, options: Options) -> str:
        """An entity as JSON, with what is expanded of it. Raises a GatewayError."""
        require_known(of, options)
        return self._text(of, key, options)

    def collection(self, target: Target, options: Options) -> tuple[Page, list[str]]:
        """A page of a collection as JSON, with what is expanded of each. Raises a GatewayError."""
        require_known(target.set, options)
        page = self.page(target.set, target.keys, options)
        return page, [self._text(target.set, key, options) for key in page.keys]

    def page(self, of: Set, keys: tuple[Key, ...] | None, options: Options) -> Page:
        """Which entities a collection has on this page, in their order."""
        self._look(self._characters)  # each collection may be long, and be put in order
        found = self._ordered(of, self._filtered(of, keys, options), options)
        top = PAGE if options.top is None else options.top
        chosen = found[options.skip : options.skip + top]
        has_more = 0 < top < len(found) - options.skip
        return Page(chosen, len(found) if options.count else None, has_more)

    def _filtered(self, of: Set, keys: tuple[Key, ...] | None, options: Options) -> tuple[Key, ...]:
        ids = None if options.filter is None else ids_of(options.filter)
        if options.filter is None or ids is not None:
            return self._by_ids(of, keys, ids)
        matches = self._matches(of, options)
        candidates = self._index.listed(of)[0] if keys is None else keys
        return tuple(key for key in candidates if key in matches)

    def _by_ids(
        self, of: Set, keys: tuple[Key, ...] | None, ids: Iterable[str] | None
    ) -> tuple[Key, ...]:
        if ids is None:
            return self._index.listed(of)[0] if keys is None else keys
        named = [self._index.find(of, id_) for id_ in sorted(set(ids))]
        found = tuple(key for key in named if key is not None)
        if keys is None:
            return found
        return tuple(key for key in keys if key in set(found))

    def _ordered(self, of: Set, keys: tuple[Key, ...], options: Options) -> Sequence[Key]:
        orders = options.order_by
        if not orders:
            return keys
        if len(orders) == 1 and (told := self._by_time_or_id(of, keys, orders[0])) is not None:
            return told
        matches = self._matches(of, options)
        there = [key for key in keys if key in matches]
        return in_order(there, matches, [each.is_descending for each in orders])

    def _by_time_or_id(self, of: Set, keys: tuple[Key, ...], order: Order) -> Sequence[Key] | None:
        """The order that the index knows; None where it is another one."""
        steps = order.expression.steps if isinstance(order.expression, Path) else ()
        if steps in {("id",), (ID,)}:
            return sorted(
                keys, key=lambda key: self._index.id_of(of, key), reverse=order.is_descending
            )
        if steps in _TIMES.get(of, ()):
            newest = self._index.newest_first(keys)
            return newest if order.is_descending else newest[::-1]
        return None

    def _matches(self, of: Set, options: Options) -> Matches:
        """What the store says, once for each filter and order."""
        orders = () if ids_of(options.filter) is not None else options.order_by
        asked = Asked(of, options.filter, orders or options.order_by, self._index.observations)
        found = self._asked.get(asked)
        if found is None:
            found = self._asked[asked] = self._ask(asked)
        return found

    def _text(self, of: Set, key: Key, options: Options) -> str:
        self._made += 1
        if self._made > BOUNDS.entities:
            raise too_much("entities of an answer", BOUNDS.entities)
        text = self._entities.text(of, key, options.select)
        self._characters += len(text)
        if not self._made % 64:
            self._look(self._characters)
        if not options.expand:
            return text
        members = [] if text == "{}" else [text[1:-1]]
        for expansion in options.expand:
            members += self._expanded(of, key, expansion)
        return f"{{{','.join(members)}}}"

    def _expanded(self, of: Set, key: Key, expansion: Expansion) -> Iterator[str]:
        """The members by which an expansion adds to an entity."""
        name, options = expansion.name, expansion.options
        led = related(of, name)
        if not led.is_many:
            other = one_of(self._index, key, name)
            text = "null" if other is None else self._text(led.set, other, options)
            yield f'"{name}":{text}'
            return
        page = self.page(led.set, many_of(self._index, of, key, name), options)
        inner = ",".join([self._text(led.set, each, options) for each in page.keys])
        yield f'"{name}":[{inner}]'
        if page.total is not None:
            yield f'"{name}@iot.count":{page.total}'
        if page.has_more:
            following = next_link(f"{self._entities.address(of, key)}/{name}", options)
            yield f'"{name}@iot.nextLink":{json_text(following)}'


def next_link(address: str, options: Options) -> str:
    """Where the next page is."""
    top = PAGE if options.top is None else options.top
    return f"{address}?{written(replace(options, skip=options.skip + top))}"


def require_known(of: Set, options: Options) -> None:
    """Raise BadRequestError where something is selected or expanded, however deep, that is not."""
    known = {"id", ID, "@iot.selfLink", *TYPES[of].properties, *TYPES[of].related}
    for each in options.select:
        if each not in known:
            raise wrong("$select", f"{of.value} have no {each[:80]!r}", ", ".join(sorted(known)))
    for expansion in options.expand:
        require_known(related(of, expansion.name).set, expansion.options)


def ids_of(expression: Expression | None) -> Sequence[str] | None:
    """The ids of `id eq 'a' or id eq 'b'`, which the index knows; None for any other filter."""
    match expression:
        case Binary(operator="or", left=left, right=right):
            mine, theirs = ids_of(left), ids_of(right)
            return None if mine is None or theirs is None else [*mine, *theirs]
        case Binary(
            operator="eq",
            left=Path(steps=("id",) | ("@iot.id",)),
            right=Constant(kind=Kind.STRING, text=text),
        ):
            return [text]
        case _:
            return None


def _missing(of: Set, id_: str) -> NotFoundError:
    return NotFoundError(f"there is no {of.value}({id_[:80]!r})", f"GET {of.value} has them")


_TIMES: Mapping[Set, frozenset[tuple[str, ...]]] = {
    Set.OBSERVATIONS: frozenset({(PHENOMENON_TIME,), (RESULT_TIME,)}),
    Set.HISTORICAL_LOCATIONS: frozenset({("time",)}),
}
