"""What a replay is sent to: something that takes batches and says when it has them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from spark_batch.replay.selection import Row


@dataclass(slots=True)
class Sent:
    """What became of a batch: observations and messages sent, and why others were left out."""

    rows: int = 0
    messages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


class Receiver(Protocol):
    """A context manager; `send` returns when the other side has the batch."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def send(self, rows: Sequence[Row]) -> Sent:
        """Raises ArchiveError when the batch did not arrive; it may have in part."""
        ...
