"""`Program`: axioms compiled into tables that a fact is looked up in.

All rules with one premise are composed here: a property to the properties that hold with it,
straight or swapped, and to masks of classes at both ends; a class to the mask of all above it.
What is left are rules that join facts: someValuesFrom, allValuesFrom and chains. A transitive
property p is a chain (p, edges of p), where the edges are what that chain does not conclude.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Quad

from gateway.rdf.namespaces import RDF
from gateway.rdf.terms import Term
from gateway.reasoning.incremental.bits import Bits, positions
from gateway.reasoning.incremental.cycles import Dependencies
from gateway.reasoning.kinds import (
    NOTHING,
    THING,
    And,
    Axiom,
    Chain,
    Conclusion,
    Disjoint,
    DomainOf,
    Expression,
    HasValue,
    Inverse,
    Only,
    Or,
    RangeOf,
    Some,
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
)

TYPE = NamedNode(RDF + "type")
"""Says of what class something is: no property of the tables."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The facts of a transitive property that do not follow by its transitivity."""

    property: NamedNode


Name = NamedNode | Edges
"""What facts are kept of."""

Head = tuple[Name, bool]
"""What holds with a property; True is the other way round."""


@dataclass(frozen=True, slots=True)
class Join:
    """A rule that gives `slot` to one end of a fact where the other end is in `needs`."""

    needs: int
    slot: int
    is_recursive: bool


@dataclass(frozen=True, slots=True)
class Path:
    """A chain; `is_transitive` where it is of a property and its edges."""

    parts: tuple[Name, ...]
    sup: NamedNode
    is_transitive: bool = False


@dataclass(slots=True)
class Reach:
    """What follows from a fact of one property by itself.

    `subject` and `object` are masks of classes that the ends are in, `subject_values` and
    `object_values` of those that an end is in where the other is that term. `heads` are what holds
    with it, `path_heads` those of a fact that follows by transitivity: what its edges have already
    is left out.
    """

    heads: tuple[Head, ...] = ()
    path_heads: tuple[Head, ...] = ()
    subject: int = 0
    object: int = 0
    subject_values: dict[Term, int] = field(default_factory=dict[Term, int])
    object_values: dict[Term, int] = field(default_factory=dict[Term, int])

    @property
    def is_empty(self) -> bool:
        """Whether nothing follows."""
        return not (
            self.heads or self.subject or self.object or self.subject_values or self.object_values
        )


