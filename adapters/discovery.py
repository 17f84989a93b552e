"""Discovery: which family an unknown message is of, and the mappings that it suggests.

Place on the way: beside the registry. The gateway hands over what no mapping knows, and what comes
on the announcement topics of the families; proposals are shown, confirmed and written elsewhere.
"""

from collections.abc import Mapping as Lookup
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapters.adapter import Format
from adapters.families import FORMATS
from adapters.recipes.book import RECIPES
from adapters.recipes.recipe import Recipe
from adapters.values.memory import Memory, Recent
from adapters.values.message import Message
from adapters.values.payload import MAX_PAYLOAD_BYTES, Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.topic_filter import TopicFilter, TopicTrie

MAX_PROPOSALS = 10_000
"""The most proposals of one message: a bridge announces hundreds of devices in one."""

MAX_ANNOUNCEMENT_BYTES = 64 * MAX_PAYLOAD_BYTES
"""A list of a bridge's devices is longer than any reading; one device takes some 8 KiB."""


_WHICH_TOPIC = "Which topic?"

MAX_TOPICS = 4096
"""Announcement topics whose proposals are remembered, to tell which of them are withdrawn."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """`family` is the name of a format or a recipe, empty where none recognises the message.

    `withdrawn`: IRIs of mappings that an earlier message on the same topic proposed and this one
    does not any more; an empty retained message withdraws them all. `omitted` counts proposals
    beyond MAX_PROPOSALS.
    """

    family: str = ""
    proposals: tuple[Proposal, ...] = ()
    withdrawn: tuple[str, ...] = ()
    omitted: int = 0


class Discovery:
    """Asks the families; remembers for those that announce themselves in several messages.

    >>> from datetime import UTC, datetime
    >>> found = Discovery().discover(Message("x/y", b'{"temp":21.5}', datetime.now(UTC)))
    >>> found.family, [proposal.mapping.selector for proposal in found.proposals]
    ('json', ['$.temp'])
    """

    def __init__(
        self, names: Names | None = None, formats: Lookup[str, Format] | None = None
    ) -> None:
        self._names = names or Names()
        self._formats = FORMATS if formats is None else formats
        self._memory = Memory()
        self._proposed = Recent[str, tuple[str, ...]](MAX_TOPICS)
        self._announcers = TopicTrie[str]()
        self._alone = TopicTrie[str]()
        self._recipes = TopicTrie[Recipe]()
        for recipe in RECIPES:
            for text in recipe.filters:
                self._recipes.insert(TopicFilter.parse(text), recipe)
        for name, form in self._formats.items():
            for text in form.announcements:
                self._announcers.insert(TopicFilter.parse(text), name)
            for text in form.alone:
                self._alone.insert(TopicFilter.parse(text), name)

    @property
    def announcements(self) -> frozenset[str]:
        """The topic filters of what families publish about themselves."""
        return frozenset(each for form in self._formats.values() for each in form.announcements)

    def discover(self, message: Message) -> Discovered:
        """The first family, in the order of the table, that has something to propose.

        An announcement is its family's alone, be there something to propose or not. Of what is
        none, the recipes for its topic are asked before the families.
        """
        if len(message.payload) > MAX_ANNOUNCEMENT_BYTES:
            return Discovered()
        matched = self._announcers.match(message.topic)
        announcers = [name for name in self._formats if name in matched]
        payload = Payload(message)
        only = [] if announcers else list(self._alone.match(message.topic))
        if not announcers and not only:
            for recipe in dict.fromkeys(self._recipes.match(message.topic)):
                told = tuple(recipe.propose(payload, self._names))
                if told:
                    return Discovered(recipe.name, told)
        for name in announcers or only or self._formats:
            propose = self._formats[name].propose
            proposals = propose(payload, self._names, self._memory) if propose else ()
            if proposals is None:
                self._proposed.pop(message.topic)
                return Discovered(name)
            if proposals:
                told = tuple(proposals[:MAX_PROPOSALS])
                if announcers:
                    told = tuple(map(_of_one_device, told))
                withdrawn = self._withdrawn(message, told)
                return Discovered(name, told, withdrawn, len(proposals) - len(told))
        if announcers:
            return Discovered(announcers[0], (), self._withdrawn(message, ()))
        return Discovered(only[0]) if only else Discovered()

    def _withdrawn(self, message: Message, proposals: Sequence[Proposal]) -> tuple[str, ...]:
        now = tuple(proposal.mapping.iri for proposal in proposals)
        before = self._proposed.get(message.topic) or ()
        self._proposed.put(message.topic, now)
        kept = frozenset(now)
        return tuple(iri for iri in before if iri not in kept)


def _of_one_device(proposal: Proposal) -> Proposal:
    """With a question where the name that a device gave itself would read others' topics too."""
    topic = proposal.mapping.topic_filter
    if not {"+", "#"}.intersection(topic) or _WHICH_TOPIC in proposal.question:
        return proposal
    question = f"{_WHICH_TOPIC} {topic[:100]!a} has a wildcard."
    return replace(proposal, question=" ".join(filter(None, (proposal.question, question))))
