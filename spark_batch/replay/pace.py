"""When a row is due: the archive's time at a speed, or as fast as the receiver takes it.

Place on the way of the data: between selection and receiver.
"""

import time
from collections.abc import Callable, Iterable, Iterator

from spark_batch.replay.selection import Row

_PART_S = 1.0
"""The longest sleep, so that a signal is heard soon."""
_TOGETHER_S = 0.01
"""Rows that are due so soon go with those before."""


class Pace:
    """`speed` seconds of the archive a second; None is as fast as it goes."""

    def __init__(
        self,
        speed: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._speed = speed
        self._clock = clock
        self._sleep = sleep
        self._origin: tuple[int, float] | None = None

    def batches(self, rows: Iterable[Row], most: int) -> Iterator[list[Row]]:
        """Rows that are due at the same time, in lists of at most `most`; waits between them."""
        batch: list[Row] = []
        for row in rows:
            if batch and (len(batch) >= most or self._wait_s(row) > _TOGETHER_S):
                yield batch
                batch = []
            while (wait_s := self._wait_s(row)) > _TOGETHER_S:
                self._sleep(min(wait_s, _PART_S))
            batch.append(row)
        if batch:
            yield batch

    def _wait_s(self, row: Row) -> float:
        if self._speed is None:
            return 0.0
        if self._origin is None:
            self._origin = (row.result_us, self._clock())
        first_us, started = self._origin
        return started + (row.result_us - first_us) / 1e6 / self._speed - self._clock()
