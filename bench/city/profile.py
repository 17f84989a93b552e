"""Who subscribes to the city, what updates it, and what must come of it.

Place on the way of the data: the workload of the engine benchmarks, and its reference: a model
that knows of each lamp no more than its value says which rows every subscription must be told.
An update profile is run several times, each time with a value that no lamp has had. Source: Roffia
et al., "A Semantic Publish-Subscribe Architecture for the Internet of Things", 2016, section VI.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

from bench.city.streets import ROADS, dimming, lamp_iri, posts, slamp, sroad, ulamp, uroad

_COARSE = (6, 105, 204, 308)
_FINE = (*range(1, 6), *range(101, 105), *range(201, 204), *range(301, 308))
WARM = "warm"
"""What the untimed updates set."""

Lamp = tuple[int, int]
"""Road and post."""


@dataclass(frozen=True, slots=True)
class Lamps:
    """One lamp, or all of a road where `post` is None: what an update sets, a query watches."""

    road: int
    post: int | None = None

    def each(self) -> Sequence[Lamp]:
        """Every lamp that is set or watched."""
        numbers = range(1, posts(self.road) + 1) if self.post is None else (self.post,)
        return [(self.road, number) for number in numbers]

    def names(self) -> Iterator[tuple[str, ...]]:
        """What a row of `select` says of each lamp beside its value: nothing of one alone."""
        for lamp in self.each():
            yield () if self.post is not None else (lamp_iri(*lamp),)

    @property
    def select(self) -> str:
        """SLAMP or SROAD."""
        return sroad(self.road) if self.post is None else slamp(self.road, self.post)

    def set(self, value: str) -> str:
        """ULAMP or UROAD."""
        if self.post is None:
            return uroad(self.road, value)
        return ulamp(self.road, self.post, value)


@dataclass(frozen=True, slots=True)
class Update:
    """Lamps that get a value; `number` is its place in its profile."""

    number: int
    lamps: Lamps
    value: str

    @property
    def text(self) -> str:
        """The UPDATE as SPARQL, constants written out."""
        return self.lamps.set(self.value)


@dataclass(frozen=True, slots=True)
class Profile:
    """An experiment of the paper, or one like it.

    `roads` of the city's; beside the paper's subscriptions `more_fine`, of lamps that no road
    has, and `more_coarse`, of further roads; beside the city `copies` of it, which nobody watches
    and nothing updates.
    """

    name: str
    roads: int = ROADS
    more_fine: int = 0
    more_coarse: int = 0
    copies: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the city is as large as the paper's."""
        return self.roads == ROADS

    @property
    def triples(self) -> int:
        """What the store holds: 35 a post and 4 a road (Table 2)."""
        return sum(35 * posts(road) + 4 for road in self.streets) * (self.copies + 1)

    @property
    def streets(self) -> Sequence[int]:
        """The roads that there are: of few, some of every size and of every subscription."""
        first = (6, 301, 105, 1, 204, 101, 308, 201)
        rest = (road for road in range(1, ROADS + 1) if road not in first)
        return sorted((*first, *rest)[: self.roads])

    @property
    def subscriptions(self) -> Sequence[Lamps]:
        """The paper's 1,000 of one lamp each and 4 of a road, where there are these roads."""
        streets = self.streets
        fine = (
            Lamps(road, post)
            for road in _FINE
            if road in streets
            for post in range(1, posts(road) + 1)
        )
        further = (Lamps(road, post) for post in count(101) for road in streets)
        coarse = (Lamps(road) for road in _COARSE if road in streets)
        roads = (Lamps(road) for road in streets if road not in _COARSE)
        return [
            *fine,
            *islice(further, self.more_fine),
            *coarse,
            *islice(roads, self.more_coarse),
        ]

    def updates(self, value: str) -> list[Update]:
        """LAMP: the first lamp of every road; ROAD: every road."""
        post = 1 if self.name == "lamp" else None
        return [Update(n, Lamps(road, post), value) for n, road in enumerate(self.streets)]

    @property
    def warm_up(self) -> Sequence[Update]:
        """Updates of lamps that nobody watches, or few: what is compiled once has been."""
        roads = [road for road in self.streets if road not in _FINE and road not in _COARSE]
        post = 2 if self.name == "lamp" else None
        return [Update(n, Lamps(road, post), WARM) for n, road in enumerate(roads[:3])]

    def notifications(self) -> int:
        """Pairs of update and subscription that share a lamp."""
        watched = [set(each.each()) for each in self.subscriptions]
        sets = [set(update.lamps.each()) for update in self.updates("")]
        return sum(not lamps.isdisjoint(each) for lamps in sets for each in watched)

    def lutt_columns(self) -> Sequence[int]:
        """For each subscription, how many updates its LUTT lets something of through (Table 7)."""
        updates = self.updates("")
        set_once = Counter(lamp for update in updates for lamp in update.lamps.each())
        return [
            len(updates) if each.post is None else set_once[each.road, each.post]
            for each in self.subscriptions
        ]


class Model:
    """What every lamp is set to; says which rows each subscription must be told.

    >>> model = Model([Lamps(6, 1)])
    >>> list(model.rows([Update(3, Lamps(6, 1), "100")]))
    ['3 0 - 43 at 100', '3 0 + 100 at 100']
    """

    def __init__(self, subscriptions: Iterable[Lamps]) -> None:
        self._values: dict[Lamp, str] = {}
        self._watchers: dict[Lamp, list[int]] = {}
        self._coarse: set[int] = set()
        for number, lamps in enumerate(subscriptions):
            if lamps.post is None:
                self._coarse.add(number)
            for lamp in lamps.each():
                self._watchers.setdefault(lamp, []).append(number)

    def apply(self, updates: Iterable[Update]) -> Iterator[tuple[Update, Lamp, str]]:
        """Every change of a lamp's value: the update, the lamp, its old value."""
        for update in updates:
            for lamp in update.lamps.each():
                old = self._values.get(lamp, dimming(*lamp))
                self._values[lamp] = update.value
                yield update, lamp, old

    def rows(self, updates: Iterable[Update]) -> Iterator[str]:
        """The rows of all notifications, as `row_text` writes them."""
        for update, lamp, old in self.apply(updates):
            for watcher in self._watchers.get(lamp, ()):
                named = (lamp_iri(*lamp),) if watcher in self._coarse else ()
                yield row_text(update, watcher, "-", *named, old)
                yield row_text(update, watcher, "+", *named, update.value)


def row_text(update: Update, subscription: int, sign: str, *terms: str) -> str:
    """One row that one update added (+) to the answer of a subscription or removed (-)."""
    return " ".join((f"{update.number}", f"{subscription}", sign, *terms, f"at {update.value}"))
