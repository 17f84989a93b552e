"""What else a reading does to the store, in a form that says all of it beforehand.

Place: among the bound UPDATEs of a message, beside the bindings `Entering`. Run by `evaluate` they
do the same as any step.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyoxigraph import NamedNode, Quad

from gateway.rdf.terms import Term
from gateway.store.templates import Bindings
from gateway.store.update import DeleteMatches, UpdatePlan
from gateway.store.working import Working


@dataclass(frozen=True, slots=True)
class Replacement:
    """A step that puts one quad in the place of another, whose graph it has."""

    before: Quad | None
    after: Quad

    def run(self, working: Working, bindings: Bindings) -> None:
        """Remove and add."""
        del bindings
        if self.before is not None:
            working.remove((self.before,))
        working.add((self.after,))
        working.create_graph(self.after.graph_name)


class Leaving(Mapping[str, Term]):
    """Forced bindings of a plan that deletes all quads of some subjects: their IRIs, by name.

    To be made for plans that `deletes_subjects` of these names.
    """

    __slots__ = ("_names", "iris")

    def __init__(self, names: tuple[str, ...], iris: tuple[str, ...]) -> None:
        self._names = names
        self.iris = iris

    def __getitem__(self, name: str) -> Term:
        try:
            return NamedNode(self.iris[self._names.index(name)])
        except ValueError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def deletes_subjects(plan: UpdatePlan) -> frozenset[str]:
    """The names of subjects all of whose quads in the default graph are deleted.

    None of them where the plan does anything else.
    """
    subjects = [step.subject if isinstance(step, DeleteMatches) else None for step in plan.steps]
    return (
        frozenset(each for each in subjects if each is not None) if all(subjects) else frozenset()
    )
