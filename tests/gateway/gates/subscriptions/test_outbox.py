"""Merging, numbering and sending again what waits in an outbox."""

from collections import Counter
from itertools import pairwise
from threading import Lock
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from gateway.engine import Notification
from gateway.gates.subscriptions.kept import Addressed, KeptBytes, KeptLimits
from gateway.gates.subscriptions.merging import merge
from gateway.gates.subscriptions.outbox import Outbox, OutboxLimits
from gateway.rdf.solutions import ResultsDelta, Row, SolutionBag, difference

SPUID = "sepa://subscription/1"
A, B = NamedNode("urn:a"), NamedNode("urn:b")


class Here:
    """A place that remembers what it was told."""

    def __init__(self) -> None:
        self.rows = 0
        self.readied = 0
        self.overflows = 0

    def ready(self, outbox: Outbox) -> None:
        self.readied += 1

    def overflow(self, outbox: Outbox) -> None:
        self.overflows += 1


def _outbox(place: Here | None = None, kept: KeptLimits | None = None, **limits: int) -> Outbox:
    bounds = OutboxLimits(**limits, kept=kept or KeptLimits())
    return Outbox(Lock(), place or Here(), bounds, KeptBytes())


def _take_all(outbox: Outbox) -> list[Addressed]:
    """What a place takes that was told `readied` times."""
    place = cast("Here", outbox.consumer)
    taken = [outbox.take() for _ in range(place.readied)]
    place.readied = 0
    return [message for message in taken if message is not None]


rows: st.SearchStrategy[Row] = st.tuples(st.sampled_from([A, B, Literal("1"), None]))
bags: st.SearchStrategy[SolutionBag] = st.builds(Counter, st.lists(rows, max_size=6))


def _steps(answers: list[SolutionBag], spuid: str = SPUID) -> list[Notification]:
    """The notifications from no answer through these ones; `time` is the answer's index."""
    return [
        Notification(spuid, index, None, index, difference(("x",), old, new))
        for index, (old, new) in enumerate(pairwise([Counter[Row](), *answers]))
    ]


@given(bags, st.lists(bags, min_size=1, max_size=6))
def test_merge_any_steps_is_the_difference_of_first_and_last(
    before: SolutionBag, after: list[SolutionBag]
) -> None:
    merged = merge(_steps([before, *after])[1:])
    expected = difference(("x",), before, after[-1])
    assert Counter(merged.results.added) == Counter(expected.added)
    assert Counter(merged.results.removed) == Counter(expected.removed)
    assert (merged.sequence, merged.time) == (1, len(after))


class Subscriber:
    """Adds up what it gets, as a client does, and checks the protocol's promises."""

    def __init__(self, answers: list[SolutionBag]) -> None:
        self.answers = answers
        self.answer: SolutionBag = Counter()
        self.sequence = -1
        self.merged = 0

    def receive(self, message: Addressed) -> None:
        notification = message.notification
        self.sequence += 1
        self.merged += message.merged
        assert notification.sequence == self.sequence
        assert self.sequence == 0 or not notification.results.is_empty
        removed = Counter(notification.results.removed)
        assert removed <= self.answer
        self.answer = self.answer - removed + Counter(notification.results.added)
        assert self.answer == self.answers[notification.time]


@given(
    st.lists(bags, min_size=1, max_size=8),
    st.lists(st.sampled_from(["put", "put", "take", "move", "rewind"]), max_size=40),
    st.integers(0, 4),
    st.integers(0, 9),
)
def test_outbox_any_interleaving_adds_up_to_every_answer(
    answers: list[SolutionBag], actions: list[str], limit: int, lost: int
) -> None:
    """Also where the client was lost, comes back, and asks for what it has not got."""
    places = [Here(), Here()]
    outbox = Outbox(Lock(), places[0], OutboxLimits(messages=limit), KeptBytes())
    subscriber = Subscriber(answers)
    coming = [each for each in _steps(answers) if each.sequence == 0 or not each.results.is_empty]
    last = coming[-1].time
    for action in [*actions, *["put"] * len(coming)]:
        if action == "put" and coming:
            outbox.put(coming.pop(0))
        elif action == "move":
            places.reverse()
            places[1].readied = 0
            outbox.move(places[0])
            assert places[1].rows == 0
        elif action == "rewind" and subscriber.sequence >= 0:
            for _ in range(lost):
                outbox.take()
            assert outbox.rewind(subscriber.sequence)
            places[0].readied = 0
            outbox.move(places[0])
        elif action == "take" and (message := outbox.take()) is not None:
            subscriber.receive(message)
    for message in _take_all(outbox):
        subscriber.receive(message)
    assert subscriber.answer == subscriber.answers[last]
    assert [place.rows for place in places] == [0, 0]


def _added(sequence: int, rows: int = 1) -> Notification:
    results = ResultsDelta(("x",), tuple((Literal(f"{sequence} {n}"),) for n in range(rows)))
    return Notification(SPUID, sequence, None, sequence, results)


def test_outbox_tells_its_place_of_each_message() -> None:
    place, other = Here(), Here()
    outbox = _outbox(place, messages=2)
    for sequence in range(4):
        outbox.put(_added(sequence))
    assert place.readied == 2
    outbox.take()
    outbox.put(_added(4))
    outbox.move(other)
    assert (place.readied, other.readied) == (3, 2)
    assert len(_take_all(outbox)) == 2


