"""EventCloud, reconstructed: zones, routes, what moves, and rows that are those of a bare store."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from random import Random

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Store, Variable

from bench.federation.eventcloud.cloud import Cloud, Flood
from bench.federation.eventcloud.csma import CsmaPeer
from bench.federation.eventcloud.flooding import FloodingPeer
from bench.federation.eventcloud.home import Home, Query
from bench.federation.eventcloud.messages import Event, Message, Subscription
from bench.federation.eventcloud.osma import OsmaPeer
from bench.federation.eventcloud.overlay import Overlay, next_hop
from bench.federation.eventcloud.patterns import Pattern, Term, box_of, row_text, terms
from bench.federation.eventcloud.peer import Peer
from bench.federation.eventcloud.space import Box, Interval, Point, Zone, letters, point
from bench.federation.simulated.net import TimedNet

_BASE = "https://x.example/"
_END = 26**10


def drawn(random: Random) -> Point:
    found = [letters(random.randrange(_END)) for _ in range(4)]
    return found[0], found[1], found[2], found[3]


def grown(random: Random, peers: int, leaving: int = 0) -> Overlay:
    """An overlay of so many, after some more have come and gone."""
    overlay = Overlay()
    for number in range(peers + leaving):
        overlay.join(f"p{number}", drawn(random))
    for name in random.sample(sorted(overlay.zones), leaving):
        overlay.leave(name)
    return overlay


# zones and routes -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_zones_are_the_whole_space_and_have_no_point_in_common(seed: int) -> None:
    random = Random(seed)
    overlay = grown(random, random.randrange(1, 30), random.randrange(12))
    assert sum(zone.size for zone in overlay.zones.values()) == Zone().size
    edges = [side.low for zone in overlay.zones.values() for side in zone.sides]
    for _ in range(200):
        inner = drawn(random)
        place = tuple(random.choice((text, random.choice(edges), "", "~é")) for text in inner)
        assert sum(zone.has(place) for zone in overlay.zones.values()) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(8))
def test_neighbours_know_each_other_and_touch(seed: int) -> None:
    overlay = grown(Random(seed), 20, 6)
    for name in overlay.zones:
        for other in overlay.neighbours(name):
            assert name in overlay.neighbours(other)
    assert all(overlay.neighbours(name) for name in overlay.zones)


@pytest.mark.parametrize("seed", range(8))
def test_a_route_ends_at_the_owner_and_takes_no_peer_twice(seed: int) -> None:
    random = Random(seed)
    overlay = grown(random, 25, 8)
    for _ in range(100):
        place, at = drawn(random), random.choice(sorted(overlay.zones))
        passed = [at]
        while (to := next_hop(overlay.zones[at], overlay.neighbours(at), place)) is not None:
            passed.append(at := to)
        assert overlay.zones[at].has(place)
        assert len(set(passed)) == len(passed)


def test_a_zone_is_halved_in_one_dimension_after_the_other() -> None:
    overlay = Overlay()
    for number in range(16):
        overlay.join(f"p{number}")
    assert len({zone.size for zone in overlay.zones.values()}) == 1
    assert {side for zone in overlay.zones.values() for side in zone.sides} == {
        Interval("", letters(_END // 2)),
        Interval(letters(_END // 2), None),
    }


def test_peers_that_cannot_join_or_leave_are_told_so() -> None:
    overlay = Overlay()
    overlay.join("p0")
    with pytest.raises(ValueError, match="p0 has a zone already"):
        overlay.join("p0")
    with pytest.raises(ValueError, match="the last peer"):
        overlay.leave("p0")
    with pytest.raises(ValueError, match="no middle"):
        Interval("aaaaaaaaaa", "aaaaaaaaab").halves()


# what moves -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_quads_and_subscriptions_are_where_they_belong_whoever_comes_and_goes(seed: int) -> None:
    random = Random(seed)
    cloud = Cloud(TimedNet(0.001), CsmaPeer)
    cloud.join()
    quads = {terms(random_quad(random, number)) for number in range(60)}
    for quad in quads:
        cloud.owner(quad).quads.add(quad, Event(0.0, 1))
    patterns = [random_pattern(random, number) for number in range(20)]
    for number, pattern in enumerate(patterns):
        first = next(iter(cloud.peers.values()))
        first.subscriptions.add(Subscription(number, 0.0, "p0", [pattern]))
    for _ in range(40):
        if len(cloud.peers) > 1 and random.random() < 0.4:
            cloud.leave(random.choice(sorted(cloud.peers)))
        else:
            before = {name: len(peer.quads) for name, peer in cloud.peers.items()}
            moved = cloud.join(drawn(random))
            newest = list(cloud.peers.values())[-1]
            assert (
                moved
                == len(newest.quads)
                == sum(before.values()) - sum(len(cloud.peers[name].quads) for name in before)
            )
        held = [quad for peer in cloud.peers.values() for quad in all_quads(peer)]
        assert Counter(held) == Counter(quads)
        for peer in cloud.peers.values():
            assert all(peer.zone.has(point_of(quad)) for quad in all_quads(peer))
            numbers = sorted(each.number for each in peer.subscriptions)
            met = [n for n, each in enumerate(patterns) if peer.zone.meets(box_of(each))]
            assert numbers == met


@pytest.mark.parametrize("seed", range(6))
def test_what_is_for_a_box_comes_to_each_peer_that_meets_it_once(seed: int) -> None:
    random = Random(seed)
    taken = Counter[str]()

    class Counting(Peer):
        def take(self, message: Message) -> None:
            taken[self.name] += 1

    cloud = Cloud(TimedNet(0.001), Counting)
    for _ in range(24):
        cloud.join(drawn(random))
    for _ in range(30):
        place = drawn(random)
        box: Box = tuple(text if random.random() < 0.5 else None for text in place)  # type: ignore[assignment]
        start = cloud.peers[random.choice(sorted(cloud.peers))]
        taken.clear()
        cloud.net.act(start.name, partial(start.route, Message("any", box, start.new_id())))
        cloud.net.run()
        meeting = [name for name, peer in cloud.peers.items() if peer.zone.meets(box)]
        assert taken == Counter(meeting)


def all_quads(peer: Peer) -> list[tuple[object, ...]]:
    return [quad for known in peer.quads.by_graph.values() for quad in known]


def point_of(quad: Sequence[object]) -> Point:
    graph, subject, predicate, object_ = quad
    return point(Quad(subject, predicate, object_, graph))  # type: ignore[arg-type]


# rows -------------------------------------------------------------------------------------------

_NODES: Sequence[NamedNode] = [
    NamedNode(_BASE + name) for name in ("baa", "haa", "naa", "taa", "zaa")
]
_PREDICATES = [NamedNode(f"{_BASE}{name}") for name in ("cp", "kp", "vp")]
_VALUES: Sequence[Term] = [
    Literal("gold"),
    Literal("over"),
    Literal(7),
    Literal("gold", language="en"),
]
_OBJECTS: Sequence[Term] = [*_NODES, *_VALUES]


def random_quad(random: Random, event: int) -> Quad:
    graph = NamedNode(f"{_BASE}{letters(Random(event).randrange(_END))}{event}")
    return Quad(
        random.choice(_NODES),
        random.choice(_PREDICATES),
        random.choice(_OBJECTS),
        graph,
    )


def random_event(random: Random, number: int) -> Sequence[Quad]:
    """Few terms, so that values repeat, patterns join, and quads are there twice."""
    quads = [random_quad(random, number) for _ in range(random.randrange(1, 7))]
    return [*quads, *random.choices(quads, k=random.randrange(3))]


def random_pattern(random: Random, number: int = 0) -> Pattern:
    del number
    names = [Variable(f"v{place}") for place in range(3)]
    wild = 0.5
    return (
        Variable("g"),
        random.choice(names) if random.random() < wild else random.choice(_NODES),
        random.choice(names) if random.random() < 0.2 else random.choice(_PREDICATES),
        random.choice(names) if random.random() < wild else random.choice(_OBJECTS),
    )


def random_query(random: Random, number: int) -> tuple[Query, str]:
    patterns = [random_pattern(random) for _ in range(random.randrange(1, 5))]
    names = {each.value for one in patterns for each in one if isinstance(each, Variable)}
    inner = " . ".join(" ".join(map(str, one[1:])) for one in patterns)
    return Query(number, patterns, frozenset(names)), f"SELECT * {{ GRAPH ?g {{ {inner} }} }}"


def expected(query: Query, text: str, events: Iterable[Sequence[Quad]]) -> Counter[str]:
    """The rows of a bare store on each event alone."""
    found = Counter[str]()
    for quads in events:
        store = Store()
        store.extend(quads)
        for row in store.query(text):  # type: ignore[union-attr]
            bindings = {Variable(name): row[name] for name in query.selected}
            found[row_text(query.number, bindings)] += 1
    return found


class Scene:
    """A cloud with a subscriber, and what it was told."""

    def __init__(self, cloud: Cloud, peers: int, random: Random) -> None:
        self.rows = Counter[str]()
        self.cloud = cloud
        for _ in range(peers):
            cloud.join(drawn(random))
        self.home = Home(cloud.peers[random.choice(sorted(cloud.peers))], self._told)
        self.at = self.home._peer.name

    def _told(self, graph: str, rows: Sequence[str]) -> None:
        assert graph
        self.rows.update(rows)


KINDS = {"csma": (Cloud, CsmaPeer), "osma": (Cloud, OsmaPeer), "flooding": (Flood, FloodingPeer)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_rows_are_those_of_a_bare_store(kind: str, seed: int) -> None:
    random = Random(seed)
    make_cloud, make_peer = KINDS[kind]
    scene = Scene(make_cloud(TimedNet(0.001), make_peer), random.randrange(1, 20), random)
    net = scene.cloud.net
    asked = [random_query(random, number) for number in range(8)]
    for query, _ in asked:
        net.act(scene.at, partial(scene.home.subscribe, query))
    net.run()
    events = [random_event(random, number) for number in range(25)]
    for quads in events:
        peer = scene.cloud.peers[random.choice(sorted(scene.cloud.peers))]
        net.post(peer.name, partial(peer.publish, quads), random.random() * 0.02)
    net.run()
    wanted = Counter[str]()
    for query, text in asked:
        wanted += expected(query, text, events)
    assert scene.rows == wanted
    if kind == "osma":
        assert (scene.home.duplicates, scene.home.reconstructions) == (0, 0)


def test_the_random_queries_are_about_something() -> None:
    found = 0
    for seed in range(20):
        random = Random(seed)
        events = [random_event(random, number) for number in range(25)]
        asked = [random_query(random, number) for number in range(8)]
        found += sum(
            expected(*each, events).total() > 0 for each in asked if len(each[0].patterns) > 1
        )
    assert found > 15


@pytest.mark.parametrize("kind", ["csma", "osma"])
@pytest.mark.parametrize("seed", range(15))
def test_what_is_published_behind_a_subscription_that_is_on_its_way_is_told(
    kind: str, seed: int
) -> None:
    random = Random(seed)
    make_cloud, make_peer = KINDS[kind]
    scene = Scene(make_cloud(TimedNet(0.003), make_peer), 16, random)
    net = scene.cloud.net
    asked = [random_query(random, number) for number in range(6)]
    since: dict[int, float] = {}
    published: list[tuple[float, Sequence[Quad]]] = []

    def subscribe(query: Query) -> None:
        since[query.number] = net.begun
        scene.home.subscribe(query)

    def publish(peer: Peer, quads: Sequence[Quad]) -> None:
        published.append((net.begun, quads))
        peer.publish(quads)

    for query, _ in asked:
        net.post(scene.at, partial(subscribe, query), random.random() * 0.02)
    for number in range(30):
        peer = scene.cloud.peers[random.choice(sorted(scene.cloud.peers))]
        call = partial(publish, peer, random_event(random, number))
        net.post(peer.name, call, random.random() * 0.03)
    net.run()
    wanted = Counter[str]()
    for query, text in asked:
        later = [quads for time, quads in published if time >= since[query.number]]
        wanted += expected(query, text, later)
    assert scene.rows == wanted


def test_a_subscription_that_accepts_all_is_told_by_every_quad_and_once_by_osma() -> None:
    for kind, duplicates in (("csma", 4), ("osma", 0)):
        make_cloud, make_peer = KINDS[kind]
        scene = Scene(make_cloud(TimedNet(0.001), make_peer), 12, Random(3))
        pattern = tuple(map(Variable, "gspo"))
        net = scene.cloud.net
        query = Query(0, [pattern], frozenset("g"))
        net.act(scene.at, partial(scene.home.subscribe, query))
        net.run()
        graph = NamedNode(f"{_BASE}mmmm")
        quads = [Quad(node, _PREDICATES[0], node, graph) for node in _NODES]
        net.act("p0", partial(scene.cloud.peers["p0"].publish, quads))
        net.run()
        assert scene.rows == Counter({f"0 g={graph}": 5})
        assert scene.home.duplicates == duplicates
        assert scene.home.reconstructions == (kind == "csma")


def test_an_event_with_a_literal_where_a_subject_would_be_is_no_match() -> None:
    scene = Scene(Cloud(TimedNet(0.001), CsmaPeer), 4, Random(1))
    one, two = _PREDICATES[:2]
    graph, middle, end = Variable("g"), Variable("m"), Variable("e")
    patterns: list[Pattern] = [(graph, _NODES[0], one, middle), (graph, middle, two, end)]
    scene.cloud.net.act(
        scene.at, partial(scene.home.subscribe, Query(0, patterns, frozenset("gme")))
    )
    scene.cloud.net.run()
    quads = [Quad(_NODES[0], one, Literal("gold"), NamedNode(f"{_BASE}q"))]
    scene.cloud.net.act("p0", partial(scene.cloud.peers["p0"].publish, quads))
    scene.cloud.net.run()
    assert not scene.rows


# the net ----------------------------------------------------------------------------------------


def test_work_and_hops_take_simulated_time_and_nodes_work_side_by_side() -> None:
    clock = iter(range(100))
    net = TimedNet(10.0, lambda: float(next(clock)))  # each step takes one or two looks
    noted: list[tuple[str, float]] = []

    def note(name: str) -> None:
        noted.append((name, net.begun))

    def spread() -> None:
        for name in ("b", "c", "b"):
            net.send(name, 5, partial(note, name))

    net.post("a", spread)
    net.run()
    assert noted == [("b", 11.0), ("c", 11.0), ("b", 12.0)]
    assert (net.messages, net.bytes) == (3, 15)
    assert dict(net.work_s) == {"a": 1.0, "b": 2.0, "c": 1.0}
    assert net.now == 13.0  # when the last of them was free


def test_marks_have_their_hops_and_what_is_due_later_waits() -> None:
    net = TimedNet(1.0)
    net.post("a", lambda: net.send("b", 1, lambda: net.send("c", 1, lambda: net.mark("there"))))
    net.post("a", lambda: net.mark("late"), 60.0)
    net.run(until_s=30.0)
    assert [(each.what, each.at_s, each.hops) for each in net.marks] == [("there", 2.0, 2)]
    assert net.now == 30.0
    net.run()
    assert [each.at_s for each in net.marks] == [2.0, 60.0]
