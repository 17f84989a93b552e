"""Prunes: after which look-ups of a join the solutions of nobody are dropped.

Place: within the BOOSTER, where queries that differ in constants alone are joined together.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from gateway.engine.join.join_pattern import Key, Slot, picker

Solution = tuple[Any, ...]
"""Whether it is won or lost, None, the constants of its plan, then terms as they are bound."""


class Members(Protocol):
    """Whose parameters are looked for."""

    def among(self, places: tuple[int, ...]) -> Collection[Key]:
        """The values that the parameters in these places have together; it stays up to date."""


class Prune(NamedTuple):
    """A test of parameters: what stands in these places is that of somebody."""

    places: Sequence[int]
    key: Callable[[Solution], Key]
    known: Collection[Key]

    def of(self, solutions: list[Solution]) -> list[Solution]:
        """The solutions that are for somebody."""
        key, known = self.key, self.known
        return [solution for solution in solutions if key(solution) in known]


class Prunes:
    """After which steps parameters become known, so that solutions of nobody can be dropped."""

    def __init__(self, parameters: Sequence[str], members: Members | None) -> None:
        self._parameters = parameters
        self._members = members
        self._known = 0

    def is_parameter(self, slot: Slot) -> bool:
        """Whether it is one whose values only some of are wanted."""
        return self._members is not None and slot in self._parameters

    def after(self, places: Mapping[Any, int]) -> Prune | None:
        """The test that pays now, with the variables of `places` bound."""
        known = tuple(n for n, name in enumerate(self._parameters) if name in places)
        if self._members is None or len(known) == self._known:
            return None
        self._known = len(known)
        its_places = [places[self._parameters[number]] for number in known]
        return Prune(its_places, picker(its_places), self._members.among(known))
