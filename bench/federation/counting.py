"""`CountingCarrier`: a carrier that counts what is sent by it; `Inbox`: one thread for a member."""

import queue
from collections import Counter
from collections.abc import Callable
from time import monotonic

from gateway.federation.carrier import Carrier, Channel, Received
from gateway.federation.member import Member

_PATIENCE_S = 60.0


class CountingCarrier:
    """As the carrier below it; `messages` and `bytes` are by channel."""

    def __init__(self, below: Carrier) -> None:
        self.messages: Counter[Channel] = Counter()
        self.bytes: Counter[Channel] = Counter()
        self._below = below

    def send(self, to: str, channel: Channel, payload: bytes) -> None:
        """Count it, and send it."""
        self.messages[channel] += 1
        self.bytes[channel] += len(payload)
        self._below.send(to, channel, payload)

    def listen(
        self, received: Callable[[Received], None], presence: Callable[[str, bool], None]
    ) -> None:
        """Be up."""
        self._below.listen(received, presence)

    def renew(self, member: str) -> None:
        """As the carrier below it."""
        self._below.renew(member)

    def close(self) -> None:
        """Be gone."""
        self._below.close()


class Inbox:
    """What comes for a member, in the carrier's threads; `drain` has it taken in this one."""

    def __init__(self, member: Member, carrier: Carrier) -> None:
        self._member = member
        self._waiting: queue.SimpleQueue[Received | tuple[str, bool]] = queue.SimpleQueue()
        carrier.listen(self._waiting.put, lambda name, is_up: self._waiting.put((name, is_up)))

    def drain(self, wait_s: float = 0.0) -> bool:
        """Take all that is there, waiting so long for the first; whether there was anything."""
        if not wait_s and self._waiting.empty():
            return False
        try:
            found = self._waiting.get(timeout=wait_s) if wait_s else self._waiting.get_nowait()
        except queue.Empty:
            return False
        messages = [found]
        while not self._waiting.empty():
            messages.append(self._waiting.get_nowait())
        for each in messages:
            if isinstance(each, Received):
                self._member.receive(each)
            else:
                self._member.presence(*each)
        self._member.acknowledge()
        return True

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        """Take what comes until it is so. Raises TimeoutError."""
        deadline = monotonic() + _PATIENCE_S
        ticked = monotonic()
        while not is_so():
            self.drain(0.05)
            if monotonic() - ticked > 0.5:
                self._member.tick()
                ticked = monotonic()
            if monotonic() > deadline:
                raise TimeoutError(what)
