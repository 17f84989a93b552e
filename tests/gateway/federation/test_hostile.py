"""What a hostile member sends costs it its link, and nobody else anything."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import msgpack
import pytest
from pyoxigraph import Literal, NamedNode, Quad

from gateway.engine import Engine, SubscribeRequest
from gateway.federation.carrier import Carrier, Channel, Received
from gateway.federation.limits import OutgoingLimits
from gateway.federation.loopback import LoopbackNet
from gateway.federation.member import Member, MemberSettings
from gateway.federation.wire import MOST_BYTES, PROTOCOL, Batch, Part, WireError
from gateway.journal.record import Origin
from tests.kit.gateways import Watch

QUERY = "SELECT ?o { ?s <urn:p> ?o }"
LIMITS = MemberSettings(outgoing=OutgoingLimits(entries=10), replica_quads=20)


class Hostile:
    """A member that says what it likes; it knows what it was asked."""

    def __init__(self, carrier: Carrier) -> None:
        self.heard: list[Part] = []
        self._carrier = carrier
        carrier.listen(self._take, lambda _name, _is_up: None)

    def _take(self, message: Received) -> None:
        self.heard += Batch.decode(message.payload).parts

    def say(self, channel: Channel, *parts: Part, life: str = "evil", number: int = 0) -> None:
        self.send(channel, Batch(life, number, parts).encode())

    def send(self, channel: Channel, payload: bytes) -> None:
        self._carrier.send("victim", channel, payload)

    @property
    def ask(self) -> int:
        return next(each for each in reversed(self.heard) if each.kind == "hello").number("ask")


class Scene:
    """A victim, a good member, and a hostile one."""

    def __init__(self) -> None:
        self.net = LoopbackNet(Random(3))
        self.engines = {name: Engine.open() for name in ("victim", "good")}
        self.members = {}
        for name, engine in self.engines.items():
            engine.events.places.follow(Origin(name), 1, lambda: None)
            member = Member(name, engine, self.net.carrier(name), LIMITS, Random(5))
            engine.events.watcher = member.changed
            member.start()
            self.members[name] = member
        self.hostile = Hostile(self.net.carrier("hostile"))
        self.net.run()

    @property
    def victim(self) -> Member:
        return self.members["victim"]

    def snapshot(self, *quads: Quad, number: int = 0, position: str = "1-0.0") -> None:
        members = {"ask": self.hostile.ask, "version": 0, "position": position}
        self.hostile.say(Channel.DATA, Part("snapshot", members, quads), number=number)
        self.net.run()

    def tick(self) -> None:
        for member in self.members.values():
            member.tick()
        self.net.run()


@contextmanager
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    for engine in made.engines.values():
        engine.close()


def quad(number: int, predicate: str = "urn:p") -> Quad:
    return Quad(NamedNode("urn:s"), NamedNode(predicate), Literal(number))


def entries(count: int) -> list[list[object]]:
    return [[None, f"<urn:p{number}>", None, None] for number in range(count)]


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff" * 50,
        msgpack.packb([PROTOCOL + 1, "x", 0, [], b""]),
        msgpack.packb([PROTOCOL, "x", 0, [["delta", {}, 1, 0]], b""]),
        msgpack.packb([PROTOCOL, "x", 0, [["delta", {}, -1, 0]], b""]),
        msgpack.packb([PROTOCOL, "x", 0, [], b"<urn:s> <urn:p> <urn:o> .\n"]),
        msgpack.packb([PROTOCOL, "x", 0, [], b"no quads"]),
        msgpack.packb([PROTOCOL, 1, 0, [], b""]),
        msgpack.packb({"a": 1}),
        b"\x91" * 100_000,
        b"x" * (MOST_BYTES + 1),
    ],
)
def test_what_is_no_batch_is_refused(payload: bytes) -> None:
    with pytest.raises(WireError):
        Batch.decode(payload)
    with scene() as made:
        made.hostile.send(Channel.DATA, payload)
        made.net.run()
        assert "hostile" in made.victim.links_closed


def test_random_bytes_never_pass_as_anything_else() -> None:
    random = Random(11)
    good = Batch("life", 3, (Part("delta", {"position": "1-2.3"}, [quad(1)], [quad(2)]),)).encode()
    for _ in range(2000):
        payload = bytearray(good)
        for _ in range(random.randrange(1, 6)):
            payload[random.randrange(len(payload))] = random.randrange(256)
        try:
            Batch.decode(bytes(payload))
        except WireError:
            continue


@pytest.mark.parametrize(
    "part",
    [
        Part("hello", {"ask": 1, "version": 1, "entries": [[None, None, None, None]]}),
        Part("hello", {"ask": 1, "version": 1, "entries": entries(11)}),
        Part("hello", {"ask": 1, "version": 1, "entries": "all"}),
        Part("hello", {"ask": 1, "version": 1, "entries": [[None, "<urn:p", None, None]]}),
        Part("hello", {"ask": 1, "version": -1, "entries": []}),
        Part("hello", {"ask": 1, "version": 1, "entries": [], "events": [[1, 2, 3]]}),
        Part("hello", {"ask": 1, "version": 1, "entries": [], "events": [[1, "x" * 99_999, None]]}),
    ],
)
def test_needs_that_cannot_be_close_the_link(part: Part) -> None:
    with scene() as made:
        made.hostile.say(Channel.NEEDS, part)
        made.net.run()
        assert "hostile" in made.victim.links_closed
        assert "good" not in made.victim.links_closed


def test_quads_that_nobody_asked_for_are_nowhere() -> None:
    with scene() as made:
        made.snapshot(quad(1), quad(2, "urn:other"))
        assert not made.victim.links_closed
        assert not made.victim.known["hostile"].quads


def test_more_quads_than_may_be_close_the_link_alone() -> None:
    with scene() as made:
        made.victim.ask(SubscribeRequest(QUERY))
        made.net.run()
        made.snapshot(*map(quad, range(30)))
        assert "20" in made.victim.links_closed["hostile"]
        assert "good" not in made.victim.links_closed


def test_positions_that_go_back_close_the_link() -> None:
    with scene() as made:
        made.victim.ask(SubscribeRequest(QUERY))
        made.net.run()
        made.snapshot(quad(1), position="5-0.0")
        delta = Part("delta", {"position": "4-0.0"}, [quad(2)])
        made.hostile.say(Channel.DATA, delta, number=1)
        made.net.run()
        assert "hostile" in made.victim.links_closed


async def test_others_are_answered_as_ever() -> None:
    """Numbers that jump, versions and events that nobody asked for: no row is lost or false."""
    told = Watch()
    with scene() as made:
        asked = made.victim.ask(SubscribeRequest(QUERY), frozenset({"good"}))
        made.net.run()
        assert not made.victim.missing(asked)
        told(made.victim.begin(asked, told))
        made.snapshot(quad(7))
        event = {"position": "1-0.1", "time": 1, "term": "urn:e", "ids": [1, 2, 3]}
        for number in (5, 1, 9, 2):
            made.hostile.say(Channel.DATA, Part("event", event, [quad(7)]), number=number)
            made.hostile.say(
                Channel.DATA, Part("force", {"version": 77, "position": "9-9.9"}), number=number
            )
            made.hostile.say(Channel.ACK, Part("ack", {"life": "x", "number": 10**9}))
        made.net.run()
        made.engines["good"].update("INSERT DATA { <urn:s> <urn:p> 1 }")
        made.net.run()
        made.tick()
        assert [row[0] for row in told.answer] == [Literal(1)]
        assert "good" not in made.victim.links_closed
