"""`Automaton`: all conjunctive queries over one window, told what each step changed for them.

Place: between the content of a window, whose triples come and go, and the SPUs. Queries that are
equal up to names of variables and order of patterns are one, whoever subscribes.

>>> from gateway.engine.automaton.query import automaton_query
>>> from gateway.sparql.parser import parse_query
>>> def triple(text):
...     return Triple(*(NamedNode(f"urn:{each}") for each in text.split()))
>>> window = NamedNode("urn:w")
>>> text = "SELECT ?door { GRAPH <urn:w> { ?one <urn:of> ?door . ?one <urn:is> <urn:open> } }"
>>> automaton = Automaton()
>>> doors = automaton.add(automaton_query(parse_query(text), window, None), removals=True)
>>> automaton.step([], [triple("o1 of d1")])
[]
>>> for number, results in automaton.step([], [triple("o1 is open")]):
...     print(number == doors, *results.added, *results.removed)
True (<NamedNode value=urn:d1>,)
>>> for _, results in automaton.step([triple("o1 of d1")], []):
...     print(*results.added, "-", *results.removed)
- (<NamedNode value=urn:d1>,)
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from pyoxigraph import BlankNode, NamedNode, Triple

from gateway.engine.automaton.answer import NETTED, ONE_TO_ONE, Answer, Rows, answer
from gateway.engine.automaton.canonical_form import canonical_form
from gateway.engine.automaton.compiled import Compiler
from gateway.engine.automaton.conditions import Conditions
from gateway.engine.automaton.form import Form, form_of, release
from gateway.engine.automaton.plan import plans, whole_plan
from gateway.engine.automaton.query import AutomatonQuery
from gateway.engine.automaton.solutions import rows
from gateway.engine.automaton.terms import Ids, IntRow, Terms
from gateway.engine.automaton.tpm import Found, Machine
from gateway.engine.automaton.window_index import WindowIndex
from gateway.engine.limits import bounded
from gateway.rdf.solutions import ResultsDelta, Row
from gateway.rdf.terms import Term
from gateway.windows.parted import Spo

Who: TypeAlias = Any
"""Whoever is told of a query: what `add` was given, or its number."""

StepChange = tuple[Who, ResultsDelta]
"""Who is told, and rows added and removed."""

_Make = Callable[[Sequence[Term | None], IntRow], Row]
"""A row of terms, by number, of a row of numbers."""

_results: Callable[[type[ResultsDelta], tuple[object, ...]], ResultsDelta] = tuple.__new__
"""A third of the time of calling the class."""


class _Sharer(NamedTuple):
    """One of those who have added a query; `make` is the same for equal orders of columns."""

    wants_removed: bool
    make: _Make
    who: Who
    variables: tuple[str, ...]


_ByMake = Sequence[tuple[_Make, Sequence[tuple[bool, Who, tuple[str, ...]]]]]
"""Whether somebody wants removed rows, who, and names of columns, behind what makes the rows."""


@dataclass(frozen=True, slots=True)
class Explained:
    """How a query is served: its patterns, each of which has one of the `plans`, who shares them.

    `sharers` are all that have added an equal query. With `is_told_of_leaving` matches that end
    are looked for too, since somebody wants them or the rows cannot be told without them.
    """

    patterns: int
    plans: int
    conditions: int
    sharers: int
    is_told_of_leaving: bool


@dataclass(slots=True, eq=False)
class _Shared:
    """A query of which equal ones are one."""

    number: int
    form: Form
    answer: Answer
    needs_lost: bool
    sharers: dict[int, _Sharer] = field(default_factory=dict)
    is_one_to_one: bool = field(init=False)
    counts: bool = field(init=False)
    """Whether what comes alone may be no row that came."""
    by_make: _ByMake | None = None
    """The sharers by what makes their rows, once somebody has asked: see `sorted`."""

    def __post_init__(self) -> None:
        self.is_one_to_one = self.answer is ONE_TO_ONE
        self.counts = not (self.is_one_to_one or self.answer is NETTED)

    @property
    def wants_lost(self) -> bool:
        return self.needs_lost or any(each.wants_removed for each in self.sharers.values())

    def add(self, number: int, sharer: _Sharer) -> None:
        """One sharer more."""
        self.sharers[number] = sharer
        self.by_make = None

    def remove(self, number: int) -> None:
        """One less."""
        del self.sharers[number]
        self.by_make = None

    def sorted(self) -> _ByMake:
        """The sharers by what makes their rows: equal rows are made once."""
        found: dict[_Make, list[tuple[bool, Who, tuple[str, ...]]]] = {}
        for wants_removed, make, who, variables in self.sharers.values():
            found.setdefault(make, []).append((wants_removed, who, variables))
        self.by_make = tuple(found.items())
        return self.by_make


@lru_cache(maxsize=1024)
def _made_by(places: tuple[int, ...]) -> _Make:
    """What puts terms into the places of a row: two to three times as fast as to map them."""
    cells = "".join(f"terms[row[{place}]], " for place in places)
    make: _Make = eval(f"lambda terms, row: ({cells})")  # noqa: S307 - it is made of numbers alone
    return make


class Automaton:
    """The queries of one window, and its triples.

    Terms are canonical (gateway/rdf/canonical.py). Not for several threads.
    """

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self._terms = Terms()
        self._index = WindowIndex()
        self._conditions = Conditions(self._terms.terms)
        compiler = Compiler(self._index, self._conditions)
        self._arriving = Machine(compiler)
        """Plans of queries that are told of what comes alone."""
        self._changing = Machine(compiler)
        self._shared: dict[int, _Shared] = {}
        self._by_form: dict[Form, _Shared] = {}
        self._by_number: dict[int, _Shared] = {}
        self._alone: dict[int, tuple[_Make, Who, tuple[str, ...]]] = {}
        """By query, who alone shares it, where a match that comes is a row: found at once."""
        self._together: dict[int, _ByMake] = {}
        """The same of those that several share."""
        self._numbers = count()
        self._heeded: set[int] | None = None
        self._patterns: int | None = 0
        self.matches = 0
        self.know(triples)

    # queries --------------------------------------------------------------------------------

    def add(
        self,
        query: AutomatonQuery,
        *,
        removals: bool,
        who: Who = None,
        variables: tuple[str, ...] = (),
    ) -> int:
        """A query more; returns its number. `who` is told of it, with these names of columns.

        Without `removals` it is told no removed rows; the added ones are the same. Without `who`
        its number stands for that. Raises what the
        limits of a first answer say (`bounded`), where matches have to be counted.
        """
        form, order = canonical_form(form_of(query, self._terms, self._conditions))
        shared = self._by_form.get(form)
        if shared is None:
            try:
                shared = self._new(form)
            except BaseException:
                release(form, self._terms, self._conditions)
                raise
        else:
            release(form, self._terms, self._conditions)
        number = next(self._numbers)
        had_lost = bool(shared.sharers) and shared.wants_lost
        told = number if who is None else who
        places = tuple(range(len(form.rows[0]))) if order is None else order
        shared.add(number, _Sharer(removals, _made_by(places), told, variables))
        self._forget(shared)
        if shared.wants_lost and not had_lost:
            if len(shared.sharers) > 1:
                self._arriving.remove(plans(form), shared.number)
            self._changing.insert(plans(form), shared.number)
        elif len(shared.sharers) == 1:
            self._arriving.insert(plans(form), shared.number)
        self._by_number[number] = shared
        return number

    def remove(self, number: int) -> None:
        """The reverse of `add`."""
        shared = self._by_number.pop(number)
        self._forget(shared)
        had_lost = shared.wants_lost
        shared.remove(number)
        machine = self._changing if had_lost else self._arriving
        if not shared.sharers:
            machine.remove(plans(shared.form), shared.number)
            del self._shared[shared.number], self._by_form[shared.form]
            self._patterns = None
            release(shared.form, self._terms, self._conditions)
        elif had_lost and not shared.wants_lost:
            self._changing.remove(plans(shared.form), shared.number)
            self._arriving.insert(plans(shared.form), shared.number)

    def _forget(self, shared: _Shared) -> None:
        """Find out anew who is told of a query."""
        self._alone.pop(shared.number, None)
        self._together.pop(shared.number, None)

    def build(self) -> None:
        """Make the functions that `add` and `remove` have changed, else the next step does it."""
        self._arriving.build()
        self._changing.build()

    def initial(self, number: int) -> Sequence[Row]:
        """The whole answer now, within the limits in force (`bounded`)."""
        shared = self._by_number[number]
        whole = shared.answer.whole(self._rows(shared.form))
        return self._decoded([*bounded(whole)], shared.sharers[number].make)

    def _new(self, form: Form) -> _Shared:
        kind, needs_lost = answer(form, self._is_triple)
        kind.begin(bounded(self._rows(form)))
        shared = _Shared(next(self._numbers), form, kind, needs_lost)
        self._shared[shared.number] = self._by_form[form] = shared
        self._patterns = None
        return shared

    def _rows(self, form: Form) -> Iterator[IntRow]:
        return rows(whole_plan(form), self._index, self._conditions)

    def _is_triple(self, row: IntRow) -> bool:
        subject, predicate, object_ = map(self._terms.terms.__getitem__, row)
        return (
            isinstance(subject, NamedNode | BlankNode)
            and isinstance(predicate, NamedNode)
            and object_ is not None
        )

    # triples --------------------------------------------------------------------------------

    def know(self, triples: Iterable[Triple]) -> None:
        """Take up triples that the window has, of predicates that no query has looked at so far."""
        for triple in triples:
            self._index.add(*self._terms.ids(triple))

    def heed(self, predicates: Collection[Term | None]) -> None:
        """Look at no triples but of these from now on; None is any."""
        before, pin = self._heeded or (), self._terms.pin
        heeded = {pin(each) for each in predicates if each is not None}
        self._heeded = None if None in predicates else heeded
        if self._heeded is None:
            before = {*before, *heeded}
        for number in before:
            self._terms.unpin(number)

    def step(self, removed: Sequence[Spo], added: Sequence[Spo]) -> list[StepChange]:
        """What left the window and what came, in this order: what changed for whom.

        Rows are bags, R(k) − R(k−1) and R(k−1) − R(k); who has neither is left out. Linear in
        those who are told. A triple that
        leaves and comes is no change, nor is one that is there already, or not there.
        """
        terms = self._terms
        gone = self._known(removed) if removed else []
        come = self._coded(added) if added else []
        if gone and (len(gone) > 1 or len(come) > 1 or gone == come):
            # One that leaves and another that comes is the usual step, or some that come.
            left, arrived = dict.fromkeys(gone), dict.fromkeys(come)
            for both in left.keys() & arrived.keys():
                del left[both], arrived[both]
            gone, come = [*left], [*arrived]
        lost, won = self.change(gone, come)
        told = self._told(lost, won) if won or lost else []
        if terms.wants_sweep:
            self._sweep()
        return told

    def _coded(self, triples: Sequence[Spo]) -> list[Ids]:
        """The numbers of triples that are looked at."""
        numbers, heeded, give = self._terms.numbers, self._heeded, self._terms.number
        found = []
        for subject, predicate, object_ in triples:
            number = numbers.get(predicate)
            if heeded is not None and number not in heeded:
                continue
            start, end = numbers.get(subject), numbers.get(object_)
            if start is None:
                start = give(subject)
            if number is None:
                number = give(predicate)
            if end is None:
                end = give(object_)
            found.append((start, number, end))
        return found

    def _known(self, triples: Sequence[Spo]) -> list[Ids]:
        """The numbers of the triples that are in the window, as all are that are looked at."""
        numbers, there = self._terms.numbers, self._index.all_objects
        found = []
        for subject, predicate, object_ in triples:
            number = numbers.get(predicate)
            if number is None or number not in there:
                continue
            try:
                ids = numbers[subject], number, numbers[object_]
            except KeyError:
                continue
            if ids[2] in there[number].get(ids[0], ()):
                found.append(ids)
        return found

    def ids(self, triple: Triple) -> Ids:
        """A triple as `change` takes it; until the next `step` this stays its name."""
        return self._terms.ids(triple)

    def change(self, gone: Iterable[Ids], come: Iterable[Ids]) -> tuple[Found, Found]:
        """The rows of matches that ended and that began, by query; `gone` are in the window.

        Each is found once: with the first of its triples that leaves, the last that comes.
        """
        if not self._changing.is_empty:
            return self._change_both(gone, come)
        index, begin = self._index, self._arriving.ready()
        won: Found = {}
        for subject, predicate, object_ in gone:
            index.remove(subject, predicate, object_)
        for subject, predicate, object_ in come:
            if index.add(subject, predicate, object_):
                if predicate in begin:  # as `Machine.matches` does, which costs a call
                    begin[predicate](won, subject, object_)
                if None in begin:
                    begin[None](won, subject, predicate, object_)
        return {}, won

    def _change_both(self, gone: Iterable[Ids], come: Iterable[Ids]) -> tuple[Found, Found]:
        """The same where somebody is told what ends."""
        index = self._index
        lost: Found = {}
        won: Found = {}
        arriving, changing = self._arriving.ready(), self._changing.ready()
        arriving_any, changing_any = arriving.get(None), changing.get(None)
        for subject, predicate, object_ in gone:
            if predicate in changing:
                changing[predicate](lost, subject, object_)
            if changing_any is not None:
                changing_any(lost, subject, predicate, object_)
            index.remove(subject, predicate, object_)
        for subject, predicate, object_ in come:
            if index.add(subject, predicate, object_):
                if predicate in arriving:
                    arriving[predicate](won, subject, object_)
                if arriving_any is not None:
                    arriving_any(won, subject, predicate, object_)
                if predicate in changing:
                    changing[predicate](won, subject, object_)
                if changing_any is not None:
                    changing_any(won, subject, predicate, object_)
        return lost, won

    def _told(self, lost: Found, won: Found) -> list[StepChange]:
        told: list[StepChange] = []
        terms, tell, alone, together = self._terms.terms, told.append, self._alone, self._together
        matches = 0
        for number, came in won.items():
            if number in lost:
                matches += self._tell(number, came, lost.pop(number), told)
            elif number in alone:
                make, who, variables = alone[number]
                matches += len(came)
                if len(came) == 1:  # as mostly
                    rows: tuple[Row, ...] = (make(terms, came[0]),)
                else:
                    rows = tuple([make(terms, row) for row in came])
                tell((who, _results(ResultsDelta, (variables, rows, ()))))
            elif number in together:
                matches += len(came)
                for make, sharers in together[number]:
                    rows = tuple([make(terms, row) for row in came])
                    for _, who, variables in sharers:
                        tell((who, _results(ResultsDelta, (variables, rows, ()))))
            else:
                matches += self._tell(number, came, (), told)
        for number, ended in lost.items():
            matches += self._tell(number, (), ended, told)
        self.matches += matches
        return told

    def _tell(self, number: int, came: Rows, went: Rows, told: list[StepChange]) -> int:
        """Tell all who share a query; how many matches came."""
        shared = self._shared[number]
        by_make = shared.by_make or shared.sorted()
        if not shared.counts:
            if len(shared.sharers) == 1:
                ((make, ((_, who, variables),)),) = by_make
                self._alone[number] = make, who, variables
            else:
                self._together[number] = by_make
        if not shared.is_one_to_one:
            came, went = shared.answer.change(came, went)
        for make, sharers in by_make:
            added, ended = self._decoded(came, make), self._decoded(went, make)
            for wants_removed, who, variables in sharers:
                removed = ended if wants_removed else ()
                if added or removed:
                    told.append((who, _results(ResultsDelta, (variables, added, removed))))
        return len(came)

    def _decoded(self, found: Rows, make: _Make) -> tuple[Row, ...]:
        terms = self._terms.terms
        return tuple([make(terms, row) for row in found])

    def _sweep(self) -> None:
        """Forget terms that have left, before their numbers are given to others."""
        index, terms = self._index, self._terms
        for predicate in [*index.all_objects]:
            if not terms.is_pinned(predicate):
                index.forget(predicate)
        self._conditions.forget()
        terms.sweep({number for ids in index for number in ids})

    # what there is --------------------------------------------------------------------------

    @property
    def patterns(self) -> int:
        """How many patterns there are, names of variables and equal ones left out."""
        if self._patterns is None:
            masks = {
                tuple([min(ref, 0) for ref in pattern])
                for shared in self._shared.values()
                for pattern in shared.form.patterns
            }
            self._patterns = len(masks)
        return self._patterns

    @property
    def plans(self) -> int:
        """How many plans there are: one a pattern of each query."""
        return self._arriving.plans + self._changing.plans

    @property
    def queries(self) -> int:
        """How many queries there are, equal ones counted once."""
        return len(self._shared)

    @property
    def members(self) -> int:
        """How many have added a query."""
        return len(self._by_number)

    def explain(self, number: int) -> Explained:
        """How a query is served."""
        shared = self._by_number[number]
        return Explained(
            len(shared.form.patterns),
            sum(1 for _ in plans(shared.form)),
            len(shared.form.conditions),
            len(shared.sharers),
            shared.wants_lost,
        )
