"""`JoinWhere`: a join of triple patterns evaluated by index look-ups.

Place: the WHERE of most UPDATEs: no text is made or parsed, what waits in `Pending` is seen
without writing it, and a pattern that is deleted again hands over its quads. The patterns are
joined one after the other, always one of those with the most known positions; where that would
go through too much, the store's SPARQL, which is faster a row, does it instead.

An example: the lamps of one post are switched off, whatever they had before.

>>> from pyoxigraph import RdfFormat, parse
>>> from gateway.rdf.delta import Delta
>>> from gateway.store.quad_store import QuadStore
>>> from gateway.store.update import compile_update, evaluate
>>> class Shown(QuadStore):
...     def match(self, *wanted):
...         print("looks up", *("?" if term is None else term for term in wanted[:3]))
...         return super().match(*wanted)
>>> store = Shown.open(None)
>>> lamps = '<urn:p> <urn:lamp> <urn:1> . <urn:1> <urn:value> 80 . <urn:2> <urn:value> 70 .'
>>> store.apply(Delta(tuple(parse(lamps, format=RdfFormat.TURTLE))))
>>> plan = compile_update('''
...     DELETE { ?lamp <urn:value> ?old } INSERT { ?lamp <urn:value> 0 }
...     WHERE { ?lamp <urn:value> ?old . <urn:p> <urn:lamp> ?lamp }''')
>>> delta = evaluate(store, [(plan, {})])
looks up <urn:p> <urn:lamp> ?
looks up <urn:1> <urn:value> ?
>>> for sign, quads in (("-", delta.removed), ("+", delta.added)):
...     print(*(f"{sign} {q.subject} {q.predicate} {q.object.value}" for q in quads))
- <urn:1> <urn:value> 80
+ <urn:1> <urn:value> 0
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Variable

from gateway.rdf.canonical import canonical
from gateway.rdf.namespaces import RDF
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.sparql.algebra import QuadPattern
from gateway.store.joined_patterns import JoinedPatterns
from gateway.store.query_where import QueryWhere
from gateway.store.templates import Bindings, QuadTemplate, Row, variables
from gateway.store.working import Working

MOST_ROWS = 2000
"""Rows between two patterns, from where on the store's SPARQL is faster."""

_TYPE = NamedNode(RDF + "type")
_POSITIONS = ("subject", "predicate", "object", "graph_name")
_NOTHING = 0
"""The register that holds None: a wildcard, or an unbound variable."""

Slots = tuple[Any, Any, Any, Any]
"""The nodes of a pattern with its graph, constants as the store gives them back."""

MakeQuery = Callable[[Sequence[str]], QueryWhere]


class JoinWhere:
    """Rows of `columns`: variables, and for those in `matched` the quad that a pattern matches."""

    def __init__(
        self,
        joined: JoinedPatterns,
        columns: Sequence[str],
        matched: Mapping[str, QuadPattern],
        query: MakeQuery,
    ) -> None:
        self._joined = joined
        self._columns = tuple(columns)
        self._matched = dict(matched)
        names = variables(joined.patterns) | dict.fromkeys(columns)
        fixed = joined.constants.keys() | joined.equalities.keys()
        self._names = [name for name in names if name not in fixed and name not in matched]
        self._fixed = [*fixed]
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._otherwise = _Otherwise(self._columns, matched, query)

    def rows(self, working: Working, bindings: Bindings) -> Sequence[Row]:
        """Look up, with the bindings known from the beginning."""
        known = tuple([name for name in self._names if name in bindings])
        plan = self._plans.get(known)
        if plan is None:
            plan = self._plans[known] = self._plan(known)
        start = self._start(bindings, known) if plan.is_selective else None
        rows = None if start is None else plan.rows(working, start)
        return self._otherwise.rows(working, bindings) if rows is None else rows

    def _start(self, bindings: Bindings, known: tuple[str, ...]) -> Row | None:
        """The known registers in the order that the plan gave them; None if it cannot be used."""
        start = tuple([bindings[name] for name in known])
        if not self._fixed:
            return start
        if any(name in bindings for name in self._fixed):
            return None
        equal = [bindings[name] for name in self._joined.equalities.values()]
        return (*equal, *start) if all(isinstance(term, NamedNode) for term in equal) else None

    def _plan(self, known: tuple[str, ...]) -> "_Plan":
        fixed = {name: canonical(term) for name, term in self._joined.constants.items()}
        patterns = [_slots(pattern, fixed) for pattern in self._joined.patterns]
        plan = _Plan([*self._joined.equalities, *known], fixed)
        wanted = {
            self._joined.patterns.index(pattern): name for name, pattern in self._matched.items()
        }
        left = list(range(len(patterns)))
        while left:
            best = max(left, key=lambda place: plan.worth(patterns[place]))
            left.remove(best)
            plan.add(patterns[best], wanted.get(best))
        plan.pick(self._columns)
        return plan


