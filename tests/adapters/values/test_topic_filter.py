"""Topic filters: MQTT 3.1.1 section 4.7, case by case."""

import pytest

from adapters.values.topic_filter import TopicFilter, TopicTrie


@pytest.mark.parametrize(
    ("topic_filter", "topic", "captures"),
    [
        ("a", "a", ()),
        ("a/b", "a/b", ()),
        ("+", "a", ("a",)),
        ("+/b", "a/b", ("a",)),
        ("a/+", "a/", ("",)),
        ("+/+", "/a", ("", "a")),
        ("/+", "/a", ("a",)),
        ("a/+/c", "a/x y/c", ("x y",)),
        ("#", "a/b", ("a/b",)),
        ("#", "/", ("/",)),
        ("a/#", "a", ("",)),
        ("a/#", "a/", ("",)),
        ("a/#", "a/b/c", ("b/c",)),
        ("+/x/#", "a/x", ("a", "")),
        ("+/x/#", "a/x/y/z", ("a", "y/z")),
        ("$SYS/#", "$SYS/broker", ("broker",)),
        ("$SYS/+", "$SYS/uptime", ("uptime",)),
        ("a/+", "a/$b", ("$b",)),
    ],
)
def test_filter_matches_and_captures(
    topic_filter: str, topic: str, captures: tuple[str, ...]
) -> None:
    parsed = TopicFilter.parse(topic_filter)
    trie = TopicTrie[str]()
    trie.insert(parsed, "here")
    assert trie.match(topic) == ["here"]
    assert parsed.captures(topic.split("/")) == captures
    assert parsed.wildcards == len(captures)


@pytest.mark.parametrize(
    ("topic_filter", "topic"),
    [
        ("a", "A"),
        ("a", "a/"),
        ("a", "/a"),
        ("+", "/a"),
        ("+", "a/b"),
        ("a/+", "a"),
        ("a/#", "ab"),
        ("a/b/#", "a"),
        ("#", "$SYS/broker"),
        ("+/broker", "$SYS/broker"),
        ("+", "$SYS"),
        ("#", ""),
    ],
)
def test_filter_does_not_match(topic_filter: str, topic: str) -> None:
    trie = TopicTrie[str]()
    trie.insert(TopicFilter.parse(topic_filter), "here")
    assert trie.match(topic) == []


LONGEST = "x" * 65_535
ILLEGAL = ["", "a+", "a/+b/c", "a#", "#/a", "a/#/b", "##", "++", "a\0", "\ud800", LONGEST + "x"]


@pytest.mark.parametrize("text", [*ILLEGAL, "$share/group/a/+"])
def test_filter_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        TopicFilter.parse(text)


def test_deep_filter_and_topic_need_no_recursion() -> None:
    trie = TopicTrie[int]()
    trie.insert(TopicFilter.parse("+/" * 30_000 + "#"), 1)
    assert trie.match("a/" * 30_000 + "b") == [1]
    assert trie.match("a/" * 29_000) == []


def test_filter_of_the_greatest_length_is_legal() -> None:
    assert TopicFilter.parse(LONGEST).text == LONGEST
