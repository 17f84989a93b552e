"""`MemberNet`: the carrier of members of a federation on a `TimedNet`: they come, go, are cut off.

    Member -> send -> a hop, or two by way of a hub -> Member, if it can be reached then

Place: in the place of Zenoh below the product's own `Member`s. `asked` and `told` count messages
and bytes of needs, and of events and changes; acknowledgements and beats are in neither.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from bench.federation.simulated.net import TimedNet
from gateway.federation.carrier import Channel, Received

Heard = Callable[[Received], None]
Presence = Callable[[str, bool], None]


@dataclass(slots=True)
class _End:
    received: Heard
    presence: Presence


@dataclass(slots=True)
class MemberNet:
    """Members by their names; with a `hub`, all have one link, to that, which passes on."""

    net: TimedNet
    hub: str | None = None
    messages: Counter[Channel] = field(default_factory=Counter)
    size: Counter[Channel] = field(default_factory=Counter)
    _ends: dict[str, _End] = field(default_factory=dict)
    _parts: dict[str, int] = field(default_factory=dict)

    def carrier(self, member: str) -> "MemberCarrier":
        """A member's end, which is up once it listens."""
        return MemberCarrier(self, member)

    def sessions(self, member: str) -> int:
        """To how many others a member has a link."""
        if self.hub is None or member == self.hub:
            return len(self._ends) - 1
        return 1

    def reaches(self, one: str, other: str) -> bool:
        """Whether a message would come through now."""
        if one not in self._ends or other not in self._ends:
            return False
        if self.hub is None:
            return self._parts.get(one, 0) == self._parts.get(other, 0)
        return self.hub in self._ends and self._linked(one) and self._linked(other)

    def join(self, member: str, end: "_End") -> None:
        """A member is up."""
        self._change(lambda: self._ends.__setitem__(member, end), (member,))

    def leave(self, member: str) -> None:
        """A member is gone, with all that is on its way to it."""
        self._change(lambda: self._ends.pop(member), (member,))

    def split(self, members: Iterable[str], part: int = 1) -> None:
        """Cut these off from all others: they reach each other alone, or with a hub nobody."""
        members = tuple(members)
        self._change(lambda: self._parts.update(dict.fromkeys(members, part)), members)

    def mend(self) -> None:
        """The reverse of all that was split."""
        members = [name for name, part in self._parts.items() if part]
        self._change(self._parts.clear, members)

    def send(self, sender: str, to: str, channel: Channel, payload: bytes) -> None:
        """Put a message on its way, if the other can be reached."""
        if not self.reaches(sender, to):
            return
        self.messages[channel] += 1
        self.size[channel] += len(payload)
        arrive = partial(self._arrive, self._ends[to], Received(sender, channel, payload), to)
        hub = self.hub
        if hub is None or hub in (sender, to):
            self.net.send(to, len(payload), arrive)
        else:
            onward = partial(self.net.send, to, len(payload), arrive)
            self.net.send(hub, len(payload), onward)

    def _arrive(self, end: _End, message: Received, to: str) -> None:
        if self._ends.get(to) is end and self.reaches(message.sender, to):
            end.received(message)

    def _linked(self, member: str) -> bool:
        return member == self.hub or not self._parts.get(member, 0)

    def _change(self, change: Callable[[], object], about: Iterable[str]) -> None:
        """Change who reaches whom, and tell both of each pair for which that is another thing."""
        about = set(about)
        before = self._ends.copy()
        pairs = self._pairs(about)
        change()
        now = self._pairs(about)
        for is_up, changed in ((False, pairs - now), (True, now - pairs)):
            for one, other in sorted(changed):
                for name, peer in ((one, other), (other, one)):
                    end = self._ends.get(name)
                    if end is not None and (is_up or before.get(name) is end):
                        self.net.act(name, partial(end.presence, peer, is_up))

    def _pairs(self, about: set[str]) -> set[tuple[str, str]]:
        """The pairs that reach each other with one of these; with the hub among them, all."""
        names = self._ends.keys() if self.hub in about else about
        return {
            (min(one, other), max(one, other))
            for one in names
            for other in self._ends
            if one != other and self.reaches(one, other)
        }


class MemberCarrier:
    """One member's end of a `MemberNet`."""

    def __init__(self, net: MemberNet, member: str) -> None:
        self._net = net
        self._member = member

    def send(self, to: str, channel: Channel, payload: bytes) -> None:
        """Put a message on its way."""
        self._net.send(self._member, to, channel, payload)

    def listen(self, received: Heard, presence: Presence) -> None:
        """Be up."""
        self._net.join(self._member, _End(received, presence))

    def renew(self, member: str) -> None:
        """Links do not part here."""

    def close(self) -> None:
        """Be gone."""
        self._net.leave(self._member)
