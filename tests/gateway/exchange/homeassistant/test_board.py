"""What is announced, told, told again and taken back, without a broker."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal

from gateway.exchange.homeassistant.board import MOST_EVENT_TYPES, Board
from gateway.exchange.homeassistant.entity import Described, Entity, State
from gateway.exchange.homeassistant.states import Form, Kind
from tests.gateway.exchange.homeassistant.houses import TOPICS, house, literal


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def sensor(id_: str = "test-1") -> Entity:
    return Entity(id_, "sensor", {"name": "a"}, Form(Kind.NUMBER, None))


def described(*entities: Entity, value: int = 1) -> Described:
    states = {each.id: State(literal(str(value), "integer")) for each in entities}
    return Described({each.id: each for each in entities}, states)


def test_an_entity_is_announced_once_and_again_when_it_changes() -> None:
    board, one = Board(TOPICS, 0.0), sensor()
    assert [out.topic for out in board.adopt(described(one))] == [TOPICS.config("sensor", one.id)]
    assert list(board.adopt(described(one))) == []
    other = replace(one, members={"name": "b"})
    [out] = board.adopt(described(other))
    assert b'"name":"b"' in out.payload
    assert len(list(board.anew())) == 1


def test_what_is_not_described_any_more_is_no_topic_of_ours() -> None:
    board, one, other = Board(TOPICS, 0.0), sensor("test-1"), sensor("test-2")
    list(board.adopt(described(one, other)))
    assert len(board.topics) == 4
    list(board.adopt(described(one)))
    assert board.topics == {TOPICS.config("sensor", one.id), TOPICS.state(one.id)}
    list(board.adopt(described(replace(one, component="binary_sensor"))))
    assert TOPICS.config("sensor", one.id) not in board.topics


def test_a_state_is_told_at_once_then_the_newest_when_its_time_has_come() -> None:
    clock = Clock()
    board, one = Board(TOPICS, 1.0, clock), sensor()
    list(board.adopt(described(one)))
    assert [out.payload for out in board.due()] == [b'{"value":"1","available":"online"}']
    for value in (2, 3):
        board.tell(one.id, State(literal(str(value), "integer")))
    assert list(board.due()) == []
    assert board.wait_s == 1.0
    clock.now = 1.0
    assert [out.payload for out in board.due()] == [b'{"value":"3","available":"online"}']
    assert board.wait_s is None
    board.tell(one.id, State(literal("3", "integer")))
    assert list(board.due()) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.4, 1.0])), max_size=40))
def test_the_last_state_is_always_told_and_none_twice_in_a_row(
    readings: list[tuple[int, float]],
) -> None:
    clock = Clock()
    board, one = Board(TOPICS, 1.0, clock), sensor()
    list(board.adopt(described(one)))
    told, times = [out.payload for out in board.due()], [0.0]
    last = 1
    for value, later_s in readings:
        clock.now += later_s
        last = value
        board.tell(one.id, State(literal(str(value), "integer")))
        for out in board.due():
            told.append(out.payload)
            times.append(clock.now)
    clock.now += 1.0
    told += [out.payload for out in board.due()]
    assert told[-1] == f'{{"value":"{last}","available":"online"}}'.encode()
    assert all(one != other for one, other in pairwise(told))
    assert all(late - soon > 0.999 for soon, late in pairwise(times))


def test_a_value_of_another_kind_or_unit_is_another_announcement() -> None:
    board, one = Board(TOPICS, 0.0), sensor()
    list(board.adopt(described(one)))
    assert board.read(one.id, literal("2", "integer"), None, is_alive=True)
    assert not board.read(one.id, Literal("broken"), None, is_alive=True)
    assert not board.read(one.id, literal("2", "integer"), "urn:unit", is_alive=True)


def test_words_of_an_event_are_learned_up_to_a_bound_and_stay() -> None:
    board = Board(TOPICS, 0.0)
    one = Entity("test-1", "event", {"event_types": ["w0"]}, Form(Kind.WORD), is_event=True)
    list(board.adopt(described(one)))
    for number in range(MOST_EVENT_TYPES + 5):
        announced, told = board.event(one.id, Literal(f"w{number}"))
        assert (told is None) == (number >= MOST_EVENT_TYPES)
        assert bool(announced) == (0 < number < MOST_EVENT_TYPES)
    assert list(board.adopt(described(one))) == []
    assert list(board.due()) == []


def test_no_message_is_longer_than_its_share_of_the_budget() -> None:
    board = Board(TOPICS, 0.0)
    sent = [*board.adopt(house()), *board.due()]
    assert max(len(out.payload) + len(out.topic) for out in sent) < 4096
