"""`Audience`: what all who subscribed with `infer` look at, and so which readings are relevant.

Place: in the entailed view, which derives from the others later.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from gateway.engine.lutt import LuttEntry
from gateway.reasoning.axioms import Axiom
from gateway.reasoning.relevance import NOTHING_MATTERS, Premises, Relevance, Topic


class Audience:
    """Counts the topics of subscriptions; works out what is relevant when that is asked for.

    >>> from pyoxigraph import NamedNode
    >>> entry = LuttEntry(None, NamedNode("urn:p"), None)
    >>> audience = Audience()
    >>> audience.join([entry])
    >>> [name.value for name in audience.relevance.properties]
    ['urn:p']
    """

    def __init__(self) -> None:
        self._axioms: Iterable[Axiom] = ()
        self._premises: Premises | None = None
        self._topics: dict[Topic, Counter[Topic]] = {}
        self._relevance: Relevance | None = NOTHING_MATTERS

    def learn(self, axioms: Iterable[Axiom]) -> None:
        """The axioms of now."""
        self._axioms, self._premises = axioms, None
        if self._topics:
            self._relevance = None

    def join(self, lutt: Iterable[LuttEntry]) -> None:
        """Somebody more looks at these patterns."""
        for topic in _topics(lutt):
            alike = self._topics.setdefault(topic.whole, Counter())
            if topic not in alike and len(alike) <= _MOST_ALIKE:
                self._relevance = None
            alike[topic] += 1

    def leave(self, lutt: Iterable[LuttEntry]) -> None:
        """The reverse of `join`."""
        for topic in _topics(lutt):
            alike = self._topics[topic.whole]
            alike[topic] -= 1
            if not alike[topic]:
                del alike[topic]
                if len(alike) <= _MOST_ALIKE:
                    self._relevance = None
            if not alike:
                del self._topics[topic.whole]

    @property
    def relevance(self) -> Relevance:
        """What is relevant to them all; linear in the axioms where these are new."""
        found = self._relevance
        if found is None:
            if not self._topics:
                found = NOTHING_MATTERS
            else:
                if self._premises is None:
                    self._premises = Premises(self._axioms)
                found = self._premises.relevance(self._chosen())
            self._relevance = found
        return found

    def _chosen(self) -> Iterator[Topic]:
        for whole, alike in self._topics.items():
            if len(alike) > _MOST_ALIKE:
                yield whole
            else:
                yield from alike


_MOST_ALIKE = 256
"""Topics that differ in their ends alone; of more, any end is relevant."""


def _topics(lutt: Iterable[LuttEntry]) -> set[Topic]:
    return {Topic.of(entry.subject, entry.predicate, entry.object) for entry in lutt}
