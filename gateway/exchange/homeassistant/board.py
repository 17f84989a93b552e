"""`Board`: what Home Assistant was told, and what is to be sent now.

Place on the way of the data: between descriptions and readings, and the broker; pure. An entity
that changes is announced again; what is not among `topics` any more is to be taken back. A state
that is the one told before is not told again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import NamedTuple

from pyoxigraph import Literal

from gateway.exchange.homeassistant.entity import Described, Entity, Json, State
from gateway.exchange.homeassistant.topics import Topics

MOST_EVENT_TYPES = 64
"""Words of one stream of events that are announced; the first ones stay."""


class Out(NamedTuple):
    """A message to be sent; announcements at QoS 1, a state at 0 is followed by the next."""

    topic: str
    payload: bytes
    retain: bool = True
    qos: int = 1


class Board:
    """What is told in one connection's life; `clock` is steady, in s.

    Of each entity a state is told at most once in `interval_s`: at
    once where the last one is old enough, else the newest when its time has come.
    """

    def __init__(
        self, topics: Topics, interval_s: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self.entities: dict[str, Entity] = {}
        self._topics = topics
        self._interval_s = interval_s
        self._clock = clock
        self._now: dict[str, State] = {}
        self._told: dict[str, bytes] = {}
        self._free_at: dict[str, float] = {}
        self._waiting: dict[str, None] = {}

    @property
    def topics(self) -> frozenset[str]:
        """The topics at which something of ours is retained; linear in the entities."""
        entities = self.entities.values()
        return frozenset(topic for each in entities for topic in self._topics_of(each))

    def adopt(self, described: Described) -> Iterator[Out]:
        """Have these entities from now on: what is to be announced, nothing where all is so."""
        for id_ in [id_ for id_ in self.entities if id_ not in described.entities]:
            self._forget(id_)
        for id_, entity in described.entities.items():
            yield from self._announce(self._with_types(entity))
            self.tell(id_, described.states[id_])

    def anew(self) -> Iterator[Out]:
        """All announcements again; all states are due."""
        self._told.clear()
        self._free_at.clear()
        for id_, entity in self.entities.items():
            yield Out(self._config(entity), entity.announcement(self._topics))
            self._wait(id_)

    def tell(self, id_: str, state: State) -> None:
        """Have a state told when its time has come; of an entity that is not there, nothing."""
        if id_ in self.entities and self._now.get(id_) != state:
            self._now[id_] = state
            self._wait(id_)

    def read(self, id_: str, value: Literal, unit: str | None, *, is_alive: bool) -> bool:
        """A reading of a stream; whether it is still what was announced."""
        if not self.fits(id_, value, unit):
            return False
        before = self._now.get(id_, State())
        self.tell(id_, State(value, unit, is_alive or before.is_there))
        return True

    def fits(self, id_: str, value: Literal, unit: str | None) -> bool:
        """Whether a value is what was announced; so it is where nothing was."""
        entity = self.entities.get(id_)
        return entity is None or entity.form.fits(value, unit)

    def event(self, id_: str, value: Literal) -> tuple[Sequence[Out], Out | None]:
        """An event: what is to be announced before it, if its word is new, and itself."""
        entity = self.entities.get(id_)
        word = None if entity is None else entity.form.tell(value, None)
        if entity is None or not word:
            return (), None
        known = _types(entity)
        announced: list[Out] = []
        if word not in known:
            if len(known) >= MOST_EVENT_TYPES:
                return (), None
            members: dict[str, Json] = {**entity.members, "event_types": [*known, word]}
            announced += self._announce(replace(entity, members=members))
        told = self.entities[id_].state(value, None, is_there=True)
        return announced, Out(self._topics.state(id_), told, retain=False)

    def due(self) -> Iterator[Out]:
        """The states whose time has come."""
        now = self._clock()
        for id_ in [id_ for id_ in self._waiting if self._free_at.get(id_, now) <= now]:
            del self._waiting[id_]
            entity, state = self.entities[id_], self._now[id_]
            payload = entity.state(state.value, state.unit, is_there=state.is_there)
            if self._told.get(id_) != payload:
                self._told[id_], self._free_at[id_] = payload, now + self._interval_s
                yield Out(self._topics.state(id_), payload, qos=0)

    @property
    def wait_s(self) -> float | None:
        """How long nothing will be due; None: until something is told."""
        now = self._clock()
        times = [self._free_at.get(id_, now) for id_ in self._waiting]
        return max(0.0, min(times) - now) if times else None

    def _wait(self, id_: str) -> None:
        if not self.entities[id_].is_event:
            self._waiting[id_] = None

    def _announce(self, entity: Entity) -> Iterator[Out]:
        before = self.entities.get(entity.id)
        if before == entity:
            return
        if before is not None and before.component != entity.component:
            self._forget(entity.id)
        self.entities[entity.id] = entity
        yield Out(self._config(entity), entity.announcement(self._topics))

    def _forget(self, id_: str) -> None:
        del self.entities[id_]
        for kept in (self._now, self._told, self._free_at, self._waiting):
            kept.pop(id_, None)

    def _with_types(self, entity: Entity) -> Entity:
        """Words that were heard before stay types of an event."""
        before = self.entities.get(entity.id)
        if before is None or not (entity.is_event and before.is_event):
            return entity
        types = list(dict.fromkeys([*_types(before), *_types(entity)]))[:MOST_EVENT_TYPES]
        return replace(entity, members={**entity.members, "event_types": [*types]})

    def _config(self, entity: Entity) -> str:
        return self._topics.config(entity.component, entity.id)

    def _topics_of(self, entity: Entity) -> list[str]:
        state = [] if entity.is_event else [self._topics.state(entity.id)]
        return [self._config(entity), *state]


def _types(entity: Entity) -> list[str]:
    told = entity.members.get("event_types")
    return [str(each) for each in told] if isinstance(told, list) else []
