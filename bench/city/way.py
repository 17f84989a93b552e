"""`Way`: one way of running the updates of the city (ways.py, clips.py).

Place on the way of the data: from an update to the rows of subscriptions, in memory. What a way
needs of an update is prepared before its time is taken; `step` and `finish` are timed.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from bench.city.profile import Update


class Way(ABC):
    """What `prepare` and `step` give is the way's own business."""

    @abstractmethod
    def subscribe(self) -> None:
        """Register the profile's subscriptions; the city is loaded."""

    @abstractmethod
    def prepare(self, update: Update) -> Any:
        """What `step` needs."""

    @abstractmethod
    def step(self, prepared: Any) -> Any:
        """Run one update."""

    def finish(self) -> None:
        """Bring to the store what waits after several updates; timed as well."""
        return

    @abstractmethod
    def rows(self, update: Update, outcome: Any) -> Iterator[str]:
        """What `step` has told its subscriptions, as `row_text` writes it."""

    def begin(self) -> None:
        """The untimed updates are over."""
        return

    def performance(self) -> Mapping[str, Any]:
        """What the way itself has found out about its time since `begin`, if anything."""
        return {}
