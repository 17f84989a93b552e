"""What is kept to be sent again: its memory, who gives way, and who then comes back."""

from collections.abc import Sequence
from threading import Lock
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal

from gateway.engine import Notification
from gateway.gates.subscriptions.kept import Addressed, Kept, KeptBytes, KeptLimits, results_bytes
from gateway.gates.subscriptions.outbox import Outbox, OutboxLimits
from gateway.rdf.solutions import ResultsDelta

MESSAGE_BYTES = 240


class Nobody:
    """A consumer that takes when it is asked to."""

    rows = 0

    def ready(self, outbox: Outbox) -> None: ...

    def overflow(self, outbox: Outbox) -> None: ...


def _results(text: str) -> ResultsDelta:
    return ResultsDelta(("x",), ((Literal(text),),))


ONE = results_bytes(_results("x" * 100)) + MESSAGE_BYTES
"""One message of one row of a hundred characters."""


def _outboxes(number: int, **limits: int) -> tuple[KeptBytes, list[Outbox]]:
    kept, lock, bounds = KeptBytes(), Lock(), OutboxLimits(kept=KeptLimits(**limits))
    return kept, [Outbox(lock, Nobody(), bounds, kept) for _ in range(number)]


def _send(outboxes: Sequence[Outbox], number: int = 1, *, first: int = 1) -> None:
    """Tell them all the same, in messages of `ONE` bytes."""
    for sequence in range(first, first + number):
        results = _results(f"{sequence:100}")
        for outbox in outboxes:
            outbox.put(Notification("urn:s", sequence, None, sequence, results))
            assert outbox.take() is not None


def _begun(outboxes: Sequence[Outbox]) -> None:
    for outbox in outboxes:
        outbox.put(Notification("urn:s", 0, None, 0, ResultsDelta(("x",))))
        outbox.take()


def _again(outbox: Outbox, sequence: int) -> list[int] | None:
    """The sequences that somebody gets who comes back; None where it cannot be."""
    if not outbox.rewind(sequence):
        return None
    messages = []
    while (message := outbox.take()) is not None:
        messages.append(message.notification.sequence)
    return messages


def test_buffer_keeps_a_second_at_500_updates_by_default() -> None:
    _, (outbox,) = _outboxes(1)
    _begun([outbox])
    _send([outbox], 600)
    assert _again(outbox, 0) == list(range(1, 601))


def test_buffer_of_one_subscription_is_bounded_by_its_bytes() -> None:
    kept, (outbox,) = _outboxes(1, bytes=3 * ONE)
    _begun([outbox])
    _send([outbox], 10)
    assert kept.total == 3 * ONE
    assert _again(outbox, 6) is None
    assert _again(outbox, 7) == [8, 9, 10]


def test_rows_that_several_subscribers_get_count_once() -> None:
    kept, outboxes = _outboxes(50)
    _begun(outboxes)
    _send(outboxes, 10)
    assert kept.total == 10 * (ONE + 49 * MESSAGE_BYTES)
    for outbox in outboxes:
        outbox.close()
    assert kept.total == 0


def test_oldest_buffer_gives_way_first_and_begins_anew() -> None:
    kept, outboxes = _outboxes(3, total_bytes=5 * ONE)
    _begun(outboxes)
    for outbox in outboxes:
        _send([outbox], 2)
    assert kept.given_way == 1
    assert [_again(outbox, 1) for outbox in outboxes] == [None, [2], [2]]
    _send([outboxes[0]], 2, first=3)
    assert kept.given_way == 2
    assert [_again(outbox, 2) for outbox in outboxes] == [[3, 4], [], []]
    assert [_again(outbox, 1) for outbox in outboxes] == [None, None, [2]]
    assert kept.total == 4 * ONE


def test_buffer_that_is_being_sent_again_gives_way_to_none() -> None:
    kept, (resumed, other) = _outboxes(2, total_bytes=4 * ONE)
    _begun([resumed, other])
    _send([resumed], 3)
    assert resumed.rewind(0)
    _send([other], 5)
    assert kept.total <= 4 * ONE
    taken = [cast("Addressed", resumed.take()).notification.sequence for _ in range(3)]
    assert taken == [1, 2, 3]
    assert _again(other, 4) is not None


def test_message_beyond_all_bounds_is_sent_and_not_kept() -> None:
    kept, (outbox,) = _outboxes(1, total_bytes=ONE - 1)
    _begun([outbox])
    _send([outbox])
    assert kept.total == 0
    assert _again(outbox, 0) is None
    assert _again(outbox, 1) == []


def test_nothing_is_kept_where_nobody_can_come_back() -> None:
    kept, (outbox,) = _outboxes(1, messages=0)
    _begun([outbox])
    _send([outbox])
    assert kept.total == 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "rewind", "take", "clear"]),
            st.integers(0, 3),
            st.integers(0, 5),
        ),
        max_size=60,
    )
)
def test_any_history_is_within_its_bounds_and_counted(
    history: list[tuple[str, int, int]],
) -> None:
    limits = KeptLimits(messages=4, bytes=4 * ONE, total_bytes=8 * ONE)
    kept = KeptBytes()
    buffers = [Kept(limits, kept) for _ in range(4)]
    shared = [_results("x" * 60 * length) for length in range(6)]
    for action, which, length in history:
        buffer = buffers[which]
        if action == "add" and not buffer.again:
            buffer.add(Addressed(Notification("urn:s", 1, None, 1, shared[length])))
        elif action == "rewind":
            buffer.rewind(length)
        elif action == "take" and buffer.again:
            buffer.take()
        elif action == "clear":
            buffer.clear()
        assert 0 <= kept.total <= limits.total_bytes
    for buffer in buffers:
        buffer.clear()
    assert kept.total == 0
