"""`Outputs`: of what changed in an answer over windows, what its subscribers want to be told.

Place: behind the units, before the subscribers. `changes` is all of it; `added` and `removed` one
side; `whole` the answer itself at each change, and of a stepped window at each boundary.

Source: Arasu et al., "The CQL continuous query language", 2006, section 6: Istream, Dstream and
Rstream.
"""

from collections import Counter
from collections.abc import Collection, Iterable

from gateway.engine.spu import Change, Spu
from gateway.rdf.solutions import ResultsDelta, SolutionBag


class Outputs:
    """What is kept for it: the answers of who is told them whole.

    `are_all_changes`: everybody is told what changed, just as it was found.
    """

    def __init__(self) -> None:
        self.are_all_changes = True
        self._whole: dict[Spu, SolutionBag] = {}
        self._partial: dict[Spu, str] = {}

    @property
    def whole(self) -> Collection[Spu]:
        """The SPUs of which the whole answer is told."""
        return self._whole.keys()

    def add(self, spu: Spu, answer: ResultsDelta, *, is_told_all: bool) -> None:
        """Take up an SPU and its answer now; with `is_told_all` no more is found than is told."""
        output = spu.subject.output
        if not (is_told_all or output == "changes"):
            self._partial[spu] = output
            self.are_all_changes = False
        if output == "whole":
            self._whole[spu] = Counter(answer.added)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        self._whole.pop(spu, None)
        self._partial.pop(spu, None)
        self.are_all_changes = not self._partial

    def told(self, changes: Iterable[Change], boundary: Iterable[Spu]) -> list[Change]:
        """What is to be told of a step; `boundary` are the SPUs of which a window reached one."""
        told = [*changes]
        if not self._partial:
            return told
        found = []
        due = dict.fromkeys(boundary)
        for spu, results in told:
            match self._partial.get(spu, "changes"):
                case "added":
                    if results.added:
                        found.append((spu, ResultsDelta(results.variables, results.added)))
                case "removed":
                    if results.removed:
                        found.append((spu, ResultsDelta(results.variables, (), results.removed)))
                case "whole":
                    self._change(spu, results)
                    due[spu] = None
                case _:
                    found.append((spu, results))
        wholes = ((spu, self._whole[spu]) for spu in due if spu in self._whole)
        return found + [
            (spu, ResultsDelta(spu.variables, tuple(bag.elements()))) for spu, bag in wholes
        ]

    def _change(self, spu: Spu, results: ResultsDelta) -> None:
        bag = self._whole[spu]
        bag.update(results.added)
        bag.subtract(results.removed)
        for row in results.removed:
            if not bag[row]:
                del bag[row]