class _Plan:
    """The steps of a join, and where each variable is in the rows that they make.

    Register 0 is None, then come the constants, then what is known at the start, then what each
    step binds.
    """

    def __init__(self, known: Sequence[str], fixed: Mapping[str, Any]) -> None:
        self._constants: list[Any] = [None, DEFAULT_GRAPH]
        self._known = known
        self._fixed = fixed
        self._steps: list[_Step] = []
        self._slots: list[tuple[Slots, str | None]] = []
        self._bound = {*known}
        self._pick: Callable[[Row], Row] = tuple
        self.is_selective = True

    def worth(self, slots: Slots) -> tuple[int, int, bool, bool]:
        """Positions known; of equals, those from other patterns select more than constants."""
        known = [self._is_known(slot) for slot in slots[:3]]
        joined = sum(isinstance(slot, Variable) and slot.value in self._bound for slot in slots[:3])
        return sum(known), joined, slots[1] != _TYPE, known[0]

    def _is_known(self, slot: Any) -> bool:
        return not isinstance(slot, Variable) or slot.value in self._bound

    def add(self, slots: Slots, quad: str | None) -> None:
        """The next pattern; `quad` names the column for what it matches."""
        count, joined, *_ = self.worth(slots)
        if self._slots:
            self.is_selective &= count >= 2 or joined > 0
        self._slots.append((slots, quad))
        self._bound |= {slot.value for slot in slots if isinstance(slot, Variable)}

    def pick(self, columns: Sequence[str]) -> None:
        """Make the steps, once all patterns are there, and choose the columns of a row."""
        if len(self._slots) > 1:
            self.is_selective &= self._selects_first()
        nodes = [slot for slots, _ in self._slots for slot in slots]
        terms = [*(node for node in nodes if not isinstance(node, Variable)), *self._fixed.values()]
        self._constants = [None, *dict.fromkeys(terms)]
        place: dict[Any, int] = {term: at for at, term in enumerate(self._constants)}
        for name in self._known:
            place[name] = len(place)
        width = len(place)
        for slots, quad in self._slots:
            step = _Step(slots, place, quad, width)
            width = step.width
            self._steps.append(step)
        for name, term in self._fixed.items():
            place[name] = place[term]
        chosen = [place.get(name, _NOTHING) for name in columns]
        self._pick = _picker(chosen)

    def _selects_first(self) -> bool:
        (slots, _), bound = self._slots[0], {*self._known}
        known = [not isinstance(slot, Variable) or slot.value in bound for slot in slots[:3]]
        return known[0] or sum(known) >= 2

    def rows(self, working: Working, start: Row) -> list[Row] | None:
        """Join; None where a step leaves too many rows for the next one."""
        match = working.look_up
        rows: list[Row] = [(*self._constants, *start)]
        for step in self._steps:
            if len(rows) > MOST_ROWS:
                return None
            rows = step.extend(match, rows)
        return [self._pick(row) for row in rows]


