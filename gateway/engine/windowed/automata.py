"""`Automata`: the automaton of each window that has conjunctive queries, and their SPUs.

    triples into and out of a window -> its automaton -> rows -> the SPU of each query

Place: beside the processing of `WindowedView`, without quads, LUTT and units. Subscriptions of one
query share its number in the automaton whatever they are told of it.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from time import perf_counter_ns
from weakref import WeakKeyDictionary

from pyoxigraph import NamedNode

from gateway.engine.automaton.alike import likeness
from gateway.engine.automaton.automaton import Automaton
from gateway.engine.automaton.query import AutomatonQuery, NotAnAutomatonError, automaton_query
from gateway.engine.compile import parse_subscribed
from gateway.engine.explain import Costs
from gateway.engine.limits import bounded
from gateway.engine.spu import Change as Told
from gateway.engine.spu import Spu, Subject
from gateway.rdf.solutions import ResultsDelta
from gateway.rdf.terms import Term
from gateway.sparql.algebra import Query
from gateway.windows.content import Change, Content
from gateway.windows.parted import Interest, Predicates


class Automata:
    """All of them; `spus` are whom they serve."""

    def __init__(self) -> None:
        self._automata: dict[Content, Automaton] = {}
        self._costs: dict[Content, Costs] = {}
        self._wanted: dict[Content, set[Term | None]] = {}
        self._interests: dict[Content, Interest] = {}
        self._numbers: dict[Spu, tuple[Content, int]] = {}
        self._matches: WeakKeyDictionary[Content, int] = WeakKeyDictionary()
        self._homes: dict[Hashable, Subject] = {}
        self._alike: dict[Spu, Hashable] = {}
        self._asked: tuple[Subject | None, Hashable] = None, None

    def __contains__(self, spu: Spu) -> bool:
        return spu in self._numbers

    def of(self, content: Content) -> Automaton | None:
        """The automaton of a window, if it has one."""
        return self._automata.get(content)

    def home(self, subject: Subject, query: AutomatonQuery) -> Subject:
        """The subject that is served of those whose rows are told alike; else this one."""
        alike = _likeness(subject, query)
        self._asked = subject, alike
        return self._homes.get(alike, subject)

    def add(self, spu: Spu, query: AutomatonQuery, content: Content) -> ResultsDelta:
        """Serve an SPU; its whole answer. Raises what a limit in force raises."""
        automaton = self._knowing(query, content)
        number = automaton.add(
            query,
            removals=spu.subject.output != "added",
            who=spu,
            variables=spu.variables,
        )
        self._numbers[spu] = content, number
        asked, alike = self._asked
        if asked is not spu.subject:
            alike = _likeness(spu.subject, query)
        self._alike[spu] = alike
        self._homes.setdefault(alike, spu.subject)
        try:
            return self.initial(spu)
        except Exception:
            self.remove(spu)
            raise

    def _knowing(self, query: AutomatonQuery, content: Content) -> Automaton:
        """The automaton of a window, which has the triples that a query looks at.

        What is looked at, and of which elements, is known as long as there is an automaton, whoever
        has gone.
        """
        automaton = self._automata.get(content)
        if automaton is None:
            automaton = self._automata[content] = Automaton()
            self._costs[content] = Costs()
            self._wanted[content], self._interests[content] = set(), Interest()
        wanted, before = self._wanted[content], self._interests[content]
        asked = self._interests[content] = before.also(query.asks)
        looked_at = {None if isinstance(each[1], str) else each[1] for each in query.patterns}
        new = looked_at - wanted
        if asked is not before and wanted:
            further = Interest(asked.asks - before.asks)
            automaton.know(content.apart(_predicates(wanted), further))
        if new and None not in wanted:
            automaton.know(content.having(_predicates(new), asked))
        content.want(new, asked.asks)
        if new:
            wanted |= new
            automaton.heed(wanted)
        return automaton

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer now."""
        content, number = self._numbers[spu]
        rows = self._automata[content].initial(number)
        return ResultsDelta(spu.variables, tuple(bounded(rows)))

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        content, number = self._numbers.pop(spu)
        alike = self._alike.pop(spu)
        if self._homes.get(alike) is spu.subject:
            del self._homes[alike]
        self._automata[content].remove(number)
        if not self._automata[content].queries:
            self._matches[content] = self.matches(content)
            del self._automata[content], self._costs[content]
            content.unwant(self._wanted.pop(content))
            del self._interests[content]

    def matches(self, content: Content) -> int:
        """How many matches were found in a window, by automata that are gone too."""
        automaton = self._automata.get(content)
        return self._matches.get(content, 0) + (0 if automaton is None else automaton.matches)

    def explain(self, spu: Spu) -> Mapping[str, int]:
        """How an SPU is served, counted: patterns, plans, conditions, and who shares them."""
        content, number = self._numbers[spu]
        found = self._automata[content].explain(number)
        return {
            "patterns": found.patterns,
            "plans": found.plans,
            "conditions": found.conditions,
            "sharers": found.sharers,
        }

    def costs(self, spu: Spu) -> tuple[Costs, int]:
        """What all that share the automaton of an SPU have cost, and how many these SPUs are.

        Its rows are matches: nobody counts whom each of them was told.
        """
        content, _ = self._numbers[spu]
        automaton = self._automata[content]
        return replace(self._costs[content], rows=automaton.matches), automaton.members

    def step(self, changes: Iterable[Change]) -> list[Told]:
        """What changed in the answers; a list for whoever asks."""
        found: list[Told] = []
        for change in changes:
            automaton = self._automata.get(change.content)
            if automaton is None or not (change.added or change.removed):
                continue
            begin, costs = perf_counter_ns(), self._costs[change.content]
            told = automaton.step(change.removed, change.added)
            costs.updates += 1
            costs.time_ns += perf_counter_ns() - begin
            if found:
                found += told
            else:
                found = told  # mostly all there is
        return found


def _predicates(looked_at: Collection[Term | None]) -> Predicates | None:
    """None where any is looked at."""
    return None if None in looked_at else frozenset(each for each in looked_at if each is not None)


def _likeness(subject: Subject, query: AutomatonQuery) -> Hashable:
    parsed = parsed_of(subject)
    return likeness(query), parsed.form, parsed.variables, replace(subject, text="")


@lru_cache(maxsize=2)
def parsed_of(subject: Subject) -> Query:
    """As `parse_subscribed`; one subscription asks several times."""
    return parse_subscribed(subject)


@lru_cache(maxsize=2)
def automaton_of(subject: Subject) -> AutomatonQuery:
    """The query as an automaton takes it. Raises NotAnAutomatonError, and as `parse_subscribed`."""
    if subject.readable is not None:
        raise NotAnAutomatonError("graphs that are hidden")
    if len(subject.windows) != 1:
        raise NotAnAutomatonError("it has several windows")
    query = parsed_of(subject)
    ((iri, window),) = subject.windows
    if window.bounds:
        raise NotAnAutomatonError("its window tells its bounds")
    return automaton_query(query, NamedNode(iri), subject.dataset)
