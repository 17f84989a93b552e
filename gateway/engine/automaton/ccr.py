"""Conjunctive constraints resolution: all plans of one kind of triple as one trie.

Place: behind a root of `tpm`, turned into functions by `compiled`. Plans with equal beginnings are
one path. Siblings that test one slot for a constant are one `Switch`, a dictionary from constant
to continuation; where a plan ends with such a test, the dictionary has the queries themselves. So
what a triple costs does not grow with the number of constants.

A *head* is a node whose continuation is a function of its own: each case of a switch is one, and
nodes that would make a function too long or too deep. A change is made known by the heads whose
functions have to be made again; the others stay. Source: Qin et al. 2015, section 2.2, where each
query is resolved by itself.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from gateway.engine.automaton.plan import BINDS, IS, Plan, Step
from gateway.engine.automaton.terms import IntRow

Continuation: TypeAlias = Callable[..., None]
"""A compiled head, called with the rows found and the slots that are bound."""

Place: TypeAlias = tuple[Any, Any]
"""A dictionary or list, and the key where the function of a head belongs."""

APART = 11
"""A kind of step that does nothing: behind some stand the siblings beyond `_MOST_SIBLINGS`."""

ANY = (12,)
"""The step of a root whose triples have any predicate; that of another one is ()."""

Tail: TypeAlias = tuple[tuple[Step, ...], IntRow]
"""How a plan goes on behind its last test for a constant, and its row."""

_FAMILY = 4
"""Plans that go on alike before they are a family."""

_FAMILIES = 8
"""The part of a switch's cases that they must be, as its reciprocal."""

_MOST_SIBLINGS = 48
_BUCKETS = 16

_NO_NODES: dict[Step, "Node"] = {}
_NO_SWITCHES: dict[int, "Switch"] = {}
_NO_ROWS: dict[IntRow, tuple[int, ...]] = {}


class Node:
    """What stands behind a step; `place` is that of a head. `rows` are told here, by queries."""

    __slots__ = ("children", "parent", "place", "rows", "step", "switches")

    def __init__(self, parent: "Node | None", step: Step, place: Place | None = None) -> None:
        self.parent = parent
        self.step = step
        self.place = place
        # Empty ones are shared: most nodes have one of three.
        self.children = _NO_NODES
        self.switches = _NO_SWITCHES
        self.rows = _NO_ROWS

    @property
    def is_empty(self) -> bool:
        """Whether nothing goes on or ends here."""
        return not (self.children or self.switches or self.rows)

    @property
    def head(self) -> "Node":
        """The head in whose function this node is."""
        node = self
        while node.place is None and node.parent is not None:
            node = node.parent
        return node

    @property
    def bound(self) -> int:
        """The first slot that no step up to here has bound."""
        node, found = self, 3
        while node.parent is not None:
            found += BINDS.get(node.step[0], 0)
            node = node.parent
        return found


class Family:
    """Queries by the constant of a switch, that go on by the same `steps` and tell the same row."""

    __slots__ = ("queries", "row", "steps")

    def __init__(self, steps: tuple[Step, ...], row: IntRow) -> None:
        self.steps = steps
        self.row = row
        self.queries: dict[int, int] = {}


class Switch:
    """What goes on for each constant in a slot.

    `go` has the functions of `cases`; `tails` counts how plans in them go on behind the test.
    Families that are alike have queries of the same constant.
    """

    __slots__ = ("cases", "families", "go", "tails")

    def __init__(self) -> None:
        self.families: list[Family] = []
        self.cases: dict[int, Node] = {}
        self.go: dict[int, Continuation] = {}
        self.tails: Counter[Tail] = Counter()

    @property
    def is_empty(self) -> bool:
        """Whether nothing goes on."""
        return not (self.families or self.cases)

    def alike(self, tail: Tail) -> list[Family]:
        """The families that go on so."""
        return [each for each in self.families if (each.steps, each.row) == tail]

    def wants_family(self, tail: Tail) -> bool:
        """Whether so many go on so that one look-up for all of them is worth it.

        Each look-up is done for all that reaches the switch, so there must not be many.
        """
        count = self.tails[tail]
        return not tail[0] or (count >= _FAMILY and count * _FAMILIES >= len(self.cases))


