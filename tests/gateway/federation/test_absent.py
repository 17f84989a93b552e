"""What is told while a member is away: its last state, or nothing of it; how old answers are."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.federation.loopback import LoopbackNet
from gateway.federation.member import Member, MemberSettings
from gateway.journal.event_position import EventPosition
from gateway.journal.record import Origin

QUERY = "SELECT ?o { ?s <urn:p> ?o }"
DROP_S = 30.0


class House:
    """Three members, and a clock that stands."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.net = LoopbackNet(Random(2))
        self.engines: dict[str, Engine] = {}
        self.members: dict[str, Member] = {}
        for name in ("attic", "cellar", "hall"):
            engine = self.engines[name] = Engine.open()
            engine.events.places.follow(Origin(name), 1, lambda: None)
            settings = MemberSettings(drop_s=DROP_S)
            member = Member(name, engine, self.net.carrier(name), settings, Random(5))
            member.attendance.steady = lambda: self.now_s
            member.attendance.now = lambda: int(self.now_s * 1e6)
            engine.events.watcher = member.changed
            self.members[name] = member
            member.start()
        self.net.run()

    @property
    def hall(self) -> Member:
        return self.members["hall"]

    def state(self, name: str, value: int) -> None:
        self.engines[name].update(f"INSERT DATA {{ <urn:{name}> <urn:p> {value} }}")
        self.settle()

    def settle(self) -> None:
        for _ in range(3):
            for member in self.members.values():
                member.tick()
            self.net.run()


class Told:
    """What a subscriber was told, added up."""

    def __init__(self) -> None:
        self.notifications: list[Notification] = []
        self.values: list[str] = []

    def __call__(self, notification: Notification) -> None:
        self.notifications.append(notification)
        for row in notification.results.added:
            self.values.append(" ".join(str(each.value) for each in row))  # type: ignore[union-attr]
        for row in notification.results.removed:
            self.values.remove(" ".join(str(each.value) for each in row))  # type: ignore[union-attr]
        self.values.sort()


@contextmanager
def house() -> Iterator[House]:
    made = House()
    yield made
    for engine in made.engines.values():
        engine.close()


def subscribed(made: House, **members: str) -> Told:
    told = Told()
    asked = made.hall.ask(SubscribeRequest(QUERY, **members))  # type: ignore[arg-type]
    made.net.run()
    assert not made.hall.missing(asked)
    told(made.hall.begin(asked, told))
    return told


def test_of_who_is_away_the_last_state_stays_with_since_when() -> None:
    with house() as made:
        made.state("attic", 1)
        told = subscribed(made)
        made.net.cut("attic", "hall")
        made.now_s += 10 * DROP_S
        made.state("cellar", 2)
        assert told.values == ["1", "2"]
        place = told.notifications[-1].federation
        assert place is not None
        assert place.stale == {"attic": 1_000_000_000}
        made.net.mend("attic", "hall")
        made.state("cellar", 3)
        place = told.notifications[-1].federation
        assert place is not None
        assert place.stale is None
        assert told.values == ["1", "2", "3"]


def test_who_is_away_for_long_leaves_and_comes_back_where_that_is_asked_for() -> None:
    for mode in ("union", "each"):
        with house() as made:
            made.state("attic", 1)
            made.state("hall", 2)
            told = subscribed(made, absent="drop", mode=mode)
            name = {"union": "", "each": " attic"}[mode]
            own = {"union": "2", "each": "2 hall"}[mode]
            assert told.values == [f"1{name}", own]
            made.net.cut("attic", "hall")
            made.settle()
            assert told.values == [f"1{name}", own]
            made.now_s += DROP_S
            made.settle()
            assert told.values == [own]
            place = told.notifications[-1].federation
            assert place is not None
            assert set(place.positions) == {"cellar", "hall"}
            made.engines["attic"].update("INSERT DATA { <urn:s> <urn:p> 4 }")
            made.net.mend("attic", "hall")
            made.settle()
            assert told.values == [f"1{name}", own, f"4{name}"]


def test_an_answer_waits_for_the_position_that_it_is_to_be_after() -> None:
    with house() as made:
        made.state("attic", 1)
        made.net.cut("attic", "hall")
        made.engines["attic"].update("INSERT DATA { <urn:s> <urn:p> 2 }")
        position = made.members["attic"].position
        asked = made.hall.ask(SubscribeRequest(QUERY, after=(("attic", position),)))
        made.settle()
        assert made.hall.missing(asked) == {"attic"}
        assert "attic" not in made.hall.asking.shares(asked)
        made.net.mend("attic", "hall")
        made.settle()
        assert not made.hall.missing(asked)
        later = EventPosition(position.epoch, position.sequence, position.request + 1)
        never = made.hall.ask(SubscribeRequest(QUERY, after=(("attic", later),)))
        made.settle()
        assert made.hall.missing(never) == {"attic"}


def test_a_member_that_was_never_there_is_missing() -> None:
    with house() as made:
        made.hall.attendance.expect(["yard"])
        asked = made.hall.ask(SubscribeRequest(QUERY))
        made.settle()
        assert made.hall.missing(asked) == {"yard"}
        assert [each.name for each in made.hall.status()] == ["attic", "cellar", "yard"]
        assert [each.state for each in made.hall.status()] == ["up", "up", "away"]