class _Step:
    """One pattern: looks up for each row, and appends to it what the quads bind."""

    def __init__(self, slots: Slots, place: dict[Any, int], quad: str | None, width: int) -> None:
        self._places: list[int] = []
        self._equal: list[Callable[[Quad], Any]] = []
        taken: list[str] = []
        if quad is not None:
            place[quad] = width
            width += 1
        new: dict[str, str] = {}
        for position, slot in zip(_POSITIONS, slots, strict=True):
            name = slot.value if isinstance(slot, Variable) else slot
            if name in new:
                self._equal.append(attrgetter(new[name], position))
                self._places.append(_NOTHING)
            elif name in place:
                self._places.append(place[name])
            else:
                new[name] = position
                taken.append(position)
                self._places.append(_NOTHING)
        for name in new:
            place[name] = width
            width += 1
        self._take = _taker(taken, with_quad=quad is not None)
        self._is_graph_open = not isinstance(slots[3], NamedNode | DefaultGraph)
        self.width = width

    def extend(self, match: Callable[..., Iterable[Quad]], rows: list[Row]) -> list[Row]:
        """The rows of the next step."""
        subject, predicate, object_, graph = self._places
        take = self._take
        if self._is_graph_open or self._equal:
            match = self._checked(match)
        return [
            row + take(quad)
            for row in rows
            for quad in match(row[subject], row[predicate], row[object_], row[graph])
        ]

    def _checked(self, match: Callable[..., Iterable[Quad]]) -> Callable[..., Iterable[Quad]]:
        def checked(subject: Any, predicate: Any, object_: Any, graph: Any) -> list[Quad]:
            if not isinstance(graph, NamedNode | BlankNode | DefaultGraph | None):
                return []
            found = match(subject, predicate, object_, graph)
            return [
                quad
                for quad in found
                if (graph is not None or not isinstance(quad.graph_name, DefaultGraph))
                and all(left == right for left, right in (get(quad) for get in self._equal))
            ]

        return checked


class _Otherwise:
    """The same rows by the store's SPARQL; made when it is needed first."""

    def __init__(
        self, columns: Sequence[str], matched: Mapping[str, QuadPattern], query: MakeQuery
    ) -> None:
        self._columns = columns
        self._matched = matched
        self._make = query
        self._query: QueryWhere | None = None

    def rows(self, working: Working, bindings: Bindings) -> Sequence[Row]:
        names = dict.fromkeys(name for name in self._columns if name not in self._matched)
        terms = [*(names | variables(self._matched.values()))]
        if self._query is None:
            self._query = self._make(terms)
        found = self._query.rows(working, bindings)
        if not self._matched:
            return found
        quads = [QuadTemplate((pattern,), terms) for pattern in self._matched.values()]
        order = [*terms, *self._matched]
        pick = _picker([order.index(name) for name in self._columns])
        return [pick((*row, *(quad.instantiate((row,))[0] for quad in quads))) for row in found]


def _slots(pattern: QuadPattern, fixed: Mapping[str, Any]) -> Slots:
    nodes = (pattern.subject, pattern.predicate, pattern.object, pattern.graph)
    return tuple(_slot(node, fixed) for node in nodes)


def _slot(node: Any, fixed: Mapping[str, Any]) -> Any:
    if node is None:
        return DEFAULT_GRAPH
    if isinstance(node, Variable):
        return fixed.get(node.value, node)
    return canonical(node)


def _taker(positions: Sequence[str], *, with_quad: bool) -> Callable[[Quad], Row]:
    """What a row gains by a quad, as a tuple."""
    get: Any = attrgetter(*positions) if positions else None
    match len(positions), with_quad:
        case 0, _:
            return (lambda quad: (quad,)) if with_quad else (lambda _: ())
        case 1, _:
            return (lambda quad: (quad, get(quad))) if with_quad else (lambda quad: (get(quad),))
        case _:
            return (lambda quad: (quad, *get(quad))) if with_quad else get


def _picker(places: Sequence[int]) -> Callable[[Row], Row]:
    if not places:
        return lambda _: ()
    pick: Any = itemgetter(*places)
    return pick if len(places) > 1 else lambda row: (pick(row),)
