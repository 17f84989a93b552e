"""Topic filters that match the same topics: a broker may send one copy of a message for each.

Place on the way of the data: at the gate to the external broker, before `message_copies`. Source:
MQTT 5.0, section 3.3.4. Filters within others need not be subscribed; those that overlap in part
need an identifier, by which copies are told, and which costs something with each message.
"""

from collections.abc import Collection, Iterator

from adapters.topic_filter import TopicFilter, TopicTrie
from gateway.security.policy import covers


def outermost(filters: Collection[str]) -> frozenset[str]:
    """Those that no other one covers.

    >>> sorted(outermost(["a/b", "a/+", "b/c"]))
    ['a/+', 'b/c']
    """
    trie = TopicTrie[str]()
    for text in filters:
        trie.insert(TopicFilter.parse(text), text)
    return frozenset(
        text
        for text in filters
        if not any(other != text and covers(other, text) for other in trie.match(text))
    )


def overlapping(filters: Collection[str]) -> frozenset[str]:
    """Those of which a topic matches another one as well.

    >>> sorted(overlapping(["a/+", "+/b", "c"]))
    ['+/b', 'a/+']
    """
    found: set[str] = set()
    for one, other in _candidates(filters):
        if overlap(one, other):
            found |= {one, other}
    return frozenset(found)


def overlap(one: str, other: str) -> bool:
    """Whether there is a topic that matches both.

    >>> overlap("a/+/c", "a/b/#"), overlap("a/+", "b/+"), overlap("+/x", "$SYS/x")
    (True, False, False)
    """
    both = (one, other)
    if any(text.startswith("$") for text in both) and any(text[:1] in "+#" for text in both):
        return False
    mine, theirs = one.split("/"), other.split("/")
    for level, its in zip(mine, theirs, strict=False):
        if "#" in (level, its):
            return True
        if "+" not in (level, its) and level != its:
            return False
    longer = mine if len(mine) > len(theirs) else theirs
    return len(mine) == len(theirs) or longer[min(len(mine), len(theirs)) :] == ["#"]


def _candidates(filters: Collection[str]) -> Iterator[tuple[str, str]]:
    """Pairs with a wildcard each, as two filters without do not overlap, and alike beginnings."""
    wild = sorted(text for text in filters if "+" in text or "#" in text)
    anywhere = [text for text in wild if text[0] in "+#"]
    beneath: dict[str, list[str]] = {}
    for text in wild:
        if text[0] not in "+#":
            beneath.setdefault(text.partition("/")[0], []).append(text)
    for group in beneath.values():
        yield from _pairs(group)
        yield from ((one, other) for one in group for other in anywhere)
    yield from _pairs(anywhere)


def _pairs(texts: list[str]) -> Iterator[tuple[str, str]]:
    return ((one, other) for place, one in enumerate(texts) for other in texts[:place])
