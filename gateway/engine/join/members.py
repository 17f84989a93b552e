"""The parameter index: the SPUs of one unit by the values of their parameters.

Place: whom a row of the BOOSTER is for, and whose LUTT a changed quad hits. Queries of one shape
differ in some constants alone; these are the parameters, so the cost of an update does not grow
with the number of queries, but with those that it concerns.
"""

from collections.abc import Iterator

from gateway.engine.join.join_pattern import Key, picker
from gateway.engine.spu import Spu
from gateway.rdf.terms import Term

Spus = dict[Spu, None]


class Members:
    """SPUs under the values of `width` parameters; two texts may mean the same."""

    def __init__(self, width: int) -> None:
        self._whole = tuple(range(width))
        self._by_places: dict[tuple[int, ...], dict[Key, Spus]] = {self._whole: {}}
        self._values: dict[Spu, tuple[Term, ...]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Spu]:
        return iter(self._values)

    def __contains__(self, spu: object) -> bool:
        return spu in self._values

    def values(self, spu: Spu) -> tuple[Term, ...]:
        """The parameters of a member."""
        return self._values[spu]

    def key(self, spu: Spu) -> Key:
        """The parameters of a member as the rows of the BOOSTER have them."""
        key: Key = picker(self._whole)(self._values[spu])
        return key

    def add(self, spu: Spu, values: tuple[Term, ...]) -> None:
        """Add a member with its parameters."""
        self._values[spu] = values
        for places, index in self._by_places.items():
            index.setdefault(picker(places)(values), {})[spu] = None

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        values = self._values.pop(spu)
        for places, index in self._by_places.items():
            key = picker(places)(values)
            del index[key][spu]
            if not index[key]:
                del index[key]

    def whole(self) -> dict[Key, Spus]:
        """The members by all their parameters."""
        return self.among(self._whole)

    def among(self, places: tuple[int, ...]) -> dict[Key, Spus]:
        """The members by the parameters in these places; it stays up to date."""
        index = self._by_places.get(places)
        if index is None:
            index = self._by_places[places] = {}
            for spu, values in self._values.items():
                index.setdefault(picker(places)(values), {})[spu] = None
        return index
