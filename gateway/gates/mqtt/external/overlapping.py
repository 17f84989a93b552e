"""Topic filters that match the same topics: a broker may send one copy of a message for each.

Place on the way of the data: at the gate to the external broker, before `message_copies`. Source:
MQTT 5.0, section 3.3.4. Those that overlap need an identifier, by which copies are told, and which
costs something with each message. A filter within another one is subscribed all the same: that
makes the broker send what is retained there, for a mapping that is new.
"""

from collections.abc import Collection, Iterator

from adapters.values.topic_filter import TopicFilter, TopicTrie


def overlapping(filters: Collection[str]) -> frozenset[str]:
    """The filters of which a topic matches another one as well.

    >>> sorted(overlapping(["a/+", "+/b", "a/c", "c"]))
    ['+/b', 'a/+', 'a/c']
    """
    found: set[str] = set()
    for one, other in (*_pairs_of_wild(filters), *_matches(filters)):
        if overlap(one, other):
            found |= {one, other}
    return frozenset(found)


def _matches(filters: Collection[str]) -> Iterator[tuple[str, str]]:
    """Filters without wildcard, and those that match them as a topic."""
    trie = TopicTrie[str]()
    for text in filters:
        if _is_wild(text):
            trie.insert(TopicFilter.parse(text), text)
    return ((text, other) for text in filters if not _is_wild(text) for other in trie.match(text))


def _is_wild(text: str) -> bool:
    return "+" in text or "#" in text


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


def _pairs_of_wild(filters: Collection[str]) -> Iterator[tuple[str, str]]:
    """Filters with wildcards that begin alike or with one."""
    wild = sorted(filter(_is_wild, filters))
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
