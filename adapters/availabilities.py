"""`Availabilities`: a device that says on several topics, or in words of its own, that it is there.

Place on the way: the member `availabilities` of a mapping, as JSON; the registry hears its topics
with `AvailabilitiesAdapter`. A plain last will needs `availability_topic` alone.
Source: Home Assistant's documentation of MQTT availability, whose modes these are.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adapters.adapter import Fault, FaultReason, Findings
from adapters.values.fault import excerpt
from adapters.values.memory import Recent
from adapters.values.notice import Liveness
from adapters.values.payload import Payload
from adapters.values.result import STRING, Result, captured_result
from adapters.values.stream import Stream
from adapters.values.topic_filter import TopicFilter

MODES = ("all", "any", "latest")
MAX_TOPICS = 16
MAX_CHARS = 16_384
MAX_DEVICES = 4096
"""Devices whose topics are remembered, each with its last words."""

Select = Callable[[Payload], Result | Fault]


@dataclass(frozen=True, slots=True)
class AvailabilityTopic:
    """Where it is said, and the words for yes and no.

    `template` is a selector of the mapping's format, empty for the bare payload.
    """

    topic: str
    available: str = "online"
    not_available: str = "offline"
    template: str = ""

    def means(self, result: Result) -> bool | None:
        """Whether the word says that the device is there; None for another word."""
        for word, is_there in ((self.available, True), (self.not_available, False)):
            if result in {captured_result(word), Result(word, STRING)}:
                return is_there
        return None


@dataclass(frozen=True, slots=True)
class Availabilities:
    """There by `mode`: where all topics say so, where any does, or as the latest word was.

    >>> rule = Availabilities("all", (AvailabilityTopic("a"), AvailabilityTopic("b")))
    >>> Availabilities.of(rule.text) == rule
    True
    >>> rule.is_there({0: True}), rule.is_there({0: True, 1: True}), rule.is_there({1: False})
    (None, True, False)
    """

    mode: str
    topics: tuple[AvailabilityTopic, ...]

    @classmethod
    def of(cls, text: str) -> "Availabilities":
        """From JSON; ValueError says what is wrong."""
        if len(text) > MAX_CHARS:
            raise ValueError(f"is longer than {MAX_CHARS} characters")
        try:
            told = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError("is no JSON") from error
        listed = told.get("topics") if isinstance(told, dict) else None
        if not isinstance(listed, list) or not 0 < len(listed) <= MAX_TOPICS:
            raise ValueError(f"needs 1 to {MAX_TOPICS} topics")
        mode = told.get("mode", "latest")
        if mode not in MODES:
            raise ValueError(f"mode is none of {', '.join(MODES)}")
        return cls(mode, tuple(map(_topic, listed)))

    @property
    def text(self) -> str:
        """As JSON; equal rules give equal texts."""
        topics = [
            {name: value for name, value in zip(_NAMES, _values(each), strict=True) if value}
            for each in self.topics
        ]
        return json.dumps({"mode": self.mode, "topics": topics}, ensure_ascii=False)

    def is_there(self, heard: Mapping[int, bool]) -> bool | None:
        """By the last words of its topics, by their place; None while that is not known."""
        known = [heard.get(place) for place in range(len(self.topics))]
        decisive = self.mode == "any"
        if decisive in known:
            return decisive
        return None if None in known else not decisive


_NAMES = ("topic", "available", "notAvailable", "template")


def _values(each: AvailabilityTopic) -> tuple[str, ...]:
    return (each.topic, each.available, each.not_available, each.template)


def _topic(members: object) -> AvailabilityTopic:
    told = members if isinstance(members, dict) else {}
    if not set(told) <= set(_NAMES) or not all(isinstance(each, str) for each in told.values()):
        raise ValueError(f"a topic has {', '.join(_NAMES)}, which are texts")
    found = AvailabilityTopic(
        told.get("topic", ""),
        told.get("available", "online"),
        told.get("notAvailable", "offline"),
        told.get("template", ""),
    )
    if TopicFilter.parse(found.topic).wildcards:
        raise ValueError(f"topic {excerpt(found.topic)} has wildcards")
    if captured_result(found.available) == captured_result(found.not_available):
        raise ValueError("available and notAvailable are the same word")
    return found


class Heard:
    """The last words of devices, by their rule; bounded."""

    def __init__(self) -> None:
        self._devices = Recent[str, dict[int, bool]](MAX_DEVICES)

    def hear(self, rule: str, place: int, is_there: bool) -> Mapping[int, bool]:
        """Remember a word, and give the last ones of all topics of the rule."""
        known = self._devices.get(rule)
        if known is None:
            known = {}
            self._devices.put(rule, known)
        known[place] = is_there
        return known


class AvailabilitiesAdapter:
    """Messages on one topic of a rule; `streams` are those of its mappings."""

    def __init__(self, rule: Availabilities, place: int, select: Select, heard: Heard) -> None:
        self._rule = rule
        self._name = rule.text
        self._place = place
        self._select = select
        self._heard = heard

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """One liveness notice for every stream, once it is known; an unknown word is a fault."""
        if not payload.raw:
            return Findings()
        result = self._select(payload)
        if isinstance(result, Fault):
            return Findings.of_fault(result)
        word = self._rule.topics[self._place].means(result)
        if word is None:
            detail = f"{excerpt(result.lexical)} is no word of its availability"
            return Findings.of_fault(Fault(None, FaultReason.NOT_A_VALUE, detail))
        heard = self._heard.hear(self._name, self._place, word)
        is_there = word if self._rule.mode == "latest" else self._rule.is_there(heard)
        if is_there is None:
            return Findings()
        keys = dict.fromkeys(stream.key for stream in streams)
        return Findings(notices=[Liveness(key, is_there) for key in keys])


def bare(payload: Payload) -> Result | Fault:
    """The payload as a bare word."""
    told = payload.text()
    return told if isinstance(told, Fault) else captured_result(told)
