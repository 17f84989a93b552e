"""`Followed`: the elements of one window, by what the rows of a star have of them.

Place: between a window by range, which says what entered and left it, and the groups; the rows are
those of `element_rows`, which all ranges of the stream share.
"""

from collections.abc import Iterator, Sequence

from gateway.engine.sliding.element_rows import Said, element_rows
from gateway.engine.sliding.group_key import Grouped
from gateway.engine.sliding.groups import Group, Groups
from gateway.engine.sliding.star import Star
from gateway.windows.content import Change
from gateway.windows.owners import Record
from gateway.windows.range_content import RangeContent


class Followed:
    """One window; its rows may be `grouped` as they are."""

    def __init__(self, content: RangeContent, star: Star, grouped: Grouped | None) -> None:
        self._content = content
        self._star = star
        self._grouped = grouped
        self._begin()

    @property
    def is_sure(self) -> bool:
        """Whether its rows are those of its elements."""
        return self._rows.is_sure

    def all(self) -> Iterator[Said]:
        """What all elements of the window say."""
        return map(self._rows.said, self._content.records)

    def change(self, change: Change) -> tuple[Sequence[Said], Sequence[Said]]:
        """What the elements say that go and those that come; it counts where it `is_sure` then."""
        left, entered = self._moved(change)
        leave, enter = self._rows.leave, self._rows.enter
        return [leave(record) for record in left], [enter(record) for record in entered]

    def move(self, change: Change, groups: Groups, touched: list[Group]) -> bool:
        """The same, told to groups of rows as they are, at less cost; whether it `is_sure`.

        Raises UnsureError.
        """
        left, entered = self._moved(change)
        rows, move, is_opened = self._rows, groups.move_one, groups.is_opened
        for record in left:
            _, _, key, what, _ = said = rows.leave(record)
            if key is not None:
                move(key, what, -1, touched)
            else:
                groups.follow(said, -1, touched)
        for record in entered:
            _, _, key, what, _ = said = rows.enter(record, is_opened)
            if key is not None:
                move(key, what, +1, touched)
            else:
                groups.follow(said, +1, touched)
        return rows.is_sure

    def _moved(self, change: Change) -> tuple[Sequence[Record], Sequence[Record]]:
        """The elements that go and those that come; none does both."""
        if self._content.holder is not self._timeline:
            self._begin()  # a clock was set
        entered, left = change.entered, change.left
        if entered and left and (len(entered) > 1 or len(left) > 1 or entered[0] is left[0]):
            both = set(entered).intersection(left)
            entered = [each for each in entered if each not in both]
            left = [each for each in left if each not in both]
        return left, entered

    def _begin(self) -> None:
        self._timeline = self._content.holder
        self._rows = element_rows(self._timeline, self._star, self._grouped)
        for record in self._content.records:
            self._rows.enter(record)
