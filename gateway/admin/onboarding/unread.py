"""What topics have left to be read, in the light of the mappings of now.

Place on the way of the data: what becomes an unknown topic, and the list of these, when somebody
asks for it.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from adapters.values.mapping import Mapping
from adapters.values.proposal import Proposal
from adapters.values.topic_filter import TopicFilter, TopicTrie
from gateway.admin.onboarding.discovery import GENERIC
from gateway.admin.onboarding.proposals import StoredProposal, stored
from gateway.admin.onboarding.unknown import UnknownTopic
from jsap.errors import JsapError


class Unread:
    """What `mappings`, asked each time, leave to be read."""

    def __init__(self, mappings: Callable[[], Sequence[Mapping]]) -> None:
        self._mappings = mappings
        self._known: tuple[Sequence[Mapping], TopicTrie[Mapping]] = ((), TopicTrie())

    def among(self, topics: Iterable[UnknownTopic]) -> tuple[list[UnknownTopic], list[str]]:
        """The topics that no mapping reads, or not all members of; and those that are done with.

        Of a topic that a mapping reads, what is guessed of its other members.
        """
        readers = self._readers()
        left, done = [], []
        for topic in topics:
            reading = readers.match(topic.topic)
            if reading:
                topic.guesses = _others(topic.guesses, reading)
            if topic.guesses or not reading:
                left.append(topic)
            else:
                done.append(topic.topic)
        return left, done

    def others(self, topic: str, guesses: Sequence[Proposal]) -> Sequence[Proposal]:
        """What is guessed about a topic, but for what a mapping reads already."""
        reading = self._readers().match(topic)
        return _others(guesses, reading) if reading else guesses

    def _readers(self) -> TopicTrie[Mapping]:
        """Made anew where the mappings are others; by whichever thread asks."""
        mappings = self._mappings()
        of, readers = self._known
        if of is not mappings:
            readers = TopicTrie[Mapping]()
            for mapping in mappings:
                with suppress(ValueError):
                    readers.insert(TopicFilter.parse(mapping.topic_filter), mapping)
            self._known = (mappings, readers)
        return readers


def guessed(topics: Iterable[UnknownTopic]) -> list[StoredProposal]:
    """What is guessed about the topics, as if it had been announced."""
    found = []
    for topic in topics:
        for guess in topic.guesses:
            with suppress(JsapError, ValueError):  # shown without an id
                found.append(stored(guess, topic.topic, topic.last_at))
    return found


def _others(guesses: Sequence[Proposal], reading: Sequence[Mapping]) -> tuple[Proposal, ...]:
    """The guesses that are not what a mapping reads already, in its format."""
    formats = {each.format for each in reading} & GENERIC
    read = {each.selector for each in reading}
    return tuple(
        each for each in guesses if each.family in formats and each.mapping.selector not in read
    )
