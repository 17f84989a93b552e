"""Union oracle: what a federated subscription is told is the query on the merge, at each vector.

Four gateways on a carrier that delays, loses, repeats, cuts and restarts by a seed. Equal vectors,
equal answers; vectors only grow; in the end everybody knows everything.
"""

from random import Random

import pytest

from gateway.engine import SubscribeRequest
from gateway.engine.spu import EACH, UNION
from gateway.errors import GatewayError
from gateway.federation.limits import OutgoingLimits
from gateway.federation.loopback import Misfortunes
from gateway.federation.member import MemberSettings
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import reads_clock
from tests.gateway.engine.query_writer import EDGES, GRAPHS, IRIS, QueryWriter
from tests.gateway.engine.update_writer import UpdateWriter
from tests.gateway.federation.seeded_net import Gateways

pytestmark = pytest.mark.property

NAMES = ("attic", "cellar", "hall", "yard")
_MOST_QUADS = 150

_P, _Q, *_ = EDGES
_QUERIES = (
    f"SELECT * {{ ?a {_P} ?b }}",
    f"SELECT ?a {{ ?a {_P} ?b . ?b {_Q} ?c }}",
    f"SELECT DISTINCT ?a {{ ?a {_P} ?b . ?b {_P} ?c }}",
    f"SELECT * {{ ?a {_P} ?b OPTIONAL {{ ?b {_Q} ?c }} }}",
    f"SELECT ?b (COUNT(*) AS ?n) {{ ?a {_P} ?b }} GROUP BY ?b",
    f"SELECT * {{ ?a {_P} ?b FILTER NOT EXISTS {{ ?a {_Q} ?c }} }}",
    f"SELECT * {{ {{ ?a {_P} ?b }} UNION {{ ?b {_Q} ?a }} }}",
    f"SELECT * {{ ?a {_P}+ ?b }}",
    f"SELECT * {{ ?a {_P} ?b MINUS {{ ?a {_Q} ?b }} }}",
    f"ASK {{ ?a {_P}/{_Q} ?b }}",
    f"SELECT ?g ?a {{ GRAPH ?g {{ ?a {_P} ?b }} }}",
    f"SELECT * {{ {IRIS[0]} ?p ?b . ?c {_P} ?b }}",
    f"CONSTRUCT {{ ?b <urn:inverse> ?a }} WHERE {{ ?a {_P} ?b }}",
    f"SELECT (SUM(?v) AS ?sum) {{ ?a {_P} ?v }}",
)


def play(seed: int, steps: int = 60) -> tuple[int, int]:
    """Random misfortunes, requests and subscriptions; how many notifications and resyncs."""
    random = Random(seed)
    limits = OutgoingLimits(
        batches=random.choice((1, 4, 256)),
        quads=random.choice((5, 100_000)),
        part_quads=random.choice((1, 4, 512)),
        at_once=random.choice((1, 2, 10_000)),
    )
    settings = MemberSettings(outgoing=limits, drop_s=0.0)
    gateways = Gateways(NAMES, random, lambda _: settings)
    gateways.net.misfortunes = Misfortunes(random.choice((0, 0.02, 0.2)), random.choice((0, 0.1)))
    for _ in range(steps):
        _act(gateways, random)
    gateways.net.misfortunes = Misfortunes()
    gateways.settle()
    resyncs = 0
    for name, member in gateways.members.items():
        assert not member.links_closed, member.links_closed
        resyncs += sum(replica.resyncs for replica in member.known.values())
        for subscriber in gateways.subscribers[name]:
            now = {each: gateways.now(each) for each in subscriber.scope}
            subscriber.compare(now)
    for engine in gateways.engines.values():
        engine.close()
    return gateways.told, resyncs


def _act(gateways: Gateways, random: Random) -> None:
    one, other = random.sample(NAMES, 2)
    match random.choices(range(7), (14, 20, 6, 1, 2, 0.4, 2))[0]:
        case 0:
            _update(gateways, one, random)
        case 1:
            for _ in range(random.randrange(12)):
                gateways.net.step()
        case 2:
            _subscribe(gateways, one, random)
        case 3:
            gateways.unsubscribe(one)
        case 4:
            net = gateways.net
            (net.mend if net.is_cut(one, other) else net.cut)(one, other)
        case 5:
            gateways.restart(one)
        case _:
            gateways.tick()


def _update(gateways: Gateways, name: str, random: Random) -> None:
    text = data(random) if random.random() < 0.6 else UpdateWriter(random).request(2)
    if len(gateways.engines[name].store) > _MOST_QUADS:
        text = "CLEAR ALL"
    try:
        gateways.update(name, text)
    except GatewayError:  # what no store takes
        return


def data(random: Random) -> str:
    """A few quads, of which others are likely to have some too."""
    quads = " ".join(
        _in_graph(random, f"{random.choice(IRIS)} {random.choice(EDGES)} {_object(random)} .")
        for _ in range(random.randrange(1, 6))
    )
    return f"{random.choice(('INSERT', 'INSERT', 'DELETE'))} DATA {{ {quads} }}"


def _in_graph(random: Random, triple: str) -> str:
    return triple if random.random() < 0.8 else f"GRAPH {random.choice(GRAPHS)} {{ {triple} }}"


def _object(random: Random) -> str:
    return random.choice((*IRIS, *IRIS, "1", "2", "'v'"))


def _subscribe(gateways: Gateways, name: str, random: Random) -> None:
    text = random.choice(_QUERIES) if random.random() < 0.5 else QueryWriter(random).query()
    if reads_clock(parse_query(text)):  # that of another moment
        return
    scope = None
    if random.random() < 0.3:
        scope = frozenset(random.sample(NAMES, random.randrange(1, 4)))
    mode = EACH if random.random() < 0.2 else UNION
    absent = "drop" if random.random() < 0.2 else "keep"
    request = SubscribeRequest(text, mode=mode, absent=absent)
    try:
        gateways.subscribe(name, request, scope, random.choice((0, 5, 400)))
    except GatewayError:  # too wide, or what cannot be subscribed
        return


@pytest.mark.parametrize("seed", range(25))
def test_union_is_the_query_on_the_merge(seed: int) -> None:
    play(seed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_union_is_the_query_on_the_merge_in_the_long_run() -> None:
    for seed in range(1000, 3000):
        play(seed, steps=120)


def test_the_plays_are_about_something() -> None:
    played = [play(seed, steps=90) for seed in range(120, 130)]
    assert sum(told for told, _ in played) > 100
    assert sum(resyncs for _, resyncs in played) > 0
