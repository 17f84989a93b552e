"""`Automata`: the automaton of each window that has conjunctive queries, and their SPUs.

    triples into and out of a window -> its automaton -> rows -> the SPU of each query

Place: beside the processing of `WindowedView`, without quads, LUTT and units. Subscriptions of one
query share its number in the automaton whatever they are told of it.
"""

from collections.abc import Iterable, Mapping
from weakref import WeakKeyDictionary

from pyoxigraph import NamedNode

from gateway.engine.automaton.automaton import Automaton
from gateway.engine.automaton.query import AutomatonQuery, NotAnAutomatonError, automaton_query
from gateway.engine.compile import parse_subscribed
from gateway.engine.limits import bounded
from gateway.engine.spu import Change as Told
from gateway.engine.spu import Spu, Subject
from gateway.rdf.solutions import ResultsDelta
from gateway.windows.content import Change, Content


class Automata:
    """All of them; `spus` are whom they serve."""

    def __init__(self) -> None:
        self._automata: dict[Content, Automaton] = {}
        self._served: dict[Content, dict[int, Spu]] = {}
        self._numbers: dict[Spu, tuple[Content, int]] = {}
        self._matches: WeakKeyDictionary[Content, int] = WeakKeyDictionary()

    def __contains__(self, spu: Spu) -> bool:
        return spu in self._numbers

    def of(self, content: Content) -> Automaton | None:
        """The automaton of a window, if it has one."""
        return self._automata.get(content)

    def add(self, spu: Spu, query: AutomatonQuery, content: Content) -> ResultsDelta:
        """Serve an SPU; its whole answer. Raises what a limit in force raises."""
        automaton = self._automata.get(content)
        if automaton is None:
            automaton = self._automata[content] = Automaton(content)
            self._served[content] = {}
        number = automaton.add(query, removals=spu.subject.output != "added")
        self._served[content][number] = spu
        self._numbers[spu] = content, number
        try:
            return self.initial(spu)
        except Exception:
            self.remove(spu)
            raise

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer now."""
        content, number = self._numbers[spu]
        rows = self._automata[content].initial(number)
        return ResultsDelta(spu.variables, tuple(bounded(rows)))

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        content, number = self._numbers.pop(spu)
        self._automata[content].remove(number)
        del self._served[content][number]
        if not self._served[content]:
            self._matches[content] = self.matches(content)
            del self._served[content], self._automata[content]

    def matches(self, content: Content) -> int:
        """How many matches were found in a window, by automata that are gone too."""
        automaton = self._automata.get(content)
        return self._matches.get(content, 0) + (0 if automaton is None else automaton.matches)

    def explain(self, spu: Spu) -> Mapping[str, int]:
        """How an SPU is served, counted: its patterns and conditions, and who shares them."""
        content, number = self._numbers[spu]
        found = self._automata[content].explain(number)
        return {
            "patterns": found.patterns,
            "conditions": found.conditions,
            "sharers": found.sharers,
        }

    def step(self, changes: Iterable[Change]) -> list[Told]:
        """What changed in the answers."""
        found: list[Told] = []
        for change in changes:
            automaton = self._automata.get(change.content)
            if automaton is None:
                continue
            served = self._served[change.content]
            for number, added, removed in automaton.step(change.removed, change.added):
                spu = served[number]
                found.append((spu, ResultsDelta(spu.variables, tuple(added), tuple(removed))))
        return found


def automaton_of(subject: Subject) -> AutomatonQuery:
    """The query as an automaton takes it. Raises NotAnAutomatonError, and as `parse_subscribed`."""
    if subject.readable is not None:
        raise NotAnAutomatonError("graphs that are hidden")
    if len(subject.windows) != 1:
        raise NotAnAutomatonError("it has several windows")
    query = parse_subscribed(subject)
    ((iri, window),) = subject.windows
    if window.bounds:
        raise NotAnAutomatonError("its window tells its bounds")
    return automaton_query(query, NamedNode(iri), subject.dataset)
