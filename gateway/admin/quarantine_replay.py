"""`QuarantineReplay`: messages in quarantine sent through ingest again, as they came.

Place on the way of the data: from the quarantine back into the inbox, with the original time of
reception; journal, identity and duplicates are as ever. What gives no fault any more leaves the
quarantine once it is in journal and store; what still does stays there with the new reasons.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from adapters.values.fault import Fault
from gateway.errors import StorageError
from gateway.ingest.inbox import Delivery, Inbox, Replay
from gateway.ingest.quarantine import Entry, Quarantine

_HELD_S = 30.0
"""How long journal and store may take."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of an entry: how many observations it gave, and what is still wrong."""

    id: str
    observations: int
    faults: tuple[Fault, ...]

    @property
    def is_done(self) -> bool:
        """Whether it has left the quarantine."""
        return not self.faults


class QuarantineReplay:
    """Replays entries one batch at a time; for the event loop."""

    def __init__(self, quarantine: Quarantine, inbox: Inbox) -> None:
        self._quarantine = quarantine
        self._inbox = inbox
        self._turn = asyncio.Lock()

    async def replay(self, entries: Sequence[Entry]) -> list[Replayed]:
        """In this order; one that is gone or not whole is left out.

        Raises StorageError where the gateway stops, or its disk does not do its work; what was not
        reached is still in quarantine.
        """
        async with self._turn:
            there = [self._quarantine.get(entry.id) for entry in entries]
            outcomes = [await self._send(each) for each in there if each and each.is_whole]
            try:
                async with asyncio.timeout(_HELD_S):
                    return [await asyncio.wrap_future(each) for each in outcomes]
            except TimeoutError as error:
                raise StorageError("ingest waits for the disk", "see the log; try again") from error

    async def _send(self, entry: Entry) -> "Future[Replayed]":
        outcome: Future[Replayed] = Future()
        outcome.set_running_or_notify_cancel()  # who waits no longer does not stop it
        replay = Replay(entry.accepted)

        def settle(error: Exception | None) -> None:
            if error is not None:
                outcome.set_exception(error)
                return
            self._quarantine.judge_again(entry.id, replay.faults, replay.observations)
            outcome.set_result(Replayed(entry.id, len(replay.observations), replay.faults))

        if not await self._inbox.put_soon(Delivery(entry.message, settle, replay)):
            raise StorageError("the gateway is stopping", "try again when it is up")
        return outcome
