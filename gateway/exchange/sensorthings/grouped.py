"""`Grouped`: values by key, added and removed one by one, read in order.

Place: below the index. Putting in and taking out take a constant time however many there are; the
order is made when somebody asks, once for each change. Any thread may read while one writes.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Grouped(Generic[K, V]):
    """Sets of values, each in an order.

    >>> grouped = Grouped[str, str](len)
    >>> grouped.put("a", "xx"), grouped.put("a", "x"), grouped.put("b", "y")
    (None, None, None)
    >>> grouped.of("a"), grouped.drop("b", "y"), grouped.keys()
    (('x', 'xx'), None, ('a',))
    """

    def __init__(self, order: Callable[[V], Any]) -> None:
        """`order` gives what values are compared by."""
        self._order = order
        self._values: dict[K, dict[V, None]] = {}
        self._sorted: dict[K, tuple[V, ...]] = {}
        self._lock = Lock()

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def of(self, key: K) -> tuple[V, ...]:
        """The values of a key, in order."""
        found = self._sorted.get(key)
        if found is not None:
            return found
        with self._lock:
            values = list(self._values.get(key, ()))
            found = tuple(sorted(values, key=self._order))
            if found:
                self._sorted[key] = found
        return found

    def keys(self) -> tuple[K, ...]:
        """The keys that have a value."""
        with self._lock:
            return tuple(self._values)

    def put(self, key: K, value: V) -> None:
        """Add a value; one that is there already is there once."""
        with self._lock:
            self._values.setdefault(key, {})[value] = None
            self._sorted.pop(key, None)

    def drop(self, key: K, value: V) -> None:
        """Take a value out, where it is there."""
        with self._lock:
            values = self._values.get(key)
            if values is None:
                return
            values.pop(value, None)
            self._sorted.pop(key, None)
            if not values:
                del self._values[key]
