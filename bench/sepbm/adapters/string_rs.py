"""`StringRS`: what is similar is told by texts (a reconstruction).

Place on the way of the data: a `Guessing` adapter. A publication is written in N-Triples, sorted,
and cut into blocks at everything that is no letter or digit; an earlier publication of as many
blocks is similar. Its notification is written the same way, and each block of it that occurs in the
earlier publication is replaced by the block that stands at the same place now.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.sepbm.adapters.guessing import Guessing, TextRow
from bench.sepbm.lubm import Statement

PAIRS = 20
"""So many of the last pairs of publication and notification are kept, by channel and length."""

_DELIMITER = re.compile(r"([^0-9A-Za-z]+)")
_BETWEEN = "\t"


@dataclass(frozen=True, slots=True)
class _Pair:
    """A notification as blocks and delimiters; the places of those taken from the publication."""

    parts: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """A place in `parts`, and one in the publication's blocks."""

    def filled(self, blocks: Sequence[str]) -> TextRow:
        """The notification with the blocks of another publication."""
        parts = list(self.parts)
        for place, source in self.places:
            parts[place] = blocks[source]
        return tuple("".join(parts).split(_BETWEEN))


class StringRS(Guessing):
    """Similar is what has as many blocks."""

    def __init__(self, namespace: str, truth: str = "naive") -> None:
        super().__init__(namespace, truth)
        self._pairs: dict[tuple[str, int], deque[_Pair]] = defaultdict(lambda: deque(maxlen=PAIRS))

    def candidates(self, channel: str, graph: Sequence[Statement]) -> Iterable[TextRow]:
        """One for each pair of as many blocks, the last one first."""
        blocks = _blocks(graph)
        pairs = self._pairs.get((channel, len(blocks)), ())
        return dict.fromkeys(pair.filled(blocks) for pair in reversed(pairs))

    def learn(self, channel: str, graph: Sequence[Statement], row: TextRow) -> None:
        """Keep the pair, unless one says the same."""
        blocks = _blocks(graph)
        first = {block: place for place, block in reversed(list(enumerate(blocks)))}
        parts = tuple(_DELIMITER.split(_BETWEEN.join(row)))
        places = tuple((n, first[part]) for n, part in enumerate(parts) if part in first)
        pair = _Pair(tuple("" if part in first else part for part in parts), places)
        pairs = self._pairs[channel, len(blocks)]
        if pair not in pairs:
            pairs.append(pair)


def _blocks(graph: Sequence[Statement]) -> list[str]:
    text = "\n".join(sorted(f"{s} {p} {o}" for s, p, o in graph))
    return [part for part in _DELIMITER.split(text)[::2] if part]
