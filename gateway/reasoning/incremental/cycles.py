"""`Dependencies`: which rules can come to support themselves, found when axioms are compiled.

Nodes are positions of classes and names of properties, edges lead from premise to conclusion. A
conclusion that can be among the premises of its own premises is not counted alone: after a loss it
is withdrawn first and derived again ("Optimised Maintenance of Datalog Materialisations", Hu, Motik
and Horrocks, AAAI 2018: counting where there is no recursion).
"""

from collections.abc import Hashable

Node = Hashable


class Dependencies:
    """A graph of what follows from what."""

    def __init__(self) -> None:
        self._after: dict[Node, set[Node]] = {}
        self._component: dict[Node, int] | None = None

    def add(self, premise: Node, conclusion: Node) -> None:
        """Note that the conclusion can follow from the premise."""
        self._after.setdefault(premise, set()).add(conclusion)
        self._after.setdefault(conclusion, set())

    def together(self, first: Node, second: Node) -> bool:
        """Whether each can follow from the other; `add` has been called for the last time."""
        if self._component is None:
            self._component = self._components()
        found = self._component.get(first)
        return found is not None and found == self._component.get(second)

    def _components(self) -> dict[Node, int]:
        """Strongly connected components, each with a number (Kosaraju and Sharir); linear."""
        before: dict[Node, set[Node]] = {node: set() for node in self._after}
        for node, after in self._after.items():
            for each in after:
                before[each].add(node)
        found: dict[Node, int] = {}
        for root in reversed(self._finished()):
            if root in found:
                continue
            number = len(found)
            found[root] = number
            waiting = [root]
            while waiting:
                for each in before[waiting.pop()]:
                    if each not in found:
                        found[each] = number
                        waiting.append(each)
        return found

    def _finished(self) -> list[Node]:
        """The nodes in the order in which a depth-first search leaves them."""
        order: list[Node] = []
        seen: set[Node] = set()
        for root in self._after:
            path = [] if root in seen else [(root, iter(self._after[root]))]
            seen.add(root)
            while path:
                node, rest = path[-1]
                following = next((each for each in rest if each not in seen), None)
                if following is None:
                    path.pop()
                    order.append(node)
                else:
                    seen.add(following)
                    path.append((following, iter(self._after[following])))
        return order
