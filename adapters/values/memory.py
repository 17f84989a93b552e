"""`Memory`: what stateful families remember from message to message.

Place on the way: a Registry is compiled anew whenever a mapping changes; births, alias tables and
known statuses must survive that, so they live here and the new Registry is given the same Memory.
A trial on other messages gets a Memory of its own. One thread at a time.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class Memory:
    """One object of each kind, made when it is first asked for.

    >>> memory = Memory()
    >>> memory.of(dict) is memory.of(dict)
    True
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[Callable[[], Any], Any] = {}

    def of(self, kind: Callable[[], T]) -> T:
        """The object that `kind`, a class of the asking family, made of itself."""
        if kind not in self._kept:
            self._kept[kind] = kind()
        kept: T = self._kept[kind]
        return kept


class Recent(Generic[K, V]):
    """At most `size` values by key; the one unused longest goes first, for devices come and go.

    >>> recent = Recent[str, int](2)
    >>> for key, value in zip("abc", range(3)):
    ...     recent.put(key, value)
    >>> recent.get("a"), recent.get("c")
    (None, 2)
    """

    __slots__ = ("_size", "_values")

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """The value, which counts as used now."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        """Remember `value`, which is not None."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)

    def items(self) -> list[tuple[K, V]]:
        """All of them, the one unused longest first."""
        return list(self._values.items())

    def pop(self, key: K) -> V | None:
        """Forget the value, and give it."""
        return self._values.pop(key, None)
