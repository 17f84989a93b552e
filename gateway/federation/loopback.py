"""`LoopbackNet`: a carrier within one process that delays, drops, repeats, cuts and restarts.

Place: in the place of a network, where tests want every misfortune by a seed. Nothing happens by
itself: `step` delivers one message, of a link that is drawn, and so links overtake each other.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from gateway.federation.carrier import Channel, Received

_Link = tuple[str, str, Channel]


def _no_presence(member: str, is_up: bool) -> None:
    """Nobody listens yet."""


def _no_message(message: Received) -> None:
    """Nobody listens yet."""


@dataclass(frozen=True, slots=True)
class Misfortunes:
    """How often a message is lost or comes twice: probabilities from 0 to 1."""

    drop: float = 0.0
    repeat: float = 0.0


@dataclass(slots=True)
class _End:
    received: Callable[[Received], None] = _no_message
    presence: Callable[[str, bool], None] = _no_presence


@dataclass(slots=True)
class LoopbackNet:
    """Members that hear each other; `misfortunes` may be changed at any time."""

    random: Random
    misfortunes: Misfortunes = Misfortunes()
    _ends: dict[str, _End] = field(default_factory=dict)
    _queues: dict[_Link, deque[bytes]] = field(default_factory=dict)
    _cut: set[frozenset[str]] = field(default_factory=set)
    _half_open: set[tuple[str, str]] = field(default_factory=set)

    def carrier(self, member: str) -> "LoopbackCarrier":
        """A member's end, which is up once it listens; one before it is gone."""
        if member in self._ends:
            self.leave(member)
        return LoopbackCarrier(self, member)

    def join(self, member: str, end: "_End") -> None:
        """A member is up."""
        self._ends[member] = end
        for other in [each for each in self._ends if each != member]:
            if not self.is_cut(member, other):
                self._ends[other].presence(member, True)
                end.presence(other, True)

    def leave(self, member: str) -> None:
        """A member is gone, with all that was on its way from and to it."""
        self._ends.pop(member, None)
        self._half_open = {each for each in self._half_open if member not in each}
        self._lose(lambda link: member in link[:2])
        for other, end in list(self._ends.items()):
            if not self.is_cut(member, other):
                end.presence(member, False)

    def cut(self, one: str, other: str) -> None:
        """Nothing comes through between two members; what was on its way is lost."""
        self._cut.add(frozenset((one, other)))
        self._lose(lambda link: {one, other} == set(link[:2]))
        self._tell(one, other, is_up=False)

    def mend(self, one: str, other: str) -> None:
        """The reverse of `cut`."""
        self._cut.discard(frozenset((one, other)))
        self._tell(one, other, is_up=True)

    def leave_half_open(self, one: str, other: str) -> None:
        """Have a link half open: `one` is told that the other is away, whom it no longer reaches.

        What the other says still comes, until either end renews the link.
        """
        self._half_open.add((one, other))
        self._lose(lambda link: link[:2] == (one, other))
        self._ends[one].presence(other, False)

    def renew(self, one: str, other: str) -> None:
        """The link between two ends is closed and opened again."""
        if self.is_cut(one, other):
            return
        self._half_open -= {(one, other), (other, one)}
        self._lose(lambda link: {one, other} == set(link[:2]))
        self._tell(one, other, is_up=False)
        self._tell(one, other, is_up=True)

    def is_cut(self, one: str, other: str) -> bool:
        """Whether nothing comes through."""
        return frozenset((one, other)) in self._cut

    def send(self, link: _Link, payload: bytes) -> None:
        """Put a message on its way, or lose it."""
        sender, to, _ = link
        if to not in self._ends or self.is_cut(sender, to) or (sender, to) in self._half_open:
            return
        chance = self.misfortunes
        if self.random.random() < chance.drop:
            return
        queue = self._queues.setdefault(link, deque())
        queue.append(payload)
        if self.random.random() < chance.repeat:
            queue.append(payload)

    def step(self) -> bool:
        """Deliver one message; False where none is on its way."""
        waiting = [link for link, queue in self._queues.items() if queue]
        if not waiting:
            return False
        self._deliver(self.random.choice(waiting))
        return True

    def round(self) -> None:
        """Deliver what is on its way, and nothing that is sent meanwhile: a way takes a round."""
        waiting = [link for link, queue in self._queues.items() for _ in queue]
        self.random.shuffle(waiting)
        for link in waiting:
            if self._queues.get(link):  # else it was cut meanwhile
                self._deliver(link)

    def run(self, most: int = 1_000_000) -> int:
        """Deliver until nothing is on its way; how many messages that were."""
        delivered = 0
        while delivered < most and self.step():
            delivered += 1
        return delivered

    def _deliver(self, link: _Link) -> None:
        payload = self._queues[link].popleft()
        sender, to, channel = link
        self._ends[to].received(Received(sender, channel, payload))

    def _lose(self, is_lost: Callable[[_Link], bool]) -> None:
        for link in [link for link in self._queues if is_lost(link)]:
            del self._queues[link]

    def _tell(self, one: str, other: str, *, is_up: bool) -> None:
        if one in self._ends and other in self._ends:
            self._ends[one].presence(other, is_up)
            self._ends[other].presence(one, is_up)


class LoopbackCarrier:
    """One member's end of a `LoopbackNet`."""

    def __init__(self, net: LoopbackNet, member: str) -> None:
        self._net = net
        self._member = member
        self._end: _End | None = None

    def send(self, to: str, channel: Channel, payload: bytes) -> None:
        """Put a message on its way."""
        if self._end is not None:
            self._net.send((self._member, to, channel), payload)

    def listen(
        self, received: Callable[[Received], None], presence: Callable[[str, bool], None]
    ) -> None:
        """Be up."""
        self._end = _End(received, presence)
        self._net.join(self._member, self._end)

    def renew(self, member: str) -> None:
        """Close the link to a member, and open it again."""
        self._net.renew(self._member, member)

    def close(self) -> None:
        """Be gone."""
        if self._end is not None:
            self._end = None
            self._net.leave(self._member)
