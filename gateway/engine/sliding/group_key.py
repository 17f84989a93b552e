"""`GroupKey`: the values that the rows of a group agree in, one object for equal ones.

Place: under `groups` and `element_rows`. A row that comes, goes, and does so in each range of its
stream is hashed once; its group is then found by the object.
"""

from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from gateway.engine.sliding.measured import measured
from gateway.rdf.solutions import Row


class GroupKey:
    """Made by `group_key` alone; equal to itself only."""

    __slots__ = ("__weakref__", "values")

    def __init__(self, values: Row) -> None:
        self.values = values


_keys: WeakValueDictionary[Row, GroupKey] = WeakValueDictionary()
_making = Lock()
"""Engines of several threads may ask for one key at once; there must not be two."""


def group_key(values: Row) -> GroupKey:
    """The key of these values, as long as anybody has it the same object.

    >>> group_key((None,)) is group_key((None,))
    True
    """
    found = _keys.get(values)
    if found is None:
        with _making:
            found = _keys.setdefault(values, GroupKey(values))
    return found


class Grouped(NamedTuple):
    """The places of a row that are the key of its group, and those that are added up."""

    key: tuple[int, ...]
    arguments: tuple[int, ...]

    def unread(self, row: Row) -> "Unread":
        """What is added up, for who may never ask for its numbers."""
        return Unread([row[place] for place in self.arguments])

    def numbers(self, row: Row) -> Any:
        """What is added up as numbers: a Measured where it is one, else a tuple of them."""
        if len(self.arguments) == 1:
            return measured(row[self.arguments[0]])
        return tuple([measured(row[place]) for place in self.arguments])


class Unread(tuple[Any, ...]):
    """Terms that are added up, as yet not read as numbers."""

    __slots__ = ()

    @property
    def numbers(self) -> Any:
        """As those of `Grouped`."""
        return measured(self[0]) if len(self) == 1 else tuple(map(measured, self))
