"""`Acceptance`: the person of the demo, who accepts what devices propose with one command.

Place on the way of the data: after discovery. A subscription tells of proposals; when every device
that introduces itself has been heard, all are confirmed over HTTP, as `sosa-gateway mapping confirm
--all` does it (docs/mappings.md).
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.client import Notification
from gateway.demo.witness import Witness
from gateway.demo.wording import printable, word
from gateway.errors import StorageError

CONFIRM = "sosa-gateway mapping confirm --all"
_HEARD_S = 20.0


@dataclass(frozen=True, slots=True)
class Accepted:
    """How many proposals became mappings, and the labels of those that have a question."""

    count: int
    left: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line for people."""
        left = f"; left with a question: {', '.join(self.left)}" if self.left else ""
        return f"{CONFIRM}: {self.count} accepted{left}"

    @property
    def short(self) -> str:
        """The same in few words."""
        return f"{self.count} proposals accepted"


class Acceptance:
    """Waits for proposals on `topics`."""

    def __init__(self, topics: Iterable[str]) -> None:
        self._missing = set(topics)
        self._heard = asyncio.Event()

    def hear(self, notification: Notification) -> None:
        """Take up what PROPOSALS says."""
        self._missing -= {word(row["topic"]) for row in notification.added}
        if not self._missing:
            self._heard.set()

    async def accept_all(self, witness: Witness) -> Accepted:
        """Confirm all once each topic had a proposal. Raises StorageError where one has none."""
        try:
            async with asyncio.timeout(_HEARD_S):
                await self._heard.wait()
        except TimeoutError:
            silent = ", ".join(sorted(self._missing))
            raise StorageError(f"no proposals from {silent}", "this is a defect") from None
        told = await witness.accept()
        after = told.get("change", {}).get("after", ())
        mappings = sum("format" in node for node in after)  # the others are actuators
        return Accepted(mappings, tuple(printable(each["label"]) for each in told.get("left", ())))
