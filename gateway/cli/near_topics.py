"""Which topic filter a topic was perhaps meant for: a person's typo is one level, and nearly right.

Place: under `sosa-gateway mapping unknown`. Source: MQTT 5.0, 4.7, for the wildcards.
"""

from collections.abc import Iterable
from difflib import SequenceMatcher

_NEAR = 0.7
"""Of two levels: twice the letters in common by those of both."""


def near_filter(topic: str, filters: Iterable[str]) -> str:
    """The filter that all levels of the topic but one fit, and that one nearly; "" for none.

    >>> near_filter("kitchn/oven/temperature", ["hall/+/temperature", "kitchen/+/temperature"])
    'kitchen/+/temperature'
    >>> near_filter("cellar/oven/temperature", ["kitchen/+/temperature"])
    ''
    """
    near = [(_nearness(topic, each), each) for each in filters]
    best = max(near, default=(0.0, ""))
    return best[1] if best[0] >= _NEAR else ""


def _nearness(topic: str, topic_filter: str) -> float:
    """How near the one level is that differs; 0 where none does, or several do."""
    levels, wanted = topic.split("/"), topic_filter.split("/")
    if wanted[-1] == "#":
        wanted = wanted[:-1]
        levels = levels[: len(wanted)]
    if len(levels) != len(wanted):
        return 0.0
    pairs = zip(levels, wanted, strict=True)
    wrong = [(level, want) for level, want in pairs if want not in {"+", level}]
    if len(wrong) != 1:
        return 0.0
    return SequenceMatcher(None, *wrong[0], autojunk=False).ratio()
