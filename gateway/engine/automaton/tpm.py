"""Triple pattern matching: which plans a triple begins, for all queries at once.

Place: the first stage for each triple that comes or leaves; the second, `ccr`, goes on from there.
Patterns count without names of variables: a root for each constant predicate and one for variable
ones, behind them dictionaries of the constant subjects and objects that are in use. Source: Qin et
al. 2015, section 2.2, where the machine reads subject, predicate and object in turn.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from gateway.engine.automaton.ccr import ANY, Continuation, Node, Trie
from gateway.engine.automaton.compiled import Compiler
from gateway.engine.automaton.plan import Plan
from gateway.engine.automaton.terms import IntRow

Found: TypeAlias = dict[int, list[IntRow]]
"""Rows by query, one for each match."""


class Machine:
    """Plans of queries, and what a triple gives by them.

    A query more or less makes only those functions again which it changes, at the next triple.
    """

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._tries: dict[int | None, Trie] = {}
        self._roots: dict[int | None, Continuation] = {}
        self._changed: dict[int | None, None] = {}
        self.is_empty = True
        self.plans = 0

    def insert(self, plans: Iterable[Plan], query: int) -> None:
        """Tell the rows of these plans as those of a query."""
        for plan in plans:
            trie = self._tries.get(plan.predicate)
            if trie is None:
                step = ANY if plan.predicate is None else ()
                root = Node(None, step, (self._roots, plan.predicate))
                trie = self._tries[plan.predicate] = Trie(root)
            trie.insert(plan, query)
            self.plans += 1
            self._changed[plan.predicate] = None
        self.is_empty = not self._tries

    def remove(self, plans: Iterable[Plan], query: int) -> None:
        """The reverse of `insert`."""
        for plan in plans:
            trie = self._tries[plan.predicate]
            trie.remove(plan, query)
            self.plans -= 1
            self._changed[plan.predicate] = None
            if trie.root.is_empty:
                del self._tries[plan.predicate], self._changed[plan.predicate]
                self._roots.pop(plan.predicate, None)
        self.is_empty = not self._tries

    def matches(self, subject: int, predicate: int, object_: int, found: Found) -> None:
        """Add the rows of all matches with this triple, which the index has."""
        roots = self.ready()
        if predicate in roots:
            roots[predicate](found, subject, object_)
        if None in roots:
            roots[None](found, subject, predicate, object_)

    def ready(self) -> Mapping[int | None, Continuation]:
        """By predicate, where plans begin; None: those of any. Behind changes that are made."""
        if self._changed:
            self.build()
        return self._roots

    def build(self) -> None:
        """Make the functions that have changed."""
        for predicate in self._changed:
            self._compiler.make(self._tries[predicate].changed())
        self._changed.clear()
