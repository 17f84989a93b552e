"""`Feed`: from what enters and leaves a window, and changes of the store, to rows of groups.

Place: between `star`, or the rows of elements, and `groups`. What the store makes of a row is kept
for each value that it reads (a room), with the rows that have it, so a change of the store moves
those that it concerns.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from gateway.engine.dataset import Quads
from gateway.engine.incremental.solve import take
from gateway.engine.incremental.states import Now
from gateway.engine.lutt import Artq
from gateway.engine.sliding.followed import Followed
from gateway.engine.sliding.groups import Group, Groups
from gateway.engine.sliding.query import Rows
from gateway.engine.sliding.rest import Ends, Key, Rest
from gateway.engine.sliding.star import Star, picker
from gateway.rdf.solutions import Row
from gateway.windows.content import Change, Content
from gateway.windows.parted import Ask
from gateway.windows.range_content import RangeContent


class Feed:
    """Moves the rows of a query in its groups; `names` are those of the rows."""

    def __init__(self, rows: Rows, store: Quads) -> None:
        self._rows = rows
        self._store = store
        bound = frozenset(name for each in rows.patterns for name in each.variables)
        self._star_names = [name for name in rows.names if name in bound]
        self._star = Star(rows.patterns, self._star_names)
        self._constants_of = picker([rows.names.index(name) for name in rows.parameters])
        self._wanted: dict[Row, int] = {}
        self._rest: _Kept | None = None
        self._content: Content | None = None
        self._followed: Followed | None = None
        self._is_plain = not (rows.steps or rows.rest)
        self.names = rows.names
        if rows.rest is not None:
            self._rest = _Kept(rows.rest, rows.names, store)
            self.names = (*rows.names, *rows.rest.shown)

    def fill(self, content: Content, groups: Groups) -> None:
        """Begin with what a window has; to be done once."""
        self._content = content
        if isinstance(content, RangeContent):
            followed = Followed(content, self._star, groups.grouped if self._is_plain else None)
            if followed.is_sure:
                self._followed = followed
                return
        self._star.fill(content.having(self._star.predicates))

    def listen(self) -> None:
        """Be told what the window does from its next step on."""
        content, predicates = self._content, self._star.predicates
        if self._followed is None and content is not None:
            content.want(predicates)
        elif isinstance(content, RangeContent):
            content.follow(predicates)

    def leave(self) -> None:
        """The reverse of `listen`."""
        content, predicates = self._content, self._star.predicates
        if self._followed is None and content is not None:
            content.unwant(predicates)
        elif isinstance(content, RangeContent):
            content.unfollow(predicates)

    def is_moved_by(self, change: Change) -> bool:
        """Whether it looks at anything of what a window did."""
        if self._followed is None:
            return bool(change.added or change.removed)
        return bool(change.entered or change.left)

    def want(self, constants: Row, groups: Groups) -> list[Group]:
        """Move rows with these values of the parameters from now on; the groups that this makes.

        Raises UnsureError; then they are to be unwanted.
        """
        touched: list[Group] = []
        self._wanted[constants] = self._wanted.get(constants, 0) + 1
        if self._wanted[constants] == 1:
            if isinstance(self._content, RangeContent):
                self._content.look(self._ask(constants))
            groups.open(constants, touched)
            if self._followed is not None and self._is_plain:
                for said in self._followed.all():
                    groups.follow(said, +1, touched, constants)
            else:
                rows = [row for row in self._all() if self._constants_of(row) == constants]
                self._move(rows, groups, +1, touched)
        return touched

    def unwant(self, constants: Row, groups: Groups) -> list[Group]:
        """The reverse of `want`; the groups that are gone with it."""
        self._wanted[constants] -= 1
        if self._wanted[constants]:
            return []
        del self._wanted[constants]
        if isinstance(self._content, RangeContent):
            self._content.unlook(self._ask(constants))
        if self._rest is not None:
            self._rest.forget(lambda row: self._constants_of(row) == constants)
        return groups.close(constants)

    def _ask(self, constants: Row) -> Ask:
        """The subjects that are looked at for these values of the parameters."""
        values = dict(zip(self._rows.parameters, constants, strict=True))
        pairs = [(each.predicate, values.get(each.object)) for each in self._rows.patterns]  # type: ignore[arg-type]
        said = frozenset((predicate, value) for predicate, value in pairs if value is not None)
        return Ask(self._star.predicates, said)  # type: ignore[arg-type]  # predicates are constant

    def _all(self) -> Iterable[Row]:
        if self._followed is None:
            return self._star.rows()
        return (row for said in self._followed.all() for row in said.what)

    def change(self, artq: Artq, changes: Iterable[Change], groups: Groups) -> list[Group]:
        """Take up a change of the store, then what left and entered the window.

        The groups that may show something else. Raises UnsureError.
        """
        touched: list[Group] = []
        followed = self._followed
        if self._is_plain and followed is not None:
            for change in changes:
                if not followed.move(change, groups, touched):
                    self._join(groups, touched)
                    break  # with all that was to come
            return touched
        if self._rest is not None and artq.runs:
            self._rest.take(artq, groups, touched)
        for change in changes:
            if self._followed is None:
                gone, come = self._star.change(change.removed, change.added)
                self._move(gone, groups, -1, touched)
                self._move(come, groups, +1, touched)
            elif not self._follow(self._followed, change, groups, touched):
                self._join(groups, touched)
                break
        if self._rest is not None:
            self._rest.tidy()
        return touched

    def _follow(
        self, followed: Followed, change: Change, groups: Groups, touched: list[Group]
    ) -> bool:
        """Move what elements say, unless that is not sure."""
        gone, come = followed.change(change)
        if not followed.is_sure:
            return False
        for side, times in ((gone, -1), (come, +1)):
            for said in side:
                self._move(said.what, groups, times, touched)
        return True

    def _join(self, groups: Groups, touched: list[Group]) -> None:
        """Go on by a star: two elements say something of one subject. Begins with the window."""
        if self._content is None:
            raise ValueError("nothing is followed without a window")
        self.leave()
        self._followed = None
        self.listen()
        self._star.fill(self._content.having(self._star.predicates))
        groups.begin(touched)
        if self._rest is not None:
            self._rest.begin()
        self._move(list(self._star.rows()), groups, +1, touched)

    def _move(self, rows: Sequence[Row], groups: Groups, times: int, touched: list[Group]) -> None:
        if self._rows.parameters:
            rows = [row for row in rows if self._constants_of(row) in self._wanted]
        if not rows:
            return
        if self._rows.steps:
            rows = self._refined(rows)
        if self._rest is None:
            groups.move(rows, times, touched)
        else:
            self._rest.move(rows, groups, times, touched)

    def _refined(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows that pass the FILTERs of the star alone, with what BINDs add."""
        names = self._star_names
        solutions = [dict(zip(names, row, strict=True)) for row in rows]
        taken = take(self._rows.steps, Now(self._store), solutions)  # type: ignore[arg-type]
        return [tuple([solution.get(name) for name in self._rows.names]) for solution in taken]


