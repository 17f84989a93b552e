"""The four ways of `baselines`: CSMA, OSMA, flooding, and the members of our federation.

    events at the first peer -> each way's own code, on one `TimedNet` -> rows at the second

Place: between the workload and what is measured. With one peer, publisher and subscriber share it.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Protocol

from pyoxigraph import Quad, Variable

from bench.federation.eventcloud.cloud import Cloud, Flood, Make
from bench.federation.eventcloud.csma import CsmaPeer
from bench.federation.eventcloud.flooding import FloodingPeer
from bench.federation.eventcloud.home import Home
from bench.federation.eventcloud.osma import OsmaPeer
from bench.federation.eventcloud.overlay import Overlay
from bench.federation.eventcloud.patterns import row_text
from bench.federation.eventcloud.space import Zone
from bench.federation.simulated.members import MemberNet
from bench.federation.simulated.net import TimedNet
from bench.federation.workload import Asked
from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.compound.event import CompoundEvent
from gateway.engine.spu import EVENT
from gateway.federation.carrier import Channel
from gateway.federation.member import Member
from gateway.journal.event_position import EventPosition
from gateway.journal.record import Origin
from gateway.rdf.terms import DEFAULT_GRAPH

PUBLISHER = "p0"


class Way(Protocol):
    """One way of a number of peers; `rows` are those that the subscriber was told."""

    net: TimedNet
    rows: list[str]
    peers: Sequence[str]

    def subscribe(self, asked: Asked) -> None:
        """Have the subscriber ask a query."""

    def publish(self, number: int, quads: Sequence[Quad]) -> bool:
        """Have the publisher tell of an event, in a step of its own; False where it has to wait."""

    @property
    def sent(self) -> tuple[int, int]:
        """Messages and bytes that carry events, questions and answers, so far."""

    @property
    def dropped(self) -> tuple[int, int]:
        """Duplicates that the subscriber dropped, and reconstructions."""

    def close(self) -> None:
        """End it."""


def zones(peers: int) -> Sequence[Zone]:
    """What so many peers have, for the workload."""
    overlay = Overlay()
    for number in range(peers):
        overlay.join(f"p{number}")
    return list(overlay.zones.values())


class CloudWay:
    """CSMA, OSMA or flooding."""

    def __init__(self, net: TimedNet, peers: int, cloud: Cloud) -> None:
        self.net = net
        self.rows: list[str] = []
        for _ in range(peers):
            cloud.join()
        self.peers: Sequence[str] = list(cloud.peers)
        self._publisher, self._at = cloud.peers[PUBLISHER], self.peers[min(1, peers - 1)]
        self._home = Home(cloud.peers[self._at], self._tell)

    def subscribe(self, asked: Asked) -> None:
        """As `Way.subscribe`."""
        self.net.act(self._at, lambda: self._home.subscribe(asked.query))

    def publish(self, number: int, quads: Sequence[Quad]) -> bool:
        """As `Way.publish`."""
        del number
        self._publisher.publish(quads)
        return True

    @property
    def sent(self) -> tuple[int, int]:
        """As `Way.sent`."""
        return self.net.messages, self.net.bytes

    @property
    def dropped(self) -> tuple[int, int]:
        """As `Way.dropped`."""
        return self._home.duplicates, self._home.reconstructions

    def close(self) -> None:
        """As `Way.close`."""

    def _tell(self, graph: str, rows: Sequence[str]) -> None:
        self.rows += rows
        self.net.mark(graph)


class OurWay:
    """Members of a federation, as in the product; each has an engine with nothing in it."""

    def __init__(self, net: TimedNet, peers: int) -> None:
        self.net = net
        self.rows: list[str] = []
        self.peers: Sequence[str] = [f"p{number}" for number in range(peers)]
        self._links = MemberNet(net)
        self._engines = {name: Engine.open() for name in self.peers}
        self._members = {name: self._member(name) for name in self.peers}
        for member in self._members.values():
            member.start()
        net.run()
        self._at = self.peers[min(1, peers - 1)]

    def subscribe(self, asked: Asked) -> None:
        """As `Way.subscribe`."""
        request = SubscribeRequest(asked.text, mode=EVENT)

        def told(notification: Notification) -> None:
            self._told(asked.query.number, notification)

        member = self._members[self._at]
        self.net.act(self._at, lambda: member.begin_events(member.ask_events(request, told)))

    def publish(self, number: int, quads: Sequence[Quad]) -> bool:
        """As `Way.publish`; the event is stated in the default graph, and named by its graph."""
        member = self._members[PUBLISHER]
        if not all(each.stream.has_room for each in member.streams.values()):
            return False
        position = EventPosition(1, 0, number + 1)
        graph = quads[0].graph_name
        member.happened(
            CompoundEvent(
                DEFAULT_GRAPH,
                graph,  # type: ignore[arg-type]
                quads,
                gateway=PUBLISHER,
                position=position,
                time=number,
            )
        )
        return True

    @property
    def sent(self) -> tuple[int, int]:
        """As `Way.sent`; acknowledgements are none: others have their transport's."""
        return self._links.messages[Channel.DATA], self._links.size[Channel.DATA]

    @property
    def dropped(self) -> tuple[int, int]:
        """As `Way.dropped`: both are not there to be counted but as faults of the stream."""
        known = self._members[self._at].known.values()
        return sum(each.events.counts.duplicates for each in known), 0

    def close(self) -> None:
        """As `Way.close`."""
        for each in self._engines.values():
            each.close()

    def _member(self, name: str) -> Member:
        engine = self._engines[name]
        engine.events.places.follow(Origin(name), 1, lambda: None)
        return Member(name, engine, self._links.carrier(name), random=Random(name))  # noqa: S311 - the same lives each time

    def _told(self, number: int, notification: Notification) -> None:
        variables = [Variable(name) for name in notification.results.variables]
        for row in notification.results.added:
            bound = zip(variables, row, strict=True)
            bindings = {name: term for name, term in bound if term is not None}
            self.rows.append(row_text(number, bindings))
        (event,) = notification.events or ()
        self.net.mark(event.graph)


def _cloud(make: Make, kind: type[Cloud] = Cloud) -> Callable[[TimedNet, int], Way]:
    return lambda net, peers: CloudWay(net, peers, kind(net, make))


WAYS: Mapping[str, Callable[[TimedNet, int], Way]] = {
    "csma": _cloud(CsmaPeer),
    "osma": _cloud(OsmaPeer),
    "flooding": _cloud(FloodingPeer, Flood),
    "ours": OurWay,
}
