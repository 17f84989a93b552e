"""`Outage`: the time from the first transaction that the disk refused to the next that it takes.

RocksDB refuses every write after one that failed, also when there is room again, until it is opened
anew. The refused transaction may be in its log nevertheless, and is taken back then.
"""

from dataclasses import dataclass, field
from time import monotonic

from gateway.errors import StorageError
from gateway.rdf.delta import Delta

RETRY_S = 0.5
"""A store is opened again no more often; trying costs up to 50 ms."""


@dataclass(slots=True)
class Outage:
    """What was refused first, which nobody was told of, and why."""

    delta: Delta
    reason: str
    _not_before: float = field(default_factory=lambda: monotonic() + RETRY_S)

    @property
    def is_worth_a_try(self) -> bool:
        """Whether the last attempt to end it was long enough ago."""
        return monotonic() >= self._not_before

    def goes_on(self, reason: str) -> None:
        """An attempt to end it has failed."""
        self.reason = reason
        self._not_before = monotonic() + RETRY_S

    def error(self) -> StorageError:
        """What a writer is told."""
        return StorageError(
            f"the store cannot be written: {self.reason}", "check the disk's free space and health"
        )
