"""Retention against its definition: the store has the latest n of each stream."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.store.retention import Kept, Retention, SeriesEnd

pytestmark = pytest.mark.property

STREAMS = [("s", "p", "f"), ("s", "q", "f")]
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@given(
    st.integers(1, 3),
    st.lists(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), max_size=4), max_size=8),
)
def test_store_has_the_latest_n_whatever_comes_in_whichever_groups(
    latest: int, groups: list[list[tuple[int, int]]]
) -> None:
    retention = Retention(latest)
    store: set[str] = set()
    everything: list[tuple[int, Kept]] = []
    for group in groups:
        arriving = [
            (stream, Kept(EPOCH + timedelta(seconds=second), (1, len(everything) + n), f"i{n}"))
            for n, (stream, second) in enumerate(group)
        ]
        arriving = [
            (stream, Kept(kept.time, kept.order, f"urn:{kept.order[1]}"))
            for stream, kept in arriving
        ]
        everything += arriving
        entering, leaving, _ = retention.admit([(STREAMS[s], kept) for s, kept in arriving])
        assert set(leaving) <= store
        assert entering <= {kept.iri for _, kept in arriving}
        store = (store - set(leaving)) | entering
        expected = {
            kept.iri
            for index in range(len(STREAMS))
            for kept in sorted(kept for s, kept in everything if s == index)[-latest:]
        }
        assert store == expected


def test_recall_counts_towards_the_latest() -> None:
    retention = Retention(1)
    retention.recall(STREAMS[0], Kept(EPOCH, (1, 1), "urn:old"))
    newer = Kept(EPOCH + timedelta(seconds=1), (2, 1), "urn:new")
    assert retention.admit([(STREAMS[0], newer)]) == ({"urn:new"}, ["urn:old"], [])
    older = Kept(EPOCH - timedelta(seconds=1), (2, 2), "urn:late")
    assert retention.admit([(STREAMS[0], older)]) == (set(), [], [])


@given(
    st.integers(1, 3),
    st.lists(
        st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["C", "F", None])), max_size=4),
        max_size=8,
    ),
)
def test_store_never_has_numbers_of_two_units_in_one_stream(
    latest: int, groups: list[list[tuple[int, str | None]]]
) -> None:
    retention = Retention(latest)
    store: dict[str, Kept] = {}
    unit: str | None = None
    count = 0
    for group in groups:
        arriving = []
        for second, told in group:
            count += 1
            time = EPOCH + timedelta(seconds=second)
            arriving.append(Kept(time, (1, count), f"urn:{count}", told))
        entering, leaving, ended = retention.admit([(STREAMS[0], each) for each in arriving])
        for iri in leaving:
            del store[iri]
        store |= {each.iri: each for each in arriving if each.iri in entering}
        assert len(store) <= latest
        assert len({each.unit for each in store.values()} - {None}) <= 1
        for end in ended:
            assert end.before != end.after
            assert unit in {None, end.before}
            unit = end.after
        assert unit is None or {each.unit for each in store.values()} <= {None, unit}


def test_number_in_another_unit_ends_the_series_and_what_is_late_of_it_stays_out() -> None:
    retention = Retention(3)
    for second in (1, 2):
        retention.recall(STREAMS[0], _kept(second, "C"))
    admission = retention.admit([(STREAMS[0], _kept(4, "F")), (STREAMS[0], _kept(3, "C"))])
    assert admission.entering == {"urn:4"}
    assert admission.leaving == ["urn:1", "urn:2"]
    changed = SeriesEnd(STREAMS[0], "C", "F", EPOCH + timedelta(seconds=4))
    assert admission.ended == [changed]


def test_unit_outlives_the_last_number_in_the_store() -> None:
    retention = Retention(1)
    retention.recall(STREAMS[0], _kept(1, None))
    retention.recall_unit(STREAMS[0], "C")
    assert [end.after for end in retention.admit([(STREAMS[0], _kept(2, "F"))]).ended] == ["F"]


@given(st.integers(1, 3), st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=20))
def test_times_of_our_own_clock_are_in_the_order_of_arrival(
    latest: int, arriving: list[tuple[int, bool]]
) -> None:
    """However often the clock is set back, the last arrival with its time is in the store."""
    retention, store = Retention(latest), set[str]()
    for number, (second, is_ours) in enumerate(arriving):
        time, iri = EPOCH + timedelta(seconds=second), f"urn:{number}"
        kept = Kept(time, (1, number), iri, is_ours=is_ours)
        entering, leaving, _ = retention.admit([(STREAMS[0], kept)])
        store = (store - set(leaving)) | entering
        assert len(store) <= latest
        if all(each for _, each in arriving):
            assert iri in store


def test_a_clock_that_was_set_back_over_a_restart_hides_nothing() -> None:
    retention = Retention(1)
    future = EPOCH + timedelta(days=400)
    retention.recall(STREAMS[0], Kept(future, (1, 1), "urn:future", is_ours=True))
    now = Kept(EPOCH, (2, 1), "urn:now", is_ours=True)
    assert retention.admit([(STREAMS[0], now)]) == ({"urn:now"}, ["urn:future"], [])


def _kept(second: int, unit: str | None) -> Kept:
    return Kept(EPOCH + timedelta(seconds=second), (1, second), f"urn:{second}", unit)
