"""A hello comes whole or not at all, however long it is."""

from collections.abc import Sequence

import pytest

from gateway.federation.greeting import Greeting, bits_of, in_parts, numbers_of
from gateway.federation.limits import AT_ONCE
from gateway.federation.wire import MOST_BYTES, Batch, Part, WireError

TOLD: dict[str, Sequence[object]] = {
    "entries": [[None, f"<urn:p{n}>", None, ""] for n in range(5)],
    "digests": [],
    "events": [1],
}


def parts(ask: int, at_once: int) -> list[Part]:
    """As they come out of the wire."""
    made = in_parts(ask, 7, TOLD, at_once)
    return [Batch.decode(Batch("", 0, (each,)).encode()).parts[0] for each in made]


@pytest.mark.parametrize("at_once", [1, 2, 4, 5, 100])
def test_parts_are_the_whole_again(at_once: int) -> None:
    greeting = Greeting()
    *first, last = parts(1, at_once)
    assert [greeting.take(each) for each in first] == [None] * len(first)
    whole = greeting.take(last)
    assert whole is not None
    assert {name: whole.members[name] for name in TOLD} == TOLD
    assert (whole.number("ask"), whole.number("version")) == (1, 7)


def test_of_one_with_a_hole_nothing_is_taken() -> None:
    greeting = Greeting()
    one, _, *rest = parts(1, 1)
    assert [greeting.take(each) for each in (one, *rest)] == [None] * (1 + len(rest))
    again = parts(2, 1)
    taken = [greeting.take(each) for each in again]
    assert taken[-1] is not None
    assert greeting.take(parts(1, 1)[-1]) is None


def test_one_without_parts_is_taken_as_it_is() -> None:
    whole = Greeting().take(Part("hello", {"ask": 1, "version": 1, "entries": []}))
    assert whole is not None
    assert whole.members["events"] == []


def test_three_hundred_thousand_entries_fit() -> None:
    entries = [[f"<urn:subject:{n}>", "<urn:predicate>", None, ""] for n in range(300_000)]
    made = list(in_parts(1, 1, {"entries": entries, "digests": [], "events": []}, AT_ONCE))
    assert len(made) == 30
    assert max(len(Batch("", 0, (each,)).encode()) for each in made) < MOST_BYTES


@pytest.mark.parametrize("value", ["all", 3, {"a": 1}])
def test_what_is_no_list_is_refused(value: object) -> None:
    with pytest.raises(WireError, match="no list"):
        Greeting().take(Part("hello", {"ask": 1, "version": 1, "entries": value}))


def test_numbers_as_bits() -> None:
    assert numbers_of(bits_of([])) == []
    assert numbers_of(bits_of([0, 7, 8, 300_000])) == [0, 7, 8, 300_000]
    assert len(bits_of([300_000])) < 40_000
