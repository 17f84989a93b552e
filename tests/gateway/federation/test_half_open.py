"""A link is open at one end alone: it is opened again, and nothing is lost."""

from collections.abc import Set
from random import Random

import pytest
from pyoxigraph import Literal

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.federation.carrier import Channel, Received
from gateway.federation.limits import HEARD_AWAY, SAID_AGAIN, SILENT, SILENT_LONGEST
from gateway.federation.loopback import LoopbackNet
from gateway.federation.member import Member
from gateway.federation.watching.half_open import HalfOpen
from gateway.journal.record import Origin

NOBODY: Set[str] = frozenset()
HALL = frozenset({"hall"})


@pytest.mark.parametrize(("away", "unheard"), [("source", "home"), ("home", "source")])
def test_what_was_stated_meanwhile_comes_once(away: str, unheard: str) -> None:
    """`away` is away for the other, which says something that does not come."""
    net = LoopbackNet(Random(1))
    engines = {name: Engine.open() for name in ("source", "home")}
    members = {}
    for name, engine in engines.items():
        engine.events.places.follow(Origin(name), 1, lambda: None)
        member = members[name] = Member(name, engine, net.carrier(name))
        engine.events.watcher = member.changed
        member.start()
    told: list[Notification] = []
    home = members["home"]
    asked = home.ask(SubscribeRequest("SELECT ?v { ?s <urn:p> ?v }"))
    net.run()
    told.append(home.begin(asked, told.append))

    def ticks(count: int) -> None:
        for _ in range(count):
            for member in members.values():
                member.tick()
            net.run()

    ticks(SAID_AGAIN)
    net.leave_half_open(unheard, away)
    engines["source"].update("INSERT DATA { <urn:s> <urn:p> 1 }")
    ticks(HEARD_AWAY * SAID_AGAIN + SAID_AGAIN)
    engines["source"].update("INSERT DATA { <urn:s> <urn:p> 2 }")
    net.run()
    results = [each.results for each in told]
    values = [str(term) for each in results for row in each.added for term in row]
    assert sorted(values) == [str(Literal(1)), str(Literal(2))]
    assert not any(each.removed for each in results)
    assert all(member.attendance.up for member in members.values())


def after(link: HalfOpen, ticks: int, *, up: Set[str], heard: Set[str] = NOBODY) -> None:
    for _ in range(ticks):
        for name in heard:
            link.heard(name)
        link.tick(up, HALL)


def test_who_is_up_and_silent_is_dialled_again_ever_more_seldom() -> None:
    renewed: list[str] = []
    link = HalfOpen(renewed.append)
    after(link, SILENT - 1, up=HALL)
    assert renewed == []
    after(link, 1, up=HALL)
    assert renewed == ["hall"]
    after(link, 2 * SILENT - 1, up=HALL)
    assert len(renewed) == 1
    after(link, 1, up=HALL)
    assert len(renewed) == 2
    after(link, 10 * SILENT_LONGEST, up=HALL)
    assert 10 <= len(renewed) - 2 <= 14
    after(link, 1, up=HALL, heard=HALL)
    renewed.clear()
    after(link, SILENT, up=HALL)
    assert renewed == ["hall"]


def test_who_speaks_or_need_not_is_left_alone() -> None:
    renewed: list[str] = []
    link = HalfOpen(renewed.append)
    for _ in range(10):
        after(link, SILENT - 1, up=HALL)
        after(link, 1, up=HALL, heard=HALL)
    for _ in range(10 * SILENT):
        link.tick(HALL | {"attic"}, HALL)
        link.heard("hall")
    after(link, 10 * SILENT, up=NOBODY)
    assert renewed == []


def test_what_was_on_its_way_when_a_member_went_renews_nothing() -> None:
    renewed: list[str] = []
    link = HalfOpen(renewed.append)
    for _ in range(10):
        after(link, HEARD_AWAY - 1, up=NOBODY, heard=HALL)
        after(link, 1, up=HALL)
    assert renewed == []
    after(link, HEARD_AWAY, up=NOBODY, heard=HALL)
    assert renewed == ["hall"]


def test_what_comes_of_who_has_gone_is_not_read_and_closes_nothing() -> None:
    """Its keys may no longer hold."""
    net = LoopbackNet(Random(1))
    engine = Engine.open()
    engine.events.places.follow(Origin("source"), 1, lambda: None)
    member = Member("source", engine, net.carrier("source"))
    member.presence("hall", True)
    member.presence("hall", False)
    member.receive(Received("hall", Channel.DATA, b"no batch"))
    assert member.links_closed == {}
    member.presence("hall", True)
    member.receive(Received("hall", Channel.DATA, b"no batch"))
    assert list(member.links_closed) == ["hall"]
