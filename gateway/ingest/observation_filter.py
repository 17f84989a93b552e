"""`ObservationFilter`: which decoded observations are new and can be true.

Place on the way of the data: in ingest, between the adapters and the journal. What a sensor cannot
have measured is a fault; what was accepted before, and what a broker had kept of a stream of which
more is known, is left out.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from adapters.adapter import Decoded, Fault
from adapters.values.memory import Memory
from adapters.values.message import Message
from adapters.values.observation import Observation
from adapters.values.repetition import LastResults
from gateway.ingest.current_state import CurrentState
from gateway.ingest.duplicates import Duplicates, Novelty
from gateway.ingest.inbox import Replay
from gateway.ingest.plausibility import Plausibility
from gateway.ingest.quarantine import was_accepted
from gateway.ingest.statistics import IngestStatistics
from gateway.journal import Record
from gateway.runtime.clocks import is_set


class ObservationFilter:
    """Remembers what it has let through; for the thread of ingest.

    A device's time that is further ahead than `future` is not believed, nor a time of our own that
    `is_clock_set` denies. `memory` is that of the mappings: families hear there which results were
    refused.
    """

    def __init__(
        self,
        plausibility: Plausibility,
        current_state: CurrentState,
        memory: Memory,
        future: timedelta,
        is_clock_set: Callable[[datetime], bool] = is_set,
    ) -> None:
        self.plausibility = plausibility
        self._current_state = current_state
        self._repeated = memory.of(LastResults)
        self._future = future
        self._is_clock_set = is_clock_set
        self._duplicates = Duplicates()

    def recall(self, records: Iterable[Record]) -> None:
        """Remember what an earlier life let through."""
        self._duplicates.recall(records)

    def believed(
        self,
        decoded: Decoded,
        message: Message,
        statistics: IngestStatistics,
        replay: Replay | None = None,
    ) -> tuple[list[Observation], tuple[Fault, ...]]:
        """The new observations that can be true, and all faults; counts what is left out."""
        new, faults = [], list(decoded.faults)
        for seen in decoded.observations:
            if replay is not None and was_accepted(seen, replay.accepted):
                continue
            if self._is_stale_seed(seen):
                statistics.seeds_dropped += 1
                continue
            time = None if self.is_suspect(seen, message) else seen.phenomenon_time
            fault = self.plausibility.fault(seen, time or message.received_at, message.received_at)
            if fault is not None:
                faults.append(fault)
                self._repeated.refuse(seen)
            elif self._is_accepted(seen, message, statistics, replay):
                new.append(seen)
        return new, tuple(faults)

    def _is_accepted(
        self,
        seen: Observation,
        message: Message,
        statistics: IngestStatistics,
        replay: Replay | None,
    ) -> bool:
        """Whether it is no duplicate; what a duplicate says is not the last that was heard."""
        novelty = self._duplicates.judge(seen, message, replay)
        if novelty is Novelty.KNOWN:
            statistics.duplicates += 1
            self._repeated.refuse(seen)
            return False
        if novelty is Novelty.REVISED:
            statistics.revised += 1
        if seen.circumstances.seed:
            self._repeated.remember(seen)
        return True

    def is_suspect(self, seen: Observation, message: Message) -> bool:
        """Whether the device's time is not to be believed, or our own that stands for it.

        A clock of ours that is not set judges nobody: what a device tells is believed as it is.
        """
        time = seen.phenomenon_time
        if not self._is_clock_set(message.received_at):
            return time is None or not is_set(time) or seen.circumstances.clock_suspect
        return time is not None and (
            time > message.received_at + self._future or seen.circumstances.clock_suspect
        )

    def _is_stale_seed(self, seen: Observation) -> bool:
        """Whether a broker had kept it, and more is known of its stream."""
        if not seen.circumstances.seed:
            return False
        return self._current_state.knows(seen.stream) or self._repeated.knows(seen.stream)
