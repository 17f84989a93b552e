"""Heads of a trie as functions: nested loops in generated source.

Place: between `ccr` and the triples. In the source stand numbers of slots and names of our own,
never a term: tables, constants, conditions and queries are bound to these names, so no text of
anybody is in it, and equal shapes have equal source, which is compiled once.

>>> print(_source(["for v3 in x0.get(v0, ()):", " out[x1].append((v3,))"], 2, [0, 2]))
def make(x0, x1):
 def run(out, v0, v2):
  for v3 in x0.get(v0, ()):
   out[x1].append((v3,))
 return run
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gateway.engine.automaton import plan as steps
from gateway.engine.automaton.ccr import ANY, Continuation, Family, Node, Switch
from gateway.engine.automaton.conditions import Conditions
from gateway.engine.automaton.plan import BINDS, Step
from gateway.engine.automaton.terms import IntRow
from gateway.engine.automaton.window_index import Table, WindowIndex
from gateway.runtime.text_cache import remembered

MOST_LINES = 150
"""Lines of a function before what goes on is a function of its own."""

MOST_DEPTH = 12
"""Blocks in each other; Python takes 20 loops."""

_EMPTY: Table = {}

_REMEMBERED = 1 << 21
"""Characters of sources whose code is kept: some thousand shapes."""


class Compiler:
    """Makes the functions of heads, on an index and conditions."""

    def __init__(self, index: WindowIndex, conditions: Conditions) -> None:
        self.index = index
        self.conditions = conditions

    def make(self, heads: Iterable[Node]) -> None:
        """Put a new function in the place of each head, and of those that become one by it."""
        waiting = [*heads]
        while waiting:
            head = waiting.pop()
            function = _Function(self, head)
            waiting += function.heads
            if head.place is not None:
                table, key = head.place
                table[key] = function.made()


class _Function:
    """One function in the making; `heads` are nodes that have become heads."""

    def __init__(self, compiler: Compiler, head: Node) -> None:
        self._index = compiler.index
        self._conditions = compiler.conditions
        self._lines: list[str] = []
        self._values: list[Any] = []
        self._tables: dict[int, str] = {}
        root = head
        while root.parent is not None:
            root = root.parent
        self._first = [0, 1, 2] if root.step == ANY else [0, 2]
        self._given = self._slots(head.bound)
        self.heads: list[Node] = []
        self._behind(head, head.bound, 0)

    def made(self) -> Continuation:
        """The function; nothing is run yet."""
        source = _source(self._lines, len(self._values), self._given)
        function: Continuation = _factory(source)(*self._values)
        return function

    def _slots(self, bound: int) -> list[int]:
        return [*self._first, *range(3, bound)]

    def _behind(self, node: Node, bound: int, depth: int) -> None:
        """Everything behind a step."""
        for row, queries in node.rows.items():
            for query in queries:
                self._tell(depth, self._name(query), row)
        for slot, switch in node.switches.items():
            self._switch(slot, switch, bound, depth)
        for step, child in node.children.items():
            self._child(step, child, bound, depth)

    def _child(self, step: Step, child: Node, bound: int, depth: int) -> None:
        for line in self._opened(step, bound):
            self._line(depth, line)
            depth += 1
        bound += BINDS.get(step[0], 0)
        is_long = len(self._lines) > MOST_LINES and (child.children or child.switches)
        if child.place is None and (is_long or depth >= MOST_DEPTH):
            child.place = ([None], 0)
            self.heads.append(child)
        if child.place is None:
            self._behind(child, bound, depth)
        else:
            arguments = ", ".join(f"v{slot}" for slot in self._slots(bound))
            self._line(depth, f"{self._name(child.place[0])}[0](out, {arguments})")

    def _switch(self, slot: int, switch: Switch, bound: int, depth: int) -> None:
        for place, family in enumerate(switch.families):
            query = f"q{bound}_{place}"
            self._line(depth, f"{query} = {self._name(family.queries.get)}(v{slot})")
            self._line(depth, f"if {query} is not None:")
            self._family(family, query, bound, depth + 1)
        if switch.cases:
            arguments = ", ".join(f"v{each}" for each in self._slots(bound))
            self._line(depth, f"go = {self._name(switch.go.get)}(v{slot})")
            self._line(depth, f"if go is not None: go(out, {arguments})")

    def _family(self, family: Family, query: str, bound: int, depth: int) -> None:
        for step in family.steps:
            for line in self._opened(step, bound):
                self._line(depth, line)
                depth += 1
            bound += BINDS.get(step[0], 0)
        self._tell(depth, query, family.row)

    def _opened(self, step: Step, bound: int) -> list[str]:
        """The lines that open the blocks of a step."""
        if step[0] in BINDS:
            return self._looking_up(step, bound)
        match step:
            case steps.TEST, condition, *arguments:
                test = self._name(self._conditions.test(condition))
                return [f"if {test}({', '.join(map(self._ref, arguments))}):"]
            case steps.SAME, one, other:
                return [f"if v{one} == v{other}:"]
            case steps.DIFFERS, *pairs:
                refs = [self._ref(ref) for ref in pairs]
                each = (f"{one} != {other}" for one, other in zip(*[iter(refs)] * 2, strict=True))
                return [f"if {' or '.join(each)}:"]
            case steps.HAS, subject, predicate, object_:
                return [f"if {self._ref(object_)} in {self._objects(predicate, subject)}:"]
        return []

    def _looking_up(self, step: Step, bound: int) -> list[str]:
        index = self._index
        new = [f"v{bound + place}" for place in range(BINDS[step[0]])]
        both = f"for {', '.join(new)} in"
        match step:
            case steps.OBJECTS, predicate, subject:
                return [f"{both} {self._objects(predicate, subject)}:"]
            case steps.SUBJECTS, predicate, object_:
                table = self._table_of(index.subjects, index.all_subjects, predicate)
                return [f"{both} {table}.get({self._ref(object_)}, ()):"]
            case steps.PAIRS, predicate:
                table = self._table_of(index.objects, index.all_objects, predicate)
                return [f"for {new[0]}, t{bound} in {table}.items():", f"for {new[1]} in t{bound}:"]
            case steps.AROUND, subject:
                return [f"{both} {self._value(index.around)}.get({self._ref(subject)}, ()):"]
            case steps.INTO, object_:
                return [f"{both} {self._value(index.into)}.get({self._ref(object_)}, ()):"]
        return [f"{both} {self._value(index)}:"]

    def _objects(self, predicate: int, subject: int) -> str:
        table = self._table_of(self._index.objects, self._index.all_objects, predicate)
        return f"{table}.get({self._ref(subject)}, ())"

    def _table_of(
        self, table: Callable[[int], Table], tables: Mapping[int, Table], predicate: int
    ) -> str:
        if predicate < 0:
            return self._value(table(~predicate))
        return f"{self._value(tables)}.get(v{predicate}, {self._value(_EMPTY)})"

    def _tell(self, depth: int, query: str, row: IntRow) -> None:
        """Found rows by query are a plain dict: most queries have one row, if any."""
        cells = "".join(f"{self._ref(ref)}, " for ref in row)
        self._line(depth, f"if {query} in out: out[{query}].append(({cells}))")
        self._line(depth, f"else: out[{query}] = [({cells})]")

    def _ref(self, ref: int) -> str:
        return f"v{ref}" if ref >= 0 else self._name(~ref)

    def _value(self, value: object) -> str:
        """The name of a table, the same each time."""
        name = self._tables.get(id(value))
        if name is None:
            name = self._tables[id(value)] = self._name(value)
        return name

    def _name(self, value: object) -> str:
        self._values.append(value)
        return f"x{len(self._values) - 1}"

    def _line(self, depth: int, line: str) -> None:
        self._lines.append(" " * depth + line)


def _source(lines: Sequence[str], values: int, given: Sequence[int]) -> str:
    names = ", ".join(f"x{place}" for place in range(values))
    slots = "".join(f", v{slot}" for slot in given)
    body = "\n".join(f"  {line}" for line in lines) or "  pass"
    return f"def make({names}):\n def run(out{slots}):\n{body}\n return run"


@remembered(_REMEMBERED)
def _factory(source: str) -> Callable[..., Continuation]:
    """What binds the names of a source to values."""
    made: dict[str, Any] = {}
    exec(compile(source, "<automaton>", "exec"), made)  # noqa: S102 - it is made of numbers alone
    factory: Callable[..., Continuation] = made["make"]
    return factory
