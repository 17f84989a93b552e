"""What unknown topics have left to be read, in the light of the mappings of now.

Place on the way of the data: the list of unknown topics, when somebody asks for it.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from adapters.values.mapping import Mapping
from adapters.values.proposal import Proposal
from adapters.values.topic_filter import TopicFilter, TopicTrie
from gateway.admin.onboarding.discovery import GENERIC
from gateway.admin.onboarding.proposals import StoredProposal, stored
from gateway.admin.onboarding.unknown import UnknownTopic
from jsap.errors import JsapError


def unread(
    topics: Iterable[UnknownTopic], mappings: Iterable[Mapping]
) -> tuple[list[UnknownTopic], list[str]]:
    """The topics that no mapping reads, or not all members of; and those that are done with.

    Of a topic that a mapping reads, what is guessed of its other members.
    """
    readers = TopicTrie[Mapping]()
    for mapping in mappings:
        with suppress(ValueError):
            readers.insert(TopicFilter.parse(mapping.topic_filter), mapping)
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