class _Kept:
    """What the store makes of rows, by the values that it reads of them, and the rows of each."""

    def __init__(self, rest: Rest, names: Sequence[str], store: Quads) -> None:
        self._rest = rest
        self._store = store
        self._key = picker([names.index(name) for name in rest.names])
        self._ends: dict[Key, Ends] = {}
        self._rows: dict[Key, dict[Row, int]] = {}
        self._left: set[Key] = set()

    def begin(self) -> None:
        """Be without rows, and keep what the store makes of them."""
        self._left.update(self._rows)
        for rows in self._rows.values():
            rows.clear()

    def forget(self, is_of: Callable[[Row], bool]) -> None:
        """Be without some rows, whose groups are gone as well."""
        for key, rows in self._rows.items():
            for row in [row for row in rows if is_of(row)]:
                del rows[row]
            if not rows:
                self._left.add(key)
        self.tidy()
        for key in [key for key in self._ends if key not in self._rows]:
            del self._ends[key]  # what was looked up for rows that then did not come

    def move(self, rows: Sequence[Row], groups: Groups, times: int, touched: list[Group]) -> None:
        keys = list(map(self._key, rows))
        new = [key for key in dict.fromkeys(keys) if key not in self._ends]
        if new:
            self._ends |= self._rest.ends(self._store, new)
        for key, row in zip(keys, rows, strict=True):
            held = self._rows.get(key)
            if held is None:
                held = self._rows[key] = {}
            left = held.get(row, 0) + times
            if left:
                held[row] = left
            else:
                del held[row]
                if not held:
                    self._left.add(key)
            ends = self._ends[key]
            if ends:
                groups.move([row + end for end in ends], times, touched)

    def take(self, artq: Artq, groups: Groups, touched: list[Group]) -> None:
        """Move the rows that a change of the store concerns."""
        concerned = self._rest.concerned(self._store, artq, self._ends)
        keys = [key for key in concerned if key in self._ends]
        for key, ends in self._rest.ends(self._store, keys).items():
            before = self._ends[key]
            if Counter(before) == Counter(ends):
                continue
            self._ends[key] = ends
            for row, times in self._rows.get(key, {}).items():
                groups.move([row + end for end in before], -times, touched)
                groups.move([row + end for end in ends], times, touched)

    def tidy(self) -> None:
        """Forget what no row has any more."""
        for key in self._left:
            if not self._rows.get(key, True):
                del self._rows[key], self._ends[key]
        self._left.clear()
