"""`Copies`: in how many graphs of a joint domain a triple is asserted: they are read as one."""

from collections.abc import Iterable

from pyoxigraph import NamedNode, Quad

from gateway.rdf.terms import Term

Triple = tuple[Term, NamedNode, Term]


class Copies:
    """Counts triples that are read; a step sees only those that came first or went last."""

    def __init__(self) -> None:
        self._count: dict[Triple, int] = {}

    def __len__(self) -> int:
        return len(self._count)

    def net(self, removed: Iterable[Quad], added: Iterable[Quad]) -> tuple[list[Quad], list[Quad]]:
        """Quads of triples that are in no graph any more, and of those that were in none."""
        count = self._count
        was: dict[Triple, tuple[int, Quad]] = {}
        for quads, sign in ((removed, -1), (added, 1)):
            for quad in quads:
                triple = (quad.subject, quad.predicate, quad.object)
                before = count.get(triple, 0)
                was.setdefault(triple, (before, quad))
                if before + sign:
                    count[triple] = before + sign
                else:
                    del count[triple]
        gone = [quad for triple, (before, quad) in was.items() if before and triple not in count]
        come = [quad for triple, (before, quad) in was.items() if not before and triple in count]
        return gone, come
