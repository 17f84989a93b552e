"""What a hostile member sends costs it its link, and nobody else anything."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import msgpack
import pytest
from pyoxigraph import Literal, NamedNode, Quad

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.limits import UNLIMITED
from gateway.federation.carrier import Carrier, Channel, Received
from gateway.federation.events.event_source import EventSource
from gateway.federation.guard import Guard
from gateway.federation.limits import GuardLimits, OutgoingLimits
from gateway.federation.loopback import LoopbackNet
from gateway.federation.member import Member, MemberSettings
from gateway.federation.wire import MOST_BYTES, PROTOCOL, Batch, Part, WireError
from gateway.journal.record import Origin
from gateway.rdf.namespaces import ALARMS_GRAPH
from gateway.rdf.terms import DEFAULT_GRAPH
from tests.kit.gateways import Watch

QUERY = "SELECT ?o { ?s <urn:p> ?o }"
LIMITS = MemberSettings(
    outgoing=OutgoingLimits(batches=8, quads=30, entries=10),
    replica_quads=20,
    guard=GuardLimits(work_s=0.2, event_work_s=0.2, misses=5),
)


class Hostile:
    """A member that says what it likes; it knows what it was asked."""

    def __init__(self, carrier: Carrier) -> None:
        self.heard: list[Part] = []
        self.lives: list[str] = []
        self._carrier = carrier
        carrier.listen(self._take, lambda _name, _is_up: None)

    def _take(self, message: Received) -> None:
        if message.sender != "victim":
            return
        batch = Batch.decode(message.payload)
        self.heard += batch.parts
        if message.channel is Channel.DATA:
            self.lives.append(batch.life)

    def say(self, channel: Channel, *parts: Part, life: str = "evil", number: int = 0) -> None:
        self.send(channel, Batch(life, number, parts).encode())

    def send(self, channel: Channel, payload: bytes) -> None:
        self._carrier.send("victim", channel, payload)

    @property
    def life(self) -> str:
        """The stream that the victim began last."""
        return self.lives[-1]

    @property
    def ask(self) -> int:
        return next(each for each in reversed(self.heard) if each.kind == "hello").number("ask")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Scene:
    """A victim, a good member, and a hostile one."""

    def __init__(self) -> None:
        self.net = LoopbackNet(Random(3))
        self.clock = Clock()
        self.engines = {name: Engine.open() for name in ("victim", "good")}
        self.members = {}
        for name, engine in self.engines.items():
            engine.events.places.follow(Origin(name), 1, lambda: None)
            member = Member(name, engine, self.net.carrier(name), LIMITS, Random(5))
            member.guard = Guard(LIMITS.guard, self.clock)
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


def hello(entries: list[list[object]]) -> Part:
    return Part("hello", {"ask": 1, "version": 0, "entries": entries})


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


def closed(made: Scene) -> str:
    """Why the hostile one is read no more; nobody else is concerned."""
    assert "good" not in made.victim.links_closed
    return made.victim.links_closed["hostile"]


def test_quads_that_nobody_asked_for_close_the_link_and_are_nowhere() -> None:
    with scene() as made:
        made.victim.ask(SubscribeRequest(QUERY))
        made.net.run()
        made.snapshot(quad(1), quad(2, "urn:other"))
        assert "nobody asked for" in closed(made)
        assert not made.victim.known["hostile"].quads


@pytest.mark.parametrize("removed", [False, True])
def test_changes_that_nobody_asked_for_close_the_link(removed: bool) -> None:
    with scene() as made:
        made.victim.ask(SubscribeRequest(QUERY))
        made.net.run()
        made.snapshot(quad(1))
        alien = [quad(1, "urn:other")]
        members = {"position": "1-0.1"}
        part = Part("delta", members, [], alien) if removed else Part("delta", members, alien)
        made.hostile.say(Channel.DATA, part, number=1)
        made.net.run()
        assert "nobody asked for" in closed(made)


def test_a_million_entries_in_many_messages_close_the_link() -> None:
    with scene() as made:
        made.hostile.say(Channel.NEEDS, hello([]))
        made.net.run()
        life = made.hostile.life
        for number in range(4):
            members = {"life": life, "base": number, "version": number + 1}
            add = [[None, f"<urn:p{number}-{each}>", None, None] for each in range(4)]
            made.hostile.say(Channel.NEEDS, Part("needs", {**members, "add": add, "remove": []}))
            made.net.run()
        assert "more than 10 entries" in closed(made)


def test_numbers_that_jump_again_and_again_close_the_link() -> None:
    with scene() as made:
        for _ in range(LIMITS.guard.misses + 1):
            made.snapshot()
            delta = Part("delta", {"position": "1-0.1"})
            made.hostile.say(Channel.DATA, delta, number=7)
            made.net.run()
        assert "jumped" in closed(made)


def test_who_lets_streams_run_full_without_a_word_is_closed() -> None:
    """Meanwhile what waits for it is bounded: net changes, then nothing."""
    with scene() as made:
        engine, member = made.engines["victim"], made.victim
        limits = LIMITS.outgoing
        asked = hello([[None, "<urn:p>", None, None]])
        for turn in range(limits.unheard + 1):
            made.hostile.say(Channel.NEEDS, asked)
            made.net.run()
            for number in range(limits.batches + limits.quads):
                engine.update(f"INSERT DATA {{ <urn:s> <urn:p> {turn * 1000 + number} }}")
                member.flush()
                made.net.run()
                assert member.waiting("hostile") <= limits.quads
        assert "acknowledged nothing" in closed(made)


def test_demands_that_cost_too_much_close_the_link() -> None:
    """Asking for a whole stream again and again, without end."""
    with scene() as made:
        made.engines["victim"].update(
            "INSERT DATA { "
            + " ".join(f"<urn:s{number}> <urn:p> {number} ." for number in range(2000))
            + " }"
        )
        for _ in range(2000):
            made.hostile.say(Channel.NEEDS, hello([[None, "<urn:p>", None, None]]))
            made.net.run()
            if made.victim.links_closed:
                break
        assert "work" in closed(made)


def test_events_are_told_of_the_graphs_that_a_member_may_read() -> None:
    net, engine = LoopbackNet(Random(3)), Engine.open()
    engine.events.places.follow(Origin("victim"), 1, lambda: None)
    member = Member("victim", engine, net.carrier("victim"), GRAPHS, Random(5))
    engine.events.watcher = member.changed
    member.start()
    asking = {name: Hostile(net.carrier(name)) for name in ("good", "other", "none")}
    net.run()
    for each in asking.values():
        members = {**hello([]).members, "events": [[1, "SELECT * { ?s ?p ?o }", None]]}
        each.say(Channel.NEEDS, Part("hello", members))
    net.run()
    for graph in ("GRAPH <urn:g> {{ {} }}", "GRAPH <urn:h> {{ {} }}", "{}"):
        engine.update("INSERT DATA { " + graph.format("<urn:s> <urn:p> 1") + " }")
        member.flush()
        member.tick()
        net.run()
    told = {
        name: [part.members["term"] for part in each.heard if part.kind == "event"]
        for name, each in asking.items()
    }
    assert told["good"][:1] == ["urn:g"]
    assert {name: len(terms) for name, terms in told.items()} == {"good": 2, "other": 1, "none": 0}
    assert "urn:h" not in {term for terms in told.values() for term in terms}
    engine.close()


def test_event_queries_that_cost_too_much_close_the_link() -> None:
    """Each event makes them join all with all: a little work for us, for ever."""
    costly = "SELECT * { ?a <urn:p> ?b . ?c <urn:p> ?d . ?e <urn:p> ?f FILTER(?b + ?d + ?f < 0) }"
    with scene() as made:
        asked = hello([])
        members = {**asked.members, "events": [[1, costly, None]]}
        made.hostile.say(Channel.NEEDS, Part("hello", members))
        made.net.run()
        for turn in range(100):
            quads = " ".join(f"<urn:s{each}> <urn:p> {turn * 100 + each} ." for each in range(30))
            made.engines["victim"].update("INSERT DATA { " + quads + " }")
            made.net.run()
            made.tick()
            if made.victim.links_closed:
                break
        assert "work" in closed(made)


def test_event_queries_of_one_are_bounded_in_number_and_in_length() -> None:
    """Also where each takes the place of another one."""
    few, text = EventSource(UNLIMITED, most=3), "ASK { <urn:s> <urn:p> ?o }"
    for number in (1, 2, 3, 3, 3):
        few.add("hostile", number, text, None)
    with pytest.raises(WireError, match="event queries"):
        few.add("hostile", 4, text, None)
    few.add("good", 1, text, None)
    many, long = EventSource(UNLIMITED), text + " " * 60_000
    kept = 33_554_432 // len(long)
    for number in range(kept):
        many.add("hostile", number, long, None)
    with pytest.raises(WireError, match="event queries"):
        many.add("hostile", kept, long, None)
    assert many.count("hostile") == kept
    many.clear("hostile")
    many.add("hostile", 1, long, None)


def test_a_closed_member_is_told_nothing_and_comes_back_after_a_while() -> None:
    with scene() as made:
        made.hostile.say(Channel.NEEDS, hello([[None, "<urn:p>", None, None]]))
        made.net.run()
        made.hostile.send(Channel.DATA, b"nonsense")
        made.net.run()
        assert closed(made)
        made.hostile.heard.clear()
        made.engines["victim"].update("INSERT DATA { <urn:s> <urn:p> 1 }")
        made.tick()
        made.net.leave("hostile")
        made.hostile = Hostile(made.net.carrier("hostile"))
        made.net.run()
        assert not made.hostile.heard
        assert closed(made)
        made.clock.now += LIMITS.guard.hold_s
        made.tick()
        assert not made.victim.links_closed
        assert "hello" in {each.kind for each in made.hostile.heard}


def test_who_is_no_member_any_more_leaves_with_its_quads() -> None:
    told: list[Notification] = []
    with scene() as made:
        asked = made.victim.ask(SubscribeRequest(QUERY), frozenset({"hostile", "good"}))
        made.victim.presence("hostile", True)
        made.net.run()
        made.snapshot(quad(7))
        made.victim.begin(asked, told.append)
        made.victim.leave("hostile")
        assert [row[0] for row in told[-1].results.removed] == [Literal(7)]
        assert told[-1].federation is not None
        assert set(told[-1].federation.positions) == {"good"}
        assert "hostile" not in made.victim.known
        made.victim.leave("nobody")


GRAPHS = MemberSettings(
    {"good": frozenset({DEFAULT_GRAPH, NamedNode("urn:g")}), "none": frozenset()}
)


@pytest.mark.parametrize(
    ("peer", "readable"),
    [("good", {"urn:d", "urn:g1"}), ("other", {"urn:d"}), ("none", set[str]())],
)
@pytest.mark.parametrize("graph", [None, "", "<urn:g>", "<urn:h>"])
def test_a_member_is_told_of_the_graphs_that_it_may_read(
    peer: str, readable: set[str], graph: str | None
) -> None:
    """In snapshots, changes, and by whatever entries it asks."""
    net, engine = LoopbackNet(Random(3)), Engine.open()
    engine.events.places.follow(Origin("victim"), 1, lambda: None)
    member = Member("victim", engine, net.carrier("victim"), GRAPHS, Random(5))
    engine.events.watcher = member.changed
    member.start()
    there = "<urn:d> <urn:p> {0} . GRAPH <urn:g> {{ <urn:g1> <urn:p> {0} }} " + (
        "GRAPH <urn:h> {{ <urn:h1> <urn:p> {0} }} GRAPH <" + ALARMS_GRAPH.value + "> "
        "{{ <urn:a1> <urn:p> {0} }}"
    )
    engine.update("INSERT DATA { " + there.format(1) + " }")
    asking = Hostile(net.carrier(peer))
    net.run()
    asking.say(Channel.NEEDS, hello([[None, "<urn:p>", None, graph]]))
    net.run()
    engine.update("INSERT DATA { " + there.format(2) + " }")
    member.flush()
    net.run()
    seen = {
        (part.kind, each.subject.value)  # type: ignore[union-attr]
        for part in asking.heard
        for each in (*part.added, *part.removed)
    }
    named = {"": {"urn:d"}, "<urn:g>": {"urn:g1"}, "<urn:h>": {"urn:h1"}}
    wanted = readable if graph is None else readable & named[graph]
    assert seen == {(kind, each) for kind in ("snapshot", "delta") for each in wanted}
    engine.close()


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
        event = {"position": [1, 0, 1], "time": 1, "term": "urn:e", "ids": [1, 2, 3]}
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
