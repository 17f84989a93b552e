"""`resync`: a stream that begins again, of which one quad in a hundred has changed meanwhile.

Place on the way of the data: both ends in one process and thread, on the loopback carrier, so that
what either does counts and the wire does not: from the hello to the one step in which all is known.
The changes are of one entry, or of each of them, so that nothing is the same and all comes again.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random
from time import process_time

from pyoxigraph import Literal, NamedNode, Quad

from bench.federation.told import federated
from bench.report import Experiment, Figure, digest
from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.federation.carrier import Carrier
from gateway.federation.loopback import LoopbackNet
from gateway.federation.member import Member
from gateway.journal.record import Origin
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import SolutionBag

QUADS = 100_000
ENTRIES = 100
CHANGED = 100
"""One quad in so many."""

ROUNDS = 3
SOURCE, HOME = "source", "home"


class _Pair:
    """A source with quads under so many predicates, and a home with a client that wants them."""

    def __init__(self, quads: int) -> None:
        self.told: list[Notification] = []
        self.rows: SolutionBag = Counter()
        self._net = LoopbackNet(Random(1))  # noqa: S311  # the same net each time
        self.source, self._home = (self._engine(name) for name in (SOURCE, HOME))
        self.source.store.load([_quad(number) for number in range(quads)], [])
        carriers: dict[str, Carrier] = {name: self._net.carrier(name) for name in (SOURCE, HOME)}
        self._members = {
            name: Member(name, engine, carriers[name])
            for name, engine in ((SOURCE, self.source), (HOME, self._home))
        }
        for each in self._members.values():
            each.start()
        self._net.run()
        home = self._members[HOME]
        patterns = " UNION ".join(f"{{ ?s <urn:p{entry}> ?v }}" for entry in range(ENTRIES))
        asked = home.ask(SubscribeRequest(f"SELECT ?v {{ {patterns} }}"))
        self._net.run()
        self._take(home.begin(asked, self._take))

    @staticmethod
    def _engine(name: str) -> Engine:
        engine = Engine.open()
        engine.events.places.follow(Origin(name), 1, lambda: None)
        return engine

    def _take(self, notification: Notification) -> None:
        self.told.append(notification)
        self.rows.update(notification.results.added)
        self.rows.subtract(notification.results.removed)

    def resync(self, change: Delta) -> tuple[float, int]:
        """Change it while the link is cut; CPU seconds from its return on, and bytes that came."""
        self._net.cut(SOURCE, HOME)
        self.source.store.apply(change)
        self.source.events.places.next()
        before = self._received()
        begun = process_time()
        self._net.mend(SOURCE, HOME)
        self._net.run()
        return process_time() - begun, self._received() - before

    def _received(self) -> int:
        (status,) = self._members[HOME].status()
        return status.traffic.received

    def values(self) -> list[str]:
        """What the client has, in order."""
        return sorted(f"{row[0]} {count}" for row, count in self.rows.items() if count)

    def close(self) -> None:
        self.source.close()
        self._home.close()


def measure(quads: int = QUADS) -> Iterator[Experiment]:
    """Changes of one entry, then of all."""
    for name, numbers in (
        ("one entry", range(0, quads, CHANGED)),
        ("every entry", range(0, quads, CHANGED + 1)),
    ):
        yield _experiment(quads, name, numbers)


def _experiment(quads: int, name: str, numbers: range) -> Experiment:
    made = _Pair(quads)
    there = dict(enumerate(range(quads)))
    steps, spent, came = [], [], 0
    for turn in range(1, ROUNDS + 1):
        value = turn * quads
        added = tuple(_quad(number, value + number) for number in numbers)
        removed = tuple(_quad(number, there[number]) for number in numbers)
        there.update((number, value + number) for number in numbers)
        before = len(made.told)
        seconds, came = made.resync(Delta(added, removed))
        spent.append(seconds)
        steps.append(len(made.told) - before)
    expected = sorted(f"{Literal(value)} 1" for value in there.values())
    found = made.values()
    made.close()
    return Experiment(
        f"federation resync, {quads:,} quads, {len(numbers):,} changed, in {name} of {ENTRIES}",
        (
            Figure("CPU of both ends, from the hello on", min(spent), "s", "2 wanted"),
            Figure("the longest", max(spent), "s"),
            Figure("bytes that came", came),
        ),
        digest([*found, f"steps {steps}"]),
        digest([*expected, f"steps {[1] * ROUNDS}"]),
        (f"the best of {ROUNDS}; both ends in one thread, without a wire",),
        members=federated(gateways=2, subscriptions=1, carrier="loopback"),
    )


def _quad(number: int, value: int | None = None) -> Quad:
    predicate = NamedNode(f"urn:p{number % ENTRIES}")
    return Quad(NamedNode(f"urn:s{number}"), predicate, Literal(number if value is None else value))
