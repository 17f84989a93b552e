"""`ElementRows`: the rows of a star that each element of a stream gives by itself.

    Change.entered, Change.left -> Followed, of one window -> ElementRows, of all ranges -> rows

Place: instead of `star` for windows by range, as long as each subject is of one element, as an
observation is. Then its rows come and go with it, whatever the range: they are found once, when it
enters the first window, and kept once for all. What two elements say of one subject has to be
joined: then it is not sure any more, and each window goes on with a star of its own.
Rows that are grouped as they are, are not kept: their key and numbers are all that groups need.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from pyoxigraph import Triple

from gateway.engine.sliding.group_key import Grouped, GroupKey, group_key
from gateway.engine.sliding.star import Star, picker
from gateway.rdf.solutions import Row
from gateway.windows.owners import Record
from gateway.windows.parted import Parted, Spo
from gateway.windows.timeline import Timeline

Rows = tuple[Row, ...]

Asked = Callable[[GroupKey], bool] | None
"""Whether somebody asks for a group; None: for each."""

_SPARE = 64
"""Subjects that may come beside twice as many as there were, before all are gone over."""

_MOST_SAID = 8
"""So many stars keep what an element says with it; for further ones it is read again."""

_MOST_SHARED = 10_000

_known: WeakValueDictionary[tuple[Timeline, object], "ElementRows"] = WeakValueDictionary()


class Said(NamedTuple):
    """What an element says by one star: hashes of subjects, or the one there is, and rows.

    Of one that is grouped its `key`, and `what` are its numbers; of none or several no `key`, and
    `what` are such pairs. Where rows are not grouped as they are, `what` are they. `others` is what
    it says by other stars.
    """

    of: object
    subjects: int | tuple[int, ...]
    key: GroupKey | None
    what: Any
    others: "Said | None"


_said: Callable[[type[Said], tuple[object, ...]], Said] = tuple.__new__
"""A third of the time of calling the class."""


def element_rows(timeline: Timeline, star: Star, grouped: Grouped | None) -> "ElementRows":
    """The rows of a timeline's elements by such a star, shared by all who have them."""
    name = timeline, (star.name, grouped)
    found = _known.get(name)
    if found is None:
        found = _known[name] = ElementRows(star, grouped)
    return found


class ElementRows:
    """With `is_sure` no subject is of two elements that were entered and are in the timeline.

    Rows that are `grouped` as they are, are told so. Subjects are known by their hashes: two of one
    hash count as one, which costs time alone.
    """

    def __init__(self, star: Star, grouped: Grouped | None) -> None:
        self.is_sure = True
        self._grouped = grouped
        self._key = None if grouped is None else picker(grouped.key)
        self._name = object()
        self._star = star
        self._subjects: dict[Any, Record] = {}
        self._most = _SPARE
        self._shared: dict[int, tuple[tuple[Triple, ...], tuple[Triple, ...]]] = {}

    def enter(self, record: Record, is_asked: Asked = None) -> Said:
        """What an element says that is in a window now; looks whether it is sure.

        What it adds up is not read as numbers where its group is not `is_asked` for.
        """
        said: Said | None = record.said
        known = self._subjects
        if said is not None and said.of is self._name and known.get(said.subjects) is record:
            return said  # another window has let it in
        said = self._kept(record, is_asked)
        subjects = said.subjects
        for subject in (subjects,) if isinstance(subjects, int) else subjects:
            if known.setdefault(subject, record) is not record:
                if known[subject].own is not None:  # another one, and it is there still
                    self.is_sure = False
                known[subject] = record
        return said

    def leave(self, record: Record) -> Said:
        """What an element says that is in a window no more."""
        said: Said | None = record.said
        if said is None or said.of is not self._name:
            said = self.said(record)
        if record.own is None:  # nor in any other
            known, subjects = self._subjects, said.subjects
            for subject in (subjects,) if isinstance(subjects, int) else subjects:
                if known.get(subject) is record:
                    del known[subject]
        return said

    def said(self, record: Record) -> Said:
        """What an element says that was entered."""
        said: Said | None = record.said
        if said is None or said.of is not self._name:
            said = self._found(record) or self._read(record, None)
        return said

    def _found(self, record: Record) -> Said | None:
        said: Said | None = record.said
        while said is not None and said.of is not self._name:
            said = said.others
        return said

    def _kept(self, record: Record, is_asked: Asked) -> Said:
        others: Said | None = record.said
        if others is not None:
            said = self._found(record)
            if said is not None:
                return said
            if _depth(others) >= _MOST_SAID:
                others = None
        said = record.said = self._read(record, others, is_asked)
        if len(self._subjects) > self._most:
            left = {key: each for key, each in self._subjects.items() if each.own is not None}
            self._subjects, self._most = left, 2 * len(left) + _SPARE
        return said

    def _read(self, record: Record, others: Said | None, is_asked: Asked = None) -> Said:
        made, star, is_kept = record.element.triples, self._star, self._grouped is None
        triples = self._looked_at(made) if isinstance(made, Parted) else made
        only = None if is_kept else star.only(triples)
        if only is not None:
            key, what = self._of_group(only[1], is_asked)
            return _said(Said, (self._name, hash(only[0]), key, what, others))
        subjects: int | tuple[int, ...]
        entries = star.entries(triples, is_kept=is_kept)
        if len(entries) == 1:  # as mostly
            subjects, rows = hash(entries[0][-1]), star.rows_of(entries[0])
        else:
            subjects = tuple([hash(entry[-1]) for entry in entries])
            rows = tuple([row for entry in entries for row in star.rows_of(entry)])
        if len(rows) > 1:  # one that is there twice counts once
            entries = star.entries(tuple(dict.fromkeys(triples)), is_kept=is_kept)
            rows = tuple([row for entry in entries for row in star.rows_of(entry)])
        key, what = self._of_groups(rows)
        return _said(Said, (self._name, subjects, key, what, others))

    def _of_groups(self, rows: Rows) -> tuple[GroupKey | None, Any]:
        key_of, grouped = self._key, self._grouped
        if key_of is None or grouped is None:
            return None, rows
        if len(rows) == 1:
            return self._of_group(rows[0], None)
        return None, tuple([(group_key(key_of(row)), grouped.numbers(row)) for row in rows])

    def _of_group(self, row: Row, is_asked: Asked) -> tuple[GroupKey | None, Any]:
        key_of, grouped = self._key, self._grouped
        if key_of is None or grouped is None:
            return None, (row,)
        key = group_key(key_of(row))
        if is_asked is None or is_asked(key):
            return key, grouped.numbers(row)
        return key, grouped.unread(row)

    def _looked_at(self, triples: Parted) -> Sequence[Spo]:
        """The triples that the star looks at."""
        own, shared = triples.unique_terms(self._star.predicates), triples.shared
        if not shared:
            return own if isinstance(own, Sequence) else tuple(own)
        known = self._shared.get(id(shared))
        if known is None:
            if len(self._shared) >= _MOST_SHARED:
                self._shared.clear()
            wanted = tuple(t for t in shared if t.predicate in self._star.predicates)
            known = self._shared[id(shared)] = shared, wanted
        if not known[1] and isinstance(own, Sequence):  # as mostly
            return own
        return (*own, *known[1])


def _depth(said: Said | None) -> int:
    depth = 0
    while said is not None:
        said, depth = said.others, depth + 1
    return depth
