"""`Surroundings`: the rows of the answer that a group has, by what stands beside its sub-query.

Place: behind `groups` in a unit. Without anything beside them a group is one row. Else the rest is
asked once for what it reads of a group, when somebody wants its rows, and again when a change of
the store concerns that.
"""

from collections.abc import Iterable, Sequence

from gateway.engine.dataset import Quads
from gateway.engine.lutt import Artq
from gateway.engine.sliding.groups import Shown
from gateway.engine.sliding.rest import Ends, Key, Rest
from gateway.rdf.solutions import Row

Rows = tuple[Row, ...]


class Surroundings:
    """The rows of groups, by the groups' keys; `change` says what each shows."""

    def __init__(self, rest: Rest | None, store: Quads) -> None:
        self._rest = rest
        self._store = store
        self._groups: dict[Key, dict[Row, None]] = {}
        self._ends: dict[Key, Ends] = {}
        self._rows: dict[Row, Rows] = {}

    def change(
        self, group: Row, was: Shown | None, now: Shown | None, rows: Rows | None = None
    ) -> None:
        """A group shows something else; the rows of that where they are known."""
        if self._rest is None:
            return
        old = None if was is None else self._key(was)
        new = None if now is None else self._key(now)
        if new is not None:
            self._groups.setdefault(new, {})[group] = None
        if old is not None and old != new:
            groups = self._groups[old]
            del groups[group]
            if not groups:
                del self._groups[old]
                self._ends.pop(old, None)
        if rows is None:
            self._rows.pop(group, None)
        else:
            self._rows[group] = rows

    def rows(self, group: Row, shown: Shown) -> Rows:
        """The rows of a group that shows this, as they were when they were first asked for."""
        if self._rest is None:
            return (shown.row,)
        found = self._rows.get(group)
        if found is None:
            found = self._rows[group] = self.rows_now(shown)
        return found

    def rows_now(self, shown: Shown) -> Rows:
        """The rows that a group has that shows this, looking at the store."""
        if self._rest is None:
            return (shown.row,)
        self.look([shown])
        return tuple(
            tuple([new or own for new, own in zip(end, shown.row, strict=True)])
            for end in self._ends[self._key(shown)]
        )

    def look(self, groups: Iterable[Shown]) -> None:
        """Look up what is not known yet of these, all at once."""
        if self._rest is not None:
            keys = dict.fromkeys(map(self._key, groups))
            new = [key for key in keys if key not in self._ends]
            if new:
                self._ends |= self._rest.ends(self._store, new)

    def concerned(self, artq: Artq) -> Sequence[Row]:
        """The groups whose rows may be others after this change of the store."""
        if self._rest is None or not artq.runs:
            return ()
        found: list[Row] = []
        for key in self._rest.concerned(self._store, artq, self._groups):
            self._ends.pop(key, None)
            found += self._groups.get(key, ())
        return found

    def _key(self, shown: Shown) -> Key:
        names = self._rest.names if self._rest is not None else ()
        return tuple([shown.columns.get(name) for name in names])
