"""What is asked of whom: of those in a scope alone, once, and of the others nothing."""

from collections import Counter
from random import Random

import pytest
from pyoxigraph import Literal

from gateway.engine import Notification, SubscribeRequest
from gateway.engine.spu import EVENT
from gateway.federation.carrier import Channel
from gateway.federation.limits import NEAR
from gateway.federation.loopback import LoopbackNet
from gateway.federation.member import MemberSettings
from gateway.federation.wire import Batch, Part
from tests.gateway.federation.seeded_net import Gateways

NAMES = tuple(f"g{number:02}" for number in range(14))
SCOPE = frozenset(NAMES[10:13])
HOME = "g00"


class Counting(LoopbackNet):
    """Counts what kinds of parts are asked of whom."""

    def __init__(self) -> None:
        super().__init__(Random(1))
        self.asked = Counter[tuple[str, str]]()
        self.told = Counter[str]()

    def send(self, link: tuple[str, str, Channel], payload: bytes) -> None:
        sender, to, channel = link
        if channel is Channel.NEEDS and sender == HOME:
            self.asked.update((to, part.kind) for part in Batch.decode(payload).parts)
        if channel is Channel.DATA and to == HOME:
            kinds = Counter(part.kind for part in Batch.decode(payload).parts)
            self.told[sender] += kinds["delta"] + kinds["event"]
        super().send(link, payload)


@pytest.fixture
def net() -> Counting:
    return Counting()


@pytest.fixture
def gateways(net: Counting) -> Gateways:
    made = Gateways((), Random(1), lambda _: MemberSettings())
    made.net = net
    for name in NAMES:
        made.add(name)
    made.settle()
    net.asked.clear()
    net.told.clear()
    return made


def request(text: str, mode: str = "union") -> SubscribeRequest:
    return SubscribeRequest(text, mode=mode)


def test_those_in_a_scope_are_asked_and_tell(gateways: Gateways, net: Counting) -> None:
    gateways.subscribe(HOME, request("SELECT * { ?a <urn:p> ?b }"), SCOPE, 1000)
    assert {name for name, _ in net.asked} == SCOPE
    for number, name in enumerate(NAMES):
        gateways.update(name, f"INSERT DATA {{ <urn:s> <urn:p> {number} }}")
    gateways.settle()
    (subscriber,) = gateways.subscribers[HOME]
    assert +net.told == Counter(SCOPE)
    assert subscriber.vector.keys() == SCOPE
    assert subscriber.told == 1 + len(SCOPE)


def test_what_several_ask_is_asked_once_and_kept_for_the_last(
    gateways: Gateways, net: Counting
) -> None:
    query = request("SELECT * { ?a <urn:p> ?b }")
    wider = frozenset((*SCOPE, NAMES[13]))
    gateways.subscribe(HOME, query, SCOPE, 1000)
    net.run()
    net.asked.clear()
    gateways.subscribe(HOME, query, wider, 1000)
    assert {name for name, _ in net.asked} == {NAMES[13]}
    first = gateways.subscribers[HOME].pop(0)
    net.asked.clear()
    gateways.members[HOME].unsubscribe(first.spuid)
    assert not net.asked
    gateways.unsubscribe(HOME)
    assert net.asked == Counter((name, "needs") for name in wider)


def test_an_event_query_is_a_message_to_each_in_its_scope(
    gateways: Gateways, net: Counting
) -> None:
    told: list[Notification] = []
    member = gateways.members[HOME]
    for number in range(3):  # the first has streams begin, the others wait for that
        query = request(f"SELECT * {{ ?a <urn:p{number}> ?b }}", EVENT)
        asked = member.ask_events(query, told.append, SCOPE)
    net.run()
    assert not member.missing_events(asked)
    assert net.asked == Counter((name, kind) for name in SCOPE for kind in ("hello", "needs"))
    net.asked.clear()
    late = member.ask_events(request("SELECT * { ?a <urn:q> ?b }", EVENT), told.append, SCOPE)
    assert net.asked == Counter((name, "needs") for name in SCOPE)
    net.run()
    for name in NAMES:
        gateways.update(name, "INSERT DATA { <urn:s> <urn:p1> 1 ; <urn:p2> 2 ; <urn:q> 3 }")
    gateways.settle()
    assert +net.told == Counter(SCOPE)
    rows = Counter(row[1] for each in told for row in each.results.added)
    assert rows == {Literal(number): len(SCOPE) for number in (1, 2, 3)}
    net.asked.clear()
    member.end_events(late)
    assert net.asked == Counter((name, "needs") for name in SCOPE)


def test_one_that_is_given_up_before_the_streams_begin_is_asked_no_more(
    gateways: Gateways, net: Counting
) -> None:
    member = gateways.members[HOME]
    first = member.ask(request("SELECT * { ?a <urn:p> ?b }"), SCOPE)
    member.ask(request("SELECT * { ?a <urn:q> ?b }"), SCOPE)
    member.give_up(first)
    gateways.settle()
    for name in SCOPE:
        assert member.known[name].entries == 1
        gateways.update(name, "INSERT DATA { <urn:s> <urn:p> 1 }")
        gateways.update(name, "INSERT DATA { <urn:s> <urn:q> 1 }")
    gateways.settle()
    assert +net.told == Counter(SCOPE)


def test_a_stream_that_was_never_asked_for_is_not_followed(
    gateways: Gateways, net: Counting
) -> None:
    home, stranger = gateways.members[HOME], "g13"
    assert stranger not in home.known
    members = {"ask": 0, "version": 0, "position": "1-0.0"}
    payload = Batch("evil", 0, (Part("snapshot", members),)).encode()
    net.send((stranger, HOME, Channel.DATA), payload)
    net.run()
    assert not home.known[stranger].is_following
    assert home.known[stranger].position is None


def test_of_many_that_nobody_needs_a_few_are_kept_in_touch_with() -> None:
    names = [f"g{number:02}" for number in range(20)]
    gateways = Gateways(names, Random(1), lambda _: MemberSettings())
    gateways.settle()
    for place, name in enumerate(names):
        known = gateways.members[name].known
        following = {names[(place + step) % 20] for step in range(1, NEAR + 1)}
        assert following <= known.keys()
        assert gateways.members[name].heard == set(names) - {name}
