"""`Audience`: what all who subscribed with `infer` look at, and so which readings are relevant.

Place: in the entailed view, which derives from the others later.
"""

from collections import Counter
from collections.abc import Iterable

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
        self._topics: Counter[Topic] = Counter()
        self._relevance: Relevance | None = NOTHING_MATTERS

    def learn(self, axioms: Iterable[Axiom]) -> None:
        """The axioms of now."""
        self._axioms, self._premises = axioms, None
        if self._topics:
            self._relevance = None

    def join(self, lutt: Iterable[LuttEntry]) -> None:
        """Somebody more looks at these patterns."""
        for topic in _topics(lutt):
            if not self._topics[topic]:
                self._relevance = None
            self._topics[topic] += 1

    def leave(self, lutt: Iterable[LuttEntry]) -> None:
        """The reverse of `join`."""
        for topic in _topics(lutt):
            self._topics[topic] -= 1
            if not self._topics[topic]:
                del self._topics[topic]
                self._relevance = None

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
                found = self._premises.relevance(self._topics)
            self._relevance = found
        return found


def _topics(lutt: Iterable[LuttEntry]) -> set[Topic]:
    return {Topic.of(entry.predicate, entry.object) for entry in lutt}
