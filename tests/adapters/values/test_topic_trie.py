"""The trie of topic filters finds exactly the filters that a naive matcher finds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.values.topic_filter import TopicFilter, TopicTrie

pytestmark = pytest.mark.property

LEVELS = st.sampled_from(["", "a", "b", "$x", "$", "ab"])
TOPICS = st.lists(LEVELS, min_size=1, max_size=5).map("/".join).filter(bool)
FILTERS = (
    st.tuples(st.lists(LEVELS | st.just("+"), max_size=5), st.sampled_from([[], ["#"]]))
    .map(lambda parts: "/".join(parts[0] + parts[1]))
    .filter(bool)
)


def naive_match(pattern: list[str], levels: list[str]) -> bool:
    """MQTT 3.1.1 section 4.7.1, level by level."""
    if pattern == ["#"]:
        return True
    if not pattern or not levels:
        return pattern == levels
    return pattern[0] in {"+", levels[0]} and naive_match(pattern[1:], levels[1:])


def naive(topic_filter: str, topic: str) -> bool:
    if topic.startswith("$") and topic_filter[0] in "+#":
        return False
    return naive_match(topic_filter.split("/"), topic.split("/"))


@settings(max_examples=500, deadline=None)
@given(st.lists(FILTERS, max_size=20), st.lists(TOPICS, min_size=1, max_size=10))
def test_trie_equals_the_naive_matcher(filters: list[str], topics: list[str]) -> None:
    trie = TopicTrie[int]()
    for number, text in enumerate(filters):
        trie.insert(TopicFilter.parse(text), number)
    for topic in topics:
        expected = [number for number, text in enumerate(filters) if naive(text, topic)]
        assert sorted(trie.match(topic)) == expected


@settings(max_examples=300, deadline=None)
@given(st.lists(FILTERS, max_size=12), st.data(), st.lists(TOPICS, min_size=1, max_size=5))
def test_what_was_removed_matches_no_more(
    filters: list[str], data: st.DataObject, topics: list[str]
) -> None:
    trie = TopicTrie[int]()
    held = dict(enumerate(filters))
    for number, text in held.items():
        trie.insert(TopicFilter.parse(text), number)
    for number in data.draw(st.permutations(sorted(held))):
        trie.remove(TopicFilter.parse(held[number]), number)
        with pytest.raises(ValueError, match=r"not in|nothing"):
            trie.remove(TopicFilter.parse(held.pop(number)), number)
        for topic in topics:
            expected = [number for number, text in held.items() if naive(text, topic)]
            assert sorted(trie.match(topic)) == expected
    root = trie._root
    assert (root.children, root.one, root.here, root.below) == ({}, None, [], [])


@settings(max_examples=300, deadline=None)
@given(FILTERS, TOPICS)
def test_filter_with_its_captures_put_back_is_the_topic(text: str, topic: str) -> None:
    trie = TopicTrie[None]()
    parsed = TopicFilter.parse(text)
    trie.insert(parsed, None)
    if trie.match(topic):
        captures = iter(parsed.captures(topic.split("/")))
        levels = [next(captures) if level in {"+", "#"} else level for level in parsed.levels]
        rebuilt = "/".join(levels)
        assert topic in {rebuilt, rebuilt.removesuffix("/") if parsed.levels[-1] == "#" else topic}
