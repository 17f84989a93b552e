"""Retention against its definition: the store has the latest n of each stream."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from gateway.store.retention import Kept, Retention

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
        entering, leaving = retention.admit([(STREAMS[s], kept) for s, kept in arriving])
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
    assert retention.admit([(STREAMS[0], newer)]) == ({"urn:new"}, ["urn:old"])
    older = Kept(EPOCH - timedelta(seconds=1), (2, 2), "urn:late")
    assert retention.admit([(STREAMS[0], older)]) == (set(), [])
