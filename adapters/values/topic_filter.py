"""MQTT topic filters: their grammar, what their wildcards matched, and a trie of many of them.

Source: MQTT 3.1.1 section 4.7. `+` is one level, `#` the last levels and also none at all, and a
filter that begins with a wildcard matches no topic that begins with `$` (4.7.2).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

MAX_BYTES = 65_535

_NOT_MQTT = re.compile(r"[\0\ud800-\udfff]")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TopicFilter:
    """A legal topic filter.

    >>> TopicFilter.parse("home/+/sensor/#").captures("home/lab/sensor/a/b".split("/"))
    ('lab', 'a/b')
    """

    text: str
    levels: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "TopicFilter":
        """Raises ValueError, with the reason, for what MQTT 3.1.1 does not allow."""
        levels = tuple(text.split("/"))
        defect = _length_defect(text) or _wildcard_defect(levels)
        if defect:
            raise ValueError(defect)
        return cls(text, levels)

    @property
    def wildcards(self) -> int:
        """How many parts `captures` has."""
        return sum(level in {"+", "#"} for level in self.levels)

    @property
    def levels_to_fill(self) -> int:
        """How many levels a topic has at least that `captures` can take the wildcards from."""
        wild = [index + 1 for index, level in enumerate(self.levels) if level == "+"]
        last = len(self.levels) - 1 if self.levels[-1] == "#" else 0
        return max([*wild, last])

    def captures(self, topic_levels: Sequence[str]) -> tuple[str, ...]:
        """What each wildcard stands for in a topic that matches; `#` as one text with slashes."""
        found = [topic_levels[i] for i, level in enumerate(self.levels) if level == "+"]
        if self.levels[-1] == "#":
            found.append("/".join(topic_levels[len(self.levels) - 1 :]))
        return tuple(found)


def _length_defect(text: str) -> str:
    if not text:
        return "a topic filter has at least one character"
    if _NOT_MQTT.search(text):
        return "NUL and surrogates are no characters of MQTT"
    if len(text.encode()) > MAX_BYTES:
        return f"longer than {MAX_BYTES} bytes"
    if text.startswith("$share/"):
        return "a shared subscription is an affair of the connection: name its filter alone"
    return ""


def _wildcard_defect(levels: Sequence[str]) -> str:
    if any("+" in level and level != "+" for level in levels):
        return "+ must be a whole level"
    if any("#" in level and level != "#" for level in levels) or "#" in levels[:-1]:
        return "# must be the whole last level"
    return ""


class _Node(Generic[T]):
    __slots__ = ("below", "children", "here", "one")

    def __init__(self) -> None:
        self.children: dict[str, _Node[T]] = {}
        self.one: _Node[T] | None = None
        self.here: list[T] = []
        self.below: list[T] = []

    def child(self, level: str) -> "_Node[T] | None":
        return self.one if level == "+" else self.children.get(level)

    def prune(self, level: str) -> None:
        """Forget the child of a level where it has nothing."""
        child = self.child(level)
        if child is None or child.children or child.one or child.here or child.below:
            return
        if level == "+":
            self.one = None
        else:
            del self.children[level]


class TopicTrie(Generic[T]):
    """Values under topic filters.

    >>> trie = TopicTrie[int]()
    >>> trie.insert(TopicFilter.parse("a/#"), 1)
    >>> trie.match("a"), trie.match("a/b/c"), trie.match("b")
    ([1], [1], [])
    """

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root = _Node[T]()

    def insert(self, topic_filter: TopicFilter, value: T) -> None:
        """Adds `value`; one filter may hold several."""
        node = self._root
        for level in topic_filter.levels:
            if level == "#":
                node.below.append(value)
                return
            if level == "+":
                node.one = node.one or _Node[T]()
                node = node.one
            else:
                node = node.children.setdefault(level, _Node[T]())
        node.here.append(value)

    def remove(self, topic_filter: TopicFilter, value: T) -> None:
        """Takes one `value` out, and what is empty then. Raises ValueError where it is not in."""
        path = [self._root]
        for level in topic_filter.levels:
            node = path[-1].child(level)
            if node is None:
                break
            path.append(node)
        is_below = topic_filter.levels[-1] == "#"
        if len(path) <= len(topic_filter.levels) - is_below:
            raise ValueError(f"nothing is under {topic_filter.text}")
        (path[-1].below if is_below else path[-1].here).remove(value)
        for level, node in reversed(list(zip(topic_filter.levels, path, strict=False))):
            node.prune(level)

    def match(self, topic: str) -> list[T]:
        """The values of every filter that matches, in no certain order.

        Visits each node of the trie at most once, whatever the topic.
        """
        if not topic:
            return []
        found: list[T] = []
        nodes = [self._root]
        wild = not topic.startswith("$")
        for level in topic.split("/"):
            nodes = _step(nodes, level, wild, found)
            wild = True
            if not nodes:
                break
        for node in nodes:
            found += node.here
            found += node.below
        return found


def _step(nodes: list[_Node[T]], level: str, wild: bool, found: list[T]) -> list[_Node[T]]:
    """The nodes one level further; what `#` matches on the way goes to `found`."""
    reached = []
    for node in nodes:
        child = node.children.get(level)
        if child is not None:
            reached.append(child)
        if wild:
            found += node.below
            if node.one is not None:
                reached.append(node.one)
    return reached