@dataclass(slots=True)
class Table:
    """What is done with a fact of one property: what follows by itself, which rules join it.

    `literal` is the reach where the object is a literal, of which nothing can be said. `some` gives
    types to the subject, `only` to the object. A property `is_derivable` where facts follow.
    """

    name: Name
    node: Reach = field(default_factory=Reach)
    literal: Reach = field(default_factory=Reach)
    some: tuple[Join, ...] = ()
    only: tuple[Join, ...] = ()
    paths: tuple[tuple[Path, int], ...] = ()
    is_derivable: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether facts are kept in both directions."""
        return self.is_derivable or bool(self.only or self.paths)

    @property
    def is_read(self) -> bool:
        """Whether anything follows from a fact, or its being asserted matters."""
        return self.is_kept or bool(self.some) or not self.node.is_empty

    @property
    def is_literal_plain(self) -> bool:
        """Whether a fact of a literal gives classes to its subject, if anything."""
        literal = self.literal
        return not (self.is_kept or self.some or literal.heads or literal.subject_values)

    @property
    def needs_object(self) -> bool:
        """Whether the object matters."""
        node = self.node
        is_both_ways = node.object or node.heads or node.subject_values or node.object_values
        return bool(self.is_kept or self.some or is_both_ways) or node != self.literal


class Program:
    """Tables of a set of axioms.

    `tables` has each property, `predicates` those that are read, `classes` each class as a mask,
    `concluding` per property the chains, and the classes with values, that conclude facts of it.
    `fillers`, `restricted` and `values` are of positions, `watched` the mask of those: what happens
    where an individual becomes a member.
    """

    def __init__(self, axioms: Iterable[Axiom], bits: Bits) -> None:
        self.axioms = frozenset(axioms)
        self.bits = bits
        self.tables: dict[Name, Table] = {}
        self.predicates: frozenset[Term] = frozenset()
        self.classes: dict[Term, int] = {}
        self.fillers: dict[int, list[tuple[NamedNode, Join]]] = {}
        self.restricted: dict[int, list[tuple[NamedNode, Join]]] = {}
        self.values: dict[int, HasValue] = {}
        self.concluding: dict[NamedNode, list[Path | tuple[int, Term]]] = {}
        self.watched = 0
        self.concluded_classes = 0
        self.disjoint: tuple[tuple[int, Disjoint], ...] = ()
        self._above: dict[int, int] = {}
        self._both: list[tuple[int, int]] = []
        self._closed: dict[int, int] = {}
        self._named: dict[int, tuple[NamedNode, ...]] = {}
        _Compiler(self).compile()

    def reads(self, quad: Quad) -> bool:
        """Whether anything follows from the quad, or its being asserted matters."""
        predicate = quad.predicate
        return predicate in self.predicates or (predicate == TYPE and quad.object in self.classes)

    def types(self, asserted: int) -> int:
        """All types of an individual with these, its own facts apart: the local fixpoint."""
        found = self._closed.get(asserted)
        if found is None:
            if len(self._closed) >= _MOST_CLOSED:
                self._closed.clear()
            found = self._closed[asserted] = self._close(asserted)
        return found

    def _close(self, mask: int) -> int:
        above = self._above
        found = mask
        for each in positions(mask):
            found |= above.get(each, 0)
        grows = bool(self._both)
        while grows:
            grows = False
            for needs, gives in self._both:
                if needs & ~found == 0 and gives & ~found:
                    found |= gives
                    grows = True
        return found

    def names(self, mask: int) -> tuple[NamedNode, ...]:
        """The classes of a mask that have a name."""
        found = self._named.get(mask)
        if found is None:
            if len(self._named) >= _MOST_CLOSED:
                self._named.clear()
            names = self.bits.names
            found = tuple(names[at] for at in positions(mask & self.bits.visible))
            self._named[mask] = found
        return found

    def affected(self, other: "Program") -> list[int]:
        """Masks of which an individual has one whole whose types may be others by `other`."""
        masks = [
            1 << each
            for each in self._above.keys() | other._above.keys()
            if self._above.get(each, 0) != other._above.get(each, 0)
        ]
        return masks + [needs for needs, _ in set(self._both) ^ set(other._both)]


_MOST_CLOSED = 16_384
"""Masks whose closure is remembered: an individual's facts give one of few."""