def test_outbox_full_merges_what_comes() -> None:
    outbox = _outbox(messages=1)
    for sequence in range(3):
        outbox.put(_added(sequence))
    (merged,) = _take_all(outbox)
    assert merged.merged == 3
    assert len(merged.notification.results.added) == 3


def test_outbox_with_too_many_rows_overflows_and_drops_everything() -> None:
    place = Here()
    outbox = _outbox(place, messages=1, rows=10)
    outbox.put(_added(0, rows=11))
    assert place.overflows == 0
    outbox.put(_added(1))
    outbox.put(_added(2))
    assert place.overflows == 1
    assert outbox.take() is None
    assert place.rows == 0


def test_outbox_overflows_by_the_rows_of_its_whole_place() -> None:
    place, lock = Here(), Lock()
    first, second = (Outbox(lock, place, OutboxLimits(rows=10), KeptBytes()) for _ in range(2))
    first.put(_added(0, rows=11))
    second.put(_added(0))
    assert place.overflows == 1


def test_outbox_row_that_comes_and_goes_never_overflows() -> None:
    place = Here()
    outbox = _outbox(place, messages=1, rows=2)
    outbox.put(_added(0))
    here = ResultsDelta(("x",), ((A,),))
    for sequence in range(1, 101):
        results = here if sequence % 2 else here.negate()
        outbox.put(Notification(SPUID, sequence, None, sequence, results))
    message = outbox.take()
    assert message is not None
    assert message.notification.results.added == _added(0).results.added
    assert message.merged == 101
    assert place.overflows == 0


def test_outbox_sends_again_what_the_client_missed_and_goes_on() -> None:
    outbox = _outbox()
    for sequence in range(4):
        outbox.put(_added(sequence))
    sent = _take_all(outbox)
    outbox.put(_added(4))
    assert outbox.rewind(1)
    outbox.move(Here())
    again = _take_all(outbox)
    assert again[:2] == sent[2:]
    assert [each.notification.sequence for each in again] == [2, 3, 4]


def test_outbox_keeps_no_more_than_its_limits() -> None:
    outbox = _outbox(kept=KeptLimits(messages=2, bytes=3_000))
    for sequence in range(6):
        outbox.put(_added(sequence))
    _take_all(outbox)
    assert [outbox.rewind(sequence) for sequence in (2, 3, 5, 6, -1)] == [
        False,
        True,
        True,
        False,
        False,
    ]
    outbox.put(_added(6, rows=40))
    _take_all(outbox)
    assert not outbox.rewind(5)
    assert outbox.rewind(6)


def test_outbox_closed_takes_nothing_more() -> None:
    place = Here()
    outbox = _outbox(place)
    outbox.put(_added(0))
    outbox.close()
    outbox.put(_added(1))
    assert outbox.take() is None
    assert (place.rows, place.overflows) == (0, 0)
    assert not outbox.rewind(0)


def _told(sequence: int, added: SolutionBag, removed: SolutionBag) -> Notification:
    results = ResultsDelta(("x",), tuple(added.elements()), tuple(removed.elements()))
    return Notification(SPUID, sequence, None, sequence, results)


@given(st.sampled_from(["added", "removed"]), st.lists(st.tuples(bags, bags), min_size=1))
def test_rows_of_a_stream_of_rows_stand_one_behind_another(
    output: str, steps: list[tuple[SolutionBag, SolutionBag]]
) -> None:
    told = [_told(number, *step) for number, step in enumerate(steps, 1)]
    merged = merge(told, output)
    for member in ("added", "removed"):
        rows_told = [row for each in told for row in getattr(each.results, member)]
        assert list(getattr(merged.results, member)) == rows_told
    assert (merged.sequence, merged.time) == (1, len(steps))


@given(st.lists(bags, min_size=1))
def test_of_whole_answers_the_last_counts(answers: list[SolutionBag]) -> None:
    told = [_told(number, answer, Counter()) for number, answer in enumerate(answers, 1)]
    merged = merge(told, "whole")
    assert Counter(merged.results.added) == answers[-1]
    assert not merged.results.removed
    assert (merged.sequence, merged.time) == (1, len(answers))


@given(
    st.sampled_from(["changes", "added", "removed", "whole"]),
    st.lists(st.one_of(st.none(), st.tuples(bags, bags)), min_size=1, max_size=30),
    st.integers(1, 4),
)
def test_slow_reader_of_any_output_is_told_what_adds_up(
    output: str, script: list[tuple[SolutionBag, SolutionBag] | None], messages: int
) -> None:
    place = Here()
    limits = OutboxLimits(messages=messages)
    outbox = Outbox(Lock(), place, limits, KeptBytes(), output=output)
    put: list[Notification] = []
    taken: list[Addressed] = []
    for step in script:  # None: the reader takes what there is
        if step is None:
            taken += _take_all(outbox)
        else:
            added, removed = step
            put.append(_told(len(put), added, removed if output == "changes" else Counter()))
            outbox.put(put[-1])
    taken += _take_all(outbox)
    assert [each.notification.sequence for each in taken] == list(range(len(taken)))
    assert place.rows == 0
    if output == "whole":
        ends = [each.notification.results.added for each in taken][-1:]
        assert ends == [each.results.added for each in put][-1:]
        assert sum(each.merged for each in taken) == len(put)
        return
    net: Counter[Row] = Counter()
    for sign, found in ((1, put), (-1, [each.notification for each in taken])):
        for each in found:
            for row in each.results.added:
                net[row] += sign
            for row in each.results.removed:
                net[row] -= sign
    assert not any(net.values())
