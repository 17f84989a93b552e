"""`Fleet`: so many gateways in simulated time, with clients, misfortunes and changes by a seed.

    a size, scope and topology -> gateways that hear each other -> quiet changes, then churn
    -> all are back, nothing is under way -> what clients were told beside what they had to be

Place: below the benchmark of the fleet.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random

from bench.federation.simulated.clients import EventClient, UnionClient
from bench.federation.simulated.gateway import SimulatedGateway
from bench.federation.simulated.members import MemberNet
from bench.federation.simulated.net import TimedNet
from gateway.federation.carrier import Channel
from gateway.federation.member import Member

HOP_S = 0.01
TICK_S = 30.0
TOPICS = 5
ASKERS = 10
"""So many gateways ask, where they ask all; where a scope is smaller each asks."""
UNIONS = 3
ROOMS = 20
_SETTLE = 2


@dataclass(frozen=True, slots=True)
class Size:
    """How many gateways, how many a client asks (all, at most), and what links them."""

    gateways: int
    scope: int
    topology: str

    @property
    def is_all(self) -> bool:
        """Whether clients ask all."""
        return self.scope >= self.gateways


class Fleet:
    """Gateways that are up and have told all that clients ask."""

    def __init__(self, size: Size, seed: int) -> None:
        self.size = size
        self.random = Random(f"{seed} {size}")  # noqa: S311 - the same fleet each time
        self.net = TimedNet(HOP_S)
        names = [f"g{number:05}" for number in range(size.gateways)]
        self.links = MemberNet(self.net, names[0] if size.topology == "hub" else None)
        self.gateways = {name: SimulatedGateway(name, self.links) for name in names}
        self.names = names
        homes = names[-ASKERS:] if size.is_all else names
        self.clients = [
            EventClient(home, f"urn:topic/{place % TOPICS}", self._scope(home))
            for place, home in enumerate(homes)
        ]
        self.unions = [UnionClient(home, self._scope(home)) for home in homes[:UNIONS]]
        for gateway in self.gateways.values():
            gateway.begin()
            self._start(gateway)
        self.settle()
        for client in self.clients:
            client.begin(self._member(client.home))

    def close(self) -> None:
        """Forget all."""
        for each in self.gateways.values():
            each.close()

    # what happens -----------------------------------------------------------------------------

    def say(self, name: str) -> int:
        """Have an event at a gateway; how many others it is for."""
        topic = f"urn:topic/{self.random.randrange(TOPICS)}"
        number = self.random.getrandbits(40)
        self.gateways[name].update(
            f"INSERT DATA {{ <urn:e/{number}> <{topic}> <urn:n/{number}> . "
            f"<urn:n/{number}> <urn:is> {number} ; <urn:at> {number % 7} }}"
        )
        return len(self._reached(name, topic))

    def change(self, name: str) -> None:
        """Have a room be warm or empty, or no more, at a gateway."""
        place = f"<urn:room/{self.random.randrange(ROOMS)}> <urn:"
        if self.random.random() < 0.5:
            degrees = self.random.randrange(20, 25)
            after = f"DELETE WHERE {{ {place}warm> ?t }} ; INSERT DATA {{ {place}warm> {degrees} }}"
        else:
            verb = "INSERT" if self.random.random() < 0.6 else "DELETE"
            after = f"{verb} DATA {{ {place}empty> true }}"
        self.gateways[name].update(after)

    def go(self, name: str) -> None:
        """Have a gateway go."""
        self.gateways[name].end()

    def come(self, name: str) -> None:
        """Have a gateway come again, and its clients."""
        gateway = self.gateways[name]
        gateway.begin()
        self._start(gateway)

    def settle(self) -> None:
        """Have all come that is under way."""
        for _ in range(_SETTLE):
            self.net.run(self.net.now + TICK_S)
            self.tick()
        self.net.run()

    def tick(self) -> None:
        """Have each notice what it lost."""
        for each in self.gateways.values():
            each.tick()

    # what is counted --------------------------------------------------------------------------

    def sent(self, channel: Channel, what: Callable[[], object]) -> tuple[int, int]:
        """Messages and bytes of a channel that something leads to, with nothing else under way."""
        messages, size = self.links.messages[channel], self.links.size[channel]
        what()
        self.net.run()
        return self.links.messages[channel] - messages, self.links.size[channel] - size

    def subscribe(self, client: EventClient) -> None:
        """One more subscription."""
        self.net.act(client.home, partial(client.ask, self._member(client.home)))

    def unsubscribe(self, client: EventClient) -> None:
        """One less."""
        self.net.act(client.home, partial(client.end, self._member(client.home)))

    def entries(self) -> Counter[str]:
        """How many patterns and event queries of others each gateway has in force."""
        return Counter(
            {
                name: sum(each.entries + each.event_queries for each in member.streams.values())
                for name, member in ((name, self._member(name)) for name in self.names)
            }
        )

    def faults(self) -> tuple[int, int]:
        """Events that clients were not told, and those that they were told twice or for nothing."""
        lost = doubled = 0
        for client in self.clients:
            expected = Counter(client.expected(self.gateways))
            lost += (expected - client.had).total()
            doubled += (client.had - expected).total()
        return lost, doubled

    def answers(self) -> Iterator[tuple[str, str]]:
        """What each client was told, and what it had to be, as lines."""
        for client in self.clients:
            told = (f"{row} {count}" for row, count in sorted(client.had.items()))
            expected = Counter(client.expected(self.gateways))
            wanted = (f"{row} {count}" for row, count in sorted(expected.items()))
            yield f"{client.home} {list(told)}", f"{client.home} {list(wanted)}"
        for union in self.unions:
            yield (
                f"{union.home} {sorted(union.told())}",
                f"{union.home} {sorted(union.expected(self.gateways))}",
            )

    def _start(self, gateway: SimulatedGateway) -> None:
        """Be heard, and have the clients of it ask."""
        member = self._member(gateway.name)
        clients: list[EventClient | UnionClient] = [*self.clients, *self.unions]
        for each in clients:
            if each.home == gateway.name:
                self.net.act(gateway.name, partial(each.ask, member))
        member.start()

    def _member(self, name: str) -> Member:
        member = self.gateways[name].member
        if member is None:
            raise LookupError(f"{name} is away")
        return member

    def _reached(self, name: str, topic: str) -> set[str]:
        """The other gateways with a client that an event of a topic concerns."""
        return {
            each.home
            for each in self.clients
            if each.predicate == topic
            and each.home != name
            and (each.scope is None or name in each.scope)
        }

    def _scope(self, home: str) -> frozenset[str] | None:
        if self.size.is_all:
            return None
        others = [name for name in self.names if name != home]
        return frozenset((home, *self.random.sample(others, self.size.scope - 1)))
