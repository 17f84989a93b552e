"""`bench federation fleet`, small: what is asserted holds, and a fault would be seen."""

from collections.abc import Iterator
from functools import partial

import pytest

from bench.federation import fleet as part
from bench.federation.fleet import counted
from bench.federation.simulated.fleet import Fleet, Size
from bench.federation.simulated.members import MemberNet
from bench.federation.simulated.net import TimedNet
from gateway.federation.carrier import Channel, Received

MEMBERS = {
    "gateways",
    "scope",
    "topology",
    "announcements",
    "announcement_bytes",
    "entries",
    "summary_bytes",
    "messages_per_event",
    "flooding_per_event",
    "sessions",
    "lost",
    "doubled",
}


@pytest.mark.parametrize(
    ("size", "sessions"),
    [(Size(14, 4, "mesh"), 13), (Size(14, 4, "hub"), 1), (Size(14, 14, "mesh"), 13)],
)
def test_nothing_is_lost_or_doubled_and_every_answer_is_that_of_all_data(
    size: Size, sessions: int
) -> None:
    found = counted(size, seed=3, updates=60)
    assert list(found.found()) == list(found.wanted())
    members = found.members()
    assert set(members) == MEMBERS
    assert members["announcements"] == size.scope - 1
    assert (members["lost"], members["doubled"]) == (0, 0)
    assert members["sessions"] == sessions
    assert 0 < members["messages_per_event"] < members["flooding_per_event"] == 13
    assert sum(len(told) > 200 for told, _ in found.answers) > 5


def test_all_sizes_are_one_experiment() -> None:
    found = part.measure([3])
    assert found.matches
    sizes = found.members["sizes"]
    assert isinstance(sizes, list)
    assert [(each["scope"], each["topology"]) for each in sizes] == [(3, "mesh"), (3, "hub")]


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    made = Fleet(Size(4, 4, "mesh"), 1)
    yield made
    made.close()


def spoken(fleet: Fleet, name: str) -> None:
    for _ in range(10):
        fleet.say(name)
    fleet.net.run()


def test_a_client_that_does_not_say_what_it_had_loses(fleet: Fleet) -> None:
    client = fleet.clients[0]
    speaker = next(name for name in fleet.names if name != client.home)
    fleet.go(client.home)
    spoken(fleet, speaker)
    client.last.clear()
    fleet.come(client.home)
    fleet.settle()
    lost, doubled = fleet.faults()
    assert (lost > 0, doubled) == (True, 0)
    assert any(told != wanted for told, wanted in fleet.answers())


def test_an_event_that_is_told_twice_is_seen(fleet: Fleet) -> None:
    client = fleet.clients[0]
    spoken(fleet, next(name for name in fleet.names if name != client.home))
    assert fleet.faults() == (0, 0)
    client.had.update([next(iter(client.had))])
    assert fleet.faults() == (0, 1)


def test_a_union_that_misses_a_row_is_seen(fleet: Fleet) -> None:
    fleet.gateways[fleet.names[1]].update("INSERT DATA { <urn:r> <urn:warm> 20 }")
    fleet.gateways[fleet.names[2]].update("INSERT DATA { <urn:r> <urn:empty> true }")
    fleet.net.run()
    assert all(told == wanted for told, wanted in fleet.answers())
    (row,) = fleet.unions[0].rows
    fleet.unions[0].rows[row] = 0
    assert sum(told != wanted for told, wanted in fleet.answers()) == 1


class Ends:
    """Three that listen, and what they were told."""

    def __init__(self, hub: str | None) -> None:
        self.net = TimedNet(1.0)
        self.links = MemberNet(self.net, hub)
        self.told: list[str] = []
        self.carriers = {name: self.links.carrier(name) for name in "abc"}
        for name, carrier in self.carriers.items():
            carrier.listen(partial(self._heard, name), partial(self._presence, name))

    def news(self) -> list[str]:
        self.net.run()
        found, self.told = sorted(self.told), []
        return found

    def send(self, one: str, other: str) -> None:
        send = partial(self.carriers[one].send, other, Channel.DATA, b"x")
        self.net.act(one, send)

    def _heard(self, name: str, message: Received) -> None:
        self.told.append(f"{name}<{message.sender} {self.net.now:g}")

    def _presence(self, name: str, other: str, is_up: bool) -> None:
        self.told.append(f"{name}{'+-'[not is_up]}{other}")


def test_members_come_and_go_and_are_cut_off() -> None:
    ends = Ends(None)
    assert ends.news() == ["a+b", "a+c", "b+a", "b+c", "c+a", "c+b"]
    ends.links.split(["a", "b"])
    assert ends.news() == ["a-c", "b-c", "c-a", "c-b"]
    ends.send("a", "b")
    ends.send("a", "c")
    assert ends.news() == ["b<a 1"]
    ends.links.mend()
    assert ends.news() == ["a+c", "b+c", "c+a", "c+b"]
    ends.send("a", "c")
    ends.carriers["c"].close()  # with what is on its way to it
    assert ends.news() == ["a-c", "b-c"]
    assert ends.links.sessions("a") == 1


def test_a_hub_passes_on_and_without_it_nobody_is_heard() -> None:
    ends = Ends("a")
    ends.news()
    ends.send("b", "c")
    assert ends.news() == ["c<b 2"]
    assert (ends.net.messages, ends.links.messages[Channel.DATA]) == (2, 1)
    assert (ends.links.sessions("a"), ends.links.sessions("b")) == (2, 1)
    ends.links.split(["b"])
    assert ends.news() == ["a-b", "b-a", "b-c", "c-b"]
    ends.links.mend()
    ends.news()
    ends.carriers["a"].close()
    assert ends.news() == ["b-a", "b-c", "c-a", "c-b"]
