"""A stream packs what waits, keeps to its bounds, and loses and repeats nothing by itself."""

from pyoxigraph import Literal, NamedNode, Quad

from gateway.federation.limits import OutgoingLimits
from gateway.federation.stream import OutgoingStream
from gateway.federation.wire import Batch, Part


class Wire:
    """What was sent."""

    def __init__(self, **limits: int) -> None:
        self.sent: list[Batch] = []
        self.stream = OutgoingStream(self._take, OutgoingLimits(**limits))
        self.stream.begin("life")

    def _take(self, payload: bytes) -> None:
        self.sent.append(Batch.decode(payload))

    def tell(self, *numbers: int) -> None:
        for number in numbers:
            quad = Quad(NamedNode("urn:s"), NamedNode("urn:p"), Literal(number))
            self.stream.tell(Part("delta", {"n": number}, [quad]))

    @property
    def told(self) -> list[list[int]]:
        """The numbers of each batch."""
        return [[part.number("n") for part in batch.parts] for batch in self.sent]


def test_the_first_goes_at_once_and_what_comes_meanwhile_together() -> None:
    wire = Wire()
    wire.tell(1, 2, 3)
    assert wire.told == [[1]]
    wire.stream.acknowledge(0)
    assert wire.told == [[1], [2, 3]]
    assert [batch.number for batch in wire.sent] == [0, 1]
    assert {batch.life for batch in wire.sent} == {"life"}
    wire.stream.acknowledge(1)
    assert not wire.stream.is_awaited
    wire.tell(4)
    assert wire.told[-1] == [4]


def test_what_waits_is_sent_when_it_is_enough_or_when_asked() -> None:
    wire = Wire()
    wire.tell(*range(65))
    assert [len(each) for each in wire.told] == [1, 64]
    wire.tell(65)
    assert wire.stream.waits
    wire.stream.flush()
    assert wire.told[-1] == [65]
    assert not wire.stream.waits


def test_no_more_is_on_its_way_than_may_be() -> None:
    wire = Wire(batches=2)
    wire.tell(1)
    for number in (2, 3, 4):
        wire.tell(number)
        wire.stream.flush()
    assert wire.told == [[1], [2]]
    assert (wire.stream.has_room, wire.stream.waiting) == (False, 2)
    wire.stream.acknowledge(0)
    wire.stream.flush()
    assert wire.told[2:] == [[3, 4]]
    wire = Wire(bytes=1)
    wire.tell(1, 2)
    wire.stream.flush()
    assert wire.told == [[1]]


def test_acknowledgements_that_were_never_sent_for_change_nothing() -> None:
    wire = Wire()
    wire.stream.acknowledge(99)
    wire.tell(1)
    wire.stream.acknowledge(99)
    wire.stream.acknowledge(0)
    wire.tell(2)
    assert wire.told == [[1], [2]]


def test_a_new_life_forgets_what_waited() -> None:
    wire = Wire()
    wire.tell(1, 2)
    wire.stream.begin("another")
    wire.tell(3)
    assert wire.told == [[1], [3]]
    assert (wire.sent[-1].life, wire.sent[-1].number) == ("another", 0)
