"""`GroupKey`: the values that the rows of a group agree in, one object for equal ones.

Place: under `groups` and `element_rows`. A row that comes, goes, and does so in each range of its
stream is hashed once; its group is then found by the object.
"""

from threading import Lock
from weakref import WeakValueDictionary

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
