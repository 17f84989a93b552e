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

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from gateway.engine.automaton.plan import BINDS, IS, Plan, Step
from gateway.engine.automaton.terms import IntRow

Continuation: TypeAlias = Callable[..., None]
"""A compiled head, called with the rows found and the slots that are bound."""

Place: TypeAlias = tuple[Any, Any]
"""A dictionary or list, and the key where the function of a head belongs."""

REST = 11
"""A kind of step that does nothing: siblings beyond `_MOST_SIBLINGS`, by a hash."""

ANY = (12,)
"""The step of a root whose triples have any predicate; that of another one is ()."""

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


class Switch:
    """What goes on for each constant in a slot: queries to be told, and continuations.

    `leaves` are queries by constant, of one row each; queries that end alike are in several of
    them. `go` has the functions of `cases`.
    """

    __slots__ = ("cases", "go", "leaves")

    def __init__(self) -> None:
        self.leaves: list[tuple[IntRow, dict[int, int]]] = []
        self.cases: dict[int, Node] = {}
        self.go: dict[int, Continuation] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing goes on."""
        return not (self.leaves or self.cases)


class Trie:
    """The plans that begin with one kind of triple; `ends` are the plans that are not equal."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.ends = 0
        self._changed: dict[Node, None] = {}

    def changed(self) -> Iterable[Node]:
        """The heads whose functions are to be made again, once."""
        found = [*self._changed]
        self._changed.clear()
        return found

    def insert(self, plan: Plan, query: int) -> None:
        """Add a plan; its rows are those of `query`."""
        node, last = self._walked(plan)
        for row in plan.rows:
            if last is None:
                if node.rows is _NO_ROWS:
                    node.rows = {}
                self.ends += row not in node.rows
                node.rows[row] = (*node.rows.get(row, ()), query)
                self._touch(node)
            else:
                self._insert_leaf(node, last, row, query)

    def remove(self, plan: Plan, query: int) -> None:
        """The reverse of `insert`."""
        node, last = self._walked(plan)
        for row in plan.rows:
            if last is None:
                node.rows[row] = tuple([each for each in node.rows[row] if each != query])
                if not node.rows[row]:
                    del node.rows[row]
                    self.ends -= 1
                self._touch(node)
            else:
                self._remove_leaf(node, last, row, query)
        self._prune(node)

    def _walked(self, plan: Plan) -> tuple[Node, Step | None]:
        """The node at the end, and a last step that tests for a constant, which is not walked."""
        steps, node = plan.steps, self.root
        last = steps[-1] if steps and steps[-1][0] == IS else None
        for step in steps[:-1] if last else steps:
            node = self._case(node, step) if step[0] == IS else self._child(node, step)
        return node, last

    def _insert_leaf(self, node: Node, last: Step, row: IntRow, query: int) -> None:
        leaves, constant = self._switch(node, last[1]).leaves, ~last[2]
        alike = [queries for its_row, queries in leaves if its_row == row]
        self.ends += all(constant not in queries for queries in alike)
        for queries in alike:
            if constant not in queries:
                queries[constant] = query
                return
        leaves.append((row, {constant: query}))
        self._touch(node)

    def _remove_leaf(self, node: Node, last: Step, row: IntRow, query: int) -> None:
        switch, constant = node.switches[last[1]], ~last[2]
        alike = [queries for its_row, queries in switch.leaves if its_row == row]
        for queries in alike:
            if queries.get(constant) == query:
                del queries[constant]
                break
        self.ends -= all(constant not in queries for queries in alike)
        if not all(queries for _, queries in switch.leaves):
            switch.leaves = [leaf for leaf in switch.leaves if leaf[1]]
            self._touch(node)
        if switch.is_empty:
            del node.switches[last[1]]
            self._touch(node)

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
        while node.is_empty and node.parent is not None:
            self._changed.pop(node, None)
            parent, step = node.parent, node.step
            if step[0] == IS:
                switch = parent.switches[step[1]]
                del switch.cases[~step[2]]
                switch.go.pop(~step[2], None)
                if not switch.cases:
                    self._touch(parent)
                if switch.is_empty:
                    del parent.switches[step[1]]
            else:
                del parent.children[step]
                self._touch(parent)
            node = parent


def _known(node: Node, step: Step) -> Node | None:
    found = node.children.get(step)
    if found is None:
        rest = node.children.get(_bucket(node, step))
        return None if rest is None else _known(rest, step)
    return found


def _bucket(node: Node, step: Step) -> Step:
    """The same step has another bucket at each level of buckets."""
    level = 1 + node.step[2] if node.step and node.step[0] == REST else 0
    return REST, hash((level, step)) % _BUCKETS, level