class _Compiler:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._bits = program.bits
        self._above: dict[int, int] = {}
        self._both: dict[int, int] = {}
        self._steps: dict[NamedNode, set[tuple[NamedNode, bool]]] = {}
        self._ends: dict[tuple[NamedNode, bool], int] = {}
        self._values: dict[NamedNode, dict[Term, int]] = {}
        self._somes: dict[NamedNode, dict[int, int]] = {}
        self._onlys: dict[NamedNode, dict[int, int]] = {}
        self._paths: list[Path] = []
        self._transitive: set[NamedNode] = set()
        self._needs = Dependencies()
        self._done: set[int] = set()

    def compile(self) -> None:
        self._condition(NOTHING)
        for axiom in self._program.axioms:
            self._read(axiom)
        self._close_classes()
        self._drop_what_ranges_say()
        self._note_properties()
        self._make_tables()
        self._join_tables()
        self._program.predicates = frozenset(
            name
            for name, table in self._program.tables.items()
            if table.is_read and isinstance(name, NamedNode)
        )
        self._program.classes = {
            name: 1 << at for at, name in self._bits.names.items() if at in self._done
        }

    def _read(self, axiom: Axiom) -> None:
        match axiom:
            case SubClass(sub, sup):
                self._implies(self._condition(sub), self._conclusion(sup))
            case SubProperty(sub, sup) | Chain((sub,), sup):
                self._steps.setdefault(sub, set()).add((sup, False))
            case Inverse(first, second):
                self._steps.setdefault(first, set()).add((second, True))
                self._steps.setdefault(second, set()).add((first, True))
            case Symmetric(name):
                self._steps.setdefault(name, set()).add((name, True))
            case DomainOf(name, cls):
                self._end(name, 1 << self._conclusion(cls), is_object=False)
            case RangeOf(name, cls):
                self._end(name, 1 << self._conclusion(cls), is_object=True)
            case Transitive(name):
                self._transitive.add(name)
                self._paths.append(Path((name, Edges(name)), name, is_transitive=True))
            case Chain(parts, sup):
                self._paths.append(Path(parts, sup))
            case Disjoint(first, second):
                pair = (1 << self._condition(first)) | (1 << self._condition(second))
                self._program.disjoint += ((pair, axiom),)

    def _end(self, name: NamedNode, mask: int, *, is_object: bool) -> None:
        key = (name, is_object)
        self._ends[key] = self._ends.get(key, 0) | mask
        for each in positions(mask):
            self._needs.add(name, each)

    def _implies(self, sub: int, sup: int) -> None:
        self._above[sub] = self._above.get(sub, 0) | 1 << sup
        self._needs.add(sub, sup)

    def _condition(self, expression: Expression) -> int:
        found = self._bits.condition(expression)
        if found in self._done:
            return found
        self._done.add(found)
        match expression:
            case Some(name, filler) if filler == THING:
                self._end(name, 1 << found, is_object=False)
            case Some(name, filler):
                joins = self._somes.setdefault(name, {})
                joins[1 << found] = 1 << self._condition(filler)
            case HasValue(name, value):
                values = self._values.setdefault(name, {})
                values[value] = values.get(value, 0) | 1 << found
                self._needs.add(name, found)
            case And(parts):
                for each in (places := [self._condition(part) for part in parts]):
                    self._needs.add(each, found)
                self._both[found] = sum(1 << each for each in set(places))
            case Or(parts):
                for part in parts:
                    self._implies(self._condition(part), found)
            case _:
                pass
        return found

    def _conclusion(self, expression: Conclusion) -> int:
        found = self._bits.conclusion(expression)
        if found in self._done:
            return found
        self._done.add(found)
        match expression:
            case HasValue(name, _):
                self._program.values[found] = expression
                self._needs.add(found, name)
            case Only(name, filler):
                joins = self._onlys.setdefault(name, {})
                joins[1 << found] = 1 << self._conclusion(filler)
            case _:
                pass
        return found

    def _close_classes(self) -> None:
        """Each class to all above it, itself included; what an intersection gives likewise."""
        direct = self._above
        for start in {*direct, *self._both}:
            found, waiting = 1 << start, [start]
            while waiting:
                new = direct.get(waiting.pop(), 0) & ~found
                found |= new
                waiting += positions(new)
            self._program._above[start] = found
        above = self._program._above
        self._program._both = [(needs, above[at]) for at, needs in self._both.items()]
        heads = list(direct.values())
        heads += [
            *self._ends.values(),
            *(f for each in self._onlys.values() for f in each.values()),
        ]
        for mask in heads:
            self._program.concluded_classes |= mask

    def _drop_what_ranges_say(self) -> None:
        """Forget allValuesFrom where the property's range says the same of every object."""
        for name, joins in self._onlys.items():
            said = self._program.types(self._ends.get((name, True), 0))
            self._onlys[name] = {needs: slot for needs, slot in joins.items() if slot & ~said}

    def _note_properties(self) -> None:
        """Edges from properties, and what of them leads back."""
        for name, steps in self._steps.items():
            for other, _ in steps:
                self._needs.add(name, other)
        for path in self._paths:
            for part in path.parts:
                name = part.property if isinstance(part, Edges) else part
                self._needs.add(name, path.sup)
        for name, joins in self._somes.items():
            for slot, needs in joins.items():
                self._needs.add(name, slot.bit_length() - 1)
                self._needs.add(needs.bit_length() - 1, slot.bit_length() - 1)
        for name, joins in self._onlys.items():
            for needs, slot in joins.items():
                self._needs.add(name, slot.bit_length() - 1)
                self._needs.add(needs.bit_length() - 1, slot.bit_length() - 1)

    def _reached(self, name: NamedNode, *, turns: bool) -> list[tuple[NamedNode, bool]]:
        """All that holds with a property, itself straight first; without turns for a literal."""
        found = {(name, False): None}
        waiting = [(name, False)]
        while waiting:
            at, swapped = waiting.pop()
            for other, turned in self._steps.get(at, ()):
                head = (other, swapped != turned)
                if head not in found and (turns or not turned):
                    found[head] = None
                    waiting.append(head)
        first, *others = found
        return [first, *sorted(others, key=str)]

    def _make_tables(self) -> None:
        tables = self._program.tables
        names: set[NamedNode] = {name for name, _ in self._ends}
        names |= self._steps.keys() | self._values.keys() | self._somes.keys()
        names |= self._onlys.keys() | self._transitive
        names |= {each for steps in self._steps.values() for each, _ in steps}
        names |= {value.property for value in self._program.values.values()}
        for path in self._paths:
            names |= {path.sup, *(part for part in path.parts if isinstance(part, NamedNode))}
        for name in names:
            node, literal = (self._reach(name, turns=turns) for turns in (True, False))
            tables[name] = Table(name, node, literal)
        for name in self._transitive:
            tables[Edges(name)] = Table(Edges(name), is_derivable=True)
        for table in tuple(tables.values()):
            for head, _ in table.node.heads:
                tables[head].is_derivable = True
        concluding = self._program.concluding
        for path in self._paths:
            tables[path.sup].is_derivable = True
            concluding.setdefault(path.sup, []).append(path)
        for at, value in self._program.values.items():
            tables[value.property].is_derivable = True
            concluding.setdefault(value.property, []).append((1 << at, value.value))

    def _reach(self, name: NamedNode, *, turns: bool) -> Reach:
        reached = self._reached(name, turns=turns)
        edges: list[Head] = [(Edges(q), turned) for q, turned in reached if q in self._transitive]
        reach = Reach(
            (*reached[1:], *edges),
            tuple(head for head in reached[1:] if head[0] not in self._transitive),
        )
        for other, turned in reached:
            reach.subject |= self._ends.get((other, turned), 0)
            if turns:
                reach.object |= self._ends.get((other, not turned), 0)
            values = reach.object_values if turned else reach.subject_values
            for value, mask in self._values.get(other, {}).items():
                values[value] = values.get(value, 0) | mask
        return reach

    def _join_tables(self) -> None:
        program = self._program
        for name, joins in self._somes.items():
            found = tuple(self._join(name, needs, slot) for slot, needs in sorted(joins.items()))
            program.tables[name].some = found
            for join in found:
                at = join.needs.bit_length() - 1
                program.fillers.setdefault(at, []).append((name, join))
        for name, joins in self._onlys.items():
            found = tuple(self._join(name, needs, slot) for needs, slot in sorted(joins.items()))
            program.tables[name].only = found
            for join in found:
                at = join.needs.bit_length() - 1
                program.restricted.setdefault(at, []).append((name, join))
        for path in sorted(self._paths, key=str):
            for at, part in enumerate(path.parts):
                program.tables[part].paths += ((path, at),)
        for at in (*program.fillers, *program.restricted, *program.values):
            program.watched |= 1 << at

    def _join(self, name: NamedNode, needs: int, slot: int) -> Join:
        at, given = needs.bit_length() - 1, slot.bit_length() - 1
        is_recursive = self._needs.together(given, at) or self._needs.together(given, name)
        return Join(needs, slot, is_recursive)
