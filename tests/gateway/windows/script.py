"""Random windows, and random lives of streams, as data."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from gateway.windows import Element, Window
from gateway.windows.parted import Parted, Predicates

STREAMS = ("urn:a", "urn:b")
HOUR = 3_600_000_000
NODE = NamedNode("urn:n")
TRIPLES = [Triple(NODE, NODE, NamedNode(f"urn:{each}")) for each in range(7)]
KEYS = [("urn:s1", "urn:p", "urn:f"), ("urn:s2", "urn:p", "urn:f"), ("urn:s1", "urn:q", "urn:g")]
UNITS = ("urn:C", "urn:F")
OWN = (NamedNode("urn:p:even"), NamedNode("urn:p:odd"))


@dataclass(frozen=True)
class Open:
    number: int
    past: float | None
    """Which part of the stream's elements is known; None: nothing of before."""


@dataclass(frozen=True)
class Close:
    number: int


@dataclass(frozen=True)
class Arrive:
    after: int
    elements: tuple[tuple[str, "Draft"], ...]


@dataclass(frozen=True)
class Draft:
    """An element whose time is so much after its step's."""

    triples: tuple[Triple, ...]
    ahead: int | None
    key: tuple[str, str, str] | None
    unit: str | None
    is_gateway_time: bool
    own: int | None = None
    """How many triples nobody else has; None: it does not tell them apart."""

    def element(self, now: int) -> Element:
        time = None if self.ahead is None else now + self.ahead
        triples = self.triples if self.own is None else Apart(dict.fromkeys(self.triples), self.own)
        return Element(triples, time, self.key, self.unit, self.is_gateway_time)


class Apart(Parted):
    """Some triples, each once, and some more that are made when asked for; of two predicates."""

    _numbers = count()

    def __init__(self, shared: Iterable[Triple], own: int) -> None:
        self._shared = tuple(shared)
        self._node = NamedNode(f"urn:own:{next(self._numbers)}")
        self._own = own

    def __len__(self) -> int:
        return len(self._shared) + self._own

    def __iter__(self) -> Iterator[Triple]:
        return iter((*self._shared, *self.unique(None)))

    @property
    def shared(self) -> tuple[Triple, ...]:
        return self._shared

    def unique(self, wanted: Predicates | None) -> tuple[Triple, ...]:
        own = [Triple(self._node, OWN[each % 2], Literal(each)) for each in range(self._own)]
        return tuple([each for each in own if wanted is None or each.predicate in wanted])

    def unique_of(self, wanted: Predicates | None) -> int:
        return len(self.unique(wanted))


@dataclass(frozen=True)
class Jump:
    by: int


Operation = Open | Close | Arrive | Jump

_triples = st.lists(st.sampled_from(TRIPLES), max_size=4).map(tuple)
_narrow = st.sampled_from([(), (), (), ("urn:s1",), ("urn:p", "urn:q")])


def drafts(scale: int) -> st.SearchStrategy[Draft]:
    key = st.sampled_from((None, None, *KEYS, *KEYS[:1]))
    ahead = st.one_of(st.none(), st.integers(-14, 9).map(lambda n: n * scale))
    unit = st.sampled_from((None, *UNITS))
    own = st.sampled_from((None, None, 0, 1, 3))
    return st.builds(Draft, _triples, ahead, key, unit, st.booleans(), own)


@st.composite
def ranges(draw: st.DrawFn) -> Window:
    """Windows whose range and step are a few µs."""
    step = draw(st.one_of(st.none(), st.integers(1, 7)))
    lateness = draw(st.sampled_from((0, 0, 0, 3)))
    return Window(
        draw(st.sampled_from((*STREAMS[:1], *STREAMS))),
        draw(st.integers(1, 12)),
        step=step,
        sensor=[each for each in draw(_narrow) if each.startswith("urn:s")],
        property=[each for each in draw(_narrow) if not each.startswith("urn:s")],
        lateness=lateness,
        late=draw(st.sampled_from(("admit", "drop"))) if lateness else "admit",
        time=draw(st.sampled_from(("event", "event", "arrival"))),
        clock=draw(st.sampled_from(("wall", "wall", "wall", "stream"))),
        limit=draw(st.one_of(st.none(), st.none(), st.integers(1, 6))),
        overflow=draw(st.sampled_from(("end", "end", "oldest"))),
    )


def plain_ranges() -> st.SearchStrategy[Window]:
    """Windows that differ in range alone, or step."""
    step = st.sampled_from((None, None, 3))
    return st.builds(lambda r, s: Window(STREAMS[0], r, step=s), st.integers(1, 12), step)


@st.composite
def zoned(draw: st.DrawFn) -> Window:
    """Windows of hours and days where clocks are changed."""
    return Window(
        STREAMS[0],
        draw(st.sampled_from((1, 5, 6, 12, 24, 25, 48, 72, 168))) * HOUR,
        step=draw(st.sampled_from((1, 5, 6, 12, 24, 48, 168))) * HOUR,
        zone=draw(st.sampled_from((None, "Europe/Berlin", "America/Santiago"))),
    )


@st.composite
def counted(draw: st.DrawFn) -> Window:
    """Windows by triples and elements."""
    is_by_triple = draw(st.booleans())
    size = draw(st.integers(1, 6))
    per = None if is_by_triple else draw(st.sampled_from((None, "stream")))
    return Window(
        draw(st.sampled_from(STREAMS)),
        triples=size if is_by_triple else None,
        elements=None if is_by_triple else size,
        step=draw(st.one_of(st.none(), st.integers(1, 5))),
        per=per,
        sensor=[each for each in draw(_narrow) if each.startswith("urn:s")],
        limit=draw(st.one_of(st.none(), st.integers(1, 6))) if per else None,
        overflow=draw(st.sampled_from(("end", "oldest"))),
    )


def scripts(windows: int, scale: int = 1) -> st.SearchStrategy[list[Operation]]:
    """Lives of streams with so many windows; times go on by up to five times `scale` at once."""
    after = st.integers(0, 5).map(lambda n: n * scale)
    arrival = st.tuples(st.sampled_from((*STREAMS[:1], *STREAMS)), drafts(scale))
    arrivals = st.lists(arrival, min_size=1, max_size=4).map(tuple)
    past = st.one_of(st.none(), st.sampled_from((0.0, 0.0, 0.5)))
    arrive = st.builds(Arrive, after, arrivals)
    begin = st.builds(Open, st.integers(0, windows - 1), past)
    others = st.one_of(
        begin,
        st.builds(Close, st.integers(0, windows - 1)),
        st.builds(Arrive, after, st.just(())),
        st.builds(Jump, st.integers(-15, 15).map(lambda n: n * scale)),
    )
    opened = st.permutations(range(windows)).map(lambda all_: [Open(n, None) for n in all_[:3]])
    parts = st.lists(st.one_of(arrive, arrive, arrive, others), min_size=6, max_size=25)
    return st.builds(lambda first, then: [*first, *then], opened, parts)
