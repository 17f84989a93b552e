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
    """What is kept for it: the answers of who is told them whole."""

    def __init__(self) -> None:
        self._whole: dict[Spu, SolutionBag] = {}

    @property
    def whole(self) -> Collection[Spu]:
        """The SPUs of which the whole answer is told."""
        return self._whole.keys()

    def add(self, spu: Spu, answer: ResultsDelta) -> None:
        """Take up an SPU and its answer now."""
        if spu.subject.output == "whole":
            self._whole[spu] = Counter(answer.added)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        self._whole.pop(spu, None)

    def told(self, changes: Iterable[Change], boundary: Iterable[Spu]) -> list[Change]:
        """What is to be told of a step; `boundary` are the SPUs of which a window reached one."""
        found = []
        due = dict.fromkeys(boundary)
        for spu, results in changes:
            match spu.subject.output:
                case "added" if results.added:
                    found.append((spu, ResultsDelta(results.variables, results.added)))
                case "removed" if results.removed:
                    found.append((spu, ResultsDelta(results.variables, (), results.removed)))
                case "changes":
                    found.append((spu, results))
                case "whole":
                    self._change(spu, results)
                    due[spu] = None
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
