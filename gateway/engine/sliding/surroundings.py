"""`Surroundings`: the rows of the answer that a group has, by what stands beside its sub-query.

Place: behind `groups` in a unit. Without anything beside them a group is one row. Else the rest is
asked once for what it reads of a group, when somebody wants its rows, and again when a change of
the store concerns that.
"""

from collections.abc import Iterable, Sequence

from gateway.engine.dataset import Quads
from gateway.engine.lutt import Artq
from gateway.engine.sliding.groups import Group, Shown
from gateway.engine.sliding.rest import Ends, Key, Rest
from gateway.engine.sliding.star import picker
from gateway.rdf.solutions import Row

Rows = tuple[Row, ...]


class Surroundings:
    """The rows of groups that project `names`, as an answer of `variables` has them.

    `change` says what each group shows.
    """

    def __init__(
        self, rest: Rest | None, names: Sequence[str], variables: Sequence[str], store: Quads
    ) -> None:
        self._rest = rest
        self._store = store
        places = {name: place for place, name in enumerate(names)}
        self._is_as_it_is = tuple(names) == tuple(variables)
        self._places = [places.get(name) for name in variables]
        self._key = picker([places[name] for name in rest.names] if rest is not None else [])
        self._groups: dict[Key, dict[Group, None]] = {}
        self._ends: dict[Key, Ends] = {}
        self._rows: dict[Group, Rows] = {}

    @property
    def is_nothing(self) -> bool:
        """Whether a group is the one row that it projects."""
        return self._rest is None and self._is_as_it_is

    def change(self, group: Group, now: Shown | None, rows: Rows | None) -> None:
        """A group is to show something else than it does; the rows of that where they are known."""
        if self._rest is None:
            return
        was = group.shown
        old = None if was is None else self._key(was.row)
        new = None if now is None else self._key(now.row)
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

    def told(self, group: Group, shown: Shown) -> Rows:
        """The rows of a group that shows this, as they were when they were first asked for."""
        found = self._rows.get(group)
        if found is None:
            found = self.rows(shown)
            if self._rest is not None:
                self._rows[group] = found
        return found

    def rows(self, shown: Shown) -> Rows:
        """The rows of a group that shows this, looking at the store."""
        row = shown.row
        if not self._is_as_it_is:
            row = tuple([None if place is None else row[place] for place in self._places])
        if self._rest is None:
            return (row,)
        self.look([shown])
        return tuple(
            tuple([new or own for new, own in zip(end, row, strict=True)])
            for end in self._ends[self._key(shown.row)]
        )

    def look(self, several: Iterable[Shown]) -> None:
        """Look up what is not known yet of these, all at once."""
        if self._rest is not None:
            keys = dict.fromkeys(self._key(each.row) for each in several)
            new = [key for key in keys if key not in self._ends]
            if new:
                self._ends |= self._rest.ends(self._store, new)

    def concerned(self, artq: Artq) -> Sequence[Group]:
        """The groups whose rows may be others after this change of the store."""
        if self._rest is None or not artq.runs:
            return ()
        found: list[Group] = []
        for key in self._rest.concerned(self._store, artq, self._groups):
            self._ends.pop(key, None)
            found += self._groups.get(key, ())
        return found
