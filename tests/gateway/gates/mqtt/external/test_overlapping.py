"""Topic filters that match the same topics, against all topics of a small world."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from adapters.values.topic_filter import TopicFilter, TopicTrie
from gateway.gates.mqtt.external.message_copies import MessageCopies
from gateway.gates.mqtt.external.overlapping import overlap, overlapping

LEVELS = ("a", "b", "", "$s")
TOPICS = ["/".join(levels) for depth in (1, 2, 3, 4) for levels in product(LEVELS, repeat=depth)]
filters = st.builds(
    lambda levels, rest: "/".join([*levels, *rest]) or "#",
    st.lists(st.sampled_from([*LEVELS[:2], "+", "+", "$s"]), max_size=3),
    st.sampled_from([[], [], ["#"]]),
)


def matched(text: str) -> frozenset[str]:
    trie = TopicTrie[int]()
    trie.insert(TopicFilter.parse(text), 1)
    return frozenset(topic for topic in TOPICS if trie.match(topic))


@given(filters, filters)
def test_filters_overlap_where_a_topic_matches_both(one: str, other: str) -> None:
    assert overlap(one, other) == bool(matched(one) & matched(other))


@given(st.sets(filters, max_size=6))
def test_whose_topics_another_one_matches_overlaps(texts: set[str]) -> None:
    expected = {
        one for one in texts if any(matched(one) & matched(other) for other in texts - {one})
    }
    assert overlapping(texts) == expected


publications = st.lists(
    st.tuples(st.sampled_from(["a/b", "a/c"]), st.sampled_from([b"1", b"2"]), st.booleans())
)


@given(publications)
def test_each_publication_is_taken_once(sent: list[tuple[str, bytes, bool]]) -> None:
    """Whatever the order of its copies, which are one after the other."""
    copies, taken = MessageCopies(), []
    for topic, payload, is_turned in sent:
        taken += [
            (topic, payload)
            for number in ((2, 1) if is_turned else (1, 2))
            if not copies.is_copy(topic, payload, [number])
        ]
    assert taken == [(topic, payload) for topic, payload, _ in sent]
