"""`WindowIndex`: the triples of a window, by predicate and subject, and by predicate and object.

Place: what the plans of all queries look up in; there are no candidate lists of patterns. Plans
with a variable predicate have two more tables, from the first such plan on. Nearly all keys have
one value, so few are a tuple and only many are a dict: both are iterated in order of arrival.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypeVar

from gateway.engine.automaton.terms import Ids

Value = TypeVar("Value")

Values: TypeAlias = tuple[Value, ...] | dict[Value, None]
Table: TypeAlias = dict[int, Values[int]]
PairTable: TypeAlias = dict[int, Values[tuple[int, int]]]

_FEW = 8
"""Values that are kept as a tuple."""


class WindowIndex:
    """A set of triples. Tables are live: they are always the same objects.

    >>> index = WindowIndex()
    >>> index.add(1, 2, 3), index.add(1, 2, 3)
    (True, False)
    >>> index.objects(2)
    {1: (3,)}
    """

    def __init__(self) -> None:
        self._objects: dict[int, Table] = {}
        self._subjects: dict[int, Table] = {}
        self._around: PairTable = {}
        self._into: PairTable = {}
        self._has_pairs = False

    def __len__(self) -> int:
        return sum(len(objects) for table in self._objects.values() for objects in table.values())

    def __iter__(self) -> Iterator[Ids]:
        for predicate, table in self._objects.items():
            for subject, objects in table.items():
                for object_ in objects:
                    yield subject, predicate, object_

    def objects(self, predicate: int) -> Table:
        """Objects by subject, of one predicate."""
        return self._tables(predicate)[0]

    def subjects(self, predicate: int) -> Table:
        """Subjects by object, of one predicate."""
        return self._tables(predicate)[1]

    @property
    def all_objects(self) -> Mapping[int, Table]:
        """Objects by subject, by predicate."""
        return self._objects

    @property
    def all_subjects(self) -> Mapping[int, Table]:
        """Subjects by object, by predicate."""
        return self._subjects

    @property
    def around(self) -> PairTable:
        """Predicates and objects, by subject."""
        self._with_pairs()
        return self._around

    @property
    def into(self) -> PairTable:
        """Subjects and predicates, by object."""
        self._with_pairs()
        return self._into

    def add(self, subject: int, predicate: int, object_: int) -> bool:
        """Whether the triple was not there."""
        try:
            objects, subjects = self._objects[predicate], self._subjects[predicate]
        except KeyError:
            objects, subjects = self._tables(predicate)
        # The usual case is written out: this is done for each triple of the stream.
        values = objects.get(subject)
        if values is None:
            objects[subject] = (object_,)
        elif object_ in values:
            return False
        else:
            _put(objects, subject, object_)
        others = subjects.get(object_)
        if others is None:
            subjects[object_] = (subject,)
        elif type(others) is dict:
            others[subject] = None
        else:
            _put(subjects, object_, subject)
        if self._has_pairs:
            _put(self._around, subject, (predicate, object_))
            _put(self._into, object_, (subject, predicate))
        return True

    def remove(self, subject: int, predicate: int, object_: int) -> None:
        """Take out a triple that is there."""
        objects, subjects = self._objects[predicate], self._subjects[predicate]
        if len(objects[subject]) == 1:
            del objects[subject]
        else:
            _take(objects, subject, object_)
        others = subjects[object_]
        if len(others) == 1:
            del subjects[object_]
        elif type(others) is dict:
            del others[subject]
        else:
            _take(subjects, object_, subject)
        if self._has_pairs:
            _take(self._around, subject, (predicate, object_))
            _take(self._into, object_, (subject, predicate))

    def has(self, subject: int, predicate: int, object_: int) -> bool:
        """Whether the triple is there."""
        objects = self._objects.get(predicate)
        return objects is not None and object_ in objects.get(subject, ())

    def forget(self, predicate: int) -> None:
        """Drop the tables of a predicate where they are empty; nobody may hold them."""
        if not self._objects.get(predicate, True):
            del self._objects[predicate], self._subjects[predicate]

    def _tables(self, predicate: int) -> tuple[Table, Table]:
        return self._objects.setdefault(predicate, {}), self._subjects.setdefault(predicate, {})

    def _with_pairs(self) -> None:
        if not self._has_pairs:
            self._has_pairs = True
            for subject, predicate, object_ in self:
                _put(self._around, subject, (predicate, object_))
                _put(self._into, object_, (subject, predicate))


def _put(table: dict[int, Values[Value]], key: int, value: Value) -> None:
    """Add a value that the key does not have."""
    values = table.get(key)
    if values is None:
        table[key] = (value,)
    elif isinstance(values, dict):
        values[value] = None
    elif len(values) < _FEW:
        table[key] = (*values, value)
    else:
        table[key] = dict.fromkeys((*values, value))


def _take(table: dict[int, Values[Value]], key: int, value: Value) -> None:
    """Take out a value that the key has."""
    values = table[key]
    if len(values) == 1:
        del table[key]
    elif isinstance(values, dict):
        del values[value]
    elif values[0] == value:  # what leaves is mostly the oldest
        table[key] = values[1:]
    else:
        table[key] = tuple([other for other in values if other != value])