class Trie:
    """The plans that begin with one kind of triple."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self._changed: dict[Node, None] = {}

    def changed(self) -> Iterable[Node]:
        """The heads whose functions are to be made again, once."""
        found = [*self._changed]
        self._changed.clear()
        return found

    def insert(self, plan: Plan, query: int) -> None:
        """Add a plan; its rows are those of `query`."""
        before, test, behind = _parted(plan.steps)
        node = self._walked(self.root, before)
        for row in plan.rows:
            if test is None:
                self._insert_row(node, row, query)
                continue
            tail = behind, row
            switch = self._switch(node, test[1])
            alike = switch.alike(tail)
            if alike or switch.wants_family(tail):
                self._insert_member(node, switch, tail, ~test[2], query)
            else:
                switch.tails[tail] += 1
                self._insert_row(self._walked(self._case(node, test), behind), row, query)

    def remove(self, plan: Plan, query: int) -> None:
        """The reverse of `insert`."""
        before, test, behind = _parted(plan.steps)
        node = self._walked(self.root, before)
        for row in plan.rows:
            if test is None:
                self._remove_row(node, row, query)
                continue
            tail, switch = (behind, row), node.switches[test[1]]
            if not self._remove_member(node, switch, tail, ~test[2], query):
                switch.tails[tail] -= 1
                self._remove_row(self._walked(self._case(node, test), behind), row, query)
        self._prune(node)

    def _walked(self, node: Node, steps: Iterable[Step]) -> Node:
        for step in steps:
            node = self._case(node, step) if step[0] == IS else self._child(node, step)
        return node

    def _insert_row(self, node: Node, row: IntRow, query: int) -> None:
        if node.rows is _NO_ROWS:
            node.rows = {}
        node.rows[row] = (*node.rows.get(row, ()), query)
        self._touch(node)

    def _remove_row(self, node: Node, row: IntRow, query: int) -> None:
        node.rows[row] = tuple([each for each in node.rows[row] if each != query])
        if not node.rows[row]:
            del node.rows[row]
        self._touch(node)
        self._prune(node)

    def _insert_member(
        self, node: Node, switch: Switch, tail: Tail, constant: int, query: int
    ) -> None:
        for family in switch.alike(tail):
            if constant not in family.queries:
                family.queries[constant] = query
                return
        family = Family(*tail)
        family.queries[constant] = query
        switch.families.append(family)
        self._touch(node)

    def _remove_member(
        self, node: Node, switch: Switch, tail: Tail, constant: int, query: int
    ) -> bool:
        """Whether it was in a family."""
        for family in switch.alike(tail):
            if family.queries.get(constant) == query:
                del family.queries[constant]
                if not family.queries:
                    switch.families.remove(family)
                    self._touch(node)
                return True
        return False

    def _child(self, node: Node, step: Step) -> Node:
        found = _known(node, step)
        if found is not None:
            return found
        if node.children is _NO_NODES:
            node.children = {}
        if len(node.children) >= _MOST_SIBLINGS:
            bucket = _bucket(node, step)
            if bucket not in node.children:
                rest = node.children[bucket] = Node(node, bucket, ([None], 0))
                self._touch(node)
                self._touch(rest)
            return self._child(node.children[bucket], step)
        child = node.children[step] = Node(node, step)
        self._touch(node)
        return child

    def _switch(self, node: Node, slot: int) -> Switch:
        found = node.switches.get(slot)
        if found is None:
            if node.switches is _NO_SWITCHES:
                node.switches = {}
            found = node.switches[slot] = Switch()
            self._touch(node)
        return found

    def _case(self, node: Node, step: Step) -> Node:
        switch, constant = self._switch(node, step[1]), ~step[2]
        found = switch.cases.get(constant)
        if found is None:
            if not switch.cases:
                self._touch(node)
            found = switch.cases[constant] = Node(node, step, (switch.go, constant))
            self._touch(found)
        return found

    def _touch(self, node: Node) -> None:
        self._changed[node.head] = None

    def _prune(self, node: Node) -> None:
        """Take out what nothing goes on from."""
        self._drop_empty_switches(node)
        while node.is_empty and node.parent is not None:
            self._changed.pop(node, None)
            parent, step = node.parent, node.step
            if step[0] == IS:
                switch = parent.switches[step[1]]
                del switch.cases[~step[2]]
                switch.go.pop(~step[2], None)
                if not switch.cases:
                    self._touch(parent)
            else:
                del parent.children[step]
                self._touch(parent)
            node.parent = None
            node = parent
            self._drop_empty_switches(node)

    def _drop_empty_switches(self, node: Node) -> None:
        for slot in [slot for slot, switch in node.switches.items() if switch.is_empty]:
            del node.switches[slot]
            self._touch(node)


def _parted(steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], Step | None, tuple[Step, ...]]:
    """What is before the last test for a constant, that test, and what is behind it."""
    for at in range(len(steps) - 1, -1, -1):
        if steps[at][0] == IS:
            return steps[:at], steps[at], steps[at + 1 :]
    return steps, None, ()


def _known(node: Node, step: Step) -> Node | None:
    found = node.children.get(step)
    if found is None:
        rest = node.children.get(_bucket(node, step))
        return None if rest is None else _known(rest, step)
    return found


def _bucket(node: Node, step: Step) -> Step:
    """The same step has another bucket at each level of buckets."""
    level = 1 + node.step[2] if node.step and node.step[0] == APART else 0
    return APART, hash((level, step)) % _BUCKETS, level
