"""What a member has not acknowledged of the log: never less, and nothing once it has all."""

from pyoxigraph import Literal, NamedNode, Quad

from gateway.federation.limits import OutgoingLimits
from gateway.federation.stream import OutgoingStream
from gateway.federation.watching.backlog import Backlog
from gateway.federation.wire import Part

QUAD = Quad(NamedNode("urn:s"), NamedNode("urn:p"), Literal("o"))


class Told:
    """A stream, and the log beside it, of which each event is ten bytes."""

    def __init__(self) -> None:
        self.stream = OutgoingStream(lambda _: None, OutgoingLimits(batches=2))
        self.stream.begin("one")
        self.backlog = Backlog()
        self.appended = 0

    def tell(self, count: int) -> None:
        for _ in range(count):
            self.appended += 10
            self.stream.tell(Part("event", {}, [QUAD]))

    @property
    def unheard(self) -> int:
        self.backlog.look(self.stream, self.appended)
        return self.appended - self.backlog.arrived


def test_what_is_acknowledged_is_off_at_the_next_look() -> None:
    told = Told()
    told.tell(3)
    assert told.unheard == 30
    told.stream.acknowledge(0)
    assert told.unheard == 30, "two parts wait in the queue"
    told.stream.flush()
    told.stream.acknowledge(1)
    assert told.unheard == 0


def test_while_more_comes_than_is_acknowledged_it_is_as_of_the_look_before() -> None:
    told = Told()
    told.tell(1)
    assert told.unheard == 10
    for number in range(5):
        told.tell(1)
        told.stream.acknowledge(number)
        told.stream.flush()
        assert told.unheard == 10
    told.stream.acknowledge(5)
    assert told.unheard == 0


def test_what_an_ended_stream_had_on_its_way_counts_until_the_next_one_has_told_it() -> None:
    told = Told()
    assert told.unheard == 0
    told.tell(2)
    assert told.unheard == 20
    told.stream.end()
    assert told.unheard == 20
    told.stream.begin("two")
    for _ in range(2):  # from the log, so it is no longer for that
        told.stream.tell(Part("event", {}, [QUAD]))
    assert told.unheard == 20
    told.stream.flush()
    told.stream.acknowledge(1)
    assert told.unheard == 0
